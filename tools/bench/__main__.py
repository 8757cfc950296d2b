"""`python -m tools.bench [--postgres URL]`: measures saves, pages, judges, reports and more; writes docs/bench.md."""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from tools import measurement

ROUNDS = 3
BUDGET_KB = 150
MOST_OF_REPORTS = {
    "reports": {"cold report, CPU s": 2, "warm report, CPU s": 0.1},
    "reports with a judge": {"cold report, CPU s": 3, "warm report, CPU s": 0.1},
    "reports of a million": {"cold report s": 20, "cold report, peak memory MB": 800, "package s": 60},
    "reports of a million with a judge": {"cold report s": 20, "package s": 60},
}
REPORTS = ("reports", "reports with a judge", "reports of a million", "reports of a million with a judge")
MEASURES = (
    *("saves", "cost", "reading", "designer", "judges", "judges with many calls"),
    *("neighbours", "pairs", "report pages"),
)
MOST_SUMMARY_MS, MOST_SECTION_MS, MOST_LIST_MS = 50, 150, 100
MOST_SAVE, MOST_PAGE = 2, 3  # in relation to the bare ones
MOST_NEIGHBOURS = 1.5  # in relation to a bare matrix product
# What of the judges' figures must hold: at most so much, or at least.
MOST_OF_JUDGES = {
    "time, engine / bare": 1.3,
    "time, two workers / bare": 1.5,
    "time with one call in forty eight times slower, engine / bare": 1.3,
    "CPU, engine / bare": 1.6,
    "queries a call": 1.5,
    "CPU s, planning": 0.5,
    "characters of texts and requests stored / of stories": 2.0,
}
MOST_OF_DESIGNERS = {f"{page} s": 1.0 for page in ("Stories", "People", "Monitor", "Overview")}
MOST_OF_MANY_CALLS = {
    "list of runs s": 1.0,
    "page of a run s": 1.0,
    "longest request while planning s": 1.0,
    "web process, peak memory MB": 300,
}
LEAST_OF_JUDGES = {"rate at a server that answers at once, engine / bare": 0.65}


def measured(url: str, what: str) -> dict[str, Any]:
    """One measurement on a new database of that kind, in a process of its own."""
    environment = os.environ | {"DATABASE_URL": url}
    if not url:
        del environment["DATABASE_URL"]
    process = subprocess.run(
        [sys.executable, "-m", "tools.bench", "--measure", what],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        raise SystemExit(process.stderr)
    return dict(json.loads(process.stdout.splitlines()[-1]))


def measure(what: str) -> None:
    """Print one measurement as JSON."""
    with measurement.own_database() as database:
        from tools.bench import (
            cost,
            designer,
            judges,
            many_calls,
            neighbours,
            pairs,
            reading,
            report_pages,
            reports,
            saves,
        )

        runs = {
            "saves": saves.run,
            "cost": cost.run,
            "reading": reading.run,
            "designer": designer.run,
            "judges": judges.run,
            "judges with many calls": many_calls.run,
            "pairs": pairs.run,
            "neighbours": neighbours.run,
            "report pages": report_pages.run,
            "reports": reports.run,
            "reports with a judge": reports.run_judged,
            "reports of a million": reports.run_million,
            "reports of a million with a judge": reports.run_million_judged,
        }
        measurements = runs[what]()
    sys.stdout.write(json.dumps({"database": database} | measurements) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument("--postgres", default=os.environ.get("BENCH_POSTGRES", ""), metavar="URL")
    parser.add_argument("--million", action="store_true", help="reports of 1,000,000 answers, too: some minutes more")
    parser.add_argument(
        "--measure",
        choices=[*MEASURES, *REPORTS],
        help=argparse.SUPPRESS,
    )
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return 0
    urls = ["", *filter(None, [options.postgres])]
    # By turns, so that a neighbour who is busy for a while disturbs both alike.
    rounds = [[_told(url, "saves", n) for url in urls] for n in range(1, ROUNDS + 1)]
    costs = [[_told(url, "cost", n) for url in urls] for n in range(1, ROUNDS + 1)]
    readings = [_told(url, "reading", 1) for url in urls]
    designed = [_told(url, "designer", 1) for url in urls]
    judged = [[_told(url, "judges", n) for url in urls] for n in range(1, ROUNDS + 1)]
    many = [_told(url, "judges with many calls", 1) for url in urls]
    nearest = _told("", "neighbours", 1)
    paired = _told("", "pairs", 1)
    paged = [_told(url, "report pages", 1) for url in urls]
    kinds = REPORTS if options.million else REPORTS[:2]
    reported = {kind: [_told(url, kind, 1) for url in urls] for kind in kinds}
    measurement.write(
        "docs/bench.md", page(rounds, costs, readings, designed, judged, many, reported, paged, nearest, paired)
    )
    return 0


def _told(url: str, what: str, n: int) -> dict[str, Any]:
    measurement.progress(f"{what}, {'PostgreSQL' if url else 'SQLite'}, round {n} …")
    return measured(url, what)


def page(
    rounds: list[list[dict[str, Any]]],
    costs: list[list[dict[str, Any]]],
    readings: list[dict[str, Any]],
    designed: list[dict[str, Any]],
    judged: list[list[dict[str, Any]]],
    many: list[dict[str, Any]],
    reported: dict[str, list[dict[str, Any]]],
    paged: list[dict[str, Any]],
    nearest: dict[str, Any],
    paired: dict[str, Any],
) -> str:
    judged_by_database = [medians([measured[n] for measured in judged]) for n in range(len(readings))]
    by_database = [medians([measured[n] for measured in rounds]) for n in range(len(readings))]
    cost_by_database = [medians([measured[n] for measured in costs]) for n in range(len(readings))]
    lines = [
        "# Bench",
        "",
        "Written by `make bench`; do not edit. Times depend on the machine and on who else uses it; what can be "
        "compared are numbers of this one run.",
        "",
        f"Commit {measurement.commit()}; {measurement.machine()}; gunicorn with 2 workers of 4 threads. Clients and "
        "server share the machine.",
        "",
        f"## Saving: 16 clients without a pause, medians of {ROUNDS} rounds",
        "",
        *table(by_database),
        "",
        *ratios(by_database),
        f"## CPU per request, medians of {ROUNDS} rounds",
        "",
        "Of the web server, one request after another, the database's own left out where it is another server. The "
        "bare save has the same middleware and writes the same rows, the bare page renders the same template from a "
        "context that was prepared before; neither decides anything. A save may cost "
        f"{MOST_SAVE} times as much as the bare one, "
        f"a page {MOST_PAGE} times.",
        "",
        *table(cost_by_database),
        "",
        f"## The reading page: a story of 2,000 words, 14 items ({BUDGET_KB} kB are allowed)",
        "",
        *table(readings),
        "",
        "The words stand in the page itself and no script holds it up: it can be read before any script has come.",
        "",
        *designers_section(designed),
        f"## Judges beside a bare client of the same library, medians of {ROUNDS} rounds",
        "",
        "A server that takes a second to each call, 256 calls at once, the same requests. The engine's time holds its "
        "three probes and every answer recorded.",
        "",
        *table(judged_by_database),
        "",
        *verdicts(judged_by_database, most=MOST_OF_JUDGES, least=LEAST_OF_JUDGES),
        "## Runs of many calls: four judges, 1,800 stories of 1,500 words, 14 tests each",
        "",
        "A browser looks what each judge would be asked, approves it and waits until it is at work; a worker does it. "
        "Pages are the middle one of nine visits.",
        "",
        *table(many),
        "",
        *verdicts(many, most=MOST_OF_MANY_CALLS),
        "## Nearest neighbours and likelihood",
        "",
        f"Beside a bare matrix product of the same vectors; at most {MOST_NEIGHBOURS} times as long. No database.",
        "",
        *table([nearest | {"database": "any"}]),
        "",
        "## A report, a package and pages of the API, of 30 people who share all groups",
        "",
        "Four stories a group, fourteen verdicts on each by three people, an order and four guesses; one process. The "
        "package is blind and whole; a page of the API has 200 answers, of the study's first and of its last.",
        "",
        *(line for kind, columns in reported.items() for line in reports_section(kind, columns)),
        "## Pages of a report: 13 sources, ten scales, 1,056 stories, three people and a judge",
        "",
        f"As they are stored; CPU of the middle one of nine visits. At most {MOST_SUMMARY_MS} ms for the summary, "
        f"{MOST_SECTION_MS} ms and {BUDGET_KB} kB for a section.",
        "",
        *table(paged),
        "",
        *verdicts(paged, most=most_of_pages(paged[0])),
        "## Pairs from stories with votes",
        "",
        "`build_pairs` with the filters of LitBench and every filter left out once; no database, one process.",
        "",
        *table([paired | {"database": "one run"}]),
        "",
    ]
    return "\n".join(lines)


def designers_section(columns: list[dict[str, Any]]) -> list[str]:
    return [
        f"## Pages of a designer: a study of {columns[0]['stories']:,} stories and {columns[0]['people']} people",
        "",
        "Live, in groups of four; everybody has come in and answered about a first story. Seconds as a browser waits "
        "for the page, the middle one of nine visits one after another; CPU of the web server.",
        "",
        *table(columns),
        "",
        *verdicts(columns, most=MOST_OF_DESIGNERS),
    ]


def most_of_pages(measured: Mapping[str, Any]) -> dict[str, float]:
    """What each page of a report may cost, by the name of its figure."""
    special = {"summary, CPU ms": MOST_SUMMARY_MS, "list of studies, CPU ms": MOST_LIST_MS}
    most = {name: special.get(name, MOST_SECTION_MS) for name in measured if name.endswith(", CPU ms")}
    return most | {name: BUDGET_KB for name in measured if name.endswith(", kB")}


def reports_section(kind: str, columns: list[dict[str, Any]]) -> list[str]:
    bounds = MOST_OF_REPORTS.get(kind, {})
    return [f"### {kind.capitalize()}", "", *table(columns), "", *(verdicts(columns, most=bounds) if bounds else [])]


def verdicts(
    columns: list[dict[str, Any]], *, most: Mapping[str, float], least: Mapping[str, float] | None = None
) -> list[str]:
    """For each figure that has a bound, whether it holds."""
    lines = ["| | must be | holds |", "|---|---|---|"]
    for name, bound in most.items():
        lines.append(f"| {name} | ≤ {bound:g} | {'yes' if all(c[name] <= bound for c in columns) else '**no**'} |")
    for name, bound in (least or {}).items():
        lines.append(f"| {name} | ≥ {bound:g} | {'yes' if all(c[name] >= bound for c in columns) else '**no**'} |")
    return [*lines, ""]


def medians(found: list[dict[str, Any]]) -> dict[str, Any]:
    names = [name for name in found[0] if name != "database"]
    return {"database": found[0]["database"]} | {n: statistics.median(measured[n] for measured in found) for n in names}


def table(columns: list[dict[str, Any]]) -> list[str]:
    names = [name for name in columns[0] if name != "database"]
    head = f"| | {' | '.join(str(c['database']) for c in columns)} |"
    rows = [f"| {name} | {' | '.join(number(c[name]) for c in columns)} |" for name in names]
    return [head, "|---" * (len(columns) + 1) + "|", *rows]


def number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def ratios(columns: list[dict[str, Any]]) -> list[str]:
    if len(columns) < 2:
        return ["PostgreSQL was not measured in this run.", ""]
    first, second = columns
    changes = [f"{name} {second[name] / first[name]:.2f}" for name in first if name != "database"]
    return [f"PostgreSQL in relation to SQLite: {', '.join(changes)}.", ""]


if __name__ == "__main__":
    sys.exit(main())
