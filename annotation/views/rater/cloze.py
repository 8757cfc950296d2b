"""Filling a cloze: its page, saving one blank or all of them."""

from dataclasses import replace
from datetime import datetime

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import progress, responses
from annotation.models import Response
from annotation.participation import claims
from annotation.progress import Part, Place, pace
from annotation.progress.work import Work
from annotation.responses import fills
from annotation.templatetags.times import time_of_day
from annotation.views.rater import addresses
from annotation.views.rater.guards import Request
from annotation.views.rater.presenters import pages, questions
from annotation.views.rater.presenters.cloze_sheet import ClozeSheet
from annotation.views.rater.presenters.pages import RefusedAnswer
from studies import items
from studies.cloze import cascade, compilation
from studies.items import InvalidAnswer
from studies.models import Cloze, Step
from studies.protocol import items_of


def load_sheet(
    work: Work, part: Part, *, refused: RefusedAnswer | None = None, shows_shortfalls: bool = False
) -> ClozeSheet:
    """The sheet of a part: with what was posted for one blank and refused; with all that is lacking, if asked for."""
    step = part.steps[0]
    sheet = _build_sheet(work, step, Cloze.objects.get(filling=step.instrument_id))
    if shows_shortfalls:
        lacks = {n: responses.find_shortfall(sheet.answers.get(n), i) for n, i in enumerate(items_of(step), start=1)}
        sheet = replace(sheet, problems=lacks)
    if refused and refused.posted and (number := sheet.number(refused.place.item.key)):
        problems = {**sheet.problems, number: refused.problem}
        sheet = replace(sheet, refused={number: str(refused.posted.value)}, problems=problems)
    return sheet


def _build_sheet(work: Work, step: Step, cloze: Cloze) -> ClozeSheet:
    number_by_key = compilation.number_by_key(cloze.parsed)
    answers = fills.answers_of(work.assignment, cloze)
    return ClozeSheet(work, step, cloze, {number_by_key[answer.item.key]: answer for answer in answers})


def render_page(request: Request, work: Work, part: Part, sheet: ClozeSheet, *, status: int = 200) -> HttpResponse:
    """The page of a cloze."""
    after = progress.neighbours(work.parts, part, work.letters)[1]
    seconds = sum(fills.seconds_by_section(work.assignment).values())
    n_filled = len(sheet.values)
    context = pages.base_context(work) | {
        "sheet": sheet,
        "step": sheet.step,
        "document": sheet.cloze.parsed,
        "passages": sheet.passages(),
        "next_label": _("Go on") if after else _("Check your answers"),
        "is_locked": work.refusal_at(sheet.step) is not None,
        "minutes": seconds // 60,
        "minutes_left": pace.minutes_left(
            n_answered=n_filled, n_left=len(sheet.blanks) - n_filled, active_seconds=seconds
        ),
        "saved_at": max((answer.last_edited_at for answer in sheet.answers.values()), default=None),
        "first_open": next((sheet.place(n).id for n in sheet.blanks if n not in sheet.values), ""),
    }
    return render(request, "annotation/cloze.html", context, status=status)


def save_all(request: Request, sheet: ClozeSheet, *, at: datetime) -> ClozeSheet:
    """The sheet after all fields of the page were posted at once, as a browser without JavaScript does.

    What could not be kept is there as it was given, with the reason. Raises AssignmentEnded if the work has ended.
    """
    answers, refused, problems = dict(sheet.answers), dict[int, str](), dict[int, str]()
    for number, item in enumerate(items_of(sheet.step), start=1):
        place = Place(sheet.step, item)
        value = items.find_type(item.type).from_form(request.POST, place.name)
        stored = answers.get(number)
        again = request.POST.get("confirm") == item.key
        if value is None or (value == ((stored and stored.value) or "") and not again):
            continue
        try:
            answers[number] = responses.record(
                sheet.work.assignment,
                step=sheet.step,
                item=item,
                story=None,
                answer=responses.Answer(value=value),
                at=at,
                base=_posted_revision(request, place) if stored is not None else 0,
                is_confirmation=again,
            )
        except InvalidAnswer as error:
            refused[number], problems[number] = value, str(error)
        except responses.Stale as stale:
            answers[number] = stale.response
            refused[number], problems[number] = value, _conflict_message(stale.response)
        if number in answers:
            answers[number].item = item
    return replace(sheet, answers=answers, refused=refused, problems=problems)


def _posted_revision(request: Request, place: Place) -> int:
    base = request.POST.get(f"base-{place.id}", "")
    return int(base) if questions.REVISION.fullmatch(base) else 0


def _conflict_message(stored: Response) -> str:
    at = time_of_day(stored.last_edited_at)
    if not stored.value:
        return _(
            "Changed in another window at %(time)s, where it is empty now. To keep what stands here, save once more."
        ) % {"time": at}
    return _(
        "Changed in another window at %(time)s, where it now says “%(words)s”. "
        "To keep what stands here, save once more."
    ) % {"time": at, "words": stored.value}


def redirect_after_save(request: Request, work: Work, part: Part, sheet: ClozeSheet) -> HttpResponse:
    """What follows when all fields were posted: on to the next part if that was asked for, and if nothing failed."""
    if sheet.problems:
        return render_page(request, work, part, sheet, status=400)
    claims.remember_place(work.assignment, place=part.key, at=timezone.now())
    if "go" in request.POST:
        after = progress.neighbours(work.parts, part, work.letters)[1]
        return redirect(addresses.of_stop(work, after))
    confirmed = sheet.number(request.POST.get("confirm", ""))
    return redirect(addresses.of_stop(work, part) + (f"#item-{sheet.place(confirmed).id}" if confirmed else ""))


def resume_url(work: Work, part: Part) -> str:
    """Where to come back to: the blank that was last written, or the beginning."""
    sheet = load_sheet(work, part)
    if not sheet.answers:
        return addresses.of_stop(work, part)
    last = max(sheet.answers, key=lambda number: sheet.answers[number].last_edited_at)
    return f"{addresses.of_stop(work, part)}#item-{sheet.place(last).id}"


def render_saved(request: Request, work: Work, place: Place, *, at: datetime) -> HttpResponse:
    """To htmx, after one blank was kept: its revision, marks that came or went, and progress."""
    sheet, number = _sheet_and_number(work, place)
    affected = {number, *cascade.find_affected(sheet.cloze.parsed, number)} if sheet.switches.check else ()
    context = {
        "sheet": sheet,
        "field": sheet.field(number),
        "marked": [sheet.field(blank) for blank in sorted(affected)],
        "passages": sheet.passages(),
        "n_to_check": len(sheet.checks),
        "at": at,
        "oob": True,
    }
    return render(request, "annotation/cloze.html#saved", context)


def render_conflict(request: Request, work: Work, place: Place, stored: Response) -> HttpResponse:
    """To htmx, after a blank was changed in two windows: what is saved, beside what stands in the field."""
    sheet, number = _sheet_and_number(work, place)
    context = {"field": sheet.field(number), "stored": stored, "language": sheet.cloze.parsed.language, "oob": True}
    return render(request, "annotation/cloze.html#conflict", context, status=409)


def render_invalid(request: Request, place: Place, problem: str) -> HttpResponse:
    """To htmx: why a blank could not be kept."""
    context = {"field": {"id": place.id, "problem": problem}, "oob": True}
    return render(request, "annotation/cloze.html#not_saved", context, status=400)


def _sheet_and_number(work: Work, place: Place) -> tuple[ClozeSheet, int]:
    """The sheet on which this blank stands, and its number. Two queries, or three if there may be marks."""
    step = Step.objects.select_related("instrument__cloze").get(pk=place.step.pk)
    if step.instrument is None:
        raise Http404
    sheet = _build_sheet(work, step, step.instrument.cloze)
    number = sheet.number(place.item.key)
    if number is None:
        raise Http404
    return sheet, number
