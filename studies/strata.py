"""Strata of stories by one to three criteria, and a seeded draw from them: so many in all, or so many from each.

Whatever is drawn with a seed is drawn again from the same texts with that seed, in whatever order they came in; so many
from each stratum with it are among more from each with it.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.documents.errors import InvalidValue, quote
from studies.documents.rated_stories import read_moment, read_score

SOURCE, GROUP, TEXT = "source", "group", "text"  # columns of files of stories, so that no factor has such a name
PARTS = {"halves": 2, "thirds": 3, "quarters": 4}
MOST_CRITERIA = 3


class CannotDraw(ValueError):
    """Nothing is drawn; the message says why, and what would do."""


@dataclass(frozen=True)
class DrawableStory:
    """A story that can be drawn.

    key : its primary key; order : what no two have, and the order before the draw follows
    prompts : by identity the words of each prompt that it is read on
    """

    key: int
    order: tuple[str, str]
    n_words: int
    source: str
    prompts: Mapping[str, str]
    factors: Mapping[str, Any]


@dataclass(frozen=True)
class Criterion:
    """By what strata are formed: each value by itself, n parts of a number, or before a day and from it on."""

    name: str
    n_parts: int = 0
    day: date | None = None

    def __str__(self) -> str:
        """As `parse_criterion` reads it."""
        manner = next((word for word, n in PARTS.items() if n == self.n_parts), "")
        manner = self.day.isoformat() if self.day else manner
        return f"{self.name}={manner}" if manner else self.name


@dataclass(frozen=True)
class SubsetRule:
    """What is drawn: n stories in all, spread evenly over the strata, or n from each of them."""

    n: int
    seed: int
    is_each: bool = False
    criteria: tuple[Criterion, ...] = ()


@dataclass(frozen=True)
class StratumDraw:
    """What is drawn from a stratum. labels : of its part of each criterion; keys : of the drawn stories"""

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
    """What a rule draws. left_out : by criterion, as it is written, how many stories say nothing of it"""

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
    def n_asked(self) -> int:
        return sum(stratum.n_asked for stratum in self.strata) if self.rule.is_each else self.rule.n

    @property
    def n_lacking(self) -> int:
        """How many strata have fewer stories than each was to give."""
        return sum(stratum.n_lacking > 0 for stratum in self.strata)


@dataclass(frozen=True, order=True)
class _Part:
    """One part of a criterion. place : among its parts"""

    place: int
    label: str


def parse_criterion(text: str) -> Criterion:
    """The criterion as it is written: NAME, NAME=thirds, NAME=2023-01-31. Raises CannotDraw."""
    name, _sign, manner = (word.strip() for word in text.partition("="))
    if name in (SOURCE, GROUP) and manner:
        raise CannotDraw(_("“%(name)s” is no number: name it without “=”.") % {"name": name})
    if name == TEXT and manner not in PARTS:
        raise CannotDraw(_("Of the length of texts say in which parts: text=halves, text=thirds or text=quarters."))
    if manner in PARTS:
        return Criterion(name, n_parts=PARTS[manner])
    if not manner:
        return Criterion(name)
    try:
        return Criterion(name, day=date.fromisoformat(manner))
    except ValueError:
        sentence = _(
            "“%(text)s” says nothing: write %(name)s, %(name)s=thirds, %(name)s=quarters or %(name)s=2023-01-31."
        )
        raise CannotDraw(sentence % {"text": text, "name": name or "tier"}) from None


def draw(candidates: Sequence[DrawableStory], rule: SubsetRule) -> SubsetDraw:
    """What the rule draws from these stories. Raises CannotDraw."""
    import numpy as np  # here, since pages that never draw import this module

    _check(candidates, rule)
    part_by_key = [_divide(candidates, criterion) for criterion in rule.criteria]
    left_out = {
        str(criterion): len(candidates) - len(parts)
        for criterion, parts in zip(rule.criteria, part_by_key, strict=True)
        if len(parts) < len(candidates)
    }
    ordered = sorted(candidates, key=lambda candidate: candidate.order)
    members: dict[tuple[_Part, ...], list[int]] = defaultdict(list)
    for at in np.random.default_rng(abs(rule.seed)).permutation(len(ordered)):
        key = ordered[at].key
        if all(key in parts for parts in part_by_key):
            members[tuple(parts[key] for parts in part_by_key)].append(key)
    n_by_cell = _ask_each(members, rule) if rule.is_each else _allot(members, rule)
    strata = [
        StratumDraw(tuple(part.label for part in cell), len(keys), n_by_cell[cell], tuple(keys[: n_by_cell[cell]]))
        for cell, keys in sorted(members.items())
    ]
    if not rule.is_each:
        strata = _spread_back(strata, rule)
    return SubsetDraw(rule, tuple(strata), left_out)


def _check(candidates: Sequence[DrawableStory], rule: SubsetRule) -> None:
    names = [criterion.name for criterion in rule.criteria]
    if not candidates:
        raise CannotDraw(_("There are no stories to draw from: bring stories in first."))
    if rule.n < 1:
        raise CannotDraw(_("Ask for one story or more."))
    if len(names) > MOST_CRITERIA:
        raise CannotDraw(_("Strata are formed by %(n)d criteria at most; leave one out.") % {"n": MOST_CRITERIA})
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise CannotDraw(_("“%(name)s” is named twice; leave one out.") % {"name": twice})
    if rule.is_each and not names:
        raise CannotDraw(_("Say by what the strata are formed, or ask for so many stories in all."))


def _divide(candidates: Sequence[DrawableStory], criterion: Criterion) -> dict[int, _Part]:
    """The part of each story that says something of the criterion. Raises CannotDraw."""
    if criterion.name == GROUP:
        return _by_prompt(candidates)
    if criterion.name == SOURCE:
        values: dict[int, Any] = {c.key: c.source for c in candidates if c.source}
    elif criterion.name == TEXT:
        values = {candidate.key: candidate.n_words for candidate in candidates}
    else:
        values = _read_factor(candidates, criterion.name)
    if criterion.n_parts:
        parts = _into_quantiles(_read_all(values, criterion, read_score), criterion.n_parts)
    elif criterion.day:
        parts = _around(_read_all(values, criterion, read_moment), criterion.day)
    else:
        parts = _by_value(values)
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


def _read_all(values: Mapping[int, Any], criterion: Criterion, read: Any) -> dict[int, float]:
    """The values as numbers. Raises CannotDraw, naming one that is none."""
    numbers, faults = {}, []
    for key, value in values.items():
        try:
            numbers[key] = float(read(value))
        except InvalidValue:
            faults.append(value)
    if faults:
        sentence = (
            _("“%(name)s” is no date in %(n)d stories, such as %(value)s. Name it without a day, or correct them.")
            if criterion.day
            else _("“%(name)s” is no number in %(n)d stories, such as %(value)s. Name it alone, or correct them.")
        )
        raise CannotDraw(sentence % {"name": criterion.name, "n": len(faults), "value": quote(faults[0])})
    return numbers


def _by_prompt(candidates: Sequence[DrawableStory]) -> dict[int, _Part]:
    if several := next((c for c in candidates if len(c.prompts) > 1), None):
        sentence = _("“%(story)s” is read on several prompts, so it has no stratum among them: form strata otherwise.")
        raise CannotDraw(sentence % {"story": several.order[1]})
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


def _by_value(values: Mapping[int, Any]) -> dict[int, _Part]:
    """Numbers by size, then words by the alphabet; 1 and “1” are one value, as files of CSV know no other."""
    label_by_key = {key: _label(value) for key, value in values.items()}

    def order(label: str) -> tuple[bool, float, str]:
        try:
            return False, read_score(label), label
        except InvalidValue:
            return True, 0, label

    place_by_label = {label: n for n, label in enumerate(sorted(set(label_by_key.values()), key=order))}
    return {key: _Part(place_by_label[label], label) for key, label in label_by_key.items()}


def _label(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:g}"
    return str(value)


def _into_quantiles(numbers: Mapping[int, float], n_parts: int) -> dict[int, _Part]:
    """Parts of about as many stories; equal numbers stand in one part, so that ties can make parts uneven or fewer."""
    import numpy as np

    values = np.array(list(numbers.values()), dtype=np.float64)
    cuts = np.unique(np.quantile(values, np.arange(1, n_parts) / n_parts, method="inverted_cdf"))
    places = np.searchsorted(cuts, values, side="left")
    parts = {}
    for place in np.unique(places):
        least, most = (_label(float(end(values[places == place]))) for end in (np.min, np.max))
        parts[int(place)] = _Part(int(place), least if least == most else f"{least} – {most}")
    return {key: parts[int(place)] for key, place in zip(numbers, places, strict=True)}


def _around(moments: Mapping[int, float], day: date) -> dict[int, _Part]:
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    parts = (_Part(0, f"< {day.isoformat()}"), _Part(1, f"≥ {day.isoformat()}"))
    return {key: parts[moment >= begin] for key, moment in moments.items()}


def _ask_each(members: Mapping[tuple[_Part, ...], Sequence[int]], rule: SubsetRule) -> dict[tuple[_Part, ...], int]:
    most = max(map(len, members.values()), default=0)
    if not most:
        raise CannotDraw(_("No story says something of every criterion: leave one out."))
    if rule.n > most:
        sentence = _("No stratum has %(n)s stories; the largest has %(most)s. Ask for at most so many from each.")
        raise CannotDraw(sentence % {"n": rule.n, "most": most})
    return dict.fromkeys(members, rule.n)


def _allot(members: Mapping[tuple[_Part, ...], Sequence[int]], rule: SubsetRule) -> dict[tuple[_Part, ...], int]:
    """How many stories each stratum gives, as evenly as there are: all of those that lack, and of the others as many
    each, but for one. Who gives one more keeps the parts of every criterion as even as it can, then chance decides.
    """
    n_there = sum(map(len, members.values()))
    if rule.n > n_there:
        sentence = ngettext(
            "There is %(there)s story to draw from; ask for no more.",
            "There are %(there)s stories to draw from; ask for at most so many.",
            n_there,
        )
        raise CannotDraw(sentence % {"there": n_there} + _say_left_out(rule))
    level, rest = 0, rule.n
    while (deeper := [cell for cell, keys in members.items() if len(keys) > level]) and rest >= len(deeper):
        step = min(min(len(members[cell]) for cell in deeper) - level, rest // len(deeper))
        level, rest = level + step, rest - step * len(deeper)
    n_by_cell = {cell: min(len(keys), level) for cell, keys in members.items()}
    for cell in _choose_even(n_by_cell, deeper, rest):
        n_by_cell[cell] += 1
    return n_by_cell


def _say_left_out(rule: SubsetRule) -> str:
    return " " + _("Stories that say nothing of a criterion are left out.") if rule.criteria else ""


def _choose_even(
    n_by_cell: Mapping[tuple[_Part, ...], int], cells: Sequence[tuple[_Part, ...]], n: int
) -> list[tuple[_Part, ...]]:
    """N of the cells, each time that whose parts have given least so far; of equal ones the first."""
    n_by_part: Counter[Hashable] = Counter()
    for cell, n_asked in n_by_cell.items():
        n_by_part.update(dict.fromkeys(enumerate(cell), n_asked))

    def weigh(cell: tuple[_Part, ...]) -> int:
        return sum(n_by_part[at, part] for at, part in enumerate(cell))

    heap = [(weigh(cell), place) for place, cell in enumerate(cells)]
    heapq.heapify(heap)
    chosen: list[tuple[_Part, ...]] = []
    while len(chosen) < n:
        weight, place = heap[0]
        # Weights only grow, so that one that still holds is the least.
        if (now := weigh(cells[place])) > weight:
            heapq.heapreplace(heap, (now, place))
            continue
        heapq.heappop(heap)
        chosen.append(cells[place])
        n_by_part.update(enumerate(cells[place]))
    return chosen


def _spread_back(strata: Sequence[StratumDraw], rule: SubsetRule) -> list[StratumDraw]:
    """The same, where those that lack say what their even share would have been."""
    share = rule.n // len(strata)
    return [StratumDraw(s.labels, s.n_there, max(s.n_asked, share), s.keys) for s in strata]
