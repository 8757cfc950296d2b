"""Strata of stories by one to three criteria, and a seeded draw from them: a number in all, or a number from each.

The same texts, rule and seed draw the same stories, in whatever order the texts came in. A draw of more from each
stratum with the same seed holds all those of a draw of fewer.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, TypeAlias

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.documents.errors import InvalidValue, quote
from studies.documents.rated_stories import read_moment, read_score

SOURCE, GROUP, TEXT = "source", "group", "text"  # columns of files of stories, so that no factor has such a name
DOUBT = "=doubt"  # of stories that were not drawn, but chosen since judges were in doubt; no factor has such a name
N_PARTS_BY_WORD = {"halves": 2, "thirds": 3, "quarters": 4}
MOST_CRITERIA = 3


class CannotDraw(ValueError):
    """Nothing is drawn; the message says why, and what would do."""


@dataclass(frozen=True)
class DrawableStory:
    """A story that can be drawn.

    key : its primary key
    sha256, code : of its text, and its own; by them stories are sorted before the draw
    prompts : by identity the words of each prompt that it is read on
    """

    key: int
    sha256: str
    code: str
    n_words: int
    source: str
    prompts: Mapping[str, str]
    factors: Mapping[str, Any]


@dataclass(frozen=True)
class Criterion:
    """What strata are formed by: each value of the name, n parts of a number, or before a day and from it on."""

    name: str
    n_parts: int = 0
    day: date | None = None

    def __str__(self) -> str:
        """As `parse_criterion` reads it."""
        parts = next((word for word, n in N_PARTS_BY_WORD.items() if n == self.n_parts), "")
        division = self.day.isoformat() if self.day else parts
        return f"{self.name}={division}" if division else self.name


@dataclass(frozen=True)
class SubsetRule:
    """What is drawn: n stories in all, spread evenly over the strata, or n from each of them."""

    n: int
    seed: int
    is_each: bool = False
    criteria: tuple[Criterion, ...] = ()


@dataclass(frozen=True)
class StratumDraw:
    """What is drawn from a stratum.

    labels : of its part of each criterion; keys : of the drawn stories
    n_asked : how many it was to give: where stories are counted in all, at least an even share of them
    """

    labels: tuple[str, ...]
    n_there: int
    n_asked: int
    keys: tuple[int, ...]

    @property
    def n_taken(self) -> int:
        return len(self.keys)

    @property
    def n_lacking(self) -> int:
        return max(self.n_asked - self.n_there, 0)


@dataclass(frozen=True)
class SubsetDraw:
    """What a rule draws. left_out : by criterion, as it is written, how many stories have no value for it"""

    rule: SubsetRule
    strata: tuple[StratumDraw, ...]
    left_out: Mapping[str, int]

    @property
    def keys(self) -> list[int]:
        return [key for stratum in self.strata for key in stratum.keys]

    @property
    def n_there(self) -> int:
        return sum(stratum.n_there for stratum in self.strata)

    @property
    def n_taken(self) -> int:
        return sum(stratum.n_taken for stratum in self.strata)

    @property
    def n_lacking(self) -> int:
        """How many strata have fewer stories than each was to give."""
        return sum(stratum.n_lacking > 0 for stratum in self.strata)


@dataclass(frozen=True, order=True)
class _Part:
    """One part of a criterion. place : among its parts"""

    place: int
    label: str


_Stratum: TypeAlias = tuple[_Part, ...]  # a part of each criterion


def parse_criterion(text: str) -> Criterion:
    """The criterion as it is written: NAME, NAME=thirds, NAME=2023-01-31. Raises CannotDraw."""
    name, _sign, division = (word.strip() for word in text.partition("="))
    if name in (SOURCE, GROUP) and division:
        raise CannotDraw(_("“%(name)s” is neither a number nor a date: write it without “=”.") % {"name": name})
    if name == TEXT and division not in N_PARTS_BY_WORD:
        raise CannotDraw(_("Strata by length need a number of parts: write text=halves, text=thirds or text=quarters."))
    if division in N_PARTS_BY_WORD:
        return Criterion(name, n_parts=N_PARTS_BY_WORD[division])
    if not division:
        return Criterion(name)
    try:
        return Criterion(name, day=date.fromisoformat(division))
    except ValueError:
        sentence = _(
            "“%(text)s” cannot be read: write %(name)s, %(name)s=thirds, %(name)s=quarters or %(name)s=2023-01-31."
        )
        raise CannotDraw(sentence % {"text": text, "name": name or "tier"}) from None


def draw(candidates: Sequence[DrawableStory], rule: SubsetRule) -> SubsetDraw:
    """What the rule draws from these stories. Raises CannotDraw."""
    import numpy as np  # here, since pages that never draw import this module

    _check(candidates, rule)
    divisions = [_divide(candidates, criterion) for criterion in rule.criteria]
    left_out = {
        str(criterion): len(candidates) - len(part_by_key)
        for criterion, part_by_key in zip(rule.criteria, divisions, strict=True)
        if len(part_by_key) < len(candidates)
    }
    ordered = sorted(candidates, key=lambda candidate: (candidate.sha256, candidate.code))
    keys_by_stratum: dict[_Stratum, list[int]] = defaultdict(list)
    for place in np.random.default_rng(abs(rule.seed)).permutation(len(ordered)):
        key = ordered[place].key
        if all(key in part_by_key for part_by_key in divisions):
            keys_by_stratum[tuple(part_by_key[key] for part_by_key in divisions)].append(key)
    n_by_stratum = _allot_each(keys_by_stratum, rule) if rule.is_each else _allot_in_all(keys_by_stratum, rule)
    even_share = 0 if rule.is_each else rule.n // len(keys_by_stratum)
    strata = [
        StratumDraw(
            labels=tuple(part.label for part in stratum),
            n_there=len(keys),
            n_asked=max(n_by_stratum[stratum], even_share),
            keys=tuple(keys[: n_by_stratum[stratum]]),
        )
        for stratum, keys in sorted(keys_by_stratum.items())
    ]
    return SubsetDraw(rule, tuple(strata), left_out)


def _check(candidates: Sequence[DrawableStory], rule: SubsetRule) -> None:
    names = [criterion.name for criterion in rule.criteria]
    if not candidates:
        raise CannotDraw(_("There are no stories to draw from: import stories first."))
    if rule.n < 1:
        raise CannotDraw(_("Ask for one story or more."))
    if len(names) > MOST_CRITERIA:
        raise CannotDraw(_("Strata are formed by %(n)d criteria at most; leave one out.") % {"n": MOST_CRITERIA})
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise CannotDraw(_("“%(name)s” is named twice; leave one out.") % {"name": twice})
    if rule.is_each and not names:
        raise CannotDraw(_("Choose what the strata are formed by, or ask for a number of stories in all."))


def _divide(candidates: Sequence[DrawableStory], criterion: Criterion) -> dict[int, _Part]:
    """The part of each story that has a value for the criterion. Raises CannotDraw."""
    if criterion.name == GROUP:
        return _divide_by_prompt(candidates)
    if criterion.name == SOURCE:
        values: dict[int, Any] = {c.key: c.source for c in candidates if c.source}
    elif criterion.name == TEXT:
        values = {candidate.key: candidate.n_words for candidate in candidates}
    else:
        values = _read_factor(candidates, criterion.name)
    if criterion.n_parts:
        parts = _divide_by_quantiles(_read_numbers(values, criterion, read_score), criterion.n_parts)
    elif criterion.day:
        parts = _divide_at_day(_read_numbers(values, criterion, read_moment), criterion.day)
    else:
        parts = _divide_by_value(values)
    if len(set(parts.values())) < 2:
        raise CannotDraw(
            _("All stories are alike in “%(name)s”, so it divides nothing: leave it out.") % {"name": criterion.name}
        )
    return parts


def _read_factor(candidates: Sequence[DrawableStory], name: str) -> dict[int, Any]:
    values = {c.key: c.factors[name] for c in candidates if c.factors.get(name) not in (None, "")}
    if not values:
        names = sorted({name for candidate in candidates for name in candidate.factors})
        sentence = _("No story has a property “%(name)s”. There are: %(names)s.")
        raise CannotDraw(sentence % {"name": name, "names": ", ".join([SOURCE, GROUP, f"{TEXT}=quarters", *names])})
    return values


def _read_numbers(values: Mapping[int, Any], criterion: Criterion, read: Callable[[Any], float]) -> dict[int, float]:
    """The values as numbers. Raises CannotDraw, naming one that is none."""
    numbers, invalid_values = {}, []
    for key, value in values.items():
        try:
            numbers[key] = float(read(value))
        except InvalidValue:
            invalid_values.append(value)
    if n := len(invalid_values):
        sentence = (
            ngettext(
                "In %(n)d story “%(name)s” is not a date: %(value)s. Write %(name)s without a day, or correct it.",
                "In %(n)d stories “%(name)s” is not a date, as in %(value)s. Write %(name)s without a day, or correct "
                "them.",
                n,
            )
            if criterion.day
            else ngettext(
                "In %(n)d story “%(name)s” is not a number: %(value)s. Write %(name)s without parts, or correct it.",
                "In %(n)d stories “%(name)s” is not a number, as in %(value)s. Write %(name)s without parts, or "
                "correct them.",
                n,
            )
        )
        raise CannotDraw(sentence % {"name": criterion.name, "n": n, "value": quote(invalid_values[0])})
    return numbers


def _divide_by_prompt(candidates: Sequence[DrawableStory]) -> dict[int, _Part]:
    if several := next((c for c in candidates if len(c.prompts) > 1), None):
        sentence = _(
            "“%(story)s” is read on several prompts, so it belongs to no single stratum by prompt: choose another "
            "criterion."
        )
        raise CannotDraw(sentence % {"story": several.code})
    words: dict[str, str] = {}
    for candidate in candidates:
        for prompt, text in candidate.prompts.items():
            words.setdefault(prompt, text)
    place_by_prompt = {prompt: n for n, prompt in enumerate(sorted(words))}
    if len(words) < 2:
        raise CannotDraw(_("All stories are on one prompt, so it divides nothing: leave it out."))
    return {
        candidate.key: _Part(place_by_prompt[prompt], words[prompt])
        for candidate in candidates
        for prompt in candidate.prompts
    }


def _divide_by_value(values: Mapping[int, Any]) -> dict[int, _Part]:
    """Numbers by size, then words by the alphabet; 1 and “1” are one value, as files of CSV know no other."""
    label_by_key = {key: _format_value(value) for key, value in values.items()}

    def sort_key(label: str) -> tuple[bool, float, str]:
        try:
            return False, read_score(label), label
        except InvalidValue:
            return True, 0, label

    place_by_label = {label: n for n, label in enumerate(sorted(set(label_by_key.values()), key=sort_key))}
    return {key: _Part(place_by_label[label], label) for key, label in label_by_key.items()}


def _format_value(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:g}"
    return str(value)


def _divide_by_quantiles(numbers: Mapping[int, float], n_parts: int) -> dict[int, _Part]:
    """Parts of about as many stories; equal numbers stand in one part, so that ties can make parts uneven or fewer."""
    import numpy as np

    values = np.array(list(numbers.values()), dtype=np.float64)
    cuts = np.unique(np.quantile(values, np.arange(1, n_parts) / n_parts, method="inverted_cdf"))
    places = np.searchsorted(cuts, values, side="left")
    parts = {}
    for place in np.unique(places):
        least, most = (_format_value(float(end(values[places == place]))) for end in (np.min, np.max))
        parts[int(place)] = _Part(int(place), least if least == most else f"{least} – {most}")
    return {key: parts[int(place)] for key, place in zip(numbers, places, strict=True)}


def _divide_at_day(moments: Mapping[int, float], day: date) -> dict[int, _Part]:
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    parts = (_Part(0, f"< {day.isoformat()}"), _Part(1, f"≥ {day.isoformat()}"))
    return {key: parts[moment >= begin] for key, moment in moments.items()}


def _allot_each(keys_by_stratum: Mapping[_Stratum, Sequence[int]], rule: SubsetRule) -> dict[_Stratum, int]:
    """The same number for each stratum. Raises CannotDraw if none has so many stories."""
    most = max(map(len, keys_by_stratum.values()), default=0)
    if not most:
        raise CannotDraw(_("No story has a value for every criterion: leave one out."))
    if rule.n > most:
        sentence = _("No stratum has %(n)s stories; the largest has %(most)s. Ask for no more than that from each.")
        raise CannotDraw(sentence % {"n": rule.n, "most": most})
    return dict.fromkeys(keys_by_stratum, rule.n)


def _allot_in_all(keys_by_stratum: Mapping[_Stratum, Sequence[int]], rule: SubsetRule) -> dict[_Stratum, int]:
    """How many stories each stratum gives, as evenly as its stories allow. Raises CannotDraw if there are too few.

    A stratum with fewer than the others give gives all. The others give the same number, and some of them one more:
    those by which the parts of every criterion stay as even as they can, and of equal ones those that chance put first.
    """
    n_there = sum(map(len, keys_by_stratum.values()))
    if rule.n > n_there:
        sentence = ngettext(
            "There is %(there)s story to draw from; ask for no more.",
            "There are %(there)s stories to draw from; ask for no more.",
            n_there,
        )
        raise CannotDraw(sentence % {"there": n_there} + _explain_left_out(rule))
    level, rest = 0, rule.n
    while (larger := [stratum for stratum, keys in keys_by_stratum.items() if len(keys) > level]) and rest >= len(
        larger
    ):
        step = min(min(len(keys_by_stratum[stratum]) for stratum in larger) - level, rest // len(larger))
        level, rest = level + step, rest - step * len(larger)
    n_by_stratum = {stratum: min(len(keys), level) for stratum, keys in keys_by_stratum.items()}
    for stratum in _choose_evenly(n_by_stratum, larger, rest):
        n_by_stratum[stratum] += 1
    return n_by_stratum


def _explain_left_out(rule: SubsetRule) -> str:
    return " " + _("Stories without a value for a criterion are left out.") if rule.criteria else ""


def _choose_evenly(n_by_stratum: Mapping[_Stratum, int], strata: Sequence[_Stratum], n: int) -> list[_Stratum]:
    """N of the strata, each time that whose parts have given least so far; of equal ones the first."""
    n_by_part: Counter[tuple[int, _Part]] = Counter()
    for stratum, n_allotted in n_by_stratum.items():
        n_by_part.update(dict.fromkeys(enumerate(stratum), n_allotted))

    def weigh(stratum: _Stratum) -> int:
        return sum(n_by_part[at, part] for at, part in enumerate(stratum))

    heap = [(weigh(stratum), place) for place, stratum in enumerate(strata)]
    heapq.heapify(heap)
    chosen: list[_Stratum] = []
    while len(chosen) < n:
        stored_weight, place = heap[0]
        # Weights only grow, so that one that still holds is the least.
        if (weight := weigh(strata[place])) > stored_weight:
            heapq.heapreplace(heap, (weight, place))
            continue
        heapq.heappop(heap)
        chosen.append(strata[place])
        n_by_part.update(enumerate(strata[place]))
    return chosen
