"""Which of two stories is better, and what is asked once: results on cases done by hand, and what their pages hold."""

import csv
import io
import json
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotation import responses
from annotation.models import Assignment, Rater, StepTaken
from annotation.participation import visits
from annotation.responses import Answer, submission
from reports import results
from reports.page.csv import find_table
from stats import agreement
from studies.models import Instrument, Item, ProtocolVersion, Provenance, Source, Step, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.replay import replayed
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture(autouse=True)
def orders_are_known(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are imported here because that is short; but for one test they count as given on our pages."""
    if "imported" not in request.node.name:
        monkeypatch.setattr("reports.dataset.choices.imported_choices", lambda dataset, item: set())


# Three pairs, each of p_s1 (Source 1) and p_s2 (Source 2), chosen by four raters; Source 1 wins 3, 2 and 4 times.
CHOSEN = {"E01": "111", "E02": "111", "E03": "121", "E04": "221"}
# Which story stood first: half of the raters saw the second story first.
FIRST = {"E01": "111", "E02": "222", "E03": "111", "E04": "222"}


def paired(settings: dict[str, str] | None = None) -> Study:
    """A closed study of three pairs, without answers."""
    study = given.closed_study(n_groups=3)
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug="plums-ranking").update(type="pair", settings=settings or {})
        factories.freeze_anew(study)
    return study


def choices(study: Study, chosen: dict[str, str], first: dict[str, str]) -> None:
    """Answers by rater, one letter a pair: 1 or 2 for the story, n for neither; and in what order they were shown."""
    said = {"n": "none"} | {n: "p{g}s" + n for n in "12"}
    given.bring(
        study,
        [
            given.Row("test", rater, f"plot{g}", "", "ranking", "item-1", Answer(value=said[letter].format(g=g)))
            for rater, letters in chosen.items()
            for g, letter in enumerate(letters, start=1)
        ],
    )
    for assignment in Assignment.objects.select_related("rater", "seat", "group"):
        g = int(assignment.group.code[-1])
        seat, at_first = assignment.seat, first[assignment.rater.code][g - 1]
        seat.order = [f"p{g}s{at_first}", f"p{g}s{3 - int(at_first)}"]
        seat.save()


@pytest.fixture
@replayed
def study() -> Study:
    made = paired()
    choices(made, CHOSEN, FIRST)
    return made


def test_wins_are_the_share_of_choices_in_which_a_sources_story_was_taken(study: Study) -> None:
    row = results.compute(study)["preferences"][0]

    told = [(c["source"], c["value"], c["n_so"], c["n"], c["n_clusters"]) for c in row["by_source"]]
    assert told == [("Source 1", 75, 9, 12, 3), ("Source 2", 25, 3, 12, 3)]
    # Pairs of 75, 50 and 100 %: the rarer answer stands in two of three, so Wilson's interval of 2.25 in 3.
    ends = row["by_source"][0]["interval"]
    assert (round(ends["low"]), round(ends["high"]), ends["n_resampled"], ends["method"]) == (26, 96, 3, "wilson")


def test_a_source_that_stands_beside_itself_has_no_win_in_that_pair(study: Study) -> None:
    with triggers.lifted():
        Provenance.objects.filter(story__code="p3s2").update(source=Source.objects.get(name="Source 1"))

    row = results.compute(study)["preferences"][0]

    assert [(c["source"], c["n_so"], c["n"]) for c in row["by_source"]] == [("Source 1", 5, 8), ("Source 2", 3, 8)]


def test_the_pull_of_the_first_place_is_told_by_itself(study: Study) -> None:
    first = results.compute(study)["preferences"][0]["first"]

    # E01 takes the first of all three, E02 of none; E03 of two, E04 of two.
    assert (first["n_so"], first["n"], first["n_clusters"]) == (7, 12, 4)
    assert first["value"] == pytest.approx(100 * 7 / 12)
    assert first["interval"]["low"] < first["value"] < first["interval"]["high"]


def test_of_imported_choices_nothing_is_said_about_the_story_shown_first(study: Study, client: Client) -> None:
    row = results.compute(study)["preferences"][0]
    client.force_login(factories.staff("researcher"))
    page = client.get("/reports/plums/figures/all/").content.decode()

    assert (row["first"]["value"], row["first"]["why"]["code"]) == (None, "order_not_known")
    assert {story["n_shown_first"] for group in row["groups"] for story in group["stories"]} == {None}
    assert "Imported answers do not say in which order the stories were shown." in page
    assert "The story shown first was chosen" not in page
    assert [(c["source"], c["value"]) for c in row["by_source"]] == [("Source 1", 75), ("Source 2", 25)]


def test_groups_say_how_often_each_story_was_chosen_and_stood_first(study: Study) -> None:
    groups = results.compute(study)["preferences"][0]["groups"]

    told = [[(s["story"], s["source"], s["n"], s["n_shown_first"]) for s in group["stories"]] for group in groups]
    assert told[0] == [("p1s1", "Source 1", 3, 2), ("p1s2", "Source 2", 1, 2)]
    assert told[1] == [("p2s1", "Source 1", 2, 2), ("p2s2", "Source 2", 2, 2)]
    # Of six pairs of raters three agree where it is 3 to 1, two where it is 2 to 2, all where it is 4 to 0.
    assert [g["percent_agreement"]["value"] for g in groups] == [50, pytest.approx(100 / 3), 100]


@pytest.mark.parametrize("letters", ["111", "212"])  # as if the stories of the first and the third pair changed names
def test_the_floor_of_imported_choices_does_not_rest_on_how_stories_are_called(letters: str) -> None:
    study = paired()
    choices(study, dict.fromkeys(CHOSEN, letters), FIRST)

    row = results.compute(study)["agreement"]["items"][-2]

    # All agree on all pairs; what order they saw nobody knows, so that without looking they would toss coins.
    assert row["coefficient"]["value"] == 1
    assert row["floor"]["mean"] == pytest.approx(0, abs=0.05)


def test_agreement_on_pairs_is_beyond_even_chances(study: Study) -> None:
    row = results.compute(study)["agreement"]["items"][-2]

    # (1/2 + 1/3 + 1) / 3 = 11/18 agree, 1/2 by chance.
    assert row["item"] == "item-1"
    assert row["type"] == "pair"
    assert row["percent_agreement"]["value"] == pytest.approx(100 * 11 / 18)
    assert row["coefficient"]["name"] == "Brennan and Prediger's kappa"
    assert row["coefficient"]["value"] == pytest.approx((11 / 18 - 1 / 2) / (1 / 2))
    assert row["interval"]["low"] <= row["coefficient"]["value"] <= row["interval"]["high"]
    assert row["alpha"]["value"] is None


def test_the_chance_floor_of_pairs_keeps_the_habit_of_taking_the_first() -> None:
    study = paired()
    choices(study, dict.fromkeys(CHOSEN, "111"), dict.fromkeys(CHOSEN, "111"))

    row = results.compute(study)["agreement"]["items"][-2]

    # All took the first of all pairs, and all saw the same first: without looking they would agree as much.
    assert (row["coefficient"]["value"], row["floor"]) == (1, {"mean": 1, "upper": 1})


def test_who_prefers_neither_wins_nothing_and_is_counted() -> None:
    study = paired({"no_difference": "No difference"})
    choices(study, CHOSEN | {"E04": "nn1"}, FIRST)

    found = results.compute(study)

    row = found["preferences"][0]
    assert (row["n"], row["n_neither"], row["first"]["n"]) == (12, 2, 10)
    assert [(c["n_so"], c["n"]) for c in row["by_source"]] == [(9, 12), (1, 12)]
    # 3 to 0 with one neither, 2 to 1 with one, 4 to 0: three answers are possible, so a third by chance.
    observed = (1 / 2 + 1 / 6 + 1) / 3
    coefficient = found["agreement"]["items"][-2]["coefficient"]["value"]
    assert coefficient == pytest.approx((observed - 1 / 3) / (2 / 3))


def test_calling_the_stories_otherwise_changes_no_agreement(study: Study) -> None:
    before = results.compute(study)["agreement"]["items"][-2]["coefficient"]["value"]
    chosen = np.array([[int(x) for x in letters] for letters in CHOSEN.values()], dtype=float)

    renamed = np.where([True, False, True], 3 - chosen, chosen)

    assert float(agreement.brennan_prediger(renamed, 2)) == pytest.approx(before)


def test_while_a_study_is_live_neither_sources_nor_stories_have_wins(study: Study) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    assert "Canary" in json.dumps(results.compute(study)["preferences"])
    Study.objects.update(state="live")
    study.refresh_from_db()

    row = results.compute(study)["preferences"][0]

    assert (row["by_source"], [g["stories"] for g in row["groups"]]) == ([], [[], [], []])
    assert row["first"]["n_so"] == 7


@pytest.mark.parametrize("state", ["closed", "live"])
def test_the_page_shows_the_pairs(client: Client, study: Study, state: str) -> None:
    Study.objects.update(state=state)
    client.force_login(factories.staff("researcher"))

    page = " ".join(client.get("/reports/plums/figures/all/").content.decode().split())

    assert "The story shown first was chosen in <strong>58 %</strong> of 12 choices" in page
    assert "Brennan and Prediger’s kappa where one of the stories is chosen" in page
    assert ("9 of 12" in page) == (state == "closed")


def test_the_files_hold_what_the_page_shows(study: Study) -> None:
    found = results.read_results(results.compute(study))

    (_, preferences), (_, pairs) = (find_table(found, name) for name in ("preferences", "pairs"))

    assert [(r["what"], r["source"], r["n_so"], r["n"]) for r in preferences] == [
        ("shown first", "all", 7, 12),
        ("chosen", "Source 1", 9, 12),
        ("chosen", "Source 2", 3, 12),
    ]
    assert [(r["group"], r["story"], r["n_chosen"], r["n_shown_first"]) for r in pairs][:2] == [
        ("plot1", "p1s1", 3, 2),
        ("plot1", "p1s2", 1, 2),
    ]


@pytest.fixture
@replayed
def asked_once() -> Study:
    """Three raters' answers to a check, a choice of several, a scale and a field for words, before one story each."""
    study = factories.study(n_stories=1, n_items=1, k=3, comparative=False, planned=False)
    made = factories.instrument("once", n_items=4, rationale="none", rationale_least=0, is_skippable=True)
    with triggers.lifted():
        Instrument.objects.filter(pk=made.pk).update(status=Instrument.Status.DRAFT)
    options = [{"value": v, "label": v.title()} for v in ("red", "green", "blue")]
    of = Item.objects.filter(instrument=made)
    of.filter(key="item-1").update(settings={"correct": "no"})
    of.filter(key="item-2").update(type="multi", options=options)
    of.filter(key="item-3").update(type="scale", settings={"low": 1, "high": 5})
    of.filter(key="item-4").update(type="text")
    Instrument.objects.filter(pk=made.pk).update(status=Instrument.Status.PUBLISHED)
    version = ProtocolVersion.objects.get()
    Step.objects.create(version=version, position=3, key="once", kind="rating", instrument=made, scope="once")
    factories.plan(study)
    answers = [("no", ["red", "blue"], 1, "Words."), ("no", ["blue"], 4, None), ("yes", None, None, None)]
    for given_by_item in answers:
        rater = factories.rater(study)
        visit = visits.ensure_visit(rater)
        for item, value in zip(Item.objects.filter(instrument=made), given_by_item, strict=True):
            if value is not None:
                step = Step.objects.get(key="once")
                responses.record(visit, step=step, item=item, story=None, answer=Answer(value), at=NOON)
        submission.submit(visit, at=NOON)
    Study.objects.update(state="closed", closed_at=NOON)
    study.refresh_from_db()
    return study


def test_checks_say_how_many_were_right(asked_once: Study) -> None:
    (row,) = results.compute(asked_once)["checks"]

    assert (row["n_right"], row["n"], row["correct"]) == (2, 3, "No")
    assert row["value"] == pytest.approx(200 / 3)
    # Wilson's interval of 2 in 3.
    assert [round(row["interval"][end], 1) for end in ("low", "high")] == [20.8, 93.9]


@pytest.mark.parametrize(
    ("options", "n_failed"), [({}, 1), ({"attempts": 1, "on_failure": "continue"}, 3), ({"attempts": 3}, 0)]
)
def test_checks_say_how_many_raters_failed_them_in_as_many_attempts_as_there_were(
    asked_once: Study, options: dict[str, Any], n_failed: int
) -> None:
    first, second, third = asked_once.raters.order_by("code")
    with triggers.lifted():
        Step.objects.filter(key="once").update(options=options)
    step = Step.objects.get(key="once")
    for rater, wrong in ((first, [["item-1"], []]), (second, [["item-1"], ["item-1"]]), (third, [["item-1"]])):
        for attempt, keys in enumerate(wrong, start=1):
            StepTaken.objects.create(rater=rater, step=step, attempt=attempt, wrong=keys)

    (row,) = results.compute(asked_once)["checks"]

    assert row["n_failed"] == n_failed


def test_what_is_asked_once_is_counted_and_averaged(asked_once: Study) -> None:
    multi, scale, text = results.compute(asked_once)["surveys"]

    assert [(o["value"], o["n"]) for o in multi["options"]] == [("red", 1), ("green", 0), ("blue", 2)]
    assert (scale["n"], scale["mean"], round(scale["sd"], 4)) == (2, 2.5, 2.1213)
    assert (text["n"], text["options"], text["mean"]) == (1, [], None)


def test_a_page_and_files_tell_what_was_asked_once(client: Client, asked_once: Study) -> None:
    client.force_login(factories.staff("researcher"))

    page = " ".join(client.get("/reports/plums/figures/all/").content.decode().split())
    file = b"".join(client.get("/reports/plums/surveys.csv").streaming_content).decode()  # type: ignore[attr-defined]

    assert "2 of 3" in page
    assert "Blue <strong>2</strong>" in page
    assert [(r["option"], r["n_option"]) for r in csv.DictReader(io.StringIO(file))][:3] == [
        ("red", "1"),
        ("green", "0"),
        ("blue", "2"),
    ]
    assert Rater.objects.count() == 3


def test_a_studys_single_test_is_an_outcome_of_its_own_beside_the_preference() -> None:
    study = paired()
    choices(study, CHOSEN, FIRST)
    given.verdicts(study, {"E05": "ynynyy", "E06": "ynnnyn"})
    with triggers.lifted():
        for row in Provenance.objects.filter(story__study=study).select_related("story"):
            row.factors = {"length": "long" if row.story.code in ("p1s1", "p2s1", "p3s2") else "short"}
            row.save()

    computed = results.compute(study)

    keys = ["tests/item-1", "ranking/item-1"]
    assert [row["key"] for row in computed["factors"]] == keys
    outcomes = computed["comparisons"]["outcomes"]
    assert [(row["key"], row["is_part"], row["correction"]) for row in outcomes] == [
        (key, False, "holm") for key in keys
    ]
    assert [row["key"] for row in computed["variance_components"] if not row["is_part"]] == keys
