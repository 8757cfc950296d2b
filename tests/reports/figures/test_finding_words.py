"""The sentences of findings on agreement and on guesses."""

import pytest

from reports import results
from reports.document.values import Estimate, Floor, Interval, Mean
from reports.figures.agreement.rows import ItemAgreement
from reports.figures.agreement.sentences import scale_statement, scale_words, verdict_statement, verdict_words
from reports.figures.base import ALL_ITEMS
from reports.figures.coverage import Coverage, coverage_words
from reports.page.statements import statement_lines
from tests.reports import given
from tests.reports.figures.test_comparisons import read, sentences

ON = "on 26 of 26 stories, 3 to 5 raters each"

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.mark.parametrize(
    ("value", "upper", "among_models", "words"),
    [
        (0.05, 0.12, None, f"Agreement of raters on the tests is not shown to exceed chance: mean kappa .05 {ON}, "),
        (0.40, 0.08, None, f"mean kappa .40 {ON}, where 1 is full agreement and shuffled answers have up to .08"),
        (0.40, 0.08, 0.05, "95 % interval .30 to .50. Among the stories of models alone kappa is .05."),
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

    statement = verdict_statement(Mean(value=value, n=14), upper, ends, ON, among_models=among_models)

    assert words in statement.sentence
    assert statement.is_planned is False


@pytest.mark.parametrize(
    ("value", "upper", "low"), [(0.40, 0.08, None), (-0.05, -0.10, -0.08), (0.05, -0.10, -0.02), (0.40, 0.08, 0.07)]
)
def test_agreement_is_beyond_chance_only_where_its_lower_end_lies_above_0_and_what_shuffled_answers_reach(
    value: float, upper: float, low: float | None
) -> None:
    ends = Interval(low=low, high=None if low is None else 0.6)

    sentence = verdict_statement(Mean(value=value, n=14), upper, ends, ON).sentence

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
        "This one rater distinguishes stories of people from those of models; whether others would is not shown. "
        "96 % of guesses are right, always answering “model” would be right in 50 %; with both kinds weighing the "
        "same .96, where chance gives .50. 95 % interval "
    )


@pytest.mark.parametrize(
    ("n_wrong_by_rater", "words"),
    [
        ([2, 3, 2, 4], "Raters distinguish stories of people from those of models: "),
        # Two see it, one does not at all: of others like them nothing follows.
        ([0, 2, 13], "These 3 raters distinguish stories of people from those of models; whether others would is not "),
        (
            [12, 11, 12, 13],
            "It is not shown that raters distinguish stories of people from those of models better ",
        ),
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
    assert bool(line.statement.claims) == words.startswith("Raters distinguish")


def test_guesses_without_an_interval_do_not_say_what_it_is_for() -> None:
    study = given.closed_study(n_groups=1)
    given.bring(study, given.guesses(study, {"E01": {"p1s1": "expert", "p1s2": "ai"}}))

    (line,) = (line for line in statement_lines(read(study)) if line.key == "authorship")

    assert line.statement.basis == "2 guesses"


def test_a_part_of_agreement_is_said_to_be_on_who_wrote_only_where_that_is_shown() -> None:
    ends = Interval(low=0.3, high=0.5)

    shown, not_shown = (
        verdict_statement(
            Mean(value=0.4, n=14), 0.08, ends, ON, among_models=0.05, rests_on_sources=rests_on_sources
        ).sentence
        for rests_on_sources in (True, False)
    )

    claim = ": at least a part of the agreement is on which stories people wrote."
    assert shown.endswith(f"Among the stories of models alone kappa is .05{claim}")
    assert not_shown.endswith("Among the stories of models alone kappa is .05.")


def test_of_one_scale_one_alpha_is_named_and_of_several_the_least_and_the_most() -> None:
    found = [
        scale_statement(rows, ON).sentence
        for rows in ([(0.8, True)], [(0.8, True), (0.5, False)], [(0.8, True), (0.5, True)], [(0.05, False)])
    ]

    assert found == [
        f"Raters agree beyond chance on the scale: Krippendorff’s alpha is .80 {ON}.",
        f"Raters agree beyond chance on 1 of 2 scales: Krippendorff’s alpha is .80 there, {ON}.",
        f"Raters agree beyond chance on 2 of 2 scales: Krippendorff’s alpha from .50 to .80 there, {ON}.",
        f"It is not shown that raters agree beyond chance on the scale: Krippendorff’s alpha is .05 {ON}.",
    ]


@pytest.mark.parametrize(
    ("upper", "low", "p_holm", "is_beyond"),
    [
        # A floor below 0 is passed by an alpha of 0; only a lower end above 0 as well is agreement.
        (-0.05, -0.2, 0.001, False),
        (0.02, 0.01, 0.001, False),
        (0.1, None, None, False),
        (None, 0.2, None, False),
        (0.1, 0.2, 0.06, False),  # of this scale alone, but not once all scales are looked at
        (0.1, 0.2, 0.04, True),
    ],
)
def test_agreement_on_a_scale_is_beyond_chance_only_above_the_floor_above_0_and_corrected_over_all_scales(
    upper: float | None, low: float | None, p_holm: float | None, is_beyond: bool
) -> None:
    row = ItemAgreement(
        **vars(ALL_ITEMS),
        level="ordinal",
        coefficient=Estimate(value=0.3, name="Krippendorff's alpha, ordinal"),
        percent_agreement=Estimate(value=60.0),
        yes_percent=None,
        alpha=None,
        interval=Interval(low=low, high=None if low is None else 0.6),
        floor=Floor(mean=0.0, upper=upper),
        coverage=Coverage(n_units=26, n_all=26, least=3, most=5),
        p_above_chance=p_holm,
        p_holm=p_holm,
    )

    assert row.is_beyond_chance == is_beyond


def test_coverage_names_what_the_least_and_the_most_covered_item_rests_on() -> None:
    stories = [Coverage(n_units=26, n_all=26, least=3, most=5), Coverage(n_units=24, n_all=26, least=2, most=3)]
    groups = Coverage(n_units=12, n_all=12, least=3, most=3, are_stories=False)

    assert coverage_words(stories[:1]) == ON
    assert coverage_words(stories) == "on 24 to 26 of 26 stories, 2 to 5 raters each"
    assert coverage_words([groups]) == "on 12 of 12 stories or groups, 3 raters each"


@pytest.mark.parametrize(
    ("value", "low", "words"),
    [
        (0.4, 0.2, "Raters agree on the tests beyond chance."),
        (0.4, -0.1, "Beyond chance on these stories; not shown for other stories."),
        (0.05, -0.1, "It is not shown that raters agree on the tests beyond chance."),
    ],
)
def test_the_summary_says_of_agreement_on_tests_what_the_finding_claims(value: float, low: float, words: str) -> None:
    ends = Interval(low=low, high=0.6)

    assert verdict_words(value, 0.1, ends) == words
    claims = verdict_statement(Mean(value=value, n=14), 0.1, ends, ON).claims
    assert bool(claims) is ("not shown" not in words)


@pytest.mark.parametrize(
    ("n_beyond", "n", "words"),
    [
        (1, 1, "Raters agree beyond chance on the scale."),
        (0, 1, "It is not shown that raters agree beyond chance on the scale."),
        (0, 3, "It is not shown on any of 3 scales that raters agree beyond chance."),
        (2, 3, "Raters agree beyond chance on 2 of 3 scales."),
    ],
)
def test_the_summary_says_on_how_many_scales_raters_agree(n_beyond: int, n: int, words: str) -> None:
    assert scale_words(n_beyond, n) == words
