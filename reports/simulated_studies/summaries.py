"""What a simulated study came to, as it is kept and said: who came, what was planted and what the report found."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.simulation import KINDS
from reports.document.values import Interval, Reason
from reports.figures.outcome_titles import outcome_name
from reports.numbers import decimal, with_interval
from reports.reasons import translate_reason

TITLE_BY_KIND = {kind.key: kind.title for kind in KINDS}


@dataclass(frozen=True, kw_only=True)
class KindSummary:
    """The raters of one kind. n_counted : with answers that the report counts; n_named : about whom it asks
    something"""

    key: str
    n: int
    n_counted: int
    n_named: int

    @property
    def title(self) -> str:
        return str(TITLE_BY_KIND[self.key])


@dataclass(frozen=True, kw_only=True)
class OutcomeSummary:
    """An outcome with what was planted and found in its unit: the first source less the second, of places the reverse.

    planted : the difference of the expected answers of the raters that count; careful : of careful raters alone
    found : the report's contrast, or why there is none
    """

    key: str
    title: str
    is_percent: bool
    planted: float
    careful: float
    found: float | None = None
    ends: Interval | None = None
    why: Reason | None = None

    @property
    def name(self) -> str:
        return outcome_name(self.key, self.title)

    @property
    def places(self) -> int:
        return 1 if self.is_percent else 2

    @property
    def holds(self) -> bool | None:
        """Whether the interval holds what was planted; None without one."""
        if self.ends is None or self.ends.low is None or self.ends.high is None:
            return None
        return self.ends.low <= self.planted <= self.ends.high

    @property
    def planted_words(self) -> str:
        return decimal(self.planted, self.places)

    @property
    def found_words(self) -> str:
        """What was found with its interval, or why there is nothing."""
        if self.found is None:
            return translate_reason(self.why) if self.why else "–"
        return with_interval(self.found, self.ends, self.places)

    @property
    def careful_words(self) -> str:
        return decimal(self.careful, self.places)

    @property
    def sentence(self) -> str:
        """As “planted 0.40, found 0.38 (0.31 to 0.45)”."""
        if self.found is None:
            return _("planted %(planted)s, nothing found: %(why)s") % {
                "planted": self.planted_words,
                "why": self.found_words,
            }
        return _("planted %(planted)s, found %(found)s") % {"planted": self.planted_words, "found": self.found_words}


@dataclass(frozen=True, kw_only=True)
class SimulatedStudy:
    """copy : slug of the copy that was answered

    first, second : the sources between which the effect was planted; is_drawn : halves of the stories by chance
    n_seats, n_filled, n_open, n_returned : seats of the copy, submitted, left open, and given back
    n_without_place : raters who found no seat
    minutes : median simulated minutes a group, None if nobody submitted; days : from first arrival to last answer
    seconds : that the simulation took
    """

    copy: str
    seed: int
    first: str
    second: str
    is_drawn: bool
    kinds: tuple[KindSummary, ...]
    n_groups: int
    n_groups_in_all: int
    n_seats: int
    n_filled: int
    n_open: int
    n_returned: int
    n_without_place: int
    n_answers: int
    minutes: float | None
    days: float
    seconds: float
    outcomes: tuple[OutcomeSummary, ...]

    @property
    def n_raters(self) -> int:
        return sum(kind.n for kind in self.kinds)

    @property
    def course(self) -> list[str]:
        """Who came and how it went, as sentences."""
        kinds = ", ".join(f"{kind.title.lower()} {kind.n}" for kind in self.kinds if kind.n)
        raters = ngettext("%(n)d simulated rater: %(kinds)s.", "%(n)d simulated raters: %(kinds)s.", self.n_raters)
        sentences = [raters % {"n": self.n_raters, "kinds": kinds}]
        if self.n_groups < self.n_groups_in_all:
            sentence = _("The copy has %(n)d of the %(all)d groups, to make it quickly.")
            sentences.append(sentence % {"n": self.n_groups, "all": self.n_groups_in_all})
        sentences.append(self._places())
        if self.minutes is not None:
            times = {"minutes": decimal(self.minutes, 1), "days": decimal(self.days, 0)}
            sentence = _("In simulated time a group took %(minutes)s minutes (median), and the study %(days)s days.")
            sentences.append(sentence % times)
        return [*sentences, _("The simulation took %(seconds)s seconds.") % {"seconds": decimal(self.seconds, 0)}]

    @property
    def between(self) -> str:
        """Between what the effect was planted."""
        if self.is_drawn:
            return _("The effect was planted between two halves of the stories, drawn by chance whoever wrote them.")
        names = {"first": self.first, "second": self.second}
        return _("The effect was planted between two sources, %(first)s ahead of %(second)s.") % names

    def _places(self) -> str:
        filled = _("%(n)d of %(seats)d places were filled (%(answers)d answers)")
        parts = [filled % {"n": self.n_filled, "seats": self.n_seats, "answers": self.n_answers}]
        if self.n_open:
            parts.append(ngettext("%(n)d was left open", "%(n)d were left open", self.n_open) % {"n": self.n_open})
        if self.n_returned:
            words = ngettext("%(n)d was given back", "%(n)d were given back", self.n_returned)
            parts.append(words % {"n": self.n_returned})
        if self.n_without_place:
            words = ngettext("%(n)d rater found no place", "%(n)d raters found no place", self.n_without_place)
            parts.append(words % {"n": self.n_without_place})
        return "; ".join(parts) + "."

    @property
    def naming(self) -> list[str]:
        """Whom the rules of the report named, kind by kind."""
        sentence = _("%(kind)s: the report asks about %(named)d of %(n)d with counted answers.")
        counted = [kind for kind in self.kinds if kind.n_counted]
        return [sentence % {"kind": kind.title, "named": kind.n_named, "n": kind.n_counted} for kind in counted]
