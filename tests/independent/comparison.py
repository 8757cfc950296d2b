"""Every number of a package's report, computed again from its files by formulas written a second time.

It shares no code with `stats/` nor with the `recompute.py` that a package brings, which calls `stats/`: what is wrong
there is found here. It reads the tables, codebook.json, protocol.json, judge_calls.jsonl and report.json of a package.
Intervals rest on clusters and chance floors on shuffled answers, drawn from the seed of the study.
"""

from pathlib import Path
from zipfile import ZipFile

from tests.independent.agreement import agreement
from tests.independent.aligned_judges import alignment
from tests.independent.beside_people import alternative_annotator, judges_among_themselves, judges_share_of_yes
from tests.independent.choices import authorship, preferences, rankings
from tests.independent.cloze import cloze
from tests.independent.contrasts import comparisons, factors
from tests.independent.counts import (
    judge_costs,
    outcomes,
    progress,
    same_seeds,
    sources,
    study,
    what_parts_rest_on,
)
from tests.independent.dawid_skene import dawid_skene
from tests.independent.exclusions import exclusions, specifications
from tests.independent.explained_choices import explained_choices
from tests.independent.explanation_features import explanation_features
from tests.independent.human_line import human_line
from tests.independent.interventions import interventions
from tests.independent.items import item_analysis
from tests.independent.judge_audit import doubtful_verdicts, judge_biases, judges_calibration
from tests.independent.judges import judges, judges_on_choices, judges_on_scales, judges_on_scores
from tests.independent.judges_on_groups import judges_on_pairs, judges_on_rankings
from tests.independent.material import Comparison, Package, list_numbers
from tests.independent.measures import measures, repeats
from tests.independent.measures_beside_people import measures_beside_people
from tests.independent.missing import missing_answers, rater_questions
from tests.independent.nsv import nsv, nsv_feedback
from tests.independent.pairs import pair_accuracies, pair_lengths
from tests.independent.people import amendments, checks, pass_rates, ratings, shares, surveys, tests_passed
from tests.independent.personas import personas
from tests.independent.powered import people_and_judge
from tests.independent.quiet import cloze_constraints, cloze_edges, cloze_scores, cloze_surprise, cloze_variants
from tests.independent.quiet_judges import cloze_factorial, cloze_judges, cloze_scales
from tests.independent.raters import panel, reliability
from tests.independent.references import near_copies, novelty
from tests.independent.sources import dimensions, distributions, human_likeness, places, story_ratings, trends
from tests.independent.standard import judges_on_standard
from tests.independent.strengths import strengths
from tests.independent.themes import themes
from tests.independent.variance import variance_components, wide_contrasts, wide_factors, wide_ratings
from tests.independent.wordings import wordings
from tests.independent.words import explanations, pace

FIGURES = (
    *(pass_rates, ratings, shares, tests_passed, agreement, preferences, rankings, authorship, checks, surveys),
    *(comparisons, exclusions, specifications, factors, judges, judges_on_scores, judges_on_scales, judges_on_choices),
    *(judges_on_pairs, judges_on_rankings, human_line, judges_on_standard),
    *(dimensions, places, distributions, story_ratings, trends, human_likeness),
    *(
        pair_lengths,
        pair_accuracies,
        explained_choices,
        explanations,
        explanation_features,
        pace,
        panel,
        reliability,
        item_analysis,
        variance_components,
        strengths,
        dawid_skene,
        missing_answers,
        rater_questions,
    ),
    *(sources, study, progress, judge_costs, amendments),
    *(
        judges_share_of_yes,
        judges_calibration,
        alignment,
        doubtful_verdicts,
        judges_among_themselves,
        alternative_annotator,
        judge_biases,
        interventions,
        people_and_judge,
    ),
    *(cloze, themes, measures, repeats, wordings, measures_beside_people, novelty, near_copies),
    *(personas, cloze_scores, cloze_surprise, cloze_constraints, cloze_edges, cloze_variants),
    *(cloze_judges, cloze_factorial, cloze_scales, nsv, nsv_feedback),
)
MORE = (
    ("comparisons", wide_contrasts),
    ("factors", wide_factors),
    ("ratings", wide_ratings),
)  # which have more
OVER_FIGURES = (same_seeds, outcomes, what_parts_rest_on)


PLACES = "places, invitations and consents, and answers that are not taken along, which stand in no package"
NO_FORMULA = "what there is no second formula for yet"
# The one place where a figure counts as not computed twice: it has no function here. A new one is named by it.
NO_FIGURE = "what stands in a figure that has no second formula yet"
COVERED = frozenset(figure.__name__ for figure in FIGURES)


def find_reason(figure, number, check):
    """Why a number was not computed."""
    if id(number) in check.reasons:
        return check.reasons[id(number)]
    if figure not in COVERED:
        return NO_FIGURE
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


def list_others(result):
    """The numbers that were not computed, of figures that have a formula here: by figure and place, with the reason."""
    return {
        f"{figure}.{place}": reason
        for figure, row in result["figures"].items()
        for place, reason in row["why"].items()
        if figure in COVERED
    }


def compare(folder: Path):
    """What the package unpacked in that folder has: of how many numbers how many were computed, and which differ."""
    package, check = Package(folder), Comparison()
    for name, figure in [*((figure.__name__, figure) for figure in FIGURES), *MORE]:
        if package.report.get(name):
            figure(package, package.report[name], check)
    for figure in OVER_FIGURES:
        figure(package, package.report, check)
    figures = count_by_figure(package, check)
    n, n_computed = (sum(figure[name] for figure in figures.values()) for name in ("n", "n_computed"))
    counts = {"n": n, "n_computed": n_computed, "n_intervals": check.n_intervals}
    not_covered = [name for name in figures if name not in COVERED]
    return {**counts, "figures": figures, "not_covered": not_covered, "differences": check.differences}


def recomputed(package: ZipFile, folder: Path):
    """The same of a package that is unpacked into the folder first."""
    package.extractall(folder)
    return compare(folder)
