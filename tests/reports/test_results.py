"""What a study amounts to, on cases done by hand."""

from typing import Any

import numpy as np
import pytest

from annotation.models import Rater
from reports import results
from reports.document.values import Floor, Interval, Mean
from reports.export import codebook, long_table
from reports.figures.agreement.agreement import Agreement
from reports.figures.agreement.rows import AgreementResult, MeanAgreement
from reports.figures.coverage import Coverage
from stats import agreement, intervals
from studies.models import Item, Study
from tests import factories, triggers
from tests.reports import given

pytestmark = pytest.mark.django_db


def plain(cells: list[dict[str, Any]]) -> list[tuple[str, float, int, int]]:
    return [(cell["source"], cell["value"], cell["n_yes"], cell["n"]) for cell in cells]


def test_pass_rates_are_yes_in_a_hundred_verdicts_by_source(study: Study) -> None:
    rates = results.compute(study)["pass_rates"]

    overall = rates["items"][0]["overall"]
    assert (overall["value"], overall["n_yes"], overall["n"], overall["n_stories"]) == (62.5, 5, 8, 4)
    assert plain(rates["items"][0]["by_source"]) == [("Source 1", 75.0, 3, 4), ("Source 2", 50.0, 2, 4)]
    assert plain(rates["mean"]["by_source"]) == [("Source 1", 75.0, 3, 4), ("Source 2", 50.0, 2, 4)]


def test_intervals_of_pass_rates_are_over_groups_and_few_are_said_to_be_few(study: Study) -> None:
    cell = results.compute(study)["pass_rates"]["items"][0]["by_source"][1]["interval"]

    # Two stories, one with 0 % and one with 100 %, so fewer than three clusters hold either: Wilson of 1 in 2.
    assert (round(cell["low"], 1), round(cell["high"], 1), cell["n_resampled"]) == (9.5, 90.5, 2)
    assert (cell["method"], "over 2 clusters" in cell["note"]) == ("wilson", True)


def test_groups_on_one_premise_are_one_cluster() -> None:
    made = given.closed_study(n_groups=4)
    given.verdicts(made, {"E1": "yyynnnyn", "E2": "ynynynyn"})
    with triggers.lifted():
        made.groups.filter(code__in=["plot1", "plot2"]).update(premise="A lighthouse.")
        made.groups.filter(code__in=["plot3", "plot4"]).update(premise="")

    found = results.compute(made)

    assert found["pass_rates"]["items"][0]["overall"]["interval"]["n_resampled"] == 3
    assert found["agreement"]["items"][0]["interval"]["n_resampled"] == 3


def test_kappa_by_hand_with_all_that_stands_beside_it(study: Study) -> None:
    row = results.compute(study)["agreement"]["items"][0]

    # Agreement 3/4; 5 of 8 are Yes, so chance is 25/64 + 9/64; (3/4 - 34/64) / (1 - 34/64) = 7/15.
    assert row["coefficient"] == {
        "value": pytest.approx(7 / 15),
        "name": "Fleiss' kappa",
        "n_units": 4,
        "n_raters": 4,
        "note": "2 ratings a unit; only 4 units",
    }
    assert (row["percent_agreement"], row["yes_percent"]) == ({"value": 75.0}, {"value": 62.5})
    assert row["alpha"]["name"] == "Krippendorff's alpha, nominal"
    assert row["interval"]["n_resampled"] == 2
    assert row["floor"]["mean"] < row["floor"]["upper"]


def test_agreement_equals_what_the_statistics_give_for_the_same_ratings(study: Study) -> None:
    nan = np.nan
    ratings = [[1, 0, nan, nan], [1, 0, nan, nan], [nan, nan, 1, 1], [nan, nan, 0, 1]]
    groups = ["plot1", "plot1", "plot2", "plot2"]

    row = results.compute(study)["agreement"]["items"][0]

    interval = intervals.fleiss_kappa_interval(ratings, groups, rng=np.random.default_rng(study.seed))
    # Of all items with the same shuffles, which are those of their mean.
    floor = agreement.fleiss_chance_floor(ratings, rng=np.random.default_rng([study.seed, 1]))
    assert row["coefficient"]["value"] == float(agreement.fleiss_kappa(ratings))
    assert (row["interval"]["low"], row["interval"]["high"]) == (interval.low, interval.high)
    assert (row["floor"]["mean"], row["floor"]["upper"]) == (floor.mean, floor.upper)


def test_agreement_within_a_source_stands_beside_the_overall_one(study: Study) -> None:
    row = results.compute(study)["agreement"]["items"][0]

    # Source 2: no no, yes yes. Source 1: yes yes, yes no: agreement 1/2, chance 10/16.
    assert [(w["source"], pytest.approx(w["value"])) for w in row["within_source"]] == [
        ("Source 1", -1 / 3),
        ("Source 2", 1),
    ]
    assert row["among_models"]["value"] == pytest.approx(1)


def test_what_cannot_be_computed_says_why() -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "yyyy", "E02": "yyyy"})

    row = results.compute(study)["agreement"]["items"][0]

    assert row["coefficient"]["value"] is None
    assert row["coefficient"]["why"] == {"code": "all_ratings_alike", "values": {"name": "Fleiss' kappa"}}
    assert (row["interval"]["low"], row["interval"]["high"]) == (None, None)
    assert row["interval"]["why"]


def test_a_study_without_answers_has_reasons_in_place_of_numbers() -> None:
    study = given.closed_study()

    found = results.compute(study)

    assert found["pass_rates"]["items"][0]["overall"]["why"]["code"] == "no_verdicts"
    assert found["agreement"]["items"][0]["coefficient"]["why"]["code"] == "no_unit_with_two_ratings"
    assert (found["rankings"], found["judges"]["compared"], found["progress"]["n_answers"]) == ([], [], 0)


def test_tests_passed_are_the_mean_of_the_raters_counts() -> None:
    study = given.closed_study(n_groups=1, n_items=2)
    given.verdicts(study, {"E01": "yyyn", "E02": "ynn-"})  # both tests of p1s1, then both of p1s2

    passed = results.compute(study)["tests_passed"]

    # Of p1s2 the second rater left a test open, so only the first one's count enters.
    assert [(s["story"], s["source"], s["value"], s["n_raters"]) for s in passed["stories"]] == [
        ("p1s1", "Source 1", 1.5, 2),
        ("p1s2", "Source 2", 1.0, 1),
    ]
    assert [(s["source"], s["value"], s["n_stories"]) for s in passed["by_source"]] == [
        ("Source 1", 1.5, 1),
        ("Source 2", 1.0, 1),
    ]


def test_rankings_give_mean_ranks_first_places_and_concordance() -> None:
    study = given.closed_study()
    order = {"plot1": "p1s1 > p1s2", "plot2": "p2s1 > p2s2"}
    given.bring(study, given.orders(study, {"E01": order, "E02": {**order, "plot2": "p2s2 > p2s1"}}))

    ranking = results.compute(study)["rankings"][0]

    assert [(r["source"], r["mean_rank"]["value"], r["first_percent"]) for r in ranking["by_source"]] == [
        ("Source 1", 1.25, 75.0),
        ("Source 2", 1.75, 25.0),
    ]
    # Alike in plot 1, the reverse in plot 2.
    assert [group["value"] for group in ranking["concordance"]["groups"]] == [1, 0]
    assert (ranking["concordance"]["value"], ranking["n_rankings"], ranking["n_groups"]) == (0.5, 4, 2)
    # Two raters a group: one pair with Spearman 1, one with -1; W of chance is 1/2.
    assert (ranking["concordance"]["chance"], ranking["concordance"]["mean_spearman"]) == (0.5, 0)


def test_intervals_of_mean_places_end_with_the_first_and_the_last_place() -> None:
    study = given.closed_study()
    order = {"plot1": "p1s1 > p1s2", "plot2": "p2s1 > p2s2"}
    given.bring(study, given.orders(study, {"E01": order, "E02": {**order, "plot2": "p2s2 > p2s1"}}))

    (outcome,) = (row for row in results.compute(study)["variance_components"] if row["kind"] == "rank")

    # Of two groups t has one degree of freedom: it would go from -1.9 to 4.4.
    ends = [(mean["interval"]["low"], mean["interval"]["high"]) for mean in outcome["sources"]]
    assert ends == [(1.0, 2.0), (1.0, 2.0)]


def test_shared_places_share_their_ranks_and_their_firsts() -> None:
    study = given.closed_study(n_groups=1, n_stories=3)
    with triggers.lifted():
        Item._base_manager.filter(type="ranking").update(settings={"ties": True})
        factories.freeze_anew(study)
    given.bring(study, given.orders(study, {"E01": {"plot1": "p1s1 = p1s3 > p1s2"}}))

    ranking = results.compute(study)["rankings"][0]

    assert [(r["source"], r["mean_rank"]["value"], r["first_percent"]) for r in ranking["by_source"]] == [
        ("Source 1", 1.5, 50.0),
        ("Source 2", 3.0, 0.0),
        ("Source 3", 1.5, 50.0),
    ]
    assert ranking["concordance"]["groups"][0]["why"]["code"] == "fewer_than_two_raters"


def test_guesses_stand_against_the_true_kind_of_source() -> None:
    study = given.closed_study()
    said = {"p1s1": "expert", "p1s2": "ai", "p2s1": "amateur", "p2s2": "expert"}
    given.bring(study, given.guesses(study, {"E01": said, "E02": {**said, "p2s1": "ai"}}))

    guess = results.compute(study)["authorship"][0]

    assert [(row["source"], row["source_kind"], row["n_by_option"]) for row in guess["by_source"]] == [
        ("Source 1", "expert_writer", [2, 1, 1]),
        ("Source 2", "language_model", [2, 0, 2]),
    ]
    # By a person: expert, expert, amateur told from a model, ai not. By a model: ai, ai right; expert, expert not.
    assert (guess["n"], guess["n_right"], guess["n_right_of_person_or_model"]) == (8, 4, 5)
    assert guess["balanced_accuracy"]["value"] == pytest.approx((3 / 4 + 2 / 4) / 2)
    assert guess["always_model_percent"] == 50


def test_a_judge_stands_beside_the_majority_and_what_it_left_out_is_counted() -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn", "E02": "ynyn", "E03": "ynny"})
    given.verdicts(study, {"gpt": "yyd-", "kind": "?n--"}, kind=Rater.Kind.MODEL)

    gpt, kind = results.compute(study)["judges"]["compared"]

    # The majority says yes no yes no. gpt: yes yes declined nothing.
    assert (gpt["judge"], gpt["pooled"]["n"], gpt["pooled"]["yes_percent"]) == ("gpt", 2, 100)
    assert gpt["pooled"]["kappa"] == {"value": 0.0, "note": "0 because one side always gives the same value"}
    assert gpt["pooled"]["balanced_accuracy"]["value"] == 0.5
    outcomes = {name: gpt["outcomes"][name] for name in ("answered", "declined", "unreadable", "missing", "expected")}
    assert outcomes == {"answered": 2, "declined": 1, "unreadable": 0, "missing": 1, "expected": 4}
    assert [(s["source"], s["lost_percent"]) for s in gpt["outcomes"]["by_source"]] == [
        ("Source 1", 50),
        ("Source 2", 50),
    ]
    assert (kind["outcomes"]["unreadable"], kind["pooled"]["n"]) == (1, 1)
    assert kind["pooled"]["kappa"]["why"]["code"] == "both_constant"


def test_ratings_on_a_scale_have_means_deviations_and_ordinal_alpha() -> None:
    study = given.closed_study()
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug="plums-tests").update(type="scale", settings={"low": 1, "high": 5})
        factories.freeze_anew(study)
    values = {"E01": {"p1s1": 5, "p1s2": 1, "p2s1": 4, "p2s2": 2}, "E02": {"p1s1": 4, "p1s2": 2, "p2s1": 5, "p2s2": 1}}
    rows = [
        given.Row("test", rater, f"plot{s[1]}", s, "tests", "item-1", given.Answer(value=v))
        for rater, by_story in values.items()
        for s, v in by_story.items()
    ]
    given.bring(study, rows)

    found = results.compute(study)

    told = [(c["source"], c["value"], round(c["sd"], 4), c["n"]) for c in found["ratings"][0]["by_source"]]
    assert told == [("Source 1", 4.5, 0.5774, 4), ("Source 2", 1.5, 0.5774, 4)]
    overall = found["ratings"][0]["overall"]
    # Of both groups the two raters' means, 3 and 3: t of one degree of freedom on nothing. For other raters, too, there
    # is nothing either; of Source 1 there is [[5, 4], [4, 5]].
    assert (overall["interval"]["why"]["code"], overall["wide"]["why"]["code"]) == ("clusters_alike", "clusters_alike")
    coefficient = found["agreement"]["items"][0]["coefficient"]
    expected = agreement.krippendorff_alpha([[5, 1, 4, 2], [4, 2, 5, 1]], "ordinal")
    assert (coefficient["name"], coefficient["value"]) == ("Krippendorff's alpha, ordinal", float(expected))
    assert (found["pass_rates"], found["tests_passed"]) == (None, None)


def test_a_scale_shown_the_other_way_round_is_told_as_it_is_analysed() -> None:
    study = given.closed_study()
    settings = {"low": 1, "high": 5, "anchors": {"1": "Human", "5": "LLM"}, "analysed_reversed": True}
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug="plums-tests").update(type="scale", settings=settings)
        factories.freeze_anew(study)
    shown = {"E01": {"p1s1": 1, "p1s2": 5, "p2s1": 2, "p2s2": 5}, "E02": {"p1s1": 2, "p1s2": 4, "p2s1": 1, "p2s2": 5}}
    rows = [
        given.Row("test", rater, f"plot{s[1]}", s, "tests", "item-1", given.Answer(value=v))
        for rater, by_story in shown.items()
        for s, v in by_story.items()
    ]
    given.bring(study, rows)

    found = results.compute(study)

    # Source 1 was shown 1, 2, 2, 1, which is 5, 4, 4, 5; Source 2 5, 5, 4, 5, which is 1, 1, 2, 1.
    told = [(c["source"], c["value"], c["n"]) for c in found["ratings"][0]["by_source"]]
    assert told == [("Source 1", 4.5, 4), ("Source 2", 1.25, 4)]
    row = found["agreement"]["items"][0]
    assert row["coefficient"]["value"] == float(agreement.krippendorff_alpha([[5, 1, 4, 1], [4, 2, 5, 1]], "ordinal"))
    assert row["floor"]["mean"] < row["floor"]["upper"]
    long = long_table.frame(study, with_sources=True).set_index(["rater", "story"])
    assert tuple(long.loc[("E01", "p1s1"), ["value", "value_label", "analysed"]]) == (1, "1 (Human)", 5)
    words = {row["name"]: row["values"] for row in codebook.rows(study, with_sources=False)}["tests/item-1"]
    assert words.startswith("low = 1; high = 5; anchors = {")
    assert "analysed_reversed = True" in words
    assert "'1': 'Human'" in words


def test_choices_have_shares_and_nominal_agreement() -> None:
    study = given.closed_study()
    options = [{"value": v, "label": v.title()} for v in ("red", "green", "blue")]
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug="plums-tests").update(type="choice", options=options)
        factories.freeze_anew(study)
    said = {"E01": "rgbb", "E02": "rgbr"}
    words = {option["value"][0]: option["value"] for option in options}
    stories = ["p1s1", "p1s2", "p2s1", "p2s2"]
    rows = [
        given.Row("test", rater, f"plot{s[1]}", s, "tests", "item-1", given.Answer(value=words[letter]))
        for rater, letters in said.items()
        for s, letter in zip(stories, letters, strict=True)
    ]
    given.bring(study, rows)

    found = results.compute(study)

    assert [(o["value"], o["n"]) for o in found["shares"][0]["options"]] == [("red", 3), ("green", 2), ("blue", 3)]
    assert found["shares"][0]["options"][0]["by_source"] == [
        {"source": "Source 1", "n": 2, "of": 4},
        {"source": "Source 2", "n": 1, "of": 4},
    ]
    expected = agreement.fleiss_kappa([[0, 1, 2, 2], [0, 1, 2, 0]])
    assert found["agreement"]["items"][0]["coefficient"]["value"] == float(expected)


def test_where_raters_leave_kappa_is_over_all_stories_that_two_read_and_the_first_sentence_says_how_many() -> None:
    study = given.closed_study(n_groups=5, n_items=2)
    leaving = {"E01": "yynynyynny", "E02": "yynynnynny", "E03": "nynynnyy--", "E04": "yynnn-----", "E05": "yyn-------"}
    # Of two tests the second is not answered.
    given.verdicts(study, {rater: "".join(letter + "-" for letter in letters) for rater, letters in leaving.items()})

    report = results.read_results(results.compute(study))
    result = next(result for figure, result in report.computed if figure.key == "agreement")
    (note,) = Agreement().head_notes(result)
    (statement,) = Agreement().statements(result, report.head)

    assert result.items[0].coefficient.value == pytest.approx(0.55249, abs=5e-6)  # of irrCAC
    assert result.items[0].alpha.value == pytest.approx(0.5666, abs=5e-5)
    assert "mean kappa of .55 on 10 of 10 stories, 2 to 5 raters each, where 1 is full agreement" in str(note.words)
    assert ".55 on 10 of 10 stories, 2 to 5 raters each, " in statement.sentence


@pytest.mark.parametrize(
    ("value", "above_models", "is_warned"),
    [
        (0.5, 0.05, True),
        (0.5, 0.0, False),
        (0.5, -0.1, False),  # less among models, which is not shown
        (0.3, 0.05, False),  # above chance only by its value, not by its interval
        (0.5, None, False),
    ],
)
def test_the_head_warns_only_where_agreement_rests_on_telling_people_from_models(
    value: float, above_models: float | None, is_warned: bool
) -> None:
    mean = MeanAgreement(
        coefficient=Mean(value=value),
        interval=Interval(low=value - 0.2, high=value + 0.2),
        floor=Floor(mean=0.0, upper=0.15),
        percent_agreement=Mean(value=80.0),
        yes_percent=Mean(value=50.0),
        coverage=(Coverage(n_units=24, n_all=26, least=2, most=5),),
        among_models=None if above_models is None else Mean(value=0.1),
        above_models=None if above_models is None else Interval(low=above_models, high=0.9),
    )

    (note,) = Agreement().head_notes(AgreementResult(items=(), mean=mean, n_resamples=1, seed=1))
    page = str(note.words)

    assert mean.rests_on_sources == is_warned
    assert "on 24 of 26 stories, 2 to 5 raters each, where 1 is full agreement" in page
    assert ("Read this first." in page, "not on which are better" in page) == (is_warned, is_warned)
