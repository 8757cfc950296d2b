"""The pages' reports of active time."""

from django.http import Http404, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.progress.refusals import READABLE
from annotation.progress.work import Work
from annotation.responses import fills, timing
from annotation.responses.timing import TimeReport
from annotation.templatetags.times import in_words
from annotation.views.rater import addresses, parts
from annotation.views.rater.guards import Request, for_assignment
from annotation.views.rater.presenters.questions import REVISION

FIELDS = ("step", "letter", "section", "seconds")


@for_assignment
@require_POST
def add(request: Request, work: Work) -> HttpResponse:
    """Add what a page reports: at each place some seconds. The answer is the time so far, in words, about the last
    story or in all of the cloze."""
    now = timezone.now()
    columns = [request.POST.getlist(name) for name in FIELDS]
    if not all(columns) or len({len(column) for column in columns}) > 1:
        raise Http404
    rows = list(zip(*columns, strict=True))
    part_by_step = {key: addresses.find_part(work, key) for key in columns[0]}
    sections_by_step = {key: parts.find_page(request, work, part).sections for key, part in part_by_step.items()}
    for key, letter, section, seconds in rows:
        is_valid = section in sections_by_step[key] and letter in ("", *work.letters)
        if not is_valid or not REVISION.fullmatch(seconds):
            raise Http404
    places = {(part_by_step[key], letter) for key, letter, *_ in rows}
    if any(work.standing.refusal_at(part.steps[0], letter) not in READABLE for part, letter in places):
        return HttpResponse(status=409)
    report = [
        TimeReport(
            next(step for step in part_by_step[key].steps if step.key == key),
            int(seconds),
            story=work.stories.story_by_letter[letter] if letter else None,
            section=int(section) if section else None,
        )
        for key, letter, section, seconds in rows
    ]
    timing.record_seconds(work.assignment, report, at=now)
    if report[-1].section:
        seconds_so_far = sum(fills.seconds_by_section(work.assignment).values())
    else:
        seconds_so_far = timing.sum_seconds_on_story(work.assignment, report[-1].story)
    return HttpResponse(in_words(seconds_so_far // 60), content_type="text/plain")
