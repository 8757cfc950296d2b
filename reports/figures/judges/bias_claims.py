"""What may be said of a judge's length and family biases: only what holds after the correction for all looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from reports.document.model import TextBlock
from reports.document.phrases import phrase
from reports.numbers import decimal
from reports.numbers import interval as ends_words

if TYPE_CHECKING:
    from reports.figures.judges.biases import Bias

ALPHA = 0.05
PLACES = 2
# By bias, and whether it gives more.
SENTENCES = {
    ("own_family", True): gettext_noop(
        "<strong>%(judge)s</strong> gives its own family’s stories %(value)s more than other models’ stories that are "
        "worth as much to people (%(ends)s; %(n)s stories beside %(n_beside)s)."
    ),
    ("own_family", False): gettext_noop(
        "<strong>%(judge)s</strong> gives its own family’s stories %(value)s less than other models’ stories that are "
        "worth as much to people (%(ends)s; %(n)s stories beside %(n_beside)s)."
    ),
    ("verbosity", True): gettext_noop(
        "<strong>%(judge)s</strong> gives a story twice as long %(value)s more than one worth as much to people "
        "(%(ends)s; %(n)s stories)."
    ),
    ("verbosity", False): gettext_noop(
        "<strong>%(judge)s</strong> gives a story twice as long %(value)s less than one worth as much to people "
        "(%(ends)s; %(n)s stories)."
    ),
}
KINDS = {"verdicts": gettext_noop("verdicts"), "scales": gettext_noop("scales")}


def is_clear(row: Bias) -> bool:
    """Whether it holds for other stories and other raters."""
    return row.p_adjusted is not None and row.p_adjusted < ALPHA


def claims(rows: Sequence[Bias]) -> Iterator[TextBlock]:
    """One sentence for each bias that can be told, and how many were looked at; nothing where nothing was."""
    tested = [row for row in rows if row.p is not None]
    if not tested:
        return
    for row in tested:
        if is_clear(row):
            yield _claim(row)
    n_clear = sum(map(is_clear, tested))
    summary = _("Shown after Holm’s correction over all that were tested: %(n_clear)s of %(n)s. Not shown is not none.")
    yield TextBlock(words=phrase(summary, n_clear=n_clear, n=len(tested)))


def _claim(row: Bias) -> TextBlock:
    value = row.value or 0.0
    words = phrase(
        _(SENTENCES[row.bias, value > 0]),
        judge=row.judge,
        value=decimal(abs(value), PLACES),
        ends=ends_words(row.interval, PLACES),
        n=row.n,
        n_beside=row.n_beside,
    )
    return TextBlock(words=phrase(_("On %(kind)s: %(claim)s"), kind=_(KINDS[row.kind]), claim=words))


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
    yield TextBlock(
        words=_(
            "Different texts are compared, and they differ in more than length or family. Whether these are the "
            "reason, only a change of the same text can show."
        )
    )
