"""Putting stories into groups: by a column, by premise, with balanced sources, in pairs, so many each, or alone."""

from __future__ import annotations

import re
import secrets
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count

from django.utils.translation import gettext as _

from studies.documents.names import CODE
from studies.documents.stories import MOST_IN_GROUP
from studies.hashing import sha256


@dataclass(frozen=True)
class Member:
    """A story to be put into a group. key : what it is known by here; group : what its column says, if there is one"""

    key: int
    text: str
    source: str
    premise: str = ""
    group: str = ""


def form_groups(members: Sequence[Member], grouping: str, *, seed: int, size: int = 0) -> dict[str, list[int]]:
    """The stories' keys by the name of their group. Names that the program makes are “” and a number.

    seed : of the draw; the same texts and seed give the same groups, whatever the order of the file
    size : of a group, where the grouping is “size”; ValueError unless `is_group_size`
    """
    if grouping == "size" and not is_group_size(size):
        raise ValueError(f"A group has no {size} stories.")
    if grouping == "column":
        return _collect((member.group, member.key) for member in members)
    if grouping == "premise":
        numbers = _number(member.premise for member in members)
        return _collect((numbers[member.premise], member.key) for member in members)
    drawn = _shuffle(members, seed)
    if grouping == "alone":
        sets = [[member.key] for member in drawn]
    else:
        buckets: dict[str, list[Member]] = defaultdict(list)
        for member in drawn:
            buckets[member.premise].append(member)
        n = {"pairs": 2, "size": size}.get(grouping, 0)
        sets = [keys for bucket in buckets.values() for keys in (_fill(bucket, n) if n else _balance(bucket))]
    return {str(n): keys for n, keys in enumerate(sets, start=1)}


def is_group_size(n: int) -> bool:
    return 2 <= n <= MOST_IN_GROUP


def say_group_sizes() -> str:
    return _("Say how many stories a group is to have, from 2 to %(most)d.") % {"most": MOST_IN_GROUP}


def _collect(pairs: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    keys_by_name: dict[str, list[int]] = defaultdict(list)
    for name, key in pairs:
        keys_by_name[name].append(key)
    return dict(keys_by_name)


def _number(names: Iterable[str]) -> dict[str, str]:
    """A number for each name, drawn: the first of the file need not be the first of the study."""
    distinct = list(dict.fromkeys(names))
    secrets.SystemRandom().shuffle(distinct)
    return {name: str(n) for n, name in enumerate(distinct, start=1)}


def _shuffle(members: Sequence[Member], seed: int) -> list[Member]:
    import numpy as np  # here, since what serves raters imports this module and never shuffles

    ordered = sorted(members, key=lambda member: (sha256(member.text), member.key))
    return [ordered[at] for at in np.random.default_rng(abs(seed)).permutation(len(ordered))]


def _by_source(members: Sequence[Member]) -> dict[str, list[int]]:
    return _collect((member.source, member.key) for member in members)


def _balance(members: Sequence[Member]) -> list[list[int]]:
    """Groups of one story by each source; the last ones lack a source that has fewer."""
    groups: list[list[int]] = []
    for keys in _by_source(members).values():
        groups += [[] for _n in range(len(keys) - len(groups))]
        for n, key in enumerate(keys):
            groups[n].append(key)
    return groups


def _fill(members: Sequence[Member], size: int) -> list[list[int]]:
    """Groups of that size, each by as many sources as there are; the last may have fewer.

    Sources with most stories left come first, and of those the one whose next story was drawn first, so that no two
    sources always meet.
    """
    place_by_key = {member.key: n for n, member in enumerate(members)}
    # What is left of each source: how much, the place of the next story, and the keys.
    waiting = [(-len(keys), place_by_key[keys[0]], deque(keys)) for keys in _by_source(members).values()]
    heapify(waiting)
    groups = []
    while waiting:
        group: list[int] = []
        taken: list[tuple[int, int, deque[int]]] = []
        while len(group) < size and (waiting or taken):
            if not waiting:  # every source is in it: once more round
                waiting, taken = sorted(taken), []
            _n, _place, keys = heappop(waiting)
            group.append(keys.popleft())
            if keys:
                taken.append((-len(keys), place_by_key[keys[0]], keys))
        for source in taken:
            heappush(waiting, source)
        groups.append(group)
    return groups


def code_groups(names: Iterable[str]) -> dict[str, str]:
    """A code for each name of a group: the name itself if it can be one, else what remains of it, else a number."""
    codes: dict[str, str] = {}
    used: set[str] = set()
    # By code, so that the twenty thousandth name that falls to one code does not try all numbers again.
    next_number: dict[str, int] = {}
    # Names that are codes already come first, so that no other takes what is theirs.
    for name in sorted(names, key=lambda name: not _is_code(name)):
        plain = name if _is_code(name) else re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-_.")[:70]
        code = f"g{plain or len(codes) + 1}" if not plain or plain.isdigit() else plain
        unique, n = code, next_number.get(code, 2)
        while unique in used:
            unique, n = f"{code}-{n}", n + 1
        next_number[code] = n
        codes[name] = unique
        used.add(unique)
    return codes


def name_groups(names: Collection[str], *, taken: Collection[str] = ()) -> dict[str, str]:
    """A neutral code for each name of a group that the program made."""
    return dict(zip(names, neutral_codes(len(names), taken=taken, letter="g"), strict=True))


def _is_code(name: str) -> bool:
    return bool(CODE.pattern.fullmatch(name)) and len(name) <= 80 and not name.isdigit()


def neutral_codes(n: int, *, taken: Collection[str] = (), letter: str = "s") -> list[str]:
    """So many codes that say nothing, not even which of them were drawn together: those of a second file, or of what a
    model wrote, look as those of the first do. Nobody can draw them again."""
    used = set(taken)
    n_drawn = n + len(used)  # of which at least n are free
    n_digits = next(n_digits for n_digits in count(5) if n_drawn <= 9 * 10 ** (n_digits - 1))
    numbers = secrets.SystemRandom().sample(range(10 ** (n_digits - 1), 10**n_digits), n_drawn)
    return [code for number in numbers if (code := f"{letter}{number}") not in used][:n]


def missing_sources(groups: Mapping[str, Sequence[int]], source_by_key: Mapping[int, str]) -> list[str]:
    """The groups in which not every source stands exactly once."""
    sources = sorted(set(source_by_key.values()))
    return [name for name, keys in groups.items() if sorted(source_by_key[key] for key in keys) != sources]
