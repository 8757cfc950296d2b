"""What pages show of an expected precision: of each outcome widths, what can be found, and how reliable means are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.design.planned_outcomes import PlannedOutcome
from studies.models import StudyJob

ALPHA = 0.05
FEW_STUDIES = 20  # below which a share of them is no percentage
COEFFICIENTS = {
    "kappa": gettext_lazy("Agreement of raters, Fleiss’ kappa"),
    "alpha": gettext_lazy("Agreement of raters, Krippendorff’s alpha"),
    "concordance": gettext_lazy("Agreement of raters, Kendall’s W"),
    "strength": gettext_lazy("Strength of a source, in log odds"),
    "judge_kappa": gettext_lazy("A judge beside people, kappa"),
    "judge_spearman": gettext_lazy("A judge beside people, Spearman’s correlation"),
    "judge_accuracy": gettext_lazy("A judge beside people, agreement in %"),
    "judge_tau": gettext_lazy("A judge beside people, Kendall’s tau"),
}
WHY = {
    "one_source": gettext_lazy("No two sources are known, so there is nothing to compare."),
    "no_shared_premise": gettext_lazy("No group holds stories of both sources, so they cannot be compared."),
    "sources_not_linked": gettext_lazy("No rater reads both sources, so they cannot be compared."),
}
CANNOT = gettext_lazy("With this plan sources cannot be compared: too few stories, groups or raters.")


@dataclass(frozen=True)
class WidthRow:
    """A result with half of its expected 95 % interval; "–" where there is none."""

    label: str
    same_raters: str
    other_raters: str


@dataclass(frozen=True)
class ExpectedOutcome:
    """What an outcome is expected to come to. problems : what the plan cannot do; sentences : what it can"""

    title: str
    is_primary: bool
    rows: list[WidthRow]
    problems: list[str]
    sentences: list[str]


def describe_outcomes(job: StudyJob | None, planned: Sequence[PlannedOutcome]) -> list[ExpectedOutcome]:
    """The outcomes that a job has simulated, of those that are planned still; none before it has ended."""
    if job is None or job.outcome is None:
        return []
    row_by_key = {row["key"]: row for row in job.outcome["rows"]}
    return [describe_outcome(row_by_key[one.key], one) for one in planned if one.key in row_by_key]


def describe_outcome(row: Mapping[str, Any], planned: PlannedOutcome) -> ExpectedOutcome:
    return ExpectedOutcome(
        title_of(planned),
        planned.is_primary,
        list(_widths(row, planned)),
        list(list_problems(row["contrasts"], planned)),
        list(_sentences(row, planned)),
    )


def title_of(planned: PlannedOutcome) -> str:
    """What a page calls the outcome, or those that are alike."""
    if planned.n_outcomes > 1:
        titles = {
            "verdict": _("One of %(n)d questions with Yes or No"),
            "rating": _("One of %(n)d scales"),
        }
        title = titles.get(planned.typical, _("One of %(n)d scores")) % {"n": planned.n_outcomes}
        return f"{title}, {planned.low:g}–{planned.high:g}" if planned.unit == "points" else title
    title = planned.title or _("All tests together, % Yes")
    return f"{title}, {planned.low:g}–{planned.high:g}" if planned.unit == "points" else title


def _widths(row: Mapping[str, Any], planned: PlannedOutcome) -> Iterator[WidthRow]:
    contrasts = row["contrasts"]
    if contrasts["same_raters"] is not None:
        yield WidthRow(
            _("Difference of two sources"),
            written_width(contrasts["same_raters"], planned),
            written_width(contrasts["other_raters"], planned),
        )
        widest, usual = contrasts["widest"], contrasts["other_raters"]
        if widest is not None and usual is not None and widest > 1.1 * usual:
            yield WidthRow(_("The same for the pair with the widest interval"), "", written_width(widest, planned))
        if contrasts["mean"] is not None:
            yield WidthRow(_("Mean of a source"), "", written_width(contrasts["mean"], planned))
    for coefficient in row["coefficients"]:
        half, is_percent = coefficient["half_width"], coefficient["name"] == "judge_accuracy"
        text = "–" if half is None else f"± {rounded(half, 0 if is_percent else 2)}"
        yield WidthRow(str(COEFFICIENTS[coefficient["name"]]), text, "")


def written_width(half: float | None, planned: PlannedOutcome) -> str:
    """A half width in the outcome's unit."""
    if half is None:
        return "–"
    if planned.unit == "percent":
        return _("± %(n)s points") % {"n": rounded(half, 0 if half >= 1 else 1)}
    return f"± {rounded(half, 2)}"


def list_problems(contrasts: Mapping[str, Any], planned: PlannedOutcome) -> Iterator[str]:
    """What the plan cannot do."""
    if contrasts["why"]:
        yield str(WHY.get(contrasts["why"], CANNOT))
    elif contrasts["least_p"] is not None and contrasts["least_p"] >= ALPHA:
        sentence = _(
            "The least p that the test can reach after correction is %(p)s: nothing can be found, however large the "
            "difference. Plan fewer comparisons or more groups."
        )
        yield sentence % {"p": rounded(contrasts["least_p"], 2)}
        if planned.kind in ("verdict", "scale"):
            yield _("The mixed model, as the test of the analysis plan, has no least p.")


def _sentences(row: Mapping[str, Any], planned: PlannedOutcome) -> Iterator[str]:
    contrasts, reliability = row["contrasts"], row["reliability"]
    if contrasts["power"] is not None:
        yield power_sentence(row, planned)
        yield least_p_sentence(contrasts)
        if contrasts["false_claims"] is not None:
            sentence = _("Where no two sources differ, a difference is still called clear in %(share)s.")
            yield sentence % {"share": studies_text(contrasts["false_claims"], contrasts["n_studies"])}
    if reliability:
        yield _reliability_sentence(reliability)
    if contrasts["n_studies"]:
        sentence = _(
            "Simulated studies: %(n)d, and as many with the difference; a share is exact to ± %(error)s points."
        )
        n = contrasts["n_studies"]
        yield sentence % {"n": n, "error": rounded(100 * 1.96 * 0.5 / n**0.5, 0)}


def power_sentence(row: Mapping[str, Any], planned: PlannedOutcome) -> str:
    """How often the difference that was asked for is found."""
    contrasts = row["contrasts"]
    names = {
        "effect": effect_text(row["effect"], planned),
        "power": studies_text(contrasts["power"], contrasts["n_studies"]),
        "same": share_text(contrasts["power_same_raters"], contrasts["n_studies"]),
    }
    return _("%(effect)s is found in %(power)s, at least for these raters in %(same)s.") % names


def least_p_sentence(contrasts: Mapping[str, Any]) -> str:
    """The least p that can be reached."""
    least = contrasts["least_p"]
    if not least:
        return _("The test can reach any p, however small, if the difference is large enough.")
    return _("The least p that the test can reach after correction is %(p)s.") % {"p": _significant(least)}


def effect_text(effect: float, planned: PlannedOutcome) -> str:
    number = f"{effect:g}"
    if planned.kind in ("preference", "rank"):
        return _("A source that is put before another in %(n)s %% of pairs") % {"n": number}
    if planned.unit == "percent":
        return _("A difference of %(n)s percentage points") % {"n": number}
    return _("A difference of %(n)s points") % {"n": number}


def rounded(number: float, places: int = 0) -> str:
    """The number as its language writes it; `number_format` alone cuts digits off."""
    return str(number_format(round(number, places), places))


def _significant(p: float) -> str:
    """With two digits that say something."""
    return rounded(p, max(2, 1 - floor(log10(p))))


def share_text(share: float, n_studies: int) -> str:
    """A share of studies in percent, of few as their number; below the first that could be seen, as less than that."""
    if n_studies < FEW_STUDIES:
        return _("%(n)d of %(all)d") % {"n": round(share * n_studies), "all": n_studies}
    if share == 0:
        return _("fewer than %(n)s %%") % {"n": rounded(max(1.0, 300 / n_studies))}
    return f"{rounded(100 * share)} %"


def studies_text(share: float, n_studies: int) -> str:
    """The same as a part of a sentence about simulated studies."""
    if n_studies < FEW_STUDIES:
        return _("%(n)d of %(all)d simulated studies") % {"n": round(share * n_studies), "all": n_studies}
    return _("%(share)s of simulated studies") % {"share": share_text(share, n_studies)}


def _reliability_sentence(reliability: Mapping[str, Any]) -> str:
    if reliability["coefficient"] is None:
        return _("Stories of a source are assumed not to vary, so their means have no reliability.")
    sentence = ngettext(
        "The mean of %(n)d rater distinguishes stories of a source with a reliability (G) of %(g)s; "
        "%(goal)s takes %(needed)d raters.",
        "The mean of %(n)d raters distinguishes stories of a source with a reliability (G) of %(g)s; "
        "%(goal)s takes %(needed)d raters.",
        reliability["n_raters"],
    )
    names = {
        "n": reliability["n_raters"],
        "g": rounded(reliability["coefficient"], 2),
        "goal": rounded(0.8, 2),
        "needed": reliability["n_needed"],
    }
    return sentence % names
