"""The analysis plan as text for a registry: Markdown, in English as all files are."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC

from django.utils import translation

from studies.documents.analysis_plan import (
    AGAINST_REFERENCE,
    BY_DEFAULT,
    BY_MODEL,
    EMBEDDING,
    EVERY_PAIR,
    FAILED_CHECKS,
    OF_MEANS,
    OF_RANKS,
    WITHIN_PROMPTS,
    AnalysisPlan,
)
from studies.models import Amendment, ProtocolVersion, Provenance, Study
from studies.protocol.amendments import list_stored_places
from studies.protocol.exclusion_words import describe_rules
from studies.protocol.outcomes import Outcome, describe_score, list_outcomes
from studies.protocol.steps import Protocol, read_rows
from studies.protocol.subset_descriptions import describe_subset
from studies.protocol.versions import latest
from studies.typography.differences import find_differences, shorten

TESTS = {
    BY_MODEL: "t of a linear mixed model of all answers, with sources and shared prompts fixed, and raters, what "
    "raters make of a source, and stories drawn at random, by REML with Satterthwaite's degrees of freedom",
    BY_DEFAULT: "Wilcoxon's signed-rank test where groups pair the sources, else Welch's t-test",
    OF_MEANS: "the paired t-test where groups pair the sources, else Welch's t-test",
    OF_RANKS: "Wilcoxon's signed-rank test where groups pair the sources, else Mann-Whitney with Cliff's delta",
}
KINDS = {
    "verdicts": "the percentage of Yes over all tests of a story, each weighing the same",
    "dimension": "the percentage of Yes over the tests of one dimension",
    "verdict": "the percentage of Yes to one test",
    "score": "a score that its instrument declares, as the mean over raters who answered all of its items",
    "scale_mean": "the mean of the scales with the same ends, not declared as a score, over raters who answered all",
    "rating": "the mean rating of a story on one scale",
    "preference": "how often a story is chosen out of its group, in percent",
    "rank": "the mean rank of a story in its group, 1 the first",
}
HOLDS_FOR = {
    Amendment.HoldsFor.NEWCOMERS: "those who began after it",
    Amendment.HoldsFor.EVERYBODY: "everybody, also those at work",
}
MARKS = {"same": "{}", "gone": "~~{}~~", "new": "**{}**"}


def write_preregistration(study: Study, plan: AnalysisPlan) -> str:
    """The plan with what it rests on, as it was frozen first: design, outcome, contrasts, tests, margins. Below it what
    was amended since. Eight queries."""
    protocol = read_rows(study.frozen_versions.first() or latest(study))
    with translation.override("en"):
        return "\n".join([*_lines(plan, protocol), *_amendments(study, protocol)]) + "\n"


def _lines(plan: AnalysisPlan, protocol: Protocol) -> Iterator[str]:
    version = protocol.version
    study = version.study
    frozen = json.loads(version.document) if version.frozen_at else {}
    outcome = next((o for o in list_outcomes(protocol.steps) if o.key == plan.outcome), None)
    yield f"# Analysis plan: {frozen.get('title', study.title)}"
    yield ""
    yield _standing(version)
    if plan.hypotheses:
        yield from ("", "## Hypotheses", "", plan.hypotheses)
    n_repeats = frozen.get("n_repeats", 0) if frozen else study.n_repeats
    design = _design(study, frozen.get("seats_per_group", study.seats_per_group), n_repeats)
    yield from ("", "## Design", "", *design, *_checks(plan, protocol))
    yield from ("", "## Primary outcome", "", f"`{plan.outcome}`: {_describe(outcome)}.")
    if plan.secondary:
        yield from ("", "## Secondary outcomes", "", *_secondary(plan, protocol))
    yield from ("", "## Contrasts and tests", "", *_tests(plan))
    if plan.reference_texts or plan.embedding != EMBEDDING:
        yield from ("", "## Filled texts", "", *_filled_texts(plan))
    if plan.nsv_target:
        yield from ("", "## Novelty, surprise and value", "", *_nsv(plan))
    if plan.rules or plan.exclusions:
        yield from ("", "## Exclusions", "", *_exclusions(plan))
    yield from ("", "All other results are exploratory.")


def _amendments(study: Study, protocol: Protocol) -> Iterator[str]:
    """Each change since the launch: its day, its reason, who it applies to, and the words that differ."""
    amendments = study.amendments.select_related("version").defer("version__document").order_by("number")
    step_by_key = {step.key: step for step in protocol.steps}
    for n, amendment in enumerate(amendments):
        if n == 0:
            yield from ("", "## Amendments", "", "Made after the launch; the text above is what was frozen before it.")
        number = f", protocol {amendment.version.number}" if amendment.version else ""
        yield from ("", f"### {amendment.number}. {amendment.at.astimezone(UTC):%Y-%m-%d}{number}", "")
        yield f"- Reason: {_in_a_line(amendment.reason)}"
        yield f"- Holds for: {HOLDS_FOR[Amendment.HoldsFor(amendment.holds_for)]}."
        for place in list_stored_places(amendment, step_by_key):
            passages = shorten(find_differences(place.before, place.after))
            words = " ".join(MARKS[p.kind].format(line) for p in passages if (line := _in_a_line(p.text)))
            yield f"- {place.label}: {words}"


def _secondary(plan: AnalysisPlan, protocol: Protocol) -> Iterator[str]:
    outcome_by_key = {outcome.key: outcome for outcome in list_outcomes(protocol.steps)}
    yield from (f"- `{key}`: {_describe(outcome_by_key.get(key))}." for key in plan.secondary)
    yield "- Contrasts as named below, by the mixed model (places, choices: the default test); Holm over all of them."


def _exclusions(plan: AnalysisPlan) -> Iterator[str]:
    """The rules, then what no rule says."""
    if plan.rules:
        yield from (f"- Left out: {words}." for words in describe_rules(plan))
        yield (
            "- The planned contrasts are computed without what a rule leaves out; each is reported with all answers as "
            "well. All other results but the specification curve count all answers."
        )
    if plan.exclusions:
        yield from ("", plan.exclusions) if plan.rules else (plan.exclusions,)


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


def _filled_texts(plan: AnalysisPlan) -> Iterator[str]:
    reference = plan.reference_texts or "the texts by models where two or more are by models, else all"
    yield f"- Surprise is the distance from the middle of the fills of: {reference}."
    yield f"- Fills are compared by {plan.embedding}."


def _nsv(plan: AnalysisPlan) -> Iterator[str]:
    target = ", ".join(f"`{key}`" for key in plan.nsv_target)
    surprise = f"the metric {plan.nsv_surprise}" if plan.nsv_surprise else "a trigram model of the references"
    confirmatory = "the mean of those within prompts" if plan.nsv_correlation == WITHIN_PROMPTS else "that pooled"
    yield f"- What stands for creativity: the mean of {target}, over raters."
    yield f"- Reference set: {plan.nsv_references}; neighbours k = 10 in the prompt and in the set, alpha .5."
    yield f"- Surprise by {surprise}; value {_value_of_nsv(plan)}."
    yield (
        "- Half of the prompts, drawn from the study's seed, to fit medians, MADs, preferences and weights; all else "
        "on the rest."
    )
    yield (
        f"- H1: Spearman's correlation with the target is .6 or more; confirmatory is {confirmatory}, by the lower end "
        "of its 95 % interval."
    )
    coherent = f" and coherent by `{plan.nsv_coherence}`" if plan.nsv_coherence else ""
    yield (
        f"- H2: ideas above people's 95th percentile{coherent}, after the last round of feedback against ideas "
        "without, paired by prompt; sign flips, one-sided at 5 %."
    )


def _value_of_nsv(plan: AnalysisPlan) -> str:
    if plan.nsv_value:
        return f"by the scores {plan.nsv_value}"
    if "/" in plan.nsv_pairs:
        return f"learnt from people's choices in `{plan.nsv_pairs}`"
    if plan.nsv_pairs:
        return f"learnt from pairs of ideas of one prompt in the order of the scores {plan.nsv_pairs}"
    return "from pairs of ideas of one prompt that the target tells apart"


def _standing(version: ProtocolVersion) -> str:
    if version.frozen_at is None:
        return "Not yet frozen: it can still change until the protocol is."
    return f"Frozen {version.frozen_at:%Y-%m-%d} with protocol {version.number}, SHA-256 {version.sha256}."


def _design(study: Study, seats_per_group: int, n_repeats: int) -> Iterator[str]:
    names = Provenance.objects.filter(story__study=study).values_list("source__name", flat=True)
    by_source = ", ".join(f"{name} ({n})" for name, n in sorted(Counter(names).items()))
    n_stories, n_groups = study.stories.count(), study.groups.count()
    yield f"- {n_stories} stories in {n_groups} groups, by source: {by_source or 'not recorded'}."
    if sentence := describe_subset(study, with_strata=True):
        yield f"- {sentence}"
    yield f"- {seats_per_group} raters for each group; order of stories: {study.order_policy}."
    if n_repeats:
        yield f"- Groups that each person reads twice, at the end: {n_repeats}; only self-agreement counts them."
    yield "- Raters do not learn who wrote a story."


def _checks(plan: AnalysisPlan, protocol: Protocol) -> Iterator[str]:
    stays = "goes on; the planned contrasts leave the answers out"
    if FAILED_CHECKS not in plan.rules:
        stays = "goes on and is counted"
    for step, options in protocol.checks:
        attempts = "one attempt" if options.attempts == 1 else f"up to {options.attempts} attempts"
        way = "goes no further" if options.ends else f"{stays}, and the failure is recorded"
        yield f"- Comprehension check “{step.title or step.key}”: {attempts}; who does not pass it {way}."


def _describe(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not asked by the protocol"
    title = f" (“{outcome.title}”)" if outcome.title else ""
    made_of = describe_score(outcome)
    return KINDS[outcome.kind] + title + (f": {made_of}" if made_of else "")


def _tests(plan: AnalysisPlan) -> Iterator[str]:
    if plan.contrasts == AGAINST_REFERENCE:
        yield f"- Every other source against {plan.reference}."
    elif plan.contrasts == EVERY_PAIR:
        yield "- Every two sources." + (f" Drawn against {plan.reference}." if plan.reference else "")
    yield from (f"- {first} against {second}." for first, second in plan.pairs)
    if plan.test == BY_MODEL:
        yield "- Unit of analysis: the single answer, with its rater, its story and its writing prompt in the model."
    else:
        yield "- Unit of analysis: the story, as the mean over its raters."
    yield (
        "- Clusters: groups, those on the same of several writing prompts "
        "together; single stories where groups are batches, which have no prompts that set them apart and no item "
        "that compares their stories, mostly hold several stories by one source, and are all read by the same raters."
    )
    yield f"- Test: {TESTS[plan.test]}; two-sided at 5 %, Holm over the contrasts named above."
    if plan.test == BY_MODEL:
        yield "- Interval: 95 %, of the model's difference, by t, for other stories and other raters."
    else:
        yield "- Interval: 95 %, of the mean difference over clusters, t below 30 of them and percentile from 30 on."
    if plan.margin is None:
        yield "- Equivalence is not tested: what cannot be told apart is not called equal."
    else:
        yield f"- Equally good: the 90 % interval (two one-sided tests) lies within ±{plan.margin:g} of its units."
    yield f"- A judge in place of an expert: the alternative annotator test with ε = {plan.epsilon:g}."
    if plan.jury:
        weights = ", ".join(
            f"{name} ({weight:g})" for name, weight in zip(plan.jury, plan.weights_of_jury, strict=True)
        )
        yield (
            f"- Jury: judges read as one beside each of them, with their weights: {weights}. Of verdicts and choices "
            "what has more than half of the weight of those who answered, of scales their weighted mean, where two or "
            "more answered; a tie is no answer."
        )
    if plan.standard:
        yield (
            f"- Standard: judges, metrics and preference models are also held against {plan.standard}, which is no "
            f"person: {_labels(plan)}. It counts neither among people nor among judges."
        )


def _labels(plan: AnalysisPlan) -> str:
    """Where the labels of the standard are from."""
    if plan.standard_rater:
        return f"the answers imported as {plan.standard_rater}"
    words = ", ".join(f"`{key}` by the property “{name}”" for key, name in plan.standard_labels)
    return f"{words}; of a pair the story with the higher value is preferred, and equal values prefer neither"
