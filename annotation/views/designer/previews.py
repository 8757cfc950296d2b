"""The pages of raters as they will be, of nobody, with stories of the study. They keep nothing and lead nowhere."""

import re
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.html import escape, format_html
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from annotation import progress, responses
from annotation.models import Assignment, Rater, Seat
from annotation.progress import Answers, RaterProgress, languages
from annotation.progress.outlines import Outline
from annotation.progress.refusals import Standing
from annotation.progress.work import Work
from annotation.views.rater import once, parts
from annotation.views.rater.guards import Request
from annotation.views.rater.presenters.once import OncePage
from config.headers import FRAMED_POLICY
from studies import items, protocol
from studies.documents import placeholders
from studies.models import Step, Story, StoryGroup, Study
from studies.protocol import Protocol
from studies.typography.prose import parse_prose

NOBODY = -1  # the primary key of no row
CODE = "preview"
MOST_SAMPLES = 4  # stories that stand in for a group as long as there is none
TAG = re.compile(r"<[a-z][^<>]*>")
# All that sends; a dialog is closed by a form that sends nothing.
ACTIVE = re.compile(
    r"""\s(?:method="post"|(?:hx-[a-z-]+|action|formaction|data-(?:saves|leaves|times|positions|reviews))(?:="[^"]*")?)"""
    r"(?=[\s>])"
)
LINK = re.compile(r"""(?<=\shref=")/[^"]*(?=")""")
NAMES = re.compile("|".join(re.escape(f"{{{name}}}") for name in placeholders.NAMES))


class PreviewRequest(Request):
    """A request of nobody: no session, no account, nothing posted. Only the reading settings of the browser remain."""

    is_preview = True

    def __init__(self, request: HttpRequest) -> None:
        super().__init__()
        self.method, self.path, self.path_info = "GET", request.path, request.path_info
        names = ("SERVER_NAME", "SERVER_PORT", "HTTP_HOST", "wsgi.url_scheme")
        self.META = {name: request.META[name] for name in names if name in request.META}
        self.COOKIES = dict(request.COOKIES)
        self.session: Any = {}
        self.user = AnonymousUser()
        self.htmx = HtmxDetails(self)


def preview_step(request: HttpRequest, current_protocol: Protocol, step: Step) -> HttpResponse:
    """The page on which raters meet the step, with its names in braces filled as far as the study says them."""
    filled = protocol.fill_names(current_protocol)
    current = next(other for other in filled.steps if other.pk == step.pk)
    study = filled.version.study
    return _show(request, study, lambda plain: _render(plain, filled, current))


def preview_arrival(request: HttpRequest, current_protocol: Protocol) -> HttpResponse:
    """What the link of an invitation opens on."""
    study = current_protocol.version.study
    context = {
        "study": study,
        "until": study.closes_at,
        "promised": study,
        "fills_text": current_protocol.fills_text,
        "gate": current_protocol.gate,
    }
    return _show(request, study, lambda plain: render(plain, "annotation/invitation.html", context))


def _show(request: HttpRequest, study: Study, page: Callable[[Request], HttpResponse]) -> HttpResponse:
    """The page in the language in which raters meet it, with nothing on it that could be sent or left."""
    with translation.override(languages.of_interface(study)):
        response = page(PreviewRequest(request))
        response.content = _disarm(response.content.decode()).encode()
    response["Content-Security-Policy"] = FRAMED_POLICY
    return response


def _disarm(html: str) -> str:
    """The page without addresses to post to or to go to; names in braces that nothing fills are marked."""
    html = TAG.sub(_disarm_tag, html)
    return NAMES.sub(lambda name: format_html("<mark>{}: {}</mark>", name[0], _("not said yet")), html)


def _disarm_tag(tag: re.Match[str]) -> str:
    words = ACTIVE.sub("", tag[0])
    if "autofocus" not in words:  # which only the button has that closes a dialog
        words = words.replace('type="submit"', 'type="button"')
    return LINK.sub("#main", words) if words.startswith("<a ") else words


def _render(request: Request, filled: Protocol, step: Step) -> HttpResponse:
    study = filled.version.study
    if step.instrument is None:
        context = {"study": study, "step": step, "prose": parse_prose(step.text), "protocol": filled}
        return render(request, f"annotation/{step.kind}.html", context)
    work = _sample_work(filled, step)
    part = progress.find_part(work.parts, step.key)
    if part is None:
        return HttpResponse(escape(_("Raters do not meet this step.")))
    if work.assignment.seat is None:
        rater_progress = RaterProgress(protocol=filled, has_consented=True)
        return once.answer_page(OncePage(request, rater_progress, work, part))
    question = next(q for q in progress.list_questions(part, work.letters) if q.step == step)
    return parts.find_page(request, work, part).render(question)


def _sample_work(filled: Protocol, step: Step) -> Work:
    """Work on a group of the study that nobody does: unsaved rows, no answers."""
    study = filled.version.study
    group, stories = _sample_stories(study, filled)
    is_once = step.scope == Step.Scope.ONCE
    rater = Rater(pk=NOBODY, study=study, code=CODE)
    seat = None if is_once else Seat(pk=NOBODY, study=study, group=group, order=[story.code for story in stories])
    assignment = Assignment(
        pk=NOBODY, study=study, rater=rater, seat=seat, group=group if seat else None, version=filled.version, code=CODE
    )
    standing = Standing(
        protocol=filled,
        status=Assignment.Status.OPEN,
        is_open=True,
        owes_consent=False,
        owes_recognition=False,
        letters=list(responses.letters(seat.order)) if seat else [],
        n_begun=len(stories),
        locked_before=max((s.position for s in filled.steps if s.locks and s.position <= step.position), default=0),
    )
    work = Work(assignment, Outline(filled), standing)
    if seat:
        work.stories.story_by_letter = dict(zip(work.letters, stories, strict=True))
        work.stories.id_by_letter = {letter: story.pk for letter, story in work.stories.story_by_letter.items()}
    work.answers = work.visit_answers = Answers({}, work.stories.id_by_letter if seat else {})
    return work


def _sample_stories(study: Study, filled: Protocol) -> tuple[StoryGroup, list[Story]]:
    """The first group that has stories, by code; without one some stories of the study, or some that say so."""
    groups = study.groups.exclude(stories=None).prefetch_related("stories").order_by("code")
    if group := groups.first():
        return group, sorted(group.stories.all(), key=lambda story: story.code)
    n = 2 if any(_compares_two(step) for step in filled.ratings) else MOST_SAMPLES
    stories = list(study.stories.order_by("code")[:n])
    if len(stories) < n:
        text = _("There are no stories here yet. Yours will stand in this place, set like this.")
        stories = [
            Story(pk=-number, study=study, code=f"s{number}", text=text, language=study.language)
            for number in range(1, n + 1)
        ]
    return StoryGroup(pk=NOBODY, study=study, code=CODE), stories


def _compares_two(step: Step) -> bool:
    """Whether it asks for the better of two."""
    return any(items.find_type(item.type).most_stories == 2 for item in protocol.items_of(step))
