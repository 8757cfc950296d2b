"""The methods paragraph of a paper, made from the protocol, the plan and the results: every number in it is theirs.

A sentence that does not hold for the study is not there. Nothing by source stands in it while results are sealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

from django.db.models import Count
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Assignment, Rater
from judges.models import Judge
from reports.figures.coverage import coverage_words
from reports.methods.citation import SHORT, quire_version
from reports.methods.compared_judges import judge_sentences
from reports.methods.compared_sources import comparison_sentences
from reports.methods.sampled_units import Sampled
from reports.methods.snapshots import describe_answering, load_answering
from reports.models import Report
from reports.numbers import coefficient, coefficients, decimal, whole
from reports.results import Results, is_outdated
from studies import protocol
from studies.documents.analysis_plan import WITHIN_PROMPTS
from studies.hashing import sha256
from studies.models import Step, Study
from studies.protocol import Protocol
from studies.protocol.exclusion_words import describe_rules
from studies.protocol.subset_descriptions import describe_subset
from studies.vocabulary import OrderPolicy

# Libraries that compute what a section says, by the section's key.
LIBRARIES = {
    "agreement": ("statsmodels", "krippendorff"),
    "comparisons": ("scipy", "statsmodels"),
    "rankings": ("scipy",),
    "judges": ("scikit-learn",),
    "judges_on_scores": ("scipy",),
    "judges_on_scales": ("scipy",),
    "judges_on_standard": ("scipy",),
    "alternative_annotator": ("scipy", "statsmodels"),
    "nsv": ("scipy", "scikit-learn"),
}


@cache
def installed() -> str:
    """SHA-256 of the versions that a paragraph can name, of Quire and of libraries."""
    names = sorted({"numpy", *(name for names in LIBRARIES.values() for name in names)})
    return sha256(" ".join([quire_version(), *(f"{name} {metadata.version(name)}" for name in names)]))


@dataclass(frozen=True)
class MethodsParagraph:
    """title : of the part; sentences : none where nothing of it holds"""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


def write_paragraphs(study: Study, results: Results, report: Report, sampled: Sampled) -> list[MethodsParagraph]:
    """What was asked of whom, how it was analysed, and which judges answered; parts without a sentence left out."""
    parts = [
        (_("Design and raters"), [*_design(study, results), *_facts(study)]),
        (_("What was asked"), _instruments(study, results)),
        (_("Amendments after launch"), _amendments(results)),
        (_("What was left out"), _exclusions(study, results)),
        (_("Analysis"), [*_plan(study, results), *_statistics(results, sampled)]),
        (_("Judges"), describe_judges(study)),
        (_("Computing"), _computing(results, report)),
    ]
    paragraphs = [MethodsParagraph(title, tuple(sentences)) for title, sentences in parts]
    return [paragraph for paragraph in paragraphs if paragraph.sentences]


def to_text(paragraphs: Iterable[MethodsParagraph]) -> str:
    """The paragraphs as plain text."""
    return "\n\n".join(paragraph.text for paragraph in paragraphs) + "\n"


def _facts(study: Study) -> Iterator[str]:
    return (f"{label}: {words.rstrip('.')}." for label, words in study.plain_facts)


def _design(study: Study, results: Results) -> Iterator[str]:
    progress = results.figures["progress"]
    if progress is None:
        return
    parts = {
        "raters": ngettext("%(n)s rater", "%(n)s raters", progress.n_raters) % {"n": whole(progress.n_raters)},
        "stories": ngettext("%(n)s story", "%(n)s stories", progress.n_stories) % {"n": whole(progress.n_stories)},
        "groups": ngettext("%(n)s group", "%(n)s groups", progress.n_groups) % {"n": whole(progress.n_groups)},
    }
    yield _("%(raters)s read %(stories)s in %(groups)s.") % parts
    if progress.raters == "simulated":
        yield _("All raters were simulated; nothing here was said by a person.")
    if progress.n_seats:
        sentence = ngettext(
            "Each group was to be read by %(k)s rater; %(submitted)s of %(seats)s places (one rater, one "
            "group) were submitted.",
            "Each group was to be read by %(k)s raters; %(submitted)s of %(seats)s places (one rater, "
            "one group) were submitted.",
            study.seats_per_group,
        )
        yield sentence % {
            "k": whole(study.seats_per_group),
            "submitted": whole(progress.n_submitted),
            "seats": whole(progress.n_seats),
        }
    # Of strata, as of sources, only for those to whom results say who wrote.
    if sentence := describe_subset(study, with_strata=bool(results.sources)):
        yield sentence
    yield from _order(study)
    if progress.median_minutes_per_story is not None:
        yield _("The median active time for a story was %(minutes)s minutes.") % {
            "minutes": decimal(progress.median_minutes_per_story)
        }
    if results.sources:
        yield _("Stories were by %(sources)s.") % {
            "sources": get_text_list([f"{row.source} ({row.n_stories})" for row in results.sources], _("and"))
        }


def _order(study: Study) -> Iterator[str]:
    """In which order stories were read: as planned, but of answers brought in nobody knows. One query."""
    submitted = Assignment.objects.first_readings().filter(study=study, status=Assignment.Status.SUBMITTED)
    counts = submitted.aggregate(n=Count("pk"), n_known=Count("position"))
    if counts["n_known"] or not counts["n"]:
        words = {
            OrderPolicy.BALANCED: _("Orders of stories and of groups were counterbalanced by Williams squares."),
            OrderPolicy.RANDOM: _("Orders of stories and of groups were drawn by lot for each person."),
            OrderPolicy.FIXED: _("Stories and groups came in the same order for everybody."),
        }
        yield words[OrderPolicy(study.order_policy)]
    if counts["n_known"] < counts["n"]:
        yield _("In which order stories were read whose answers were brought in is not known.")


def _instruments(study: Study, results: Results) -> Iterator[str]:
    version = protocol.latest(study)
    if version is None:
        return
    current = protocol.load_protocol(version)
    for step in current.steps:
        if step.kind != Step.Kind.RATING or step.instrument is None:
            continue
        instrument, n = step.instrument, len(protocol.items_of(step))
        sentence = ngettext(
            "In the step “%(step)s” raters answered %(n)s item of “%(title)s”, version %(version)s",
            "In the step “%(step)s” raters answered the %(n)s items of “%(title)s”, version %(version)s",
            n,
        ) % {"step": step.title or step.key, "n": n, "title": instrument.title, "version": instrument.version}
        yield f"{sentence} ({instrument.citation})." if instrument.citation else f"{sentence}."
    yield from _checks(current, results)
    progress = results.figures["progress"]
    if progress is not None and progress.n_answers:
        yield _("They gave %(n)s answers; %(missing)s that were due are missing.") % {
            "n": whole(progress.n_answers),
            "missing": whole(progress.n_missing),
        }


def _checks(current: Protocol, results: Results) -> Iterator[str]:
    """Of each comprehension check how often it could be tried, what it decided, and how many raters failed it."""
    listing = results.figures["checks"]
    n_failed_by_step = {row.step: row.n_failed for row in listing.rows} if listing else {}
    for step, options in current.checks:
        if options.ends:
            sentence = ngettext(
                "“%(step)s” was a comprehension check in one attempt; who did not pass it went no further: %(failed)s.",
                "“%(step)s” was a comprehension check in up to %(n)d attempts; who did not pass it went no further: "
                "%(failed)s.",
                options.attempts,
            )
        else:
            sentence = ngettext(
                "“%(step)s” was a comprehension check in one attempt; who did not pass it went on: %(failed)s.",
                "“%(step)s” was a comprehension check in up to %(n)d attempts; who did not pass it went on: "
                "%(failed)s.",
                options.attempts,
            )
        n_failed = n_failed_by_step.get(step.key, 0)
        failed = ngettext("%(n)s rater", "%(n)s raters", n_failed) % {"n": whole(n_failed)}
        yield sentence % {"step": step.title or step.key, "n": options.attempts, "failed": failed}


def _amendments(results: Results) -> Iterator[str]:
    """Each change after the launch with its day and reason, and how many answers were given under each version."""
    listing = results.figures["amendments"]
    for row in listing.rows if listing else ():
        counted = {"day": row.at[:10], "reason": row.reason.rstrip("."), "version": row.version, "n": row.n_answers}
        if not row.holds_for:
            yield _("%(n)s answers were first given under version %(version)s of the protocol.") % counted
        elif row.version is None:
            yield _("On %(day)s it was amended (%(reason)s), which left the protocol as it was.") % counted
        else:
            sentence = _(
                "On %(day)s it was amended (%(reason)s); %(n)s answers were first given under version %(version)s."
            )
            yield sentence % counted


def _exclusions(study: Study, results: Results) -> Iterator[str]:
    """What people answered and no result counts, by why; only reasons that occurred."""
    progress = results.figures["progress"]
    if progress is None:
        return
    words = {
        "open": _("of places not submitted"),
        "given_up": _("of places given up"),
        "withdrawn": _("of raters who withdrew"),
        "simulated": _("of simulated raters"),
        "practice": _("in practice"),
    }
    counts = {name: getattr(progress.left_out, name) for name in words}
    if parts := [f"{whole(n)} {words[name]}" for name, n in counts.items() if n]:
        yield _("No result counts the answers %(parts)s.") % {"parts": get_text_list(parts, _("and"))}
    plan = protocol.frozen_plan(study)
    if plan is None or results.is_sealed:
        return
    if plan.rules:
        rules = "; ".join(describe_rules(plan))
        yield _("The planned comparisons leave out, as the plan says: %(rules)s.") % {"rules": rules}
    if plan.exclusions:
        yield _("Exclusions as planned: %(words)s") % {"words": plan.exclusions.strip()}


def _plan(study: Study, results: Results) -> Iterator[str]:
    plan = protocol.frozen_plan(study)
    if plan is None:
        yield _("No analysis plan was frozen with the protocol, so all analyses are exploratory.")
        return
    yield _("An analysis plan was frozen with the protocol; its primary outcome is confirmatory, all else exploratory.")
    if results.is_sealed:
        return
    yield _("Primary outcome: %(outcome)s.") % {"outcome": plan.outcome}
    if plan.secondary:
        yield _("Planned as secondary outcomes: %(outcomes)s.") % {"outcomes": ", ".join(plan.secondary)}
    if plan.reference:
        yield _("The reference source was %(reference)s.") % {"reference": plan.reference}
    if plan.pairs:
        pairs = get_text_list([f"{first} – {second}" for first, second in plan.pairs], _("and"))
        yield _("Pairs of sources named for comparison: %(pairs)s.") % {"pairs": pairs}
    if plan.margin is not None:
        yield _("Sources count as equally good within a margin of %(margin)s.") % {"margin": decimal(plan.margin, 2)}


def _statistics(results: Results, sampled: Sampled) -> Iterator[str]:
    """One sentence for each section that has a result."""
    shown = {figure.key: result for figure, result in results.visible}
    if rates := shown.get("pass_rates"):
        yield _("Pass rates are the share of Yes among %(n)s verdicts; the mean over items is %(mean)s %%.") % {
            "n": whole(rates.n_verdicts),
            "mean": decimal(rates.mean.overall.value),
        }
    if "ratings" in shown:
        yield _("Ratings are described by their mean and standard deviation.")
    if "pass_rates" in shown or "ratings" in shown:
        yield _intervals(sampled)
    if compared := shown.get("comparisons"):
        yield from comparison_sentences(compared, sampled)
    yield from _agreement(shown.get("agreement"))
    if "rankings" in shown:
        yield _("Agreement on rankings is Kendall’s W within each group, and its mean.")
    if (ideas := shown.get("nsv")) and ideas.scores:
        yield _nsv(ideas.scores)
    yield from judge_sentences(shown)


def _intervals(sampled: Sampled) -> str:
    """What intervals are over."""
    sentence = _(
        "Intervals are 95 %% intervals over %(sampled)s: of means Student’s t below 30 of them and percentile "
        "intervals of resampled ones from 30; of coefficients the jackknife’s below 100 and percentile intervals from "
        "100."
    )
    return sentence % {"sampled": sampled.explained}


def _nsv(scores: Any) -> str:
    setting = scores.setting
    return _(
        "A score of novelty, surprise and value (da Silva and Marcacini, section 3.2) was fitted on %(n)s ideas on "
        "%(p)s prompts and held against the panel on %(m)s ideas on %(q)s others; the confirmatory correlation was "
        "Spearman’s %(which)s."
    ) % {
        "n": whole(setting.n_development),
        "p": len(setting.development),
        "m": whole(setting.n_held_out),
        "q": len(setting.held_out),
        "which": _("within prompts") if scores.confirmatory == WITHIN_PROMPTS else _("over all ideas"),
    }


def _agreement(agreement: Any) -> Iterator[str]:
    if agreement is None:
        return
    mean = agreement.mean
    yield _(
        "Agreement is Fleiss’ kappa, generalised to unequal numbers of ratings (Gwet, 2014), for "
        "nominal answers and Krippendorff’s alpha on scales; the chance floor is the same "
        "coefficient on answers shuffled within each rater."
    )
    if mean is not None and mean.coefficient.value is not None:
        words = {"n": mean.coefficient.n, "kappa": coefficient(mean.coefficient.value)}
        yield (
            ngettext(
                "Kappa of %(n)s item is %(kappa)s %(coverage)s",
                "The mean kappa of %(n)s items is %(kappa)s %(coverage)s",
                mean.coefficient.n or 0,
            )
            % {**words, "coverage": coverage_words(mean.coverage)}
            + (
                _(" (95 %% interval %(ends)s)") % {"ends": coefficients(mean.interval)}
                if mean.interval.low is not None
                else ""
            )
            + (
                _("; shuffled answers pass %(floor)s in 2.5 %% of shuffles.") % {"floor": coefficient(mean.floor.upper)}
                if mean.floor.upper is not None
                else "."
            )
        )


def describe_judges(study: Study) -> Iterator[str]:
    """Each judge with what answered for it: a model with its prompt, or a metric. Two queries, three with a model."""
    kinds = dict(study.raters.exclude(kind=Rater.Kind.PERSON).order_by("code").values_list("code", "kind"))
    known = {
        judge.slug: judge
        for judge in Judge.objects.filter(slug__in=kinds, is_trial=False).select_related("endpoint", "prompt")
    }
    answering = load_answering(study) if any(judge.prompt for judge in known.values()) else {}
    for code in kinds:
        judge = known.get(code)
        if judge is None:
            yield _("The answers of the judge %(judge)s were imported.") % {"judge": code}
        elif judge.metric:
            values = {"judge": code, "metric": judge.metric, "version": judge.metric_version}
            yield _("%(judge)s is the metric %(metric)s, version %(version)s.") % values
        elif judge.prompt is not None:
            words = _(
                "%(judge)s is the model %(model)s, asked with the prompt %(prompt)s, version %(version)s%(rest)s."
            )
            if judge.is_from_log:
                words = _("%(judge)s is the model %(model)s; its replies came in from a file of another tool.")
            yield words % {
                "judge": code,
                "model": judge.model,
                "prompt": judge.prompt.name,
                "version": judge.prompt.version,
                "rest": "".join(f", {name} {value}" for name, value in sorted(judge.parameters.items())),
            }
            yield from describe_answering(code, answering.get(code, []), asked=judge.model)


def _computing(results: Results, report: Report) -> Iterator[str]:
    shown = {figure.key for figure, _result in results.visible}
    names = dict.fromkeys(["numpy", *(name for key in LIBRARIES if key in shown for name in LIBRARIES[key])])
    libraries = get_text_list([f"{name} {metadata.version(name)}" for name in names], _("and"))
    resampled = results.figures["agreement"] or results.figures["pass_rates"]
    if resampled is not None:
        yield _("Resampling and shuffling drew %(n)s times from the seed %(seed)s.") % {
            "n": whole(resampled.n_resamples),
            "seed": resampled.seed,
        }
    if results.study.protocol:
        yield _("Protocol %(version)s has the SHA-256 %(sha256)s.") % {
            "version": results.study.protocol.version,
            "sha256": results.study.protocol.sha256,
        }
    if is_outdated(report):
        yield _("Report %(fingerprint)s was computed on %(day)s, by an earlier version of Quire than %(version)s.") % {
            "fingerprint": report.fingerprint[:SHORT],
            "day": f"{report.made_at:%Y-%m-%d}",
            "version": quire_version(),
        }
        return
    yield _("Computed with Quire %(version)s and %(libraries)s, as installed now; report %(fingerprint)s.") % {
        "version": quire_version(),
        "libraries": libraries,
        "fingerprint": report.fingerprint[:SHORT],
    }
