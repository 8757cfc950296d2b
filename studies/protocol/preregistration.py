"""The analysis plan as text for a registry: Markdown, in English as all files are."""

from collections import Counter
from collections.abc import Iterator

from studies.documents.analysis_plan import (
    AGAINST_REFERENCE,
    BY_DEFAULT,
    EMBEDDING,
    EVERY_PAIR,
    OF_MEANS,
    OF_RANKS,
    AnalysisPlan,
)
from studies.models import ProtocolVersion, Provenance, Study
from studies.protocol.outcomes import Outcome, list_outcomes
from studies.protocol.steps import Protocol

TESTS = {
    BY_DEFAULT: "Wilcoxon's signed-rank test where groups pair the sources, else Welch's t-test",
    OF_MEANS: "the paired t-test where groups pair the sources, else Welch's t-test",
    OF_RANKS: "Wilcoxon's signed-rank test where groups pair the sources, else Mann-Whitney with Cliff's delta",
}
KINDS = {
    "verdicts": "the percentage of Yes over all tests of a story, each weighing the same",
    "dimension": "the percentage of Yes over the tests of one dimension",
    "verdict": "the percentage of Yes to one test",
    "rating": "the mean rating of a story on one scale",
    "preference": "how often a story is chosen out of its group, in percent",
    "rank": "the mean place of a story in its group, 1 the first",
}


def write_preregistration(plan: AnalysisPlan, protocol: Protocol) -> str:
    """The plan with what it rests on: design, outcome, contrasts, tests, margins. Four queries."""
    return "\n".join(_lines(plan, protocol)) + "\n"


def _lines(plan: AnalysisPlan, protocol: Protocol) -> Iterator[str]:
    study = protocol.version.study
    outcome = next((o for o in list_outcomes(protocol.steps) if o.key == plan.outcome), None)
    yield f"# Analysis plan: {study.title}"
    yield ""
    yield _standing(protocol.version)
    if plan.hypotheses:
        yield from ("", "## Hypotheses", "", plan.hypotheses)
    yield from ("", "## Design", "", *_design(study))
    yield from ("", "## Primary outcome", "", f"`{plan.outcome}`: {_describe(outcome)}.")
    yield from ("", "## Contrasts and tests", "", *_tests(plan))
    if plan.reference_texts or plan.embedding != EMBEDDING:
        yield from ("", "## Filled texts", "", *_filled_texts(plan))
    if plan.exclusions:
        yield from ("", "## Exclusions", "", plan.exclusions)
    yield from ("", "All other results are exploratory.")


def _filled_texts(plan: AnalysisPlan) -> Iterator[str]:
    reference = plan.reference_texts or "the texts by models where two or more are by models, else all"
    yield f"- Surprise is the distance from the middle of the fills of: {reference}."
    yield f"- Fills are compared by {plan.embedding}."


def _standing(version: ProtocolVersion) -> str:
    if version.frozen_at is None:
        return "Not yet frozen: it can still change until the protocol is."
    return f"Frozen {version.frozen_at:%Y-%m-%d} with protocol {version.number}, SHA-256 {version.sha256}."


def _design(study: Study) -> Iterator[str]:
    names = Provenance.objects.filter(story__study=study).values_list("source__name", flat=True)
    by_source = ", ".join(f"{name} ({n})" for name, n in sorted(Counter(names).items()))
    n_stories, n_groups = study.stories.count(), study.groups.count()
    yield f"- {n_stories} stories in {n_groups} groups, by source: {by_source or 'not recorded'}."
    yield f"- {study.seats_per_group} raters for each group; order of stories: {study.order_policy}."
    yield "- Raters do not learn who wrote a story."


def _describe(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not asked by the protocol"
    title = f" (“{outcome.title}”)" if outcome.title else ""
    return KINDS[outcome.kind] + title


def _tests(plan: AnalysisPlan) -> Iterator[str]:
    if plan.contrasts == AGAINST_REFERENCE:
        yield f"- Every other source against {plan.reference}."
    elif plan.contrasts == EVERY_PAIR:
        yield "- Every two sources." + (f" Drawn against {plan.reference}." if plan.reference else "")
    yield from (f"- {first} against {second}." for first, second in plan.pairs)
    yield "- Unit: the story, as the mean over its raters; stories on one premise are one cluster."
    yield f"- Test: {TESTS[plan.test]}; two-sided at 5 %, Holm over the contrasts named above."
    yield "- Interval: 95 %, of the mean difference over clusters, t below 30 of them and percentile from 30 on."
    if plan.margin is None:
        yield "- Equivalence is not tested: what cannot be told apart is not called equal."
    else:
        yield f"- Equally good: the 90 % interval (two one-sided tests) lies within ±{plan.margin:g} of its units."
    yield f"- A judge in place of an expert: the alternative annotator test with ε = {plan.epsilon:g}."
