"""The analysis plan of a study: what is tested, fixed before anyone answers. Read strictly, without the database."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.documents.reader import FieldReader

KEY = "analysis_plan"  # of the table in a study file
# Contrasts: every other source against the reference, every two sources, or only the pairs that are named.
AGAINST_REFERENCE, EVERY_PAIR, NAMED_PAIRS = "against_reference", "every_pair", "named_pairs"
CONTRASTS = (AGAINST_REFERENCE, EVERY_PAIR, NAMED_PAIRS)
MOST_PAIRS = 500
# Tests. Model: of all answers, with raters, stories and premises in it. The others are of story means. Default, which a
# plan without a test means: Wilcoxon where groups pair the sources, else Welch. Means: t, paired or Welch. Ranks:
# Wilcoxon where groups pair the sources, else Mann-Whitney with Cliff's delta.
BY_MODEL, BY_DEFAULT, OF_MEANS, OF_RANKS = "model", "default", "means", "ranks"
TESTS = (BY_MODEL, BY_DEFAULT, OF_MEANS, OF_RANKS)
# Of a cloze: whose fills say what is usual, against which surprise is measured. Default: those of models where two or
# more texts are by models, else all.
OF_MODELS, OF_PEOPLE, SHORTLISTED, ALL_TEXTS = "models", "people", "shortlisted", "all"
REFERENCE_TEXTS = ("", OF_MODELS, OF_PEOPLE, SHORTLISTED, ALL_TEXTS)
EMBEDDING = "tfidf-svd"  # by which fills are compared; see `judges.laboratory.embeddings`
# Of NSV's two Spearman's correlations with people, which is the confirmatory one: see `stats.nsv`.
WITHIN_PROMPTS, POOLED = "within", "pooled"
CORRELATIONS = (WITHIN_PROMPTS, POOLED)
# Exclusion rules, in the order in which they stand in tables. See `AnalysisPlan`.
FAILED_CHECKS, FAST, STRAIGHT_LINING, RECOGNISED = "failed_checks", "fast", "straight_lining", "recognised"
NAMED_RATERS, NAMED_STORIES = "raters", "stories"
RULES = (FAILED_CHECKS, FAST, STRAIGHT_LINING, RECOGNISED, NAMED_RATERS, NAMED_STORIES)
# Straight-lining: one answer to all scales of a story, or to all scales of all stories.
OF_A_STORY, OF_ALL_STORIES = "story", "all_stories"
STRAIGHT_LINES = (OF_A_STORY, OF_ALL_STORIES)
MOST_CODES = 500
EPSILON = 0.2  # by which an expert may be better than a judge that stands in; see `stats.alternative_annotator`


@dataclass(frozen=True, kw_only=True)
class AnalysisPlan:
    """What a study is to test.

    outcome : key of the primary outcome, as "verdicts", "scales/empathy" or "scales/scores/depth"
    secondary : keys of secondary outcomes, whose planned contrasts are a family of their own
    reference : name of the source against which the others stand; "" for none
    pairs : names of two sources each, compared beside what `contrasts` says
    margin : in units of the outcome; within it sources count as equally good. None: equivalence is not tested
    jury : codes of judges that are read as one, too; jury_weights : of each of them; none: all alike
    standard : what judges are held against beside people, as the report calls it, such as "the votes"; "" for nothing
    standard_labels : which property of the stories has the label of which question, as ("pairs/best", "upvotes")
    standard_rater : of labels that were imported as answers instead, whose they are; no person
    reference_texts, embedding : of filled clozes, whose fills say what is usual, and by what fills are compared
    nsv_target : of a panel's ideas, the outcomes whose mean is what novelty, surprise and value are to agree with
    nsv_references : name of the reference set that novelty and surprise are measured against
    nsv_coherence : outcome whose Yes makes an idea coherent; "" if none is asked
    nsv_surprise : metric whose value is the surprise; "": the trigram model of the references
    nsv_value : scores from elsewhere, as of a reward model, that are the value; "": it is learnt from pairs
    nsv_pairs : what it is learnt from: a question which story is preferred, or scores from elsewhere, as votes; "": the
        pairs that the target tells apart
    nsv_correlation : which of the two correlations with people is confirmatory
    exclude_failed_checks : leave out raters who failed a comprehension check
    exclude_faster_than : leave out raters who read more words of story a minute; None: nobody for that
    exclude_straight_lining : of STRAIGHT_LINES, leave out a rater's answers about a story, or the rater; "": neither
    exclude_recognised : leave out a rater's answers about a story that the rater recognised
    exclude_raters, exclude_stories : by their codes
    hypotheses, exclusions : in the planner's words; exclusions what no rule says
    """

    outcome: str
    secondary: tuple[str, ...] = ()
    reference: str = ""
    contrasts: str = AGAINST_REFERENCE
    pairs: tuple[tuple[str, str], ...] = ()
    test: str = BY_DEFAULT
    margin: float | None = None
    epsilon: float = EPSILON
    jury: tuple[str, ...] = ()
    jury_weights: tuple[float, ...] = ()
    standard: str = ""
    standard_labels: tuple[tuple[str, str], ...] = ()
    standard_rater: str = ""
    reference_texts: str = ""
    embedding: str = EMBEDDING
    nsv_target: tuple[str, ...] = ()
    nsv_references: str = ""
    nsv_coherence: str = ""
    nsv_surprise: str = ""
    nsv_value: str = ""
    nsv_pairs: str = ""
    nsv_correlation: str = WITHIN_PROMPTS
    hypotheses: str = ""
    exclude_failed_checks: bool = False
    exclude_faster_than: float | None = None
    exclude_straight_lining: str = ""
    exclude_recognised: bool = False
    exclude_raters: tuple[str, ...] = ()
    exclude_stories: tuple[str, ...] = ()
    exclusions: str = ""

    @property
    def rules(self) -> tuple[str, ...]:
        """The exclusion rules that apply, in the order of RULES."""
        is_applied = {
            FAILED_CHECKS: self.exclude_failed_checks,
            FAST: self.exclude_faster_than is not None,
            STRAIGHT_LINING: bool(self.exclude_straight_lining),
            RECOGNISED: self.exclude_recognised,
            NAMED_RATERS: bool(self.exclude_raters),
            NAMED_STORIES: bool(self.exclude_stories),
        }
        return tuple(rule for rule in RULES if is_applied[rule])

    @property
    def weights_of_jury(self) -> tuple[float, ...]:
        """The weight of each judge of the jury."""
        return self.jury_weights or (1.0,) * len(self.jury)

    def detail_of(self, rule: str) -> str:
        """What an exclusion rule says beside its name: the pace, of which stories, or the codes; "" for nothing."""
        details = {
            FAST: "" if self.exclude_faster_than is None else f"{self.exclude_faster_than:g}",
            STRAIGHT_LINING: self.exclude_straight_lining,
            NAMED_RATERS: ", ".join(self.exclude_raters),
            NAMED_STORIES: ", ".join(self.exclude_stories),
        }
        return details.get(rule, "")

    def names(self, first: str, second: str) -> bool:
        """Whether the contrast of these two sources is planned."""
        if self.contrasts == EVERY_PAIR:
            return True
        is_against_reference = self.contrasts == AGAINST_REFERENCE and self.reference in (first, second)
        return is_against_reference or {first, second} in map(set, self.pairs)

    def as_table(self) -> dict[str, Any]:
        """What a document says of it: the outcome, and what is not as it is by default."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        differing = {name: values[name] for name, default in DEFAULTS.items() if values[name] != default}
        return {name: _as_lists(value) for name, value in differing.items()}


def _as_lists(value: Any) -> Any:
    return [_as_lists(each) for each in value] if isinstance(value, tuple) else value


DEFAULTS = {field.name: field.default for field in fields(AnalysisPlan)}


def _number(least: float, most: float, words: str) -> FieldReader:
    """A number between the two, neither of them."""

    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidValue(f"must be a number, not {reader.name_kind(value)}")
        if not math.isfinite(value) or not least < value < most:
            raise InvalidValue(f"must be {words}")
        return float(value)

    return read


def _keys(value: Any) -> tuple[str, ...]:
    """A list of keys of outcomes, each once."""
    if not isinstance(value, list | tuple):
        raise InvalidValue(f"must be a list of outcomes, as [“panel/novelty”], not {reader.name_kind(value)}")
    return tuple(dict.fromkeys(reader.line(130)(key) for key in value))


def _codes(things: str) -> FieldReader:
    """A list of codes, each once. things : what they are of, in the plural"""

    def read(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise InvalidValue(f"must be a list of codes of {things}, as [“A1”, “A2”], not {reader.name_kind(value)}")
        if len(value) > MOST_CODES:
            raise InvalidValue(f"names {len(value)} {things}; at most {MOST_CODES} are read")
        return tuple(dict.fromkeys(reader.line(80)(code) for code in value))

    return read


def _weights(value: Any) -> tuple[float, ...]:
    """A list of numbers, each larger than 0."""
    if not isinstance(value, list | tuple):
        raise InvalidValue(f"must be a list of numbers, as [2, 1, 1], not {reader.name_kind(value)}")
    return tuple(_number(0, math.inf, "a list of numbers larger than 0, as [2, 1, 1]")(weight) for weight in value)


_source = reader.line(200)


def _pairs(value: Any) -> tuple[tuple[str, str], ...]:
    """Pairs of names, none of them twice."""
    if not isinstance(value, list | tuple) or not all(isinstance(pair, list | tuple) for pair in value):
        raise InvalidValue('must be a list of pairs, as [["Ann", "GPT-4"], ["Bob", "GPT-4"]]')
    if len(value) > MOST_PAIRS:
        raise InvalidValue(f"has {len(value)} entries; at most {MOST_PAIRS} are read")
    pairs = [tuple(_source(name) for name in pair) for pair in value]
    for n, pair in enumerate(pairs, start=1):
        words = " – ".join(map(quote, pair)) or "an empty list"
        if len(set(pair)) != 2 or len(pair) != 2:
            raise InvalidValue(f"{words} is no pair; name two different sources")
        if set(pair) in map(set, pairs[: n - 1]):
            raise InvalidValue(f"{words} stands there twice")
    return tuple((first, second) for first, second in pairs)


def _labels(value: Any) -> tuple[tuple[str, str], ...]:
    """Questions, each once, and the property of the stories that has its label."""
    if not isinstance(value, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in value
    ):
        raise InvalidValue('must be a list of questions and properties, as [["pairs/best", "upvotes"]]')
    labels = tuple((reader.line(130)(key), reader.line(80)(name)) for key, name in value)
    for n, (key, _name) in enumerate(labels):
        if key in dict(labels[:n]):
            raise InvalidValue(f"{quote(key)} stands there twice; one property has its labels")
    return labels


READERS: dict[str, Callable[[Any], Any]] = {
    "outcome": reader.line(130),
    "secondary": _keys,
    "reference": reader.line(200),
    "contrasts": reader.one_of(*CONTRASTS),
    "pairs": _pairs,
    "test": reader.one_of(*TESTS),
    "margin": _number(0, math.inf, "larger than 0, in units of the outcome"),
    "epsilon": _number(0, 1, "larger than 0 and smaller than 1, as .2"),
    "jury": _codes("judges"),
    "jury_weights": _weights,
    "standard": reader.line(80),
    "standard_labels": _labels,
    "standard_rater": reader.line(80),
    "reference_texts": reader.one_of(*REFERENCE_TEXTS),
    "embedding": reader.line(200),
    "nsv_target": _keys,
    "nsv_references": reader.line(80),
    "nsv_coherence": reader.line(130),
    "nsv_surprise": reader.line(130),
    "nsv_value": reader.line(130),
    "nsv_pairs": reader.line(130),
    "nsv_correlation": reader.one_of(*CORRELATIONS),
    "hypotheses": reader.text,
    "exclude_failed_checks": reader.boolean,
    "exclude_faster_than": _number(0, math.inf, "larger than 0, in words of story a minute, as 600"),
    "exclude_straight_lining": reader.one_of(*STRAIGHT_LINES),
    "exclude_recognised": reader.boolean,
    "exclude_raters": _codes("raters"),
    "exclude_stories": _codes("stories"),
    "exclusions": reader.text,
}


def parse_analysis_plan(table: Any, path: Path | str) -> AnalysisPlan:
    """The plan that a table says. Raises DocumentError at the first fault."""
    if not isinstance(table, Mapping):
        raise DocumentError(path, KEY, f"must be a table; write it under [{KEY}]")
    values = reader.read_table(table, READERS, path=path, location=KEY)
    reader.check_required(values, ["outcome"], path=path, location=KEY)
    plan = AnalysisPlan(**values)
    if fault := find_fault(plan):
        raise DocumentError(path, f"{KEY}, {fault[0]}", fault[1])
    return plan


def find_fault(plan: AnalysisPlan) -> tuple[str, str] | None:
    """The field that does not go with the others, and why; None if all do."""
    if plan.contrasts == AGAINST_REFERENCE and not plan.reference:
        return "reference", f"is missing; name the source, or say contrasts = “{EVERY_PAIR}” or “{NAMED_PAIRS}”"
    if plan.contrasts == NAMED_PAIRS and not plan.pairs:
        return "pairs", f"is missing; name the pairs, or say contrasts = “{EVERY_PAIR}”"
    if plan.contrasts == EVERY_PAIR and plan.pairs:
        return "pairs", f"every two sources are compared already; leave it out, or say contrasts = “{NAMED_PAIRS}”"
    if plan.outcome in plan.secondary:
        return "secondary", f"{quote(plan.outcome)} is the primary outcome; leave it out here"
    if len(plan.jury) == 1:
        return "jury", f"{quote(plan.jury[0])} alone is no jury; name two judges or more, or none"
    if plan.jury_weights and len(plan.jury_weights) != len(plan.jury):
        return "jury_weights", f"has {len(plan.jury_weights)} for {len(plan.jury)} judges; give one for each, or none"
    return _find_fault_of_standard(plan) or _find_fault_of_nsv(plan)


def _find_fault_of_standard(plan: AnalysisPlan) -> tuple[str, str] | None:
    if plan.standard_labels and plan.standard_rater:
        return "standard_rater", "the labels are a property of the stories already; leave one of the two out"
    if plan.standard and not (plan.standard_labels or plan.standard_rater):
        return (
            "standard_labels",
            "is missing; say which property of the stories has the labels, or whose answers they are",
        )
    if not plan.standard and (plan.standard_labels or plan.standard_rater):
        return "standard", "is missing; say what the report calls it, as “the votes”"
    if plan.standard_rater in plan.jury and plan.standard_rater:
        return "standard_rater", f"{quote(plan.standard_rater)} is in the jury; a standard is no judge"
    return None


def _find_fault_of_nsv(plan: AnalysisPlan) -> tuple[str, str] | None:
    if plan.nsv_target and not plan.nsv_references:
        return "nsv_references", "is missing; name the set of stories that novelty is measured against"
    others = (plan.nsv_references, plan.nsv_coherence, plan.nsv_surprise, plan.nsv_value, plan.nsv_pairs)
    if not plan.nsv_target and any(others):
        return "nsv_target", "is missing; name the scales whose mean stands for creativity, or plan nothing of NSV"
    if plan.nsv_value and plan.nsv_pairs:
        return "nsv_pairs", "says what value is learnt from, and nsv_value that it is not learnt; leave one of them out"
    return None
