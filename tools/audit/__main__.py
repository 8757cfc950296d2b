"""`python -m tools.audit`: false claims of simulated studies, by design and kind; written to docs/audit.md.

--n 1000      null studies in all
--only TEXT   designs with that in their name
--to FILE     in place of docs/audit.md
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from statsmodels.stats.proportion import proportion_confint

from tools import measurement
from tools.audit.designs import DESIGNS, Design, draw
from tools.measurement import ROOT, own_database

if TYPE_CHECKING:
    from reports.figures.base import Claim

BY_SOURCE = (0.0, 0.15, 0.3, 0.5)
KINDS = ("difference", "difference of raters", "agreement", "authorship", "judge")
PLANTED = 0.35
DOC = ROOT / "docs" / "audit.md"


def claims_of(design: Design, *, effect: float, by_source: float, has_stories: bool, seed: int) -> "list[Claim]":
    """What the findings of one simulated study claim. It leaves nothing in the database."""
    from django.db import transaction

    from reports import results
    from tools.audit import studies

    rng = np.random.default_rng(seed)
    answers = draw(design, effect=effect, by_source=by_source, has_stories=has_stories, rng=rng)
    with transaction.atomic():
        study = studies.make(answers, has_guesses=True, rng=rng)
        report = results.read_results(results.compute(study))
        statements = [s for figure, result in report.computed for s in figure.statements(result, report.head)]
        transaction.set_rollback(True)
    return [claim for statement in statements for claim in statement.claims]


def null_studies(designs: list[Design], n: int) -> Iterator[tuple[Design, float, set[str]]]:
    """Of each study its design, how much raters differ by source, and the kinds of its false claims."""
    for number in range(n):
        design = designs[number % len(designs)]
        turn = number // len(designs)
        by_source = BY_SOURCE[turn % len(BY_SOURCE)]
        has_stories = (number + turn // len(BY_SOURCE)) % 2 == 0
        claims = claims_of(design, effect=0.0, by_source=by_source, has_stories=has_stories, seed=number)
        is_true = {"equivalence"}
        if has_stories or by_source > 0:  # there is something to agree on
            is_true.add("agreement")
        if by_source > 0:  # these raters do make something of sources
            is_true.add("difference of raters")
        yield design, by_source, {claim.kind for claim in claims} - is_true


def planted_studies(designs: list[Design], n: int) -> tuple[int, int]:
    """How many clear differences there are in studies in which each source is better than the next, and wrong ones."""
    n_clear = n_wrong = 0
    for number in range(n):
        design = designs[number % len(designs)]
        by_source = BY_SOURCE[number // len(designs) % len(BY_SOURCE)]
        claims = claims_of(design, effect=PLANTED, by_source=by_source, has_stories=True, seed=10**6 + number)
        for claim in claims:
            n_clear += claim.kind == "difference"
            n_wrong += claim.kind == "difference" and claim.better > claim.worse
    return n_clear, n_wrong


def share(n: int, of: int) -> str:
    """In percent, with its 95 % interval by Wilson for other simulated studies."""
    low, high = proportion_confint(n, of, method="wilson")
    return f"{100 * n / of:.1f} ({100 * low:.0f} to {100 * high:.0f})"


def tables(claimed: list[tuple[Design, float, set[str]]]) -> Iterator[str]:
    for heading, key in (("design", lambda row: row[0].name), ("rater × source", lambda row: f"sd {row[1]}")):
        yield f"| {heading} | studies | {' | '.join(KINDS)} | any |"
        yield "|---" * (len(KINDS) + 3) + "|"
        rows: dict[str, list[set[str]]] = {}
        for row in claimed:
            rows.setdefault(key(row), []).append(row[2])
        rows["all"] = [kinds for _design, _sd, kinds in claimed]
        for name, sets in rows.items():
            counts = Counter(kind for kinds in sets for kind in kinds)
            cells = [share(counts[kind], len(sets)) for kind in KINDS]
            yield f"| {name} | {len(sets)} | {' | '.join(cells)} | {share(sum(map(bool, sets)), len(sets))} |"
        yield ""


def main(arguments: Any = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--only", default="")
    parser.add_argument("--to", type=Path, default=DOC)
    options = parser.parse_args(arguments)
    designs = [design for design in DESIGNS if options.only in design.name]
    with own_database():
        claimed = list(null_studies(designs, options.n))
        n_clear, n_wrong = planted_studies(designs, options.n // 4)
    lines = [
        "# Whether findings are true",
        "",
        f"Written by `make audit` at commit {measurement.commit()}: {options.n} studies without any effect, simulated",
        "and reported on whole, and how many of them state one, in percent with the 95 % interval. Raters differ by",
        ".4, stories by .5 and answers by .8 points of a scale from 1 to 5; in half of the studies stories do not",
        "differ. Raters guess at authors by leanings of their own, and a judge, where there is one, answers with",
        "noise. A difference of raters is what is said of these raters alone; it is false where none of them makes",
        "anything of a source.",
        "",
        "Sentences on judges' biases for their own family and for length are outside this audit; they are simulated in",
        "[intervals](intervals.md#judges-with-and-without-a-bias) instead. Outside stand also those on what a judge",
        "gains by alignment with experts, simulated in [judges](judges.md#alignment-with-experts), and those on",
        "interventions.",
        "",
        *tables(claimed),
        f"Of {options.n // 4} studies in which every source is better than the next by {PLANTED} points, the findings "
        f"name {n_clear} differences",
        f"as clear; {n_wrong} of them the wrong way round.",
        "",
    ]
    options.to.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
