"""How many answers there are, and nothing else."""

from dataclasses import dataclass

from reports.figures.base import Figure


@dataclass(frozen=True, kw_only=True)
class Probe:
    n: int


class Probes(Figure[Probe]):
    key = "probe"
    title = "Probe of a figure"
    position = 68
    result = Probe
    tables = ("probes",)

    def compute(self, dataset):
        return Probe(n=len(dataset.people))

    def rows(self, result):
        return {"probes": iter([{"n": result.n}])}

    def lines(self, result):
        yield f"Probed answers: {result.n}"
