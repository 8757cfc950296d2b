"""Where a rater is in a story, as its page tells when they rest or leave."""

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_POST

from annotation.progress import places
from annotation.progress.refusals import Refusal
from annotation.progress.work import Work
from annotation.views.rater.guards import Request, for_assignment
from annotation.views.rater.presenters import pages
from annotation.views.rater.presenters.questions import REVISION

WHOLE = 1000  # thousandths of a paragraph


@for_assignment
@require_POST
def remember(request: Request, work: Work, letter: str) -> HttpResponse:
    """Remember paragraph and offset for the next time that the story is opened, on whatever device."""
    values = [request.POST.get(name, "") for name in ("paragraph", "offset")]
    if letter not in work.letters or not all(REVISION.fullmatch(value) for value in values):
        raise Http404
    paragraph, offset = map(int, values)
    if paragraph < 1 or offset > WHOLE:
        raise Http404
    if refusal := work.standing.refusal or (None if work.may_read(letter) else Refusal.AHEAD):
        return pages.refuse(request, refusal)
    places.remember_position(work.assignment, letter, paragraph=paragraph, offset=offset)
    return HttpResponse(status=204)
