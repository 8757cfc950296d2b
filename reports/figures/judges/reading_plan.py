"""How much people must read of a source for an interval of a wanted width, and how many hours that takes them."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from reports.document import columns
from reports.document.columns import LEAD, Write, decimals
from reports.document.model import Block, Phrase, ReportTable, TableColumn
from reports.document.phrases import phrase
from reports.lazy import np
from reports.numbers import decimal, whole

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from reports.figures.judges.prediction_powered import JudgeEstimates, SourceEstimate
    from stats.arrays import BoolArray
    from stats.prediction_powered import NeededStories


def count(
    dataset: Dataset, material: Judged, n_clusters: int, units: BoolArray, needed: NeededStories | None
) -> dict[str, Any]:
    """The fields of a source: how many clusters, and how many hours: as many readings of each as there were, each as
    long as the median one.

    n_clusters : of the source, that people have read; units : of the source
    """
    if needed is None:
        return {}
    minutes = [reading.minutes for reading in dataset.records.timed_readings if reading.minutes]
    n_readings = np.isfinite(material.people[:, :, units]).any(axis=0).sum()
    hours = float(n_readings / n_clusters * median(minutes) / 60) if minutes else None
    return {
        "n_needed_alone": needed.alone,
        "n_needed_alone_low": needed.alone_ends[0],
        "n_needed_alone_high": needed.alone_ends[1],
        "n_needed": needed.together,
        "n_needed_low": needed.together_ends[0],
        "n_needed_high": needed.together_ends[1],
        "hours_alone": None if hours is None else hours * needed.alone,
        "hours": None if hours is None else hours * needed.together,
    }


def table(row: JudgeEstimates, title: str) -> list[Block]:
    """How much people must read for the wanted width; nothing where that cannot be told of any source."""
    parts = [part for part in row.by_source if part.n_needed is not None]
    if not parts:
        return []
    half_width = decimal(row.half_width, row.places)
    caption = _(
        "What people must read for an interval of %(half_width)s to either side, and how many hours it takes. A "
        "cluster is a story, or all of the source’s stories on one prompt."
    )
    return [
        ReportTable(
            label=_("%(title)s: stories and hours that are needed") % {"title": title},
            caption=caption % {"half_width": half_width},
            rows=parts,
            columns=[
                columns.words("source", _("Source"), is_head=True),
                _with_ends(phrase(_("Clusters,<br>people alone")), "n_needed_alone", "n_needed_alone", whole),
                _with_ends(phrase(_("Clusters,<br>with the judge")), "n_needed", "n_needed", whole, css=LEAD),
                _with_ends(phrase(_("Hours,<br>people alone")), "hours_alone", "n_needed_alone", decimals(1)),
                _with_ends(phrase(_("Hours,<br>with the judge")), "hours", "n_needed", decimals(1), css=LEAD),
            ],
        )
    ]


def _with_ends(heading: Phrase, name: str, n: str, write: Write, css: str = "") -> TableColumn[SourceEstimate]:
    """A number with both ends, which are to it as those of clusters are to their number. n : the field of that"""

    def shown(part: SourceEstimate) -> Phrase:
        value = getattr(part, name)
        if value is None:
            return write(None)
        low, high = (write(value * getattr(part, f"{n}_{end}") / getattr(part, n)) for end in ("low", "high"))
        ends = _("%(low)s to %(high)s") % {"low": low, "high": high}
        return phrase('%(value)s <span class="ends">%(ends)s</span>', value=write(value), ends=ends)

    return columns.number(name, heading, shown=shown, css=css)
