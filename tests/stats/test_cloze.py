import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stats.arrays import FloatArray
from stats.cloze import (
    apply_knockout,
    consistency,
    count_changes,
    filling_order,
    group_means,
    satisfaction,
    scores,
    surprises,
)
from stats.comparisons import spearman
from tests.stats.examples import NAN, repeatable


@dataclass(frozen=True)
class Quiet:
    """The paper's Tables 1 to 3: models in the order of the totals, seven groups of blanks."""

    models: list[str]
    satisfied: FloatArray
    surprising: FloatArray
    totals: FloatArray

    def total(self, form: str) -> FloatArray:
        """The totals under "A", "B", "D", or "C" with its weight: "C1", "C0.5", "C1.5"."""
        weight = float(form[1:] or 1)
        return scores(self.satisfied, self.surprising, form=form[0], weight=weight).sum(axis=1)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def quiet(release: Path) -> Quiet:
    with (release / "quiet" / "published_totals.csv").open(encoding="utf-8") as file:
        totals = {row["model"]: float(row["total"]) for row in csv.DictReader(file)}
    models = list(totals)
    tables = np.full((2, 12, 7), NAN)
    with (release / "quiet" / "published_groups.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            place = models.index(row["model"]), int(row["group"].removeprefix("G")) - 1
            tables[(0, *place)], tables[(1, *place)] = float(row["satisfy"]), float(row["surprise"])
    return Quiet(models, tables[0], tables[1], np.array(list(totals.values())))


@pytest.mark.data
def test_all_twelve_totals_of_the_paper_come_out(quiet: Quiet) -> None:
    assert quiet.total("C") == pytest.approx(quiet.totals, abs=0.02)
    assert len(quiet.models) == 12
    assert not np.isnan(quiet.satisfied).any()


@pytest.mark.data
def test_the_seventh_and_the_eighth_tie_as_printed(quiet: Quiet) -> None:
    assert quiet.models[6:8] == ["GPT-5.4-mini", "Claude-Kaiku-4.5"]
    assert quiet.totals[6] == quiet.totals[7] == 8.03
    assert abs(quiet.total("C")[6] - quiet.total("C")[7]) < 0.02


@pytest.mark.data
@pytest.mark.parametrize(
    ("one", "other", "rho"),
    [
        ("C1", "C0.5", 0.937),
        ("C1", "C1.5", 0.986),
        ("C0.5", "C1.5", 0.923),
        ("C1", "A", 0.923),
        ("C1", "D", 0.909),
        ("C1", "B", 0.839),
        ("A", "D", 0.993),
        ("A", "C0.5", 0.783),
        ("D", "C0.5", 0.748),
        ("B", "C0.5", 0.657),
    ],
)
def test_the_forms_rank_the_models_as_the_printed_tables_imply(quiet: Quiet, one: str, other: str, rho: float) -> None:
    assert spearman(quiet.total(one), quiet.total(other)).value == pytest.approx(rho, abs=0.0005)


@pytest.mark.data
@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("C1", "Gemini-3.1-Pro"),
        ("C0.5", "Gemini-3.1-Pro"),
        ("C1.5", "Gemini-3.1-Pro"),
        ("A", "GLM-5.1-thinking"),
        ("B", "GLM-5.1-thinking"),
        ("D", "GLM-5.1-thinking"),
    ],
)
def test_who_leads_depends_on_the_form_and_who_is_last_does_not(quiet: Quiet, form: str, first: str) -> None:
    assert quiet.models[quiet.total(form).argmax()] == first
    assert quiet.models[quiet.total(form).argmin()] == "GPT-3.5-turbo"


def test_each_form_of_the_cloze_score_is_as_computed_by_hand() -> None:
    satisfied, surprising = [0.64, 0.25, 0.0, 0.0], [0.36, 1.0, 0.5, 0.0]

    assert scores(satisfied, surprising) == pytest.approx([0.64 * 1.36, 0.5, 0.0, 0.0])
    assert scores(satisfied, surprising, weight=0.5) == pytest.approx([0.64 * 1.18, 0.375, 0.0, 0.0])
    assert scores(satisfied, surprising, form="A") == pytest.approx([0.512 * 0.36, 0.125, 0.0, 0.0])
    assert scores(satisfied, surprising, form="B") == pytest.approx([2 * 0.2304, 0.4, 0.0, 0.0])
    assert scores(satisfied, surprising, form="D") == pytest.approx([0.48, 0.5, 0.0, 0.0])


def test_satisfaction_is_the_mean_of_the_constraints_means_over_judges() -> None:
    ratings = [[5, 1, 4], [3, 0, 4], [4, NAN, 4]]

    assert satisfaction(ratings) == pytest.approx((0.8 + 0.1 + 0.8) / 3)
    assert satisfaction(ratings, bucket=True) == pytest.approx(0.1)
    assert satisfaction([ratings, [[5, 5, 5]] * 3]) == pytest.approx([1.7 / 3, 1.0])


def test_the_coarse_scale_and_probabilities_have_their_own_highest() -> None:
    assert satisfaction([[0, 0.5, 1.0]], highest=1) == pytest.approx(0.5)


def test_a_constraint_that_nobody_rated_leaves_the_group_without_a_value() -> None:
    assert np.isnan(satisfaction([[5, NAN], [4, NAN]]))
    assert np.isnan(satisfaction([[5, NAN], [4, NAN]], bucket=True))


@pytest.mark.parametrize("ratings", [[[6, 1]], [[-1, 1]]])
def test_ratings_beyond_the_scale_are_refused(ratings: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="Ratings lie between 0 and 5"):
        satisfaction(ratings)


def test_a_broken_must_has_at_most_one_of_five() -> None:
    knocked = apply_knockout([[5, 4, 0, NAN]], [[True, False, True, True]])

    np.testing.assert_array_equal(knocked, [[1, 4, 0, NAN]])


def test_edges_are_scored_like_constraints() -> None:
    assert consistency([[5, 0], [4, 1]]) == pytest.approx((0.9 + 0.1) / 2)


def test_surprise_by_hand() -> None:
    # Three texts, one blank: two along the axes of a plane and one between, which is the direction of the centroid.
    embeddings = np.array([[[1.0, 0.0]], [[0.0, 2.0]], [[3.0, 3.0]]])

    assert surprises(embeddings, [True, True, True]) == pytest.approx(np.array([[1.0], [1.0], [0.0]]))


def test_a_text_outside_the_reference_moves_nothing_and_can_lie_above_one() -> None:
    embeddings = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[-1.0, -1.0]]])
    found = surprises(embeddings, [True, True, False])

    assert found[:2] == pytest.approx(surprises(embeddings[:2], [True, True]))
    assert found[2, 0] == pytest.approx(2 / (1 - np.sqrt(0.5)))


def test_an_open_blank_has_no_surprise_and_does_not_enter_the_centroid() -> None:
    embeddings = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[NAN, NAN]]])
    found = surprises(embeddings, [True, True, True])

    assert np.isnan(found[2, 0])
    assert found[:2] == pytest.approx(surprises(embeddings[:2], [True, True]))


def test_where_all_say_the_same_nothing_surprises_and_of_others_nothing_can_be_said() -> None:
    embeddings = np.array([[[0.3, 0.4, 0.5]], [[0.6, 0.8, 1.0]], [[1.0, 0.0, 0.0]]])

    np.testing.assert_array_equal(surprises(embeddings, [True, True, False]), [[0.0], [0.0], [NAN]])


@pytest.mark.parametrize(
    ("shape", "reference", "reason"),
    [((2, 3), [True, True], "three axes"), ((2, 1, 3), [True], "three axes"), ((2, 1, 3), [False, False], "no text")],
)
def test_surprise_needs_its_axes_and_a_reference(shape: tuple[int, ...], reference: list[bool], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        surprises(np.ones(shape), reference)


@repeatable
@given(arrays(np.float64, (5, 2, 3), elements=st.floats(0.1, 1.0)), st.permutations(range(5)), st.floats(0.5, 20))
def test_surprise_knows_no_order_of_texts_and_no_length_of_vectors(
    embeddings: FloatArray, order: list[int], factor: float
) -> None:
    found = surprises(embeddings, np.ones(5, dtype=bool))

    assert surprises(embeddings[order] * factor, np.ones(5, dtype=bool)) == pytest.approx(found[order], abs=1e-3)
    assert np.all((found >= 0) & (found <= 1))


def test_a_groups_surprise_is_the_mean_of_its_blanks() -> None:
    values = [[0.1, 0.3, 1.0], [0.5, NAN, 0.0]]

    np.testing.assert_allclose(group_means(values, [1, 1, 2]), [[0.2, 1.0], [NAN, 0.0]])


@repeatable
@given(arrays(np.float64, (4, 7), elements=st.floats(0, 1)), arrays(np.float64, (4, 7), elements=st.floats(0, 1)))
def test_the_main_score_never_falls_below_satisfaction_nor_beyond_its_double(a: FloatArray, b: FloatArray) -> None:
    found = scores(a, b)

    assert np.all((found >= a) & (found <= 2 * a + 1e-12))


def test_the_order_of_filling_is_that_of_the_first_words() -> None:
    assert filling_order([(3, "a"), (1, "b"), (3, "c"), (2, " "), (5, "d"), (2, "e")]) == [3, 1, 5, 2]


def test_what_is_saved_while_somebody_writes_is_one_filling() -> None:
    assert count_changes([(1, "bro"), (1, "brown"), (1, "brown boots")]) == {1: 0}


def test_a_change_is_another_text_after_something_else() -> None:
    history = [(1, "boots"), (2, "a coin"), (1, "sho"), (1, "shoes"), (2, "a co"), (2, "a coin"), (1, "boots")]

    assert count_changes(history) == {1: 2, 2: 0}


def test_emptying_a_blank_changes_it_and_filling_it_again_does_not() -> None:
    assert count_changes([(1, "boots"), (2, "x"), (1, ""), (2, "y"), (1, "shoes")]) == {1: 1, 2: 1}


def test_a_blank_never_filled_has_no_changes_to_count() -> None:
    assert count_changes([(1, " "), (2, "x")]) == {2: 0}
