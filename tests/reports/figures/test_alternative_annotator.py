"""May a judge stand in for an expert? Not if it only tells one source from the others."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from annotation.models import Rater
from annotation.responses import Answer
from reports.dataset import Dataset
from reports.document.model import DrawnPlot, Head, find_blocks
from reports.document.values import Estimate
from reports.figures.base import NO_HEAD, Listing
from reports.figures.judges.alternative_annotator import AlternativeAnnotator, JudgeStandings
from reports.figures.judges.human_line import HumanLine
from reports.figures.judges.on_verdicts import Judges
from reports.figures.judges.standings import Standing, best_constant
from stats.alternative_annotator import alt_test
from studies.models import Item, Study
from tests import factories, triggers
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# Forty pairs of a story by a person and one by a model, one question. Three experts agree on everything: of ten pairs
# they say Yes and No to eight, and twice Yes to two.
EXPERTS = "yn" * 8 + "yy" * 2
NO_CONSTANT = {"constant_models": 0, "constant": 0}  # which passes


def planted(judge: str) -> JudgeStandings:
    """The standings of a judge that says these letters of every ten pairs."""
    study = given.closed_study(n_groups=40)
    given.verdicts(study, dict.fromkeys(("E01", "E02", "E03"), EXPERTS * 4))
    given.verdicts(study, {"judge": judge * 4}, kind=Rater.Kind.MODEL)
    return compute(study)["judge"]


def compute(study: Study) -> dict[str, JudgeStandings]:
    return {row.judge: row for row in AlternativeAnnotator().compute(Dataset.of(study)).rows}


def rates(row: JudgeStandings) -> dict[str, float | None]:
    return {standing.form: standing.winning_rate for standing in row.standings}


def test_a_judge_that_only_tells_people_from_models_is_no_stand_in() -> None:
    found = planted("yn" * 10)

    assert rates(found) == {"test": 1, "unanswered": 1, "stories": 1, "models": 0, **NO_CONSTANT}
    assert not found.may_stand_in


def test_a_judge_that_says_what_experts_say_may_stand_in() -> None:
    found = planted(EXPERTS)

    assert rates(found) == {"test": 1, "unanswered": 1, "stories": 1, "models": 1, **NO_CONSTANT}
    assert found.may_stand_in


def test_what_a_judge_left_out_is_lost() -> None:
    found = planted("y-" * 10)
    answered, lost, _, models, *_ = found.standings

    assert (answered.winning_rate, answered.n_units) == (1, 40)
    assert (lost.winning_rate, lost.n_units) == (0, 80)
    assert models.why is not None
    assert models.why.code == "nobody_to_leave_out"
    assert not found.may_stand_in


def test_a_judge_no_better_than_one_answer_given_always_is_no_stand_in() -> None:
    found = planted(EXPERTS)
    *own, constant = found.standings
    equal = replace(constant, advantage=own[0].advantage)

    assert not replace(found, standings=(*own, equal)).may_stand_in


@pytest.mark.data
@pytest.mark.usefixtures("few_shuffles")
def test_the_judges_of_the_release_do_worse_than_always_no(release: Path) -> None:
    call_command("replicate", "ttcw", data=release / "ttcw", stdout=io.StringIO())
    found = compute(Study.objects.get(slug="ttcw-release"))

    test, *_, constant = found["gpt4"].standings
    assert (constant.answer, round(constant.advantage or 0, 2)) == (0, 0.80)
    assert round(test.advantage or 0, 2) == 0.69
    assert (test.n_tested, test.n_people) == (11, 11)
    assert not any(row.may_stand_in for row in found.values())


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.usefixtures("few_shuffles")
def test_the_report_of_the_release_shows_its_judges_beside_its_experts(release: Path) -> None:
    call_command("replicate", "ttcw", data=release / "ttcw", stdout=io.StringIO())
    data = Dataset.of(Study.objects.get(slug="ttcw-release"))

    judges = {row.judge: row for row in Judges().compute(data).compared}
    lines = {(row.judge, row.part): row for row in HumanLine().compute(data).rows}

    scores = {name: {s.statistic: s.whole.value or 0 for s in row.scores.scores} for name, row in judges.items()}
    assert (round(scores["gpt4"]["kappa"], 3), round(scores["gpt4"]["mean_kappa"], 3)) == (0.068, 0.034)
    assert (round(scores["gemini-pro"]["kappa"], 3), round(scores["gemini-pro"]["mean_kappa"], 3)) == (-0.014, -0.021)
    shares = {name: round((row.pooled.yes_percent or 0) / 100, 3) for name, row in judges.items()}
    assert (shares["gpt4"], shares["gemini-pro"]) == (0.792, 0.974)
    gemini = judges["gemini-pro"].outcomes
    assert (gemini.answered, gemini.expected, gemini.declined, gemini.missing) == (608, 672, 50, 14)
    lost = {row.source: round(row.lost_percent or 0, 1) for row in gemini.by_source}
    assert lost == {"The New Yorker": 19.0, "Claude 1.3": 9.5, "GPT-4": 5.4, "GPT-3.5": 4.2}
    assert round(lines["gpt4", "all"].expert.value or 0, 2) == 0.43
    difference = lines["gpt4", "all"].difference
    assert difference.interval.high is not None
    assert difference.interval.high < 0


def test_of_free_numbers_only_quantiles_are_tried_as_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    people = np.arange(120.0).reshape(40, 3).T  # three people, 40 stories, no number twice
    tried = []

    def noted(humans: Any, judge: Any, **options: Any) -> Any:
        tried.append(judge[0])
        return alt_test(humans, judge, **options)

    monkeypatch.setattr("stats.alternative_annotator.alt_test", noted)
    best_constant(people, "neg_rmse")

    assert tried == sorted(set(tried))
    assert (len(tried), tried[0], tried[-1]) == (21, 0, 119)


# Forty pairs again, now rated from 1 to 5 on one scale; of ten pairs people rate two high and two low by models too.
RATED = [5, 1, 4, 2, 5, 1, 5, 5, 4, 1, 1, 1, 5, 2, 4, 4, 5, 1, 2, 2]


def rated(judge: list[int]) -> JudgeStandings:
    """The standings of a judge on a scale, beside three experts who are seldom one point apart."""
    study = given.closed_study(n_groups=40)
    with triggers.lifted():
        settings = {"low": 1, "high": 5, "anchors": {"1": "Low", "5": "High"}}
        Item._base_manager.filter(instrument__slug="plums-tests").update(type="scale", settings=settings)
        factories.freeze_anew(study)
    stories = list(study.stories.order_by("code").values_list("code", "groups__code"))
    rows = []
    for name in ("E01", "E02", "E03", "judge"):
        for place, (story, group) in enumerate(stories):
            value = (judge if name == "judge" else RATED)[place % 20]
            if name == "E03" and place % 7 == 0:
                value += 1 if value < 5 else -1
            kind = Rater.Kind.MODEL if name == "judge" else Rater.Kind.PERSON
            rows.append(given.Row("test", name, group, story, "tests", "item-1", Answer(value=value), kind))
    given.bring(study, rows)
    return compute(study)["judge"]


def test_on_a_scale_a_judge_that_rates_as_experts_do_may_stand_in() -> None:
    row = rated(RATED)

    assert row.score == "neg_rmse"
    assert rates(row) == {"test": 1, "unanswered": 1, "stories": 1, "models": 1, **NO_CONSTANT}
    assert row.may_stand_in


def test_on_a_scale_a_judge_that_only_tells_people_from_models_is_no_stand_in() -> None:
    row = rated([5, 1] * 10)

    assert rates(row)["models"] == 0
    assert not row.may_stand_in


def verdict_on_page(client: Client) -> str:
    """What the page says of whether the judge is a stand-in: the last cell of its row, as the sentence above."""
    client.force_login(factories.staff("researcher"))
    page = " ".join(client.get("/reports/plums/figures/all/").content.decode().split())
    section = page[page.index('id="alternative_annotator"') :]
    section = section[: section.index("</section>")]
    assert "A stand-in<br>for an expert?" in section
    row = section[section.index('<th scope="row">judge</th>') :]
    cells = row[: row.index("</tr>")].split("<td>")
    assert page.count("by every form of the test") == section.count("by every form of the test")
    word = cells[-1].split("</td>")[0]
    sentence = (
        "On verdicts it was not shown that the judge can replace an expert."
        if word == "no"
        else "judge may stand in for an expert,"
    )
    assert sentence in section
    assert ("judge may stand in" in page) == (word != "no"), "nor among the findings, nor anywhere else"
    return word


@pytest.mark.parametrize("letters", ["yn" * 10, "y" * 20], ids=["tells magazine from machine", "says one thing"])
def test_no_page_calls_a_judge_a_stand_in_that_only_tells_sources_apart_or_says_one_thing(
    client: Client, letters: str
) -> None:
    planted(letters)

    assert verdict_on_page(client) == "no"


def test_the_page_says_so_of_a_judge_that_passes_every_form(client: Client) -> None:
    planted(EXPERTS)

    assert verdict_on_page(client) == "by every form of the test"


def test_the_interval_of_the_advantage_is_that_of_the_mean_over_people_of_their_means() -> None:
    # As the experts, but for one pair in ten, of which the judge has the second story wrong.
    found = planted("yn" * 7 + "yy" * 3)
    test = found.standings[0]

    assert test.interval is not None
    assert test.interval.low is not None
    assert test.interval.high is not None
    assert test.interval.low < (test.advantage or 0) < test.interval.high
    assert (test.interval.n_resampled, test.interval.method) == (40, "percentile")


def test_each_judge_has_a_row_of_dots_one_for_each_form() -> None:
    rows = [replace(planted("y-" * 10), judge="half")]

    (drawing,) = find_blocks(AlternativeAnnotator().describe(Listing(tuple(rows)), NO_HEAD), DrawnPlot)

    plot = drawing.plot
    assert drawing.label == "verdicts"
    assert [row.label for row in plot.rows] == ["half"]
    values = {standing.form: standing.advantage for standing in rows[0].standings}
    expected = [values["test"], values["unanswered"], None, values["constant"]]
    assert [mark.value for mark in plot.rows[0].marks] == expected


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (0.0, "can replace an expert, nor that it does as well as even one of the experts tested."),
        (0.25, "as well as 25 % of those tested,"),
    ],
)
def test_a_judge_that_fails_is_said_to_do_as_well_as_so_many(rate: float, words: str) -> None:
    standing = Standing(form="test", winning_rate=rate, advantage=0.1, n_tested=4, n_people=4, n_units=40)
    standings = (standing, replace(standing, form="constant"))
    row = JudgeStandings(judge="gpt", score="accuracy", standings=standings, drawn=Estimate(value=31.5))

    (statement,) = AlternativeAnnotator().statements(Listing((row,)), Head(title="Plums", is_sealed=False))

    assert words in statement.sentence
    assert "drawn anew for each question, would pass every form of the test in 32 % of draws." in statement.sentence


def test_where_one_answer_given_always_passes_among_models_no_judge_is_called_a_stand_in() -> None:
    study = given.closed_study(n_groups=40)
    given.verdicts(study, dict.fromkeys(("E01", "E02", "E03"), ("yn" * 9 + "yy") * 4))
    given.verdicts(study, {"judge": "yn" * 40}, kind=Rater.Kind.MODEL)
    row = compute(study)["judge"]
    (statement,) = AlternativeAnnotator().statements(Listing((row,)), NO_HEAD)

    assert rates(row) == {"test": 1, "unanswered": 1, "stories": 1, "models": 1, "constant_models": 1, "constant": 0}
    assert not row.may_stand_in
    assert not statement.claims
    assert "among models’ stories, one that always says No passes the test, too." in statement.sentence


def test_a_judge_drawn_from_experts_who_agree_passes_always() -> None:
    assert planted("y" * 20).drawn.value == 100


@pytest.mark.data
@pytest.mark.usefixtures("few_shuffles")
def test_on_the_release_always_no_passes_among_models_so_that_the_test_shows_nothing(release: Path) -> None:
    call_command("replicate", "ttcw", data=release / "ttcw", stdout=io.StringIO())
    row = compute(Study.objects.get(slug="ttcw-release"))["gpt4"]

    assert row.passed_constant is not None
    assert (row.passed_constant.form, row.passed_constant.answer) == ("constant_models", 0)
    assert round(row.passed_constant.winning_rate or 0, 2) == 0.91
    # Of 200 draws, in an order of stories that this installation's key gives: 57 under most keys, standard error 3.5.
    assert 40 < (row.drawn.value or 0) < 75
