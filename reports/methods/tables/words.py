"""Words and numbers that the tables for LaTeX share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from django.utils.formats import get_format
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports import reasons
from reports.document.latex import LatexCell
from reports.document.values import Interval, Reason
from reports.methods.sampled_units import Sampled
from reports.numbers import whole
from reports.results import Results

NONE = "—"  # not estimable; a note says why
WEAK = "†"
MOST_NAMED = 6  # items that a note names one by one


def counted(results: Results) -> str:
    """How many stories were read, and by how many raters."""
    progress = results.figures["progress"]
    stories = ngettext("%(n)s story", "%(n)s stories", progress.n_stories) % {"n": whole(progress.n_stories)}
    raters = ngettext("%(n)s rater", "%(n)s raters", progress.n_raters) % {"n": whole(progress.n_raters)}
    return _("%(stories)s, %(raters)s.") % {"stories": stories, "raters": raters}


def interval_words(intervals: Iterable[Interval | None], sampled: Sampled) -> str:
    """Over what the intervals are, and of which kinds."""
    names = {
        "t": _("Student’s t"),
        "percentile": _("percentile bootstrap"),
        "jackknife": _("jackknife"),
        "wilson": _("Wilson’s where nearly all answers are the same"),
    }
    methods = {ends.method for ends in intervals if ends is not None and ends.low is not None}
    kinds = [words for name, words in names.items() if name in methods]
    if not kinds:
        return ""
    words = {"sampled": sampled.words, "kinds": get_text_list(kinds, _("and"))}
    return _("In brackets 95 %% intervals over %(sampled)s (%(kinds)s), for other stories and these raters.") % words


def in_brackets(ends: Interval | None, write: Callable[[float], str]) -> LatexCell:
    """Both ends of an interval, marked where it is weak."""
    if ends is None or ends.low is None or ends.high is None:
        return LatexCell(NONE)
    parted = "; " if get_format("DECIMAL_SEPARATOR") == "," else ", "
    return LatexCell(f"[{write(ends.low)}{parted}{write(ends.high)}]", WEAK if ends.is_weak else "")


def weak_note(intervals: Iterable[Interval | None], units: str) -> Iterator[str]:
    """What the sign behind an interval means, where one has it. units : what there are few of"""
    if any(ends is not None and ends.is_weak for ends in intervals):
        yield _("†: based on fewer than five %(units)s, or on answers that hardly vary.") % {"units": units}


def missing_notes(whys: Sequence[tuple[str, Reason | None]]) -> Iterator[str]:
    """Why there is no number, each reason once with what it is about. whys : the name of the row, and the reason"""
    names_by_sentence: dict[str, dict[str, None]] = {}
    for name, why in whys:
        if why is not None:
            names_by_sentence.setdefault(reasons.translate_reason(why), {})[name] = None
    for sentence, names in names_by_sentence.items():
        about = get_text_list(list(names), _("and")) if len(names) <= MOST_NAMED else ""
        yield f"{NONE} {about}: {sentence}" if about else f"{NONE}: {sentence}"
