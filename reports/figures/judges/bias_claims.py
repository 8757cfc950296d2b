"""What may be said of a judge's length and family biases: only what holds after the correction for all looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from reports.document.model import TextBlock
from reports.document.phrases import phrase
from reports.document.values import Interval
from reports.numbers import decimal
from reports.numbers import interval as ends_words

if TYPE_CHECKING:
    from reports.figures.judges.biases import Bias

ALPHA = 0.05
# By kind, bias, and whether it gives more.
SENTENCES = {
    ("scales", "own_family", True): gettext_noop(
        "On scales: <strong>%(judge)s</strong> gives its own family’s stories %(value)s more than other models’ "
        "stories that are worth as much to people (%(ends)s; %(n)s stories beside %(n_beside)s)."
    ),
    ("scales", "own_family", False): gettext_noop(
        "On scales: <strong>%(judge)s</strong> gives its own family’s stories %(value)s less than other models’ "
        "stories that are worth as much to people (%(ends)s; %(n)s stories beside %(n_beside)s)."
    ),
    ("scales", "verbosity", True): gettext_noop(
        "On scales: <strong>%(judge)s</strong> gives a story twice as long %(value)s more than one worth as much to "
        "people (%(ends)s; %(n)s stories)."
    ),
    ("scales", "verbosity", False): gettext_noop(
        "On scales: <strong>%(judge)s</strong> gives a story twice as long %(value)s less than one worth as much to "
        "people (%(ends)s; %(n)s stories)."
    ),
    ("verdicts", "own_family", True): gettext_noop(
        "On verdicts: <strong>%(judge)s</strong> says Yes %(value)s percentage points more often to its own family’s "
        "stories than to other models’ stories that are worth as much to people (%(ends)s; %(n)s stories beside "
        "%(n_beside)s)."
    ),
    ("verdicts", "own_family", False): gettext_noop(
        "On verdicts: <strong>%(judge)s</strong> says Yes %(value)s percentage points less often to its own family’s "
        "stories than to other models’ stories that are worth as much to people (%(ends)s; %(n)s stories beside "
        "%(n_beside)s)."
    ),
    ("verdicts", "verbosity", True): gettext_noop(
        "On verdicts: <strong>%(judge)s</strong> says Yes %(value)s percentage points more often to a story twice as "
        "long than to one worth as much to people (%(ends)s; %(n)s stories)."
    ),
    ("verdicts", "verbosity", False): gettext_noop(
        "On verdicts: <strong>%(judge)s</strong> says Yes %(value)s percentage points less often to a story twice as "
        "long than to one worth as much to people (%(ends)s; %(n)s stories)."
    ),
}

SUPERSEDED = gettext_noop(
    "Of length nothing is said here of %(judges)s: more words in the same stories were tried, and what that did stands "
    "under <strong>Interventions on the stories</strong>."
)


def is_clear(row: Bias) -> bool:
    """Whether it holds for other stories and other raters."""
    return row.p_adjusted is not None and row.p_adjusted < ALPHA


def claims(rows: Sequence[Bias]) -> Iterator[TextBlock]:
    """One sentence for each bias that can be told, and how many were looked at; nothing where nothing was."""
    tested = [row for row in rows if row.p is not None]
    if not tested:
        return
    told = [row for row in tested if not row.is_superseded]
    for row in filter(is_clear, told):
        yield _claim(row)
    kinds = {"verdicts": _("verdicts"), "scales": _("scales")}
    if judges := sorted({f"{row.judge} ({kinds[row.kind]})" for row in rows if row.is_superseded}):
        yield TextBlock(words=phrase(_(SUPERSEDED), judges=", ".join(judges)))
    if not told:
        return
    n_clear = sum(map(is_clear, told))
    summary = _(
        "Shown after Holm’s correction over all that were tested: %(n_clear)s of %(n)s. A bias that is not shown may "
        "still be there."
    )
    yield TextBlock(words=phrase(summary, n_clear=n_clear, n=len(told)))


def _claim(row: Bias) -> TextBlock:
    """Of verdicts in percentage points, with one decimal."""
    unit, places = (100, 1) if row.kind == "verdicts" else (1, 2)
    value = unit * (row.value or 0.0)
    return TextBlock(
        words=phrase(
            _(SENTENCES[row.kind, row.bias, value > 0]),
            judge=row.judge,
            value=decimal(abs(value), places),
            ends=ends_words(_scaled(row.interval, unit), places),
            n=row.n,
            n_beside=row.n_beside,
        )
    )


def _scaled(ends: Interval, unit: int) -> Interval:
    if ends.low is None or ends.high is None:
        return ends
    return replace(ends, low=unit * ends.low, high=unit * ends.high)


def notes(rows: Sequence[Bias]) -> Iterator[TextBlock]:
    """What family and length mean here, and what they cannot say."""
    if not any(row.bias in ("own_family", "verbosity") for row in rows):
        return
    yield TextBlock(
        words=phrase(
            _(
                "<strong>Family</strong> and <strong>length</strong>: what the judge gives them beyond what people’s "
                "ratings let expect. Under <strong>People</strong> is how much more people themselves give."
            )
        )
    )
    yield TextBlock(
        words=phrase(
            _(
                "<strong>At equal ratings</strong> takes people’s ratings as exact. A few raters err, so among stories "
                "they rate alike, those of the better source are still better: a fair judge gives them more. "
                "<strong>Value</strong> takes that error off. A judge is said to have a bias only where both differ "
                "from 0 the same way."
            )
        )
    )
    if any(row.interventions for row in rows if row.bias == "own_family"):
        yield TextBlock(
            words=_(
                "Interventions also show what the name of a language model over a story does. Stories of a family "
                "share more than a name."
            )
        )
    yield TextBlock(
        words=_(
            "Different texts are compared, and they differ in more than length or family. Whether these are the "
            "reason, only a change of the same text can show."
        )
    )
