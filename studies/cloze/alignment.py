"""A whole story, as a model answers, taken apart again into the fills of its blanks.

The fixed words between the blanks have to stand in the answer as they stand in the skeleton. Quotation marks may be
straight or curly, white space may be any, and lines that only lay the text out (headings, `***`) may come or go. An
answer that could be taken apart in two ways is refused: a guess would put words into a blank that nobody put there.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

from studies.documents import skeleton
from studies.documents.cloze import ClozeDocument, Kind
from studies.documents.errors import quote
from studies.typography.paragraphs import BREAK, has_blank_lines

LAYOUT = re.compile(rf"^[ \t]*(?:#{{1,6}}(?:[ \t].*|[0-9]+)|{BREAK.pattern})[ \t]*$", re.MULTILINE)
MIN_SHARED_LETTERS = 12  # letters in common that are no accident
SPACE = re.compile(r"\s+")
QUOTES = str.maketrans("“”„‟‘’‚‛", '""""' + "''''")
# The end of a sentence inside a text, and nothing that might be an abbreviation (Dr., Mrs., e.g., etc. and so on).
STOP = re.compile(
    r"""(?<!\b[^\W\d_])(?<!\b[A-Z][a-z])(?<!\b[A-Z][a-z]{2})(?<![.!?…])[.!?…]+["')\]]*(?=\s(?![a-z]))|[。！？]+"""
)


class Unalignable(ValueError):
    """The story cannot be taken apart; the message names the first place that does not fit.

    blank : the number of the blank at that place; 0 if it is the beginning of the story
    """

    def __init__(self, blank: int, reason: str) -> None:
        super().__init__(f"blank {blank}: {reason}" if blank else f"beginning: {reason}")
        self.blank = blank


class Ambiguous(Unalignable):
    """The story can be taken apart in more than one way."""


def align(document: ClozeDocument, story: str) -> dict[int, str]:
    """The fill of each blank by number, as it stands in the story. Raises Unalignable."""
    letters, origin = _plain(story, breaks_at_lines=not has_blank_lines(story))
    fixed, _ = _plain(document.marked_text, breaks_at_lines=False)
    anchors = [str(words) for words in skeleton.split_text(fixed)[::2]]
    kinds = [blank.kind for blank in document.blanks]
    try:
        starts = _starts(letters, anchors, kinds)
    except Ambiguous:
        raise
    except Unalignable:
        # Paragraphs may have been run together or broken up; the words can fit all the same.
        starts = _starts(_flat(letters), [_flat(anchor) for anchor in anchors], kinds)
    ends = [start + len(anchor) for start, anchor in zip(starts, anchors, strict=True)]
    fills = {
        number: story[origin[begin] : origin[end]].strip()
        for number, (begin, end) in enumerate(zip(ends, starts[1:], strict=False), start=1)
    }
    for number, fill in fills.items():
        if skeleton.MARKER.search(fill):
            raise Unalignable(number, f"is still open, {quote(fill)} stands in its place")
    return fills


def _plain(text: str, *, breaks_at_lines: bool) -> tuple[str, list[int]]:
    """The text with white space and quotation marks made alike, and where in the text each of its characters stood.

    A run of white space is one blank, or one line break where a paragraph ends. One more place is its end.
    """
    bare = LAYOUT.sub(lambda line: " " * len(line[0]), text).translate(QUOTES)
    first, last = len(bare) - len(bare.lstrip()), len(bare.rstrip())
    letters, origin, position = [], list[int](), first
    for space in SPACE.finditer(bare, first, max(first, last)):
        n_lines = space[0].count("\n")
        letters += [bare[position : space.start()], "\n" if n_lines > 1 or (n_lines and breaks_at_lines) else " "]
        origin += range(position, space.start() + 1)
        position = space.end()
    letters.append(bare[position:last])
    return "".join(letters), [*origin, *range(position, last + 1)]


def _flat(letters: str) -> str:
    return letters.replace("\n", " ")


def _starts(letters: str, anchors: Sequence[str], kinds: Sequence[Kind]) -> list[int]:
    """Where each of the fixed words stands. The kinds of the blanks decide between several ways, or it is Ambiguous."""
    ways = _ways(letters, anchors, None)
    if max(map(len, ways)) > 1:
        try:
            narrowed = _ways(letters, anchors, kinds)
        except Unalignable:
            narrowed = ways
        for number, places in enumerate(narrowed):
            if len(places) > 1:
                after = quote(anchors[number]) if anchors[number].strip() else "a new paragraph"
                raise Ambiguous(number, f"could end in {len(places)} places, since {after} follows it each time")
        ways = narrowed
    return [places[0] for places in ways]


def _ways(letters: str, anchors: Sequence[str], kinds: Sequence[Kind] | None) -> list[list[int]]:
    """For each of the fixed words every place where it can stand so that all the others find theirs."""
    ways = [[0] if letters.startswith(anchors[0]) else []]
    if not ways[0]:
        n_shared = _shared(anchors[0], letters.startswith)
        otherwise = f"the text begins {quote(anchors[0])}, the answer {quote(letters[:80])}"
        raise Unalignable(0, _parting(letters, anchors[0], n_shared) or otherwise)
    spans = []
    for number, (before, after) in enumerate(pairwise(anchors), start=1):
        is_last = number == len(anchors) - 1
        lows, highs = _spans(letters, [s + len(before) for s in ways[-1]], kinds[number - 1] if kinds else "paragraph")
        starts = []
        for place in _places(letters, after, is_last=is_last):
            # Both ends of the spans rise, so the last one that has begun reaches farthest.
            span = bisect_right(lows, place) - 1
            if span >= 0 and place <= highs[span]:
                starts.append(place)
        if not starts:
            raise _misfit(letters, number, after, [s + len(before) for s in ways[-1]], is_last=is_last)
        ways.append(starts)
        spans.append((lows, highs))
    for number in range(len(ways) - 2, -1, -1):
        later, possible = ways[number + 1], []
        for place, low, high in zip(ways[number], *spans[number], strict=True):
            following = bisect_left(later, low)
            if following < len(later) and later[following] <= high:
                possible.append(place)
        ways[number] = possible
    return ways


def _places(letters: str, words: str, *, is_last: bool) -> list[int]:
    """Every place where the fixed words stand; the last ones stand at the end."""
    if is_last:
        return [len(letters) - len(words)] if letters.endswith(words) else []
    return [match.start() for match in re.finditer(f"(?={re.escape(words)})", letters)]


def _spans(letters: str, begins: Sequence[int], kind: Kind) -> tuple[list[int], list[int]]:
    """From where to where a blank can end that begins at each of these places: it holds at least one letter.

    A sentence or a word does not go on into another paragraph, a word not into another sentence.
    """
    lows = [begin + 1 + letters[begin : begin + 1].isspace() for begin in begins]
    if kind == "paragraph":
        return lows, [len(letters)] * len(lows)
    ends = [match.start() for match in re.finditer("\n", letters)]
    if kind == "word":
        ends = sorted({*ends, *(match.end() for match in STOP.finditer(letters))})
    ends.append(len(letters))
    return lows, [ends[min(bisect_left(ends, low), len(ends) - 1)] for low in lows]


def _misfit(letters: str, number: int, after: str, begins: Sequence[int], *, is_last: bool) -> Unalignable:
    """What to say of the first blank after which the fixed words do not follow."""
    words, rest = after.strip(), letters[begins[0] :]
    if any(letters[begin : begin + len(after) + 1].strip().startswith(words) for begin in begins) and words:
        return Unalignable(number, "is left empty")
    if not words:
        return Unalignable(number, "is left empty" if is_last else "a new paragraph does not follow it")
    if is_last and after in rest:
        too_much = rest[rest.rindex(after) + len(after) :]
        return Unalignable(number, f"the answer goes on after the end of the text, with {quote(too_much.strip())}")
    # The answer leaves the fixed words where their longest beginning ends that stands in it.
    n_shared = _shared(after, rest.__contains__)
    reason = _parting(rest[rest.find(after[:n_shared]) :], after, n_shared)
    return Unalignable(number, reason or f"{quote(words)} does not follow it")


def _shared(words: str, is_there: Callable[[str], bool]) -> int:
    """How many letters the longest beginning of the words has that is there; not all of them are."""
    return bisect_left(range(1, len(words)), True, key=lambda n: not is_there(words[:n]))


def _parting(answer: str, words: str, n_shared: int) -> str:
    """Where the answer leaves the fixed words that it shares up to there; "" if it shares next to nothing."""
    if n_shared < MIN_SHARED_LETTERS:
        return ""
    shared = " ".join(words[:n_shared].split()[-6:])
    fixed, actual = words[n_shared : n_shared + 80], answer[n_shared : n_shared + 80]
    return f"after {quote(shared)} the text goes on {quote(fixed)}, the answer {quote(actual)}"
