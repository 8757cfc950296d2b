"""The sentences of findings on agreement and on guesses."""

import pytest

from reports import results
from reports.document.values import Interval, Mean
from reports.figures.agreement.sentences import scale_statement, verdict_statement
from reports.page.statements import statement_lines
from tests.reports import given
from tests.reports.figures.test_comparisons import read, sentences

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.mark.parametrize(
    ("value", "upper", "among_models", "words"),
    [
        (0.05, 0.12, None, "How far raters agree on the tests cannot be told from chance: mean kappa .05, and "),
        (0.40, 0.08, None, "mean kappa .40, where 1 is full agreement and shuffled answers have up to .08"),
        (0.40, 0.08, 0.05, "95 % interval .30 to .50. Among the stories of models alone kappa is .05"),
        (
            0.09,
            0.08,
            None,
            "up to .08; yet on other stories it could be no more than chance. 95 % interval −.01 to .19",
        ),
    ],
)
def test_agreement_inside_the_floor_cannot_be_told_from_chance(
    value: float, upper: float, among_models: float | None, words: str
) -> None:
    ends = Interval(low=value - 0.1, high=value + 0.1)

    statement = verdict_statement(Mean(value=value, n=14), upper, ends, among_models=among_models)

    assert words in statement.sentence
    assert statement.is_planned is False


@pytest.mark.parametrize(
    ("value", "upper", "low"), [(0.40, 0.08, None), (-0.05, -0.10, -0.08), (0.05, -0.10, -0.02), (0.40, 0.08, 0.07)]
)
def test_agreement_is_beyond_chance_only_where_its_lower_end_lies_above_0_and_what_shuffled_answers_reach(
    value: float, upper: float, low: float | None
) -> None:
    ends = Interval(low=low, high=None if low is None else 0.6)

    sentence = verdict_statement(Mean(value=value, n=14), upper, ends, among_models=None).sentence

    assert "beyond chance" not in sentence
    assert "chance" in sentence


def test_guesses_stand_beside_what_always_one_answer_gives() -> None:
    study = given.closed_study(n_groups=12)
    guess = {f"p{g}s{n}": "ai" if n > 1 or g == 1 else "expert" for g in range(1, 13) for n in (1, 2)}
    given.bring(study, given.guesses(study, {"E01": guess}))

    (row,) = results.compute(study)["authorship"]
    (words,) = (words for words in sentences(study) if words.startswith("This one rater"))

    # All twelve of the model's are called so, eleven of the twelve of people: 23 of 24.
    assert row["balanced_accuracy"]["value"] == pytest.approx(23 / 24)
    assert 0.5 < row["interval"]["low"] < 23 / 24 <= row["interval"]["high"] <= 1
    assert words.startswith(
        "This one rater tells stories of people from those of models; whether others would is not shown. "
        "96 % of guesses are right, always answering “model” would be right in 50 %; with both kinds weighing the "
        "same .96, where chance gives .50. 95 % interval "
    )


@pytest.mark.parametrize(
    ("n_wrong_by_rater", "words"),
    [
        ([2, 3, 2, 4], "Raters tell stories of people from those of models: "),
        # Two see it, one does not at all: of others like them nothing follows.
        ([0, 2, 13], "These 3 raters tell stories of people from those of models; whether others would is not shown. "),
        ([12, 11, 12, 13], "Whether raters tell stories of people from those of models cannot be told from chance: "),
    ],
)
def test_raters_tell_the_kinds_apart_only_if_others_would_too(n_wrong_by_rater: list[int], words: str) -> None:
    study = given.closed_study(n_groups=12)
    right = {f"p{g}s{n}": "ai" if n == 2 else "expert" for g in range(1, 13) for n in (1, 2)}
    other = {"expert": "ai", "ai": "expert"}
    guesses = {
        f"E0{rater}": {
            story: other[author] if (7 * n + 5 * rater) % 24 < n_wrong else author
            for n, (story, author) in enumerate(right.items())
        }
        for rater, n_wrong in enumerate(n_wrong_by_rater, start=1)
    }
    given.bring(study, given.guesses(study, guesses))

    (line,) = (line for line in statement_lines(read(study)) if line.key == "authorship")

    assert line.statement.sentence.startswith(words)
    assert (line.statement.claim is not None) == words.startswith("Raters tell")


def test_guesses_without_an_interval_do_not_say_what_it_is_for() -> None:
    study = given.closed_study(n_groups=1)
    given.bring(study, given.guesses(study, {"E01": {"p1s1": "expert", "p1s2": "ai"}}))

    (line,) = (line for line in statement_lines(read(study)) if line.key == "authorship")

    assert line.statement.basis == "2 guesses"


def test_of_one_scale_one_alpha_is_named_and_of_several_the_least_and_the_most() -> None:
    sentences = [
        scale_statement(rows).sentence
        for rows in ([(0.8, 0.1, 0.6)], [(0.8, 0.1, 0.6), (0.5, 0.6, 0.4)], [(0.05, 0.1, -0.1)])
    ]

    assert sentences == [
        "Raters agree beyond chance on the scale: Krippendorff’s alpha is .80.",
        "Raters agree beyond chance on 1 of 2 scales: Krippendorff’s alpha is .80 there.",
        "It is not shown that raters agree beyond chance on the scale: Krippendorff’s alpha is .05.",
    ]


@pytest.mark.parametrize(
    ("rows", "n_beyond"),
    [
        # A floor below 0 is passed by an alpha of 0; only a lower end above 0 as well is agreement.
        ([(0.0, -0.05, -0.2), (0.61, -0.05, 0.4)], 1),
        ([(0.1, 0.02, 0.01), (0.61, 0.02, 0.4)], 1),
        ([(0.5, 0.1, None), (0.61, 0.02, 0.4)], 1),
        ([(0.5, 0.1, 0.2), (0.61, 0.02, 0.4)], 2),
    ],
)
def test_agreement_is_beyond_chance_where_its_lower_end_is_above_the_floor_and_above_0(
    rows: list[tuple[float, float, float | None]], n_beyond: int
) -> None:
    assert f"beyond chance on {n_beyond} of 2 scales" in scale_statement(rows).sentence
