"""QUIET's score from fills to totals: a run of stand-in participants and judges, every number computed by hand."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotation.models import Fill
from judges.laboratory.embeddings import OFFLINE
from reports import results
from reports.dataset import Dataset, scored_clozes
from reports.figures import all_figures
from reports.figures.codec import encode
from reports.page import context
from stats import agreement
from stats.arrays import FloatArray
from studies.cloze import text
from studies.models import Story, Study
from tests import factories, triggers
from tests.replay import replayed
from tests.reports import quiet_run
from tests.reports.quiet_run import FILLS, PERSON_FILLS, RATINGS
from tests.studies.cloze.documents import shoes

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
KEYS = ("scores", "surprise", "constraints", "edges", "variants", "judges")
# Where the fills of each participant lie in a plane. The three models' sum is (.4, 1.8), of length 1.843909.
PLACES = {"gpt-a": (1.0, 0.0), "claude-b": (0.0, 1.0), "gemini-c": (-0.6, 0.8), "person": (0.0, -1.0)}
DISTANCES = {"gpt-a": 0.783070, "claude-b": 0.023813, "gemini-c": 0.349208, "person": 1.976187}


class PlaneEmbedding:
    name, version = "plane", "1"

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        of = {words: PLACES[name] for name, fills in {**FILLS, "person": PERSON_FILLS}.items() for words in fills}
        return np.array([of[text] for text in texts])


@pytest.fixture(autouse=True)
def _plane(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the offline embedding; any other is looked up."""
    find = scored_clozes.find_embedding
    monkeypatch.setattr(
        scored_clozes, "find_embedding", lambda name, **_: PlaneEmbedding() if name == OFFLINE else find(name)
    )


@pytest.fixture
@replayed
def study() -> Study:
    """Three models and a person filled the cloze; three judges rated; one denied a required check of gemini-c."""
    made = quiet_run.judged_study(quiet_run.filled_study(with_person=True))
    quiet_run.judge(made, denied=[("qwen-judge", "gemini-c")])
    return made


def compute(study: Study, key: str) -> Any:
    return all_figures()[f"cloze_{key}"].compute(Dataset.of(study))


def by_participant(rows: Sequence[Any]) -> dict[str, Any]:
    return {"person" if row.participant.startswith("participant ") else row.participant: row for row in rows}


def test_totals_are_those_by_hand_from_fills_and_ratings(study: Study) -> None:
    result = compute(study, "scores")

    rows = by_participant(result.participants)
    satisfied = {
        "gpt-a": (0.8, 0.6, 1.0),
        "claude-b": (0.8, 0.6, 0.8),
        "gemini-c": ((0.4 + 0.6) / 2, 0.4, 5 / 15),
        "person": (0.6, 0.6, 0.6),
    }
    for name, row in rows.items():
        surprise = DISTANCES[name] / DISTANCES["gpt-a"]
        assert [part.satisfied for part in row.sections] == pytest.approx(satisfied[name]), name
        assert [part.surprising for part in row.sections] == pytest.approx([surprise] * 3, abs=1e-5)
        assert [part.distance for part in row.sections] == pytest.approx([DISTANCES[name]] * 3, abs=1e-6)
        assert [part.score for part in row.sections] == pytest.approx(
            [part * (1 + surprise) for part in satisfied[name]], abs=1e-5
        )
    totals = {"person": 6.34255, "gpt-a": 4.8, "claude-b": 2.26690, "gemini-c": 1.78334}
    assert {name: row.total for name, row in rows.items()} == pytest.approx(totals, abs=1e-4)
    assert {name: row.rank for name, row in rows.items()} == {"person": 1, "gpt-a": 2, "claude-b": 3, "gemini-c": 4}
    assert result.highest == 6


def test_the_reference_is_the_models_unless_the_plan_says_otherwise(study: Study) -> None:
    result = compute(study, "scores")

    models = {story for name, story in quiet_run.stories(study) if name != "person"}
    assert (result.reference.name, result.reference.is_planned) == ("models", False)
    assert set(result.reference.stories) == models
    assert [row.participant for row in result.participants if not row.is_in_reference] == [
        result.participants[0].participant
    ]


def test_uncertainty_is_by_judges_left_out_and_own_families(study: Study) -> None:
    rows = by_participant(compute(study, "scores").participants)

    times = 1 + DISTANCES["gemini-c"] / DISTANCES["gpt-a"]
    left = rows["gemini-c"].without_a_judge
    assert (left.low, left.high, left.n) == (
        pytest.approx(0.95 * times, abs=1e-4),
        pytest.approx(1.4 * times, abs=1e-4),
        3,
    )
    assert (left.best_rank, left.worst_rank) == (4, 4)
    own = rows["claude-b"].without_family
    assert (own.judges, own.rank) == (("claude-judge",), 3)
    assert own.total == pytest.approx(2.0 * (1 + DISTANCES["claude-b"] / DISTANCES["gpt-a"]), abs=1e-4)
    assert (rows["gemini-c"].without_family, rows["person"].without_family) == (None, None)
    assert rows["gpt-a"].interval.why.code == "filled_once"


def test_a_denied_required_check_caps_in_the_variant_alone(study: Study) -> None:
    row = by_participant(compute(study, "scores").participants)["gemini-c"]

    times = 1 + DISTANCES["gemini-c"] / DISTANCES["gpt-a"]
    assert row.capped == pytest.approx(((2 / 15 + 0.6) / 2 + 0.4 + 1 / 3) * times, abs=1e-4)
    assert row.total == pytest.approx((0.5 + 0.4 + 1 / 3) * times, abs=1e-4)


def test_variants_have_the_totals_by_hand_under_mean_and_minimum(study: Study) -> None:
    result = compute(study, "variants")

    surprise = DISTANCES["gemini-c"] / DISTANCES["gpt-a"]
    minimum = (0.4, 0.4, 1 / 3)
    totals = {variant.name: by_participant(variant.totals)["gemini-c"].total for variant in result.variants}
    assert len(result.variants) == 13
    assert totals["C0.5 minimum"] == pytest.approx(sum(minimum) * (1 + surprise / 2), abs=1e-4)
    assert totals["A minimum"] == pytest.approx(sum(part**1.5 * surprise for part in minimum), abs=1e-4)
    assert totals["D mean"] == pytest.approx(sum((p * surprise) ** 0.5 for p in (0.5, 0.4, 1 / 3)), abs=1e-4)
    assert [row[n] for n, row in enumerate(result.correlations)] == pytest.approx([1] * 13)


def test_constraints_and_edges_say_what_failed(study: Study) -> None:
    constraints, edges = compute(study, "constraints"), compute(study, "edges")

    failed = {row.item: (row.n_failed, row.is_must, row.n_denied) for row in constraints.constraints if row.n_failed}
    assert failed == {"s1-c1": (1, True, 0), "s3-c1": (1, True, 0)}
    assert constraints.sections[1].satisfied == pytest.approx((0.6 + 0.6 + 0.4 + 0.6) / 4)
    agreements = {name: row.consistency for name, row in by_participant(edges.participants).items()}
    assert agreements == pytest.approx({"gpt-a": 0.8, "claude-b": 0.8, "gemini-c": 0.3, "person": 0.6})
    assert [edge.consistency for edge in edges.edges] == pytest.approx([39 / 60, 36 / 60])


def test_judges_without_any_person_have_alpha_on_the_raw_ratings(study: Study) -> None:
    result = compute(study, "judges")

    planted = np.array([[rating for name in RATINGS for rating in RATINGS[name][n][:4]] for n in range(3)], dtype=float)
    alphas = {(row.of, row.distance): row.coefficient.value for row in result.alphas}
    assert alphas == {
        ("judges", "interval"): pytest.approx(agreement.krippendorff_alpha(planted, "interval").value),
        ("judges", "ordinal"): pytest.approx(agreement.krippendorff_alpha(planted, "ordinal").value),
    }
    (first, second, third) = result.judges
    assert [judge.judge for judge in result.judges] == ["claude-judge", "gpt-judge", "qwen-judge"]
    assert (first.n, first.n_low, first.n_missing, first.mean) == (16, 2, 0, planted[0].mean())
    assert third.alpha_without.value == pytest.approx(agreement.krippendorff_alpha(planted[:2], "interval").value)
    assert (len(result.constraints), result.n_experts, second.with_experts) == (4, 0, None)


def test_experts_beside_judges_have_their_own_alpha_and_enter_no_total(study: Study) -> None:
    before = [row.total for row in compute(study, "scores").participants]

    quiet_run.judge(study, names=("E1", "E2"), kind="person")

    result = compute(study, "judges")
    assert {row.of for row in result.alphas} == {"judges", "experts", "judges and experts"}
    assert result.n_experts == 2
    assert result.judges[0].with_experts.value is not None
    assert [row.total for row in compute(study, "scores").participants] == before


def test_people_alone_are_the_judges() -> None:
    study = quiet_run.judged_study(quiet_run.filled_study())
    quiet_run.judge(study, kind="person")

    result = compute(study, "scores")

    assert (result.judges, result.is_judged_by_models) == (("claude-judge", "gpt-judge", "qwen-judge"), False)
    assert by_participant(result.participants)["gpt-a"].total == pytest.approx(4.8, abs=1e-4)


def test_who_filled_the_text_twice_has_the_mean_and_an_interval() -> None:
    filled = quiet_run.filled_study()
    quiet_run.model_fills(filled, "gpt-a", FILLS["claude-b"])
    study = quiet_run.judged_study(filled)
    quiet_run.judge(study)

    row = by_participant(compute(study, "scores").participants)["gpt-a"]

    sections = [part.surprising for part in row.sections]
    assert (row.n_texts, row.interval.method) == (2, "t")
    assert row.interval.low < row.total < row.interval.high <= 6, "no total within the reference set is above"
    assert row.total == pytest.approx(2.4 * (1 + sections[0]))


def test_other_reference_sets_stand_beside_with_raw_distances(study: Study) -> None:
    result = compute(study, "surprise")

    names = [(variant.name, variant.n) for variant in result.variants]
    assert names == [("models", 3), ("all", 4), ("leave_one_out", 3)]
    others = by_participant(result.variants[-1].participants)
    # Of the other two, (0, 1) and (-.6, .8), the middle is (-.6, 1.8) at length 1.897367; gpt-a lies at (1, 0).
    assert others["gpt-a"].raw == pytest.approx(1 + 0.6 / 1.897367, abs=1e-5)
    assert by_participant(result.variants[0].participants)["person"].raw == pytest.approx(DISTANCES["person"], abs=1e-6)
    assert len(result.texts) == 4
    first = result.texts[0]
    assert first.raw == pytest.approx(
        [DISTANCES[dict(map(reversed, quiet_run.stories(study)))[first.story]]] * 5, abs=1e-6
    )
    assert 0 < result.noise < 1


@pytest.mark.parametrize(
    ("plan", "code"),
    [({"embedding": "seven-league-boots"}, "no_vectors"), ({"reference_texts": "shortlisted"}, "no_reference_texts")],
)
def test_what_cannot_be_had_is_said_and_ratings_stand_all_the_same(plan: dict[str, str], code: str) -> None:
    planned = {"outcome": "judge/s1-c1", "contrasts": "every_pair"} | plan
    study = quiet_run.judged_study(quiet_run.filled_study(), plan=planned)
    quiet_run.judge(study)

    result = compute(study, "scores")

    assert {row.why.code for row in result.participants} == {code}
    assert by_participant(result.participants)["gpt-a"].satisfied == pytest.approx(0.8)
    assert compute(study, "surprise") is None
    assert compute(study, "variants") is not None
    assert all_figures()["cloze_variants"].is_empty(compute(study, "variants"))


def test_a_fill_without_words_leaves_its_text_without_a_total() -> None:
    filled = quiet_run.filled_study(models=("gpt-a", "claude-b"))
    quiet_run.model_fills(filled, "gemini-c", ("…", *FILLS["gemini-c"][1:]))
    study = quiet_run.judged_study(filled)
    quiet_run.judge(study)

    rows = by_participant(compute(study, "scores").participants)

    assert rows["gemini-c"].why.code == "open_blank"
    assert (rows["gpt-a"].rank, rows["gpt-a"].why) == (rows["gpt-a"].rank or None, None)


def test_page_files_and_text_say_it_and_nothing_of_it_while_sealed(client: Client, study: Study) -> None:
    client.force_login(factories.staff("researcher"))
    document = results.compute(study)

    page = client.get(f"/reports/{study.slug}/figures/all/").content.decode()

    for key in KEYS:
        figure = all_figures()[f"cloze_{key}"]
        result = results.read_results(document).figures[figure.key]
        assert encode(result) == document[figure.key]
        assert page.count(f'id="{figure.key}"') == 1
        tables = {name: list(rows) for name, rows in figure.rows(result).items()}
        assert tuple(tables) == figure.tables
        assert all(tuple(row) == tuple(rows[0]) for rows in tables.values() for row in rows)
        assert list(figure.lines(result))
    assert "participant E" in page
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(state="live", closed_at=None)
    study.refresh_from_db()
    assert [results.compute(study)[f"cloze_{key}"] for key in KEYS] == [None] * len(KEYS)


def test_a_cell_leads_to_the_fills_of_its_section_and_what_was_given_for_them(client: Client, study: Study) -> None:
    client.force_login(factories.staff("researcher"))
    address = f"/reports/{study.slug}/fills/1/?participant=gemini-c"

    cell = client.get(f"/reports/{study.slug}/figures/all/").content.decode()
    page = " ".join(client.get(address).content.decode().split())

    assert f'<a href="{address}">' in cell
    assert all(words in page for words in ("seaweed", "an anchor", "Nothing says whose the shoes are."))
    assert "gulls quarrel" not in page  # of section 2
    ratings = [re.sub(r"<[^>]+>", "", given).split() for given in re.findall(r'<td class="n">(.*?)</td>', page)]
    assert ratings == [["1"], ["0"], ["5", "check", "denied"], ["3"], ["3"], ["3"]]
    for nothing in (f"/reports/{study.slug}/fills/9/?participant=gemini-c", address.replace("gemini", "nobody")):
        assert client.get(nothing).status_code == 404
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(state="live", closed_at=None)
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("n", [2, 3])
def test_reading_takes_as_many_queries_for_two_texts_as_for_three(n: int, django_assert_num_queries: Any) -> None:
    study = quiet_run.judged_study(quiet_run.filled_study(models=quiet_run.MODELS[:n]))
    quiet_run.judge(study)
    data = Dataset.of(study)
    assert data.answers.size
    assert data.judges.size
    assert data.people.empty

    with django_assert_num_queries(6):  # one more than for one text: whether groups are batches
        assert data.scored_cloze is not None


def test_texts_that_were_not_filled_here_are_taken_apart_by_their_fixed_words() -> None:
    study = quiet_run.judged_study(quiet_run.filled_study())
    quiet_run.judge(study)
    before = [row.total for row in compute(study, "scores").participants]
    document = shoes()
    with triggers.lifted():
        for name, code in quiet_run.stories(study):
            plain = text.fill_blanks(document, dict(enumerate(FILLS[name], start=1)))
            Story.objects.filter(study=study, code=code).update(text=plain)
    Fill.objects.update(story=None)

    after = [row.total for row in compute(study, "scores").participants]

    assert after == pytest.approx(before)


def test_a_report_of_a_cloze_is_headed_with_its_total_and_says_what_that_depends_on(study: Study) -> None:
    document = results.read_results(results.compute(study))

    sentence, depends_on = context.find_headline(document)

    (first,) = (row for row in document.figures["cloze_scores"].participants if row.rank == 1)
    assert sentence.startswith(f"{first.participant} has the highest total of ")
    assert depends_on.startswith("It stays first whichever judge is left out.")
