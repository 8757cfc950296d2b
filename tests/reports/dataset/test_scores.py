"""Scores in a report: what an instrument declares, and the mean of like scales where it declares nothing."""

import csv
import io
import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from scipy import stats as scipy_stats

from reports import results
from reports.page import context
from reports.page.statements import statement_lines
from studies import protocol
from studies.protocol.preregistration import write_preregistration
from studies.protocol.prose import ProseFacts, write_prose
from studies.views.analysis_plans import title_of
from tests.independent.comparison import recomputed
from tests.reports import composed
from tests.reports.package_run import recompute
from tests.reports.test_packages import issued

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

TOTAL, FIRST_TWO, UNDECLARED = "rubric/scores/total", "rubric/scores/first-two", "rubric/scales/1-5"


def outcomes(study: Any) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in results.compute(study)["comparisons"]["outcomes"]}


def test_a_declared_score_is_the_mean_over_raters_who_answered_all_of_its_items() -> None:
    made = composed.plant()

    row = outcomes(made.study)[TOTAL]

    for n, source in ((1, "A person"), (2, "A model")):
        by_story = []
        for g in range(1, composed.N_GROUPS + 1):
            totals = [made.total(rater, f"p{g:02}s{n}") for rater in composed.RATERS]
            by_story.append(mean(total for total in totals if total is not None))
        level = next(level for level in row["sources"] if level["source"] == source)
        assert level["value"] == pytest.approx(mean(by_story), abs=1e-9)
    assert any(made.total("E01", f"p{g:02}s1") is None for g in range(1, composed.N_GROUPS + 1))


def test_items_of_a_score_are_looked_at_after_it_and_a_score_of_some_of_them_too() -> None:
    rows = outcomes(composed.plant().study)

    assert [(key, row["kind"], bool(row.get("is_part"))) for key, row in rows.items()] == [
        (TOTAL, "score", False),
        (FIRST_TWO, "score", True),
        ("rubric/item-1", "rating", True),
        ("rubric/item-2", "rating", True),
        ("rubric/item-3", "rating", True),
        ("rubric/item-4", "rating", False),
    ]


def test_a_rubric_without_scores_gets_the_mean_of_its_like_scales_and_says_that_it_is_not_declared() -> None:
    study = composed.plant(scores=()).study

    rows = outcomes(study)
    page = json.dumps(
        [str(section) for section in context.context(results.read_results(results.compute(study)))["sections"]]
    )

    assert [(key, row["kind"], bool(row.get("is_part"))) for key, row in rows.items()] == [
        *((f"rubric/{item}", "rating", False) for item in composed.ITEMS),
        (UNDECLARED, "scale_mean", False),
    ]
    assert "mean of its scales, not declared as a score" in page


def test_a_report_is_headed_with_a_declared_score() -> None:
    read = results.read_results(results.compute(composed.plant().study))

    assert context.headline(read).startswith("Stories by A person are rated highest on “Craft in all”, ")
    first = statement_lines(read)[0].statement.sentence
    assert first.startswith("Stories by A person are rated ")
    assert "higher on “Craft in all”" in first


def test_a_report_is_not_headed_with_a_mean_that_nobody_declared() -> None:
    read = results.read_results(results.compute(composed.plant(scores=()).study))

    assert context.headline(read) == (
        "Stories by A person are rated highest on 3 of 4 scales; on none of them are the first two shown to differ"
    )


def test_a_score_may_be_the_primary_outcome_of_a_plan() -> None:
    study = composed.plant(plan=FIRST_TWO).study

    row = outcomes(study)[FIRST_TWO]

    assert row["is_primary"]
    assert [contrast["is_planned"] for contrast in row["contrasts"]] == [True]
    read = results.read_results(results.compute(study))
    assert context.headline(read).startswith("Stories by A person are rated highest on “The first two”, ")


def test_the_codebook_says_what_a_score_is_made_of() -> None:
    _package, archive = issued(composed.plant().study)

    book = json.loads(archive.read("codebook.json"))
    rows = [row for row in csv.DictReader(io.StringIO(archive.read("codebook.csv").decode())) if row["what"] == "score"]

    assert book["scores"][0] == {
        "outcome": TOTAL,
        "is_declared": True,
        "is_part": False,
        "title": "Craft in all",
        "step": "rubric",
        "items": ["item-1", "item-2", "item-3"],
        "how": "sum",
        "weights": {"item-2": 2},
        "reversed": ["item-3"],
    }
    assert [(row["name"], row["values"]) for row in rows] == [
        (TOTAL, "the sum of item-1, 2 × item-2, item-3 (reversed)"),
        (FIRST_TWO, "the mean of item-1, item-2"),
    ]


@pytest.mark.parametrize("scores", [composed.SCORES, ()], ids=["declared", "not declared"])
def test_a_package_gives_the_numbers_of_its_scores_again_by_two_ways(scores: Any, tmp_path: Path) -> None:
    made = composed.plant(scores=scores, with_judge=True)
    _package, archive = issued(made.study, with_sources=True, reason="To compute them anew.")

    answer, independently = recompute(archive, tmp_path / "one"), recomputed(archive, tmp_path / "other")

    assert answer["differences"] == []
    of_outcomes = (
        "comparisons/",
        "variance_components/",
        "agreement/",
        "item_analysis/",
        "judges_on_scores/",
        "story_ratings/",
    )
    assert [row for row in independently["differences"] if row["place"].startswith(of_outcomes)] == []
    assert answer["figures"]["comparisons"]["n_computed"] == answer["figures"]["comparisons"]["n"]


def test_a_judges_own_score_stands_beside_the_mean_of_peoples() -> None:
    made = composed.plant(with_judge=True)

    (row,) = results.compute(made.study)["judges_on_scores"]

    both = []
    for g in range(1, composed.N_GROUPS + 1):
        for story in (f"p{g:02}s1", f"p{g:02}s2"):
            people = [total for rater in composed.RATERS if (total := made.total(rater, story)) is not None]
            judge = made.total(composed.JUDGE, story)
            if people and judge is not None:
                both.append((judge, round(mean(people), 10)))
    total, first_two = row["items"]
    by_statistic = {score["statistic"]: score["parts"][0] for score in total["scores"]}
    assert (total["item"], first_two["item"]) == ("scores/total", "scores/first-two")
    assert by_statistic["spearman"]["n"] == len(both) < 2 * composed.N_GROUPS
    assert by_statistic["spearman"]["value"] == pytest.approx(scipy_stats.spearmanr(*zip(*both, strict=True)).statistic)
    differences = [judge - people for judge, people in both]
    assert by_statistic["mean_difference"]["value"] == pytest.approx(mean(differences))
    assert by_statistic["mean_absolute_error"]["value"] == pytest.approx(mean(map(abs, differences)))


def test_every_story_stands_with_its_raters_scores() -> None:
    made = composed.plant()

    rows = results.compute(made.study)["story_ratings"]

    assert [row["item"] for row in rows] == ["scores/total", "scores/first-two", *composed.ITEMS]
    assert (rows[0]["lowest"], rows[0]["highest"]) == (4, 20)
    for story in rows[0]["stories"]:
        totals = [made.total(rater, story["story"]) for rater in composed.RATERS]
        assert story["ratings"] == [total for total in totals if total is not None]


def test_agreement_and_reliability_are_of_the_declared_scores_first() -> None:
    report = results.compute(composed.plant(missing=0).study)

    assert [(row["item"], row["coefficient"]["name"]) for row in report["agreement"]["items"]][:3] == [
        ("scores/total", "Krippendorff's alpha, interval"),
        ("scores/first-two", "Krippendorff's alpha, interval"),
        ("item-1", "Krippendorff's alpha, ordinal"),
    ]
    assert [(row["kind"], row["title"], row["n_items"]) for row in report["reliability"]["numbers"]] == [
        ("score", "Craft in all", 3),
        ("score", "The first two", 2),
        *(("rating", f"Item {n}", 1) for n in range(1, 5)),
    ]
    assert [
        (row["kind"], row["title"], len(row["items"]), bool(row.get("alpha"))) for row in report["item_analysis"]
    ] == [
        ("score", "Craft in all", 3, True),
        ("score", "The first two", 2, True),
        ("scales", "1–5", 4, False),
    ]


def test_a_score_is_frozen_with_the_protocol() -> None:
    study = composed.plant().study
    version = protocol.current(study)

    assert json.loads(version.document)["instruments"]["c-rubric 1"]["scores"] == list(composed.SCORES)
    step = protocol.load_protocol(version).steps[0]
    assert step.instrument is not None
    assert step.instrument.scores == list(composed.SCORES)


def test_the_protocol_in_words_and_the_registered_plan_say_what_a_score_is_made_of() -> None:
    study = composed.plant(plan=TOTAL).study
    plan = protocol.frozen_plan(study)
    assert plan is not None

    sections = write_prose(protocol.current(study).document, ProseFacts(1, 9, ""))
    registered = write_preregistration(study, plan)

    assert (
        "Scores are made of the answers: “Craft in all”, sum of Item 1, 2 × Item 2, Item 3 (reversed); "
        "“The first two”, mean of Item 1, Item 2."
    ) in "\n".join(sentence.text for section in sections for sentence in section.sentences)
    assert (
        "`rubric/scores/total`: a score that its instrument declares, as the mean over raters who answered all of its "
        "items (“Craft in all”): the sum of item-1, 2 × item-2, item-3 (reversed)."
    ) in registered


@pytest.mark.parametrize(
    ("scores", "title"),
    [
        (composed.SCORES, "Craft in all, score"),
        ((), "The rubric, mean of its scales (not declared as a score)"),
    ],
)
def test_the_page_of_the_plan_says_which_outcomes_are_scores(scores: Any, title: str) -> None:
    study = composed.plant(scores=scores).study

    outcomes = protocol.list_outcomes(protocol.load_protocol(protocol.current(study)).steps)

    assert title in [title_of(outcome) for outcome in outcomes]
