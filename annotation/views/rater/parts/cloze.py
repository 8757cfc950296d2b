"""Filling a cloze: its page, saving one blank or all of them, and the way out."""

from dataclasses import replace
from datetime import datetime

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import progress, responses
from annotation.models import Response
from annotation.participation import claims
from annotation.progress import Question, pace, places
from annotation.responses import fills
from annotation.views.rater import addresses, posted_page
from annotation.views.rater.parts.base import PartPage
from annotation.views.rater.presenters import pages
from annotation.views.rater.presenters.cloze_sheet import ClozeSheet
from annotation.views.rater.presenters.pages import RefusedAnswer
from annotation.views.rater.presenters.questions import PostedAnswer
from studies import protocol
from studies.cloze import cascade, compilation
from studies.layouts.cloze import ClozeLayout
from studies.protocol import items_of


class ClozePage(PartPage):
    """The running text with its blanks as fields."""

    kind = ClozeLayout.key

    @property
    def resume_url(self) -> str:
        """The blank that was last written, or the beginning."""
        sheet = self.load_sheet()
        if not sheet.answers:
            return self.url
        last = max(sheet.answers, key=lambda number: sheet.answers[number].last_edited_at)
        return f"{self.url}#item-{sheet.question(last).id}"

    @property
    def sections(self) -> list[str]:
        cloze = protocol.cloze_of(self.part.steps[0])
        return [str(section.number) for section in cloze.parsed.sections] if cloze else super().sections

    def load_sheet(self) -> ClozeSheet:
        """The cloze with what is stored in its blanks. One query."""
        step = self.part.steps[0]
        cloze = protocol.cloze_of(step)
        if cloze is None:
            raise Http404
        number_by_key = compilation.number_by_key(cloze.parsed)
        answers = fills.answers_of(self.work.assignment, cloze)
        return ClozeSheet(self.work, step, cloze, {number_by_key[answer.item.key]: answer for answer in answers})

    def render(self, question: Question | None = None, *, refused: RefusedAnswer | None = None) -> HttpResponse:
        sheet = self.load_sheet()
        if pages.shows_shortfalls(self.request, self.work):
            numbered = enumerate(items_of(sheet.step), start=1)
            sheet = replace(
                sheet, problems={n: responses.find_shortfall(sheet.answers.get(n), item) for n, item in numbered}
            )
        if refused and refused.posted and (number := sheet.number(refused.question.item.key)):
            problems = {**sheet.problems, number: refused.problem}
            sheet = replace(sheet, refused={number: str(refused.posted.value)}, problems=problems)
        return self.render_sheet(sheet, status=400 if refused else 200)

    def render_sheet(self, sheet: ClozeSheet, *, status: int = 200) -> HttpResponse:
        """The page with that sheet."""
        after = progress.neighbours(self.work.parts, self.part, self.work.letters)[1]
        seconds = sum(fills.seconds_by_section(self.work.assignment).values())
        n_filled = len(sheet.values)
        context = pages.base_context(self.work) | {
            "sheet": sheet,
            "revisions": pages.list_revisions(
                self.work, ((sheet.question(n), answer) for n, answer in sheet.answers.items()), of_step=sheet.step.key
            ),
            "step": sheet.step,
            "document": sheet.cloze.parsed,
            "passages": sheet.passages(),
            "next_label": _("Go on") if after else _("Check your answers"),
            "is_locked": self.work.standing.refusal_at(sheet.step) is not None,
            "minutes": seconds // 60,
            "minutes_left": pace.minutes_left(
                n_answered=n_filled, n_left=len(sheet.blanks) - n_filled, active_seconds=seconds
            ),
            "saved_at": max((answer.last_edited_at for answer in sheet.answers.values()), default=None),
            "first_open": next((sheet.question(n).id for n in sheet.blanks if n not in sheet.values), ""),
        }
        response = render(self.request, "annotation/cloze.html", context, status=status)
        return pages.mark_postponed(response, seconds=sheet.seconds)

    def post(self) -> HttpResponse:
        """Keep all fields at once, as browsers without JavaScript post them; on to the next part if that was asked for
        and nothing failed."""
        if refusal := self.work.standing.refusal_at(self.part.steps[0]):
            return pages.refuse(self.request, refusal)
        try:
            sheet = self.save_all()
        except responses.AssignmentEnded as refused:
            return pages.refuse(self.request, refused)
        if sheet.problems:
            return self.render_sheet(sheet, status=400)
        places.remember_page(self.work.assignment, page=self.part.key, at=timezone.now())
        if "go" in self.request.POST:
            after = progress.neighbours(self.work.parts, self.part, self.work.letters)[1]
            return redirect(addresses.of_stop(self.work, after))
        confirmed = sheet.number(self.request.POST.get("confirm", ""))
        return redirect(self.url + (f"#item-{sheet.question(confirmed).id}" if confirmed else ""))

    def save_all(self) -> ClozeSheet:
        """The sheet after all fields of the page were posted at once; what could not be kept is there as it was given,
        with the reason. Raises AssignmentEnded if the work has ended."""
        refused = posted_page.save(self.request, self.work, self.part)
        sheet = self.load_sheet()
        refused_by_blank = {n: answer for answer in refused if (n := sheet.number(answer.question.item.key))}
        return replace(
            sheet,
            refused={n: str(answer.posted.value) for n, answer in refused_by_blank.items() if answer.posted},
            problems={n: answer.problem for n, answer in refused_by_blank.items()},
            seconds=posted_page.seconds_to_wait(refused),
        )

    def stop(self) -> HttpResponse:
        """Keep what is on the page, and end the work at the section from which its writer cannot go on."""
        sheet, now = self.load_sheet(), timezone.now()
        if not sheet.switches.way_out:
            raise Http404
        if refusal := self.work.standing.refusal_at(self.part.steps[0]):
            return pages.refuse(self.request, refusal)
        try:
            sheet = self.save_all()
        except responses.AssignmentEnded as refused:
            return pages.refuse(self.request, refused)
        section = self.request.POST.get("section", "")
        if section not in self.sections or sheet.problems:
            return self.render_sheet(sheet, status=400)
        places.remember_page(self.work.assignment, page=f"{self.part.key}/section-{section}", at=now)
        claims.give_up(self.work.assignment, at=now, stopped_at=int(section))
        return redirect("annotation:stopped", self.work.assignment.code)

    def render_saved(self, question: Question, response: Response, *, at: datetime, notice: str = "") -> HttpResponse:
        """To htmx, after one blank was kept: its revision, marks that came or went, and progress."""
        sheet, number = self.load_sheet_at(question)
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
        return render(self.request, "annotation/cloze.html#saved", context)

    def render_conflict(self, question: Question, posted: PostedAnswer, stored: Response) -> HttpResponse:
        """To htmx what is saved, beside what stands in the field."""
        if not self.request.htmx:
            return super().render_conflict(question, posted, stored)
        sheet, number = self.load_sheet_at(question)
        context = {"field": sheet.field(number), "stored": stored, "language": sheet.cloze.parsed.language, "oob": True}
        return render(self.request, "annotation/cloze.html#conflict", context, status=409)

    def render_invalid(self, refused: RefusedAnswer) -> HttpResponse:
        if not self.request.htmx:
            return super().render_invalid(refused)
        context = {"field": {"id": refused.question.id, "problem": refused.problem}, "oob": True}
        return render(self.request, "annotation/cloze.html#not_saved", context, status=400)

    def load_sheet_at(self, question: Question) -> tuple[ClozeSheet, int]:
        """The sheet as it is now, and the number of the blank that this question asks for. One query."""
        sheet = self.load_sheet()
        number = sheet.number(question.item.key)
        if number is None:
            raise Http404
        return sheet, number
