"""QUIET's score of filled texts: totals with their uncertainty, section by section, people beside models.

Source: Zou & Xu (2026), sections 4 and 5. What the judges' ratings and the fills give; or section scores as published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.figures.base import Figure, Head, Reason, Row, Statement, ends_note
from reports.figures.cloze_participants import (
    KindMean,
    ParticipantScore,
    SectionScore,
    Sensitivity,
    compare_kinds,
    number,
    score_participants,
)
from reports.figures.cloze_plots import heat_levels, plane_plot, ranking_plot
from reports.figures.cloze_words import REFERENCES
from reports.lazy import arrays, cloze
from reports.numbers import coefficient, decimal
from reports.numbers import interval as between
from reports.reasons import to_english

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
    position = 141
    result = ClozeScoresResult
    tables = ("cloze-scores", "cloze-section-scores", "cloze-people-beside-models")
    is_shown_sealed = False
    needs_answers = False
    edition = 2

    def compute(self, dataset: Dataset) -> ClozeScoresResult | None:
        scored = dataset.scored_cloze
        return _compute(dataset, scored) if scored else None

    def rows(self, result: ClozeScoresResult) -> dict[str, Iterator[Row]]:
        return {
            "cloze-scores": (_row(row) for row in result.participants),
            "cloze-section-scores": (
                {"participant": row.participant} | vars(part) for row in result.participants for part in row.sections
            ),
            "cloze-people-beside-models": (_kind_row(kind) for kind in result.kinds),
        }

    def lines(self, result: ClozeScoresResult) -> Iterator[str]:
        yield f"\nFilled texts: totals, at most {decimal(result.highest, 0)}"
        for row in result.participants:
            if row.why:
                yield f"  {row.participant[:34]:<34} {to_english(row.why)}"
                continue
            yield f"  {row.rank:>3}  {row.participant[:34]:<34} {_words(row)}"
        for kind in result.kinds:
            name = "models" if kind.is_model else "people"
            yield f"  {kind.n} {name}: mean {decimal(kind.total, 2)}, 95 % {between(kind.interval, 2)}"

    def statements(self, result: ClozeScoresResult, head: Head) -> Iterator[Statement]:
        if sentence := _sentence(result):
            basis = _("One text to fill; sections of one story say nothing about other stories")
            yield Statement(sentence=sentence, basis=basis, position=45)

    def context(self, result: ClozeScoresResult) -> dict[str, Any]:
        rows = [row for row in result.participants if row.total is not None]
        return {
            "sentence": _sentence(result),
            "reference": REFERENCES[result.reference.name],
            "ranking": ranking_plot(rows),
            "plane": plane_plot(rows),
            "heat": _heat(rows),
            "rows": rows,
            "has_judge_range": any(row.without_a_judge for row in rows),
            "has_interval": any(row.interval.low is not None for row in rows),
            "has_families": any(row.without_family for row in rows),
            "has_cap": any(row.capped != row.total for row in rows),
        }


def _heat(rows: Sequence[ParticipantScore]) -> list[tuple[ParticipantScore, list[tuple[SectionScore, int]]]]:
    """Each participant with its sections and their shades."""
    shades = heat_levels([[part.score for part in row.sections] for row in rows])
    return [(row, list(zip(row.sections, of_row, strict=True))) for row, of_row in zip(rows, shades, strict=True)]


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


def _words(row: ParticipantScore) -> str:
    words = f"{decimal(row.total, 2)}, satisfies {coefficient(row.satisfied)}, surprises {coefficient(row.surprising)}"
    if spread := row.without_a_judge:
        words += f", without a judge {decimal(spread.low, 2)} to {decimal(spread.high, 2)}, rank {_ranks(spread)}"
    if row.interval.low is not None:
        words += f", 95 % {between(row.interval, 2)} over {row.n_texts} fills"
    return words


def _ranks(spread: Sensitivity) -> str:
    return f"{spread.best_rank} to {spread.worst_rank}"


def _sentence(result: ClozeScoresResult) -> str:
    """Who stands first, and whether leaving a judge out puts another there; nothing where two share the first rank."""
    firsts = [row for row in result.participants if row.rank == 1]
    if len(firsts) != 1 or len(result.participants) < 2:
        return ""
    spread = firsts[0].without_a_judge
    words = {
        "name": firsts[0].participant,
        "total": decimal(firsts[0].total, 2),
        "highest": decimal(result.highest, 0),
        "n": sum(row.total is not None for row in result.participants),
    }
    sentence = _("%(name)s has the highest total of %(n)s participants: %(total)s of %(highest)s.") % words
    if spread and spread.worst_rank == 1:
        sentence += " " + _("It stays first whichever judge is left out.")
    elif spread:
        sentence += " " + _("Without one of the judges it stands at rank %(rank)s.") % {"rank": spread.worst_rank}
    if not firsts[0].is_in_reference:
        sentence += " " + _("It stands outside the reference set, so that it can surprise by more than 1.")
    return sentence


def _row(row: ParticipantScore) -> Row:
    judge, section, family = row.without_a_judge, row.without_a_section, row.without_family
    return {
        "rank": row.rank or None,
        "participant": row.participant,
        "kind": "model" if row.is_model else "person",
        "n_texts": row.n_texts,
        "in_reference": row.is_in_reference,
        "total": row.total,
        "satisfies": row.satisfied,
        "surprises": row.surprising,
        "raw_distance": row.distance,
        "fills_low": row.interval.low,
        "fills_high": row.interval.high,
        "without_judge_low": judge and judge.low,
        "without_judge_high": judge and judge.high,
        "without_judge_best_rank": judge and judge.best_rank,
        "without_judge_worst_rank": judge and judge.worst_rank,
        "without_section_best_rank": section and section.best_rank,
        "without_section_worst_rank": section and section.worst_rank,
        "own_family": "; ".join(family.judges) if family else None,
        "without_own_family": family and family.total,
        "without_own_family_rank": family and (family.rank or None),
        "capped": row.capped,
        "capped_rank": row.capped_rank or None,
        "note": to_english(row.why) if row.why else "",
    }


def _kind_row(kind: KindMean) -> Row:
    return {
        "participants": "models" if kind.is_model else "people",
        "n": kind.n,
        "total": kind.total,
        "low": kind.interval.low,
        "high": kind.interval.high,
        "satisfies": kind.satisfied,
        "surprises": kind.surprising,
        "note": ends_note(kind.interval),
    }
