"""Compute the numbers of report.json anew from the files of this package, and say where they differ.

    python recompute.py            point estimates, and intervals if numpy and scipy are there
    python recompute.py --json     the same as one JSON document

It knows nothing of Quire: it reads the tables, codebook.json, protocol.json, judge_calls.jsonl and report.json beside
it. Point estimates need pandas; some, and p values, intervals and chance floors, need numpy 1.25 or later and scipy as
well. Intervals rest on clusters and chance floors on shuffled answers, drawn from the seed of the study. It says of how
many numbers of the report it computed how many, figure by figure, and why not the others. Exit status: 0 if all that it
computed are the same, 1 if not.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from script.agreement import agreement
from script.beside_people import alternative_annotator, judges_among_themselves, judges_share_of_yes
from script.cloze import cloze
from script.choices import authorship, preferences, rankings
from script.contrasts import comparisons, factors
from script.counts import (
    judge_costs,
    outcomes,
    progress,
    same_seeds,
    sources,
    study,
    what_parts_rest_on,
)
from script.human_line import human_line
from script.items import item_analysis
from script.judge_audit import judge_biases
from script.judges import judges, judges_on_choices, judges_on_scales
from script.judges_on_groups import judges_on_pairs, judges_on_rankings
from script.measures import measures, repeats
from script.measures_beside_people import measures_beside_people
from script.material import Comparison, Package, intervals, list_numbers
from script.pairs import pair_accuracies, pair_lengths
from script.people import amendments, checks, pass_rates, ratings, shares, surveys, tests_passed
from script.powered import people_and_judge
from script.raters import panel, reliability
from script.references import near_copies, novelty
from script.sources import dimensions, distributions, human_likeness, places, story_ratings, trends
from script.strengths import strengths
from script.themes import themes
from script.variance import variance_components, wide_contrasts, wide_factors, wide_ratings
from script.wordings import wordings
from script.words import explanations, pace

if intervals is None:
    WITH_NUMPY = ()
else:
    from script.nsv import nsv, nsv_feedback
    from script.personas import personas

    from script.quiet import cloze_constraints, cloze_edges, cloze_scores, cloze_surprise, cloze_variants
    from script.quiet_judges import cloze_factorial, cloze_judges, cloze_scales

    WITH_NUMPY = (
        *(personas, cloze_scores, cloze_surprise, cloze_constraints, cloze_edges, cloze_variants),
        *(cloze_judges, cloze_factorial, cloze_scales, nsv, nsv_feedback),
    )


HERE = Path(__file__).resolve().parent
FIGURES = (
    *(pass_rates, ratings, shares, tests_passed, agreement, preferences, rankings, authorship, checks, surveys),
    *(comparisons, factors, judges, judges_on_scales, judges_on_choices),
    *(judges_on_pairs, judges_on_rankings, human_line),
    *(dimensions, places, distributions, story_ratings, trends, human_likeness),
    *(
        pair_lengths,
        pair_accuracies,
        explanations,
        pace,
        panel,
        reliability,
        item_analysis,
        variance_components,
        strengths,
    ),
    *(sources, study, progress, judge_costs, amendments),
    *(judges_share_of_yes, judges_among_themselves, alternative_annotator, judge_biases, people_and_judge),
    *(cloze, themes, measures, repeats, wordings, measures_beside_people, novelty, near_copies),
    *WITH_NUMPY,
)
MORE = (
    ("comparisons", wide_contrasts),
    ("factors", wide_factors),
    ("ratings", wide_ratings),
)  # which have more
OVER_FIGURES = (same_seeds, outcomes, what_parts_rest_on)


PLACES = "places, invitations and consents, and answers that are not taken along, which stand in no package"
NO_FORMULA = "what the script has no formula for yet"
if intervals is None:
    NO_FORMULA = "what needs scipy, which is not here, or has no formula yet"


def find_reason(figure, number, check):
    """Why a number was not computed."""
    if id(number) in check.reasons:
        return check.reasons[id(number)]
    return PLACES if figure in ("progress", "checks") else NO_FORMULA


def count_by_figure(package, check):
    """Of each figure how many numbers it has, how many were computed, and how many others stand where, and why."""
    figures = {}
    for path, number in list_numbers(package.report):
        figure = figures.setdefault(path[0], {"n": 0, "n_computed": 0, "others": {}, "why": {}})
        figure["n"] += 1
        if id(number) in check.computed:
            figure["n_computed"] += 1
        else:
            name = ".".join(part for part in path[1:] if part != "*")
            figure["others"][name] = figure["others"].get(name, 0) + 1
            reason = find_reason(path[0], number, check)
            figure["why"][name] = reason
    return figures


def main():
    package, check = Package(HERE), Comparison()
    for name, figure in [*((figure.__name__, figure) for figure in FIGURES), *MORE]:
        if package.report.get(name):
            figure(package, package.report[name], check)
    for figure in OVER_FIGURES:
        figure(package, package.report, check)
    figures = count_by_figure(package, check)
    n, n_computed = (sum(figure[name] for figure in figures.values()) for name in ("n", "n_computed"))
    n_intervals = check.n_intervals
    if "--json" in sys.argv:
        document = {"n": n, "n_computed": n_computed, "n_intervals": n_intervals, "figures": figures}
        print(json.dumps(document | {"differences": check.differences}))
    else:
        for row in check.differences:
            print(f"{row['place']}: {row['report']} in the report, {row['recomputed']} here")
        for name, figure in figures.items():
            others = ", ".join(f"{place} ({count})" for place, count in figure["others"].items())
            print(f"{name}: {figure['n_computed']} of {figure['n']}{'; not ' + others if others else ''}")
        reasons = Counter()
        for figure in figures.values():
            for place, count in figure["others"].items():
                reasons[figure["why"][place]] += count
        for reason, n_of_reason in reasons.items():
            print(f"Not computed: {n_of_reason}, {reason}.")
        print(f"{n_computed} of {n} numbers computed again, with the ends of {n_intervals} intervals;", end=" ")
        print(f"{len(check.differences)} differ.")
    return 1 if check.differences else 0


if __name__ == "__main__":
    sys.exit(main())
