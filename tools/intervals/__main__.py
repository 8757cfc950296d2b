"""`python -m tools.intervals`: every interval whose coverage is promised, measured; written to docs/intervals.md."""

import argparse
from collections.abc import Callable, Iterator
from time import gmtime, strftime

from tools import measurement
from tools.intervals import altered_stories, clusters, planted_judges, prediction_powered

# Each gives its section line by line, given over how many studies.
SECTIONS: tuple[Callable[[int], Iterator[str]], ...] = (
    clusters.describe,
    clusters.describe_rare,
    clusters.describe_tests,
    lambda n_studies: prediction_powered.describe(2 * n_studies),
    lambda n_studies: planted_judges.describe(3 * n_studies // 20),
    lambda n_studies: altered_stories.describe(3 * n_studies // 20),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.intervals", description=__doc__)
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies a cell (1000)")
    n_studies = parser.parse_args().studies
    head = (
        "# Intervals",
        "",
        "How often the intervals of reports hold the truth, in studies simulated around a known one. Written by "
        "`make intervals`; do not edit. Seeds are fixed, so the same code gives the same numbers.",
        "",
        f"{strftime('%Y-%m-%d', gmtime())}, `python -m tools.intervals --studies {n_studies}`, "
        f"commit {measurement.commit()}; {measurement.machine()}.",
        "",
    )
    sections = ("\n".join(section(n_studies)) for section in SECTIONS)
    measurement.write("docs/intervals.md", "\n".join(head) + "\n" + "\n\n".join(sections) + "\n")


if __name__ == "__main__":
    main()
