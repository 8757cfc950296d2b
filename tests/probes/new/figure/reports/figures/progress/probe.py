"""How many answers there are, and nothing else."""

from dataclasses import dataclass

from reports.document import columns
from reports.document.model import DocumentSection, ReportTable
from reports.figures.base import Figure


@dataclass(frozen=True, kw_only=True)
class Probe:
    n: int


class Probes(Figure[Probe]):
    key = "probe"
    title = "Probe of a figure"
    section = "items"
    position = 68
    tables = ("probes",)

    def compute(self, dataset):
        return Probe(n=len(dataset.people))

    def describe(self, result, head):
        answers = columns.number("n", "Probed answers")
        yield DocumentSection(
            heading=f"Probed: {result.n}",
            body=[ReportTable(name="probes", label="Probed", rows=[result], columns=[answers])],
        )
