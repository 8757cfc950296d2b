"""What changes of a story that leave its worth as it is do to each judge's answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from judges.interventions import find_of_reading
from reports.document import columns, notes
from reports.document.columns import LEAD, decimals, ends
from reports.document.model import DocumentSection, Files, Head, ReportTable, RowGroup, TextBlock
from reports.document.phrases import phrase
from reports.figures.base import Figure, Listing, note_of
from reports.figures.judges.intervention_effects import InterventionEffect, list_effects
from reports.numbers import decimal
from reports.numbers import interval as ends_words

if TYPE_CHECKING:
    from reports.dataset import Dataset

SENTENCES = {
    ("verdicts", True): gettext_noop(
        "%(change)s, <strong>%(judge)s</strong> says Yes to %(value)s more of 100 (%(ends)s; %(n)s pairs of answers)."
    ),
    ("verdicts", False): gettext_noop(
        "%(change)s, <strong>%(judge)s</strong> says Yes to %(value)s fewer of 100 (%(ends)s; %(n)s pairs of answers)."
    ),
    ("scales", True): gettext_noop(
        "%(change)s, <strong>%(judge)s</strong> gives %(value)s points more (%(ends)s; %(n)s pairs of answers)."
    ),
    ("scales", False): gettext_noop(
        "%(change)s, <strong>%(judge)s</strong> gives %(value)s points less (%(ends)s; %(n)s pairs of answers)."
    ),
}
SEVERAL_RUNS = gettext_noop(
    "Some changes have no sentence and stand in the table alone: %(judges)s answered about the story as it is in "
    "another run, between which and this one the model may have changed."
)


class Interventions(Figure[Listing[InterventionEffect]]):
    """The answers stand in no other figure."""

    key = "interventions"
    title = gettext_lazy("Interventions on the stories")
    position = 136
    section = "judges"
    tables = ("interventions",)
    edition = 2

    def compute(self, dataset: Dataset) -> Listing[InterventionEffect]:
        return Listing(list_effects(dataset))

    def describe(self, result: Listing[InterventionEffect], head: Head) -> Iterator[DocumentSection]:
        yield DocumentSection(
            heading=self.title,
            body=[*_claims(result.rows), _table(result.rows), Files(words=_("Every change"), table="interventions")],
            margin=[*_notes(), *notes.weakest(row.effect.interval for row in result.rows)],
        )


def _claims(rows: Sequence[InterventionEffect]) -> Iterator[TextBlock]:
    """One sentence for each change whose effect is clear, and how many were looked at."""
    tested = [row for row in rows if row.p is not None]
    for row in filter(_is_clear, tested):
        yield _claim(row)
    summary = _(
        "Clear after Holm’s correction over all judges and changes: %(n_clear)s of %(n)s. An effect that is not clear "
        "may still be there."
    )
    yield TextBlock(words=phrase(summary, n_clear=sum(map(_is_clear, tested)), n=len(tested)))
    if judges := sorted({row.judge for row in rows if not row.is_of_one_run}):
        yield TextBlock(words=phrase(_(SEVERAL_RUNS), judges=", ".join(judges)))


def _is_clear(row: InterventionEffect) -> bool:
    return row.is_clear


def _claim(row: InterventionEffect) -> TextBlock:
    kind, value, places = find_of_reading(row.intervention), row.effect.value or 0.0, _places(row)
    return TextBlock(
        words=phrase(
            _(SENTENCES[row.kind, value > 0]),
            change=capfirst(str(kind.words)) if kind else row.intervention,
            judge=row.judge,
            value=decimal(abs(value), places),
            ends=ends_words(row.effect.interval, places),
            n=row.effect.n,
        )
    )


def _places(row: InterventionEffect) -> int:
    return 0 if row.kind == "verdicts" else 2


def _table(rows: Sequence[InterventionEffect]) -> ReportTable[InterventionEffect]:
    kinds = {"verdicts": _("Yes of 100"), "scales": _("points")}
    return ReportTable(
        name="interventions",
        label=_("Interventions on the stories, table"),
        caption=_(
            "The same judge on the same stories, changed and as they are: how many more of 100 verdicts are Yes, or "
            "how many points more it gives."
        ),
        rows=rows,
        groups=[
            RowGroup(heading=f"{judge} ({kinds[kind]})", rows=list(part))
            for (judge, kind), part in groupby(
                sorted(rows, key=lambda row: (row.judge, row.kind != "verdicts")), key=lambda row: (row.judge, row.kind)
            )
        ],
        why=lambda row: row.effect.why,
        columns=[
            columns.in_file("judge"),
            columns.words("intervention", _("Change"), shown=lambda row: row.title, is_head=True),
            columns.with_places(
                lambda places: columns.number(
                    "plain", _("As it is"), lambda row: row.effect.before, write=decimals(places)
                ),
                _places,
            ),
            columns.with_places(
                lambda places: columns.number(
                    "altered", _("Changed"), lambda row: row.effect.after, write=decimals(places)
                ),
                _places,
            ),
            columns.with_places(
                lambda places: columns.number(
                    "value", _("Effect"), lambda row: row.effect.value, write=decimals(places), css=LEAD
                ),
                _places,
            ),
            columns.with_places(
                lambda places: columns.interval(lambda row: row.effect.interval, write=ends(places)), _places
            ),
            columns.with_places(
                lambda places: columns.number(
                    "again", phrase(_("Only read<br>again")), lambda row: row.again.value, write=decimals(places)
                ),
                _places,
            ),
            columns.number(
                "differing_percent",
                phrase(_("Answers that<br>differ, %%")),
                lambda row: row.effect.differing_percent,
                write=decimals(0),
            ),
            columns.number(
                "again_differing_percent",
                phrase(_("Read<br>again, %%")),
                lambda row: row.again.differing_percent,
                write=decimals(0),
            ),
            columns.number("n", _("Pairs"), lambda row: row.effect.n),
            columns.fields("kind", "p", "p_adjusted", again_low="again.interval.low", again_high="again.interval.high"),
            columns.in_file("n_again", lambda row: row.again.n),
            columns.note(_note),
        ],
    )


def _note(row: InterventionEffect) -> str:
    of_runs = "" if row.is_of_one_run else "Some pairs of answers are of two runs."
    return " ".join(filter(None, (note_of(row.effect, row.effect.interval), of_runs)))


def _notes() -> Iterator[TextBlock]:
    yield TextBlock(
        words=phrase(
            _(
                "<strong>As it is</strong> and <strong>changed</strong> are answers of one judge to one question about "
                "one story, so that what the story is worth cancels. <strong>Only read again</strong>: the second "
                "answers about the story as it is, less the first. What a change does beyond that, it does by itself."
            )
        )
    )
    yield TextBlock(
        words=_(
            "Padding, another order of paragraphs and formatting can be a good reason for another answer; a title, a "
            "byline or a request is none. These answers count nowhere else in the report."
        )
    )
