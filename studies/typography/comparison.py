"""Texts compared by source: which ways of typing tell one source from another, and how much there is of what.

Functions on texts; nothing here reads the database.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from django.utils.formats import localize
from django.utils.translation import gettext as _

from studies.typography.features import SIGNS, Sign
from studies.typography.paragraphs import split_paragraphs
from studies.typography.word_boundaries import split_words


@dataclass(frozen=True)
class SignCount:
    """A sign in the stories of one source: in how many it stands, and how often in a thousand words.

    n_stories : of those that could have it: what is no ellipsis at all is none of either kind
    """

    n_with: int
    n_stories: int
    rate: float

    @property
    def share(self) -> float:
        return self.n_with / self.n_stories


@dataclass(frozen=True)
class SignRow:
    """One sign, source by source. why : how it tells sources apart, in words; empty if it does not"""

    sign: Sign
    by_source: tuple[SignCount, ...]
    why: str


@dataclass(frozen=True)
class Amount:
    """How much there is of something, source by source: the author's, which no normalisation touches."""

    title: str
    by_source: tuple[float, ...]
    why: str


@dataclass(frozen=True)
class Table:
    """The formatting of some stories by source: of a group, or of all groups together."""

    title: str
    sources: tuple[str, ...]
    rows: tuple[SignRow, ...]
    amounts: tuple[Amount, ...]

    @property
    def telling(self) -> tuple[SignRow | Amount, ...]:
        lines: tuple[SignRow | Amount, ...] = (*self.rows, *self.amounts)
        return tuple(row for row in lines if row.why)


# When a difference is called one: a sign in at least half more of one source's stories than of another's; twice as
# often, and once more in a thousand words; a quarter more words or paragraphs.
SHARE, TIMES, MORE_OFTEN, LONGER = 0.5, 2.0, 1.0, 1.25


@dataclass(frozen=True)
class _Counted:
    """What is counted in a text, once for all that is said of it.

    length : what stands between spaces, as stories are counted; n_words : of `split_words`, also where no spaces stand
    by_sign : by the sign's key
    """

    length: int
    n_words: int
    n_paragraphs: int
    by_sign: Mapping[str, int]


def _count(text: str) -> _Counted:
    by_sign = {sign.key: sign.count(text) for sign in SIGNS}
    return _Counted(len(text.split()), len(split_words(text)), len(split_paragraphs(text)), by_sign)


def compare_texts(title: str, texts_by_source: Mapping[str, Sequence[str]]) -> Table:
    """Every sign that stands in any of the texts, and how much there is of what, by source."""
    sources = tuple(sorted(texts_by_source))
    texts = [[_count(text) for text in texts_by_source[name]] for name in sources]
    rows = [SignRow(sign, cells := tuple(_cell(sign, group) for group in texts), _why(sign, cells)) for sign in SIGNS]
    return Table(
        title, sources, tuple(row for row in rows if any(c.n_with for c in row.by_source)), tuple(_amounts(texts))
    )


def _cell(sign: Sign, texts: Sequence[_Counted]) -> SignCount:
    alternatives = [other.key for other in SIGNS if other.among == sign.among] if sign.among else []
    could = [text for text in texts if not alternatives or any(text.by_sign[key] for key in alternatives)]
    return SignCount(sum(text.by_sign[sign.key] > 0 for text in could), len(could), _rate([sign], texts))


def _rate(signs: Sequence[Sign], texts: Sequence[_Counted]) -> float:
    n_words = sum(text.n_words for text in texts)
    return 1000 * sum(text.by_sign[sign.key] for sign in signs for text in texts) / max(n_words, 1)


def _why(sign: Sign, cells: Sequence[SignCount]) -> str:
    shares = [cell.share for cell in cells if cell.n_stories]
    if shares and max(shares) - min(shares) >= SHARE:
        message = _("in %(most)s %% of the stories of one source, in %(least)s %% of another's")
        if sign.among:
            message = _("in %(most)s %% of the stories with %(among)s of one source, in %(least)s %% of another's")
        ends = {"most": f"{100 * max(shares):.0f}", "least": f"{100 * min(shares):.0f}"}
        return message % (ends | {"among": sign.among and _(sign.among)})
    # How often there is a dash at all is told below, once for all ways of typing it.
    return "" if sign.among else _why_more_often([cell.rate for cell in cells])


def _why_more_often(rates: Sequence[float]) -> str:
    if max(rates) >= TIMES * min(rates) and max(rates) - min(rates) >= MORE_OFTEN:
        message = _("%(most)s in a thousand words of one source, %(least)s of another's")
        return message % {"most": localize(round(max(rates), 1)), "least": localize(round(min(rates), 1))}
    return ""


def _amounts(texts: Sequence[Sequence[_Counted]]) -> Iterator[Amount]:
    for name in dict.fromkeys(sign.among for sign in SIGNS if sign.among):
        signs = [sign for sign in SIGNS if sign.among == name]
        rates = tuple(_rate(signs, group) for group in texts)
        yield Amount(_("%(what)s of any kind, in a thousand words") % {"what": _(name)}, rates, _why_more_often(rates))
    n_words = tuple(fmean(text.length for text in group) for group in texts)
    n_paragraphs = tuple(fmean(text.n_paragraphs for text in group) for group in texts)
    yield Amount(_("words"), n_words, _why_more(n_words))
    yield Amount(_("paragraphs"), n_paragraphs, _why_more(n_paragraphs))
    longest = tuple(n / max(m, 1) for n, m in zip(n_words, n_paragraphs, strict=True))
    yield Amount(_("words in a paragraph"), longest, _why_more(longest))


def _why_more(shares: Sequence[float]) -> str:
    if len(shares) > 1 and max(shares) >= LONGER * min(shares):
        message = _("%(most)s on average in one source, %(least)s in another")
        return message % {"most": f"{max(shares):.0f}", "least": f"{min(shares):.0f}"}
    return ""
