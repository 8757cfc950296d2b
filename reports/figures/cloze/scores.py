"""QUIET's score of filled texts: totals with their uncertainty, section by section, people beside models.

Source: Zou & Xu (2026), sections 4 and 5. What the judges' ratings and the fills give; or section scores as published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from judges.laboratory.embeddings import explain
from reports.document.leaderboard import Leader, Leaderboard
from reports.document.model import DocumentSection, DrawnPlot, Facts, Files, Head, Own, Subsection, TextBlock
from reports.document.phrases import joined, phrase, reason_words
from reports.document.values import Reason
from reports.figures.base import Figure, Statement
from reports.figures.cloze.part_names import REFERENCES
from reports.figures.cloze.participants import KindMean, ParticipantScore, compare_kinds, number, score_participants
from reports.figures.cloze.plots import heat_levels, plane_plot, ranking_plot
from reports.figures.cloze.totals import has_families, kind_table, section_table, total_table
from reports.lazy import arrays, cloze
from reports.numbers import decimal

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.scored_clozes import ScoredCloze


@dataclass(frozen=True, kw_only=True)
class ReferenceTexts:
    """The stored texts whose fills say what is usual, and by what fills are compared.

    stories : their codes, which with the frozen protocol never change
    """

    name: str
    is_planned: bool
    stories: tuple[str, ...]
    embedding: str
    version: str
    why: Reason | None = None


@dataclass(frozen=True, kw_only=True)
class ClozeScoresResult:
    """highest : the most that a total can be within the reference; means : of each section, over participants"""

    title: str
    is_published: bool
    n_blanks: int
    n_constraints: int
    judges: tuple[str, ...]
    is_judged_by_models: bool
    highest: float
    sections: tuple[str, ...]
    reference: ReferenceTexts
    participants: tuple[ParticipantScore, ...]
    kinds: tuple[KindMean, ...]
    means: tuple[float | None, ...]


class ClozeScores(Figure[ClozeScoresResult]):
    key = "cloze_scores"
    title = gettext_lazy("Filled texts: ranking")
    position = 143
    section = "cloze"
    lead = 10
    tables = ("cloze-scores", "cloze-section-scores", "cloze-people-beside-models")
    is_shown_sealed = False
    needs_answers = False
    edition = 2

    def compute(self, dataset: Dataset) -> ClozeScoresResult | None:
        scored = dataset.scored_cloze
        return _compute(dataset, scored) if scored else None

    def describe(self, result: ClozeScoresResult, head: Head) -> Iterator[DocumentSection]:
        rows = [row for row in result.participants if row.total is not None]
        counted = ngettext("%(n)s participant", "%(n)s participants", len(result.participants))
        yield DocumentSection(
            heading=self.title,
            body=[
                *_sentences(result),
                *_ranking(rows),
                total_table(result),
                *(
                    TextBlock(words=joined(f"{row.participant}:", reason_words(row.why)), css="hint")
                    for row in result.participants
                    if row.why
                ),
                Files(words=counted % {"n": len(result.participants)}, table="cloze-scores", is_count=True),
                section_table(result),
                *_sections(result, rows),
                *_plane(rows),
                *_kinds(result),
                _how_scores_come_about(),
            ],
            margin=list(_margin(result)),
        )

    def is_first_headline(self, result: ClozeScoresResult) -> bool:
        return True

    def headline(self, result: ClozeScoresResult, head: Head) -> str:
        return _highest(result).removesuffix(".")

    def lead_difference(self, result: ClozeScoresResult) -> str:
        return _robustness(result)

    def leaderboard(self, result: ClozeScoresResult, head: Head) -> Leaderboard | None:
        ranked = sorted((row for row in result.participants if row.rank), key=lambda row: row.rank)
        leaders = [
            Leader(name=row.participant, value=total, words=decimal(total, 2), ends=row.interval)
            for row in ranked
            if (total := row.total) is not None
        ]
        title = _("Total of %(highest)s that are possible") % {"highest": decimal(result.highest, 0)}
        return Leaderboard(title=title, leaders=tuple(leaders), notes=_board_notes(ranked)) if leaders else None

    def statements(self, result: ClozeScoresResult, head: Head) -> Iterator[Statement]:
        if sentence := _sentence(result):
            basis = _("One text to fill; sections of one story say nothing about other stories")
            yield Statement(sentence=sentence, basis=basis, position=45)


def _board_notes(rows: Sequence[ParticipantScore]) -> tuple[str, ...]:
    has_interval = any(row.interval.low is not None for row in rows)
    lines = _("Lines: 95 %% intervals over repeated fills.") % {} if has_interval else ""
    return tuple(filter(None, [_("Satisfied × (1 + surprising), summed over sections."), lines]))


def _compute(dataset: Dataset, scored: ScoredCloze) -> ClozeScoresResult:
    rows = score_participants(dataset, scored)
    judged = scored.judged
    return ClozeScoresResult(
        title=scored.title or dataset.study.title,
        is_published=judged is None,
        n_blanks=scored.n_blanks,
        n_constraints=len(judged.constraints) if judged else 0,
        judges=judged.judges if judged else (),
        is_judged_by_models=judged is None or judged.is_judged_by_models,
        highest=2.0 * scored.n_sections,
        sections=scored.section_titles,
        reference=_reference(scored),
        participants=tuple(rows),
        kinds=tuple(compare_kinds(dataset, scored, rows)),
        means=tuple(_section_means(scored)),
    )


def _reference(scored: ScoredCloze) -> ReferenceTexts:
    reference, fills = scored.reference, scored.fills
    return ReferenceTexts(
        name=reference.name,
        is_planned=reference.is_planned,
        stories=tuple(t.story for t, is_in in zip(scored.texts, reference.is_in, strict=True) if is_in),
        embedding=fills.embedding if fills else "",
        version=fills.version if fills else "",
        why=Reason.of(fills.why) if fills and fills.why else None,
    )


def _section_means(scored: ScoredCloze) -> Iterator[float | None]:
    """The mean score of each section over the participants who have one."""
    scores = scored.of_participants(cloze.scores(scored.satisfied_softly, scored.surprising))
    yield from map(number, arrays.mean_present(scores, axis=0))


def _highest(result: ClozeScoresResult) -> str:
    """Who stands first; "" where two share the first rank."""
    firsts = _firsts(result)
    if len(firsts) != 1 or len(result.participants) < 2:
        return ""
    return _("%(name)s has the highest total of %(n)s participants: %(total)s of %(highest)s.") % {
        "name": firsts[0].participant,
        "total": decimal(firsts[0].total, 2),
        "highest": decimal(result.highest, 0),
        "n": sum(row.total is not None for row in result.participants),
    }


def _sentence(result: ClozeScoresResult) -> str:
    """Who stands first, and what that depends on; "" where two share the first rank."""
    return " ".join(filter(None, [_highest(result), _robustness(result)]))


def _robustness(result: ClozeScoresResult) -> str:
    """Whether leaving a judge out puts another first, and whether the first could surprise more than others."""
    if not _highest(result):
        return ""
    (first,) = _firsts(result)
    sentences = []
    spread = first.without_a_judge
    if spread and spread.worst_rank == 1:
        sentences.append(_("It stays first whichever judge is left out."))
    elif spread:
        sentences.append(_("Without one of the judges it stands at rank %(rank)s.") % {"rank": spread.worst_rank})
    if not first.is_in_reference:
        sentences.append(_("It stands outside the reference set, so that it can surprise by more than 1."))
    return " ".join(sentences)


def _firsts(result: ClozeScoresResult) -> list[ParticipantScore]:
    return [row for row in result.participants if row.rank == 1]


def _sentences(result: ClozeScoresResult) -> Iterator[TextBlock]:
    if reason := result.reference.why:
        yield TextBlock(words=joined(reason_words(reason), _("So there are no totals.")), css="says")
    if sentence := _sentence(result):
        yield TextBlock(words=sentence, css="says")


def _ranking(rows: Sequence[ParticipantScore]) -> Iterator[DrawnPlot]:
    if plot := ranking_plot(rows):
        has_interval = any(row.interval.low is not None for row in rows)
        has_range = any(row.without_a_judge for row in rows)
        line = _("Line: 95 %% interval over repeated fills.")
        broken = _("Broken line: the totals when each judge is left out in turn, which is a range and no interval.")
        yield DrawnPlot(
            plot=plot,
            title=_("Totals, the highest first"),
            described=_("The table below holds every total with what it is based on."),
            caption=joined(phrase(line) if has_interval else "", broken if has_range else ""),
        )


def _sections(result: ClozeScoresResult, rows: Sequence[ParticipantScore]) -> Iterator[Subsection]:
    """Each participant with its sections and their shades."""
    if rows:
        title = _("Section by section")
        shades = heat_levels([[part.score for part in row.sections] for row in rows])
        shaded = [(row, list(zip(row.sections, of_row, strict=True))) for row, of_row in zip(rows, shades, strict=True)]
        heat = Own(template="reports/document/own/cloze_sections.html", context={"result": result, "rows": shaded})
        yield Subsection(heading=title, blocks=[heat, Files(words=title, table="cloze-section-scores")])


def _plane(rows: Sequence[ParticipantScore]) -> Iterator[Subsection]:
    if plot := plane_plot(rows):
        legend = _("Across: satisfies. Upwards: surprises. Curves join equal totals. Numbers follow the ranking:")
        names = "; ".join(f"{n} {row.participant}" for n, row in enumerate(rows, start=1))
        plane = DrawnPlot(
            plot=plot,
            title=_("Satisfaction (across) and surprise (upwards) of participants"),
            described=_("The table of totals holds both numbers of every participant."),
            caption=f"{legend} {names}.",
        )
        yield Subsection(heading=_("Satisfies and surprises"), blocks=[plane])


def _kinds(result: ClozeScoresResult) -> Iterator[Subsection]:
    if result.kinds:
        title, name = _("People beside models"), "cloze-people-beside-models"
        yield Subsection(heading=title, blocks=[kind_table(result, title, name), Files(words=title, table=name)])


def _how_scores_come_about() -> Subsection:
    satisfies = _(
        "Satisfies: of each constraint the mean of the judges’ 0 to 5, divided by 5; of a section the mean of its "
        "constraints. Judges are told to give a broken must 0 or 1 themselves."
    )
    surprises = _(
        "Surprises: how far a fill lies from the middle of the reference set’s fills of that blank, divided by the "
        "largest such distance; of a section the mean of its blanks."
    )
    blocks = [TextBlock(words=satisfies), TextBlock(words=surprises)]
    return Subsection(summary=_("Computation of scores"), blocks=blocks, is_open=True)


def _margin(result: ClozeScoresResult) -> Iterator[Facts | TextBlock]:
    yield Facts(pairs=list(_basis(result)))
    fixed = _(
        "The reference set is fixed with the protocol. Whoever stands outside of it is measured against it and does "
        "not move its middle, so their fills can surprise by more than 1."
    )
    families = _("In brackets: the rank without the judges of the participant’s own family of models.")
    if not result.is_published:
        yield TextBlock(words=fixed)
    if has_families(result):
        yield TextBlock(words=families)
    one_story = _(
        "The sections are those of one story. What leaving one out changes stands in the file; it is no interval."
    )
    yield TextBlock(words=one_story)


def _basis(result: ClozeScoresResult) -> Iterator[tuple[str, str]]:
    """What the totals rest on."""
    if result.is_published:
        yield _("Based on"), _("scores of sections as they were published")
        return
    counted = ngettext("%(n)s judge, %(k)s constraints", "%(n)s judges, %(k)s constraints", len(result.judges))
    judges = counted % {"n": len(result.judges), "k": result.n_constraints}
    yield _("Based on"), judges if result.is_judged_by_models else f"{judges} ({_('people')})"
    reference = result.reference
    texts = f"{REFERENCES[reference.name]} ({len(reference.stories)})"
    yield _("Reference"), f"{texts}, {_('as planned')}" if reference.is_planned else texts
    yield _("Embedding"), f"{explain(reference.embedding)} ({reference.version})"
