"""Why there is no figure: stored as a code with its values, read in the reader's language."""

import ast
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation

from reports.document.values import Reason
from reports.figures.base import without_value
from reports.figures.judges.on_standard import OF_LABELS
from reports.reasons import NAMES, SENTENCES, to_english
from reports.reasons import language as reason_language
from reports.reasons import translate_reason as reason
from stats.reasons import Incomputable

RAISED = ("Incomputable", "TooFewRaters", "without_value")


def codes_in_code() -> set[str]:
    """The codes that `stats` and `reports` give instead of a figure."""
    base = Path(settings.BASE_DIR)
    calls = [
        node
        for file in [*base.glob("stats/*.py"), *base.glob("reports/**/*.py")]
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in RAISED
    ]
    return {call.args[0].value for call in calls if call.args and isinstance(call.args[0], ast.Constant)}


def test_every_code_has_a_sentence_and_no_other() -> None:
    codes = codes_in_code()

    assert len(codes) > 25
    assert set(SENTENCES) == codes | set(OF_LABELS.values())


# Only replications of published studies say these, and they print in English.
OF_REPLICATIONS = {"no_such_figure", "too_few_ratings"}
VALUES = {
    "pilot_of_few_raters": {"n": 2, "least": 3},
    "pilot_of_few_stories": {"n": 2, "least": 6},
    "pilot_read_by_one": {"least": 4},
    "all_ratings_alike": {"name": "Fleiss' kappa"},
    "too_few_ratings_of_units": {"least": 3},
    "too_few_units_of_raters": {"least": 10},
    "too_few_such_units": {"least": 10},
    "not_settled": {"n": 2000},
    "nobody_to_leave_out": {"least": 30},
    "too_few_to_compare": {"least": 4},
    "too_few_raters_for_error": {"least": 3},
    "not_all_compared": {"n": 2},
    "too_few_ratings": {"least": 2},
    "too_few_prompts": {"least": 2},
    "too_few_neighbours": {"n": 2, "k": 10},
    "language_unknown": {"n": 40, "n_words": 50},
    "no_vectors": {"why": "the endpoint is gone"},
    "all_weight_on_one": {"name": "novelty"},
    "no_deviation": {"name": "novelty"},
    "too_many_to_check": {"n": 4000, "most": 3000},
    "too_many_steps": {"n": 20, "most": 11},
    "too_few_rated_prompts": {"n": 3, "least": 12},
    "no_reference_set": {"name": "Winners"},
    "too_few_references": {"k": 10, "name": "Winners"},
    "no_surprise": {"name": "gpt2"},
    "no_named_scores": {"name": "reward-1"},
    "no_labels": {"name": "the votes"},
    "too_few_ideas_by_people": {"n": 3, "least": 20},
}


@pytest.mark.parametrize("code", sorted(set(SENTENCES) - OF_REPLICATIONS))
def test_a_reason_is_read_in_the_readers_language(code: str) -> None:
    why = without_value(code, **VALUES.get(code, {}))
    with translation.override("pt-br"):
        assert (reason(why) != to_english(why), reason_language(why)) == (True, "pt-br")
    assert (reason(why), reason_language(why)) == (to_english(why), "en")


def test_what_a_sentence_names_is_translated_with_it() -> None:
    assert "Fleiss' kappa" in NAMES
    with translation.override("pt-br"):
        assert "Kappa de Fleiss" in reason(without_value("all_ratings_alike", name="Fleiss' kappa"))


def test_a_sentence_without_a_translation_is_english_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SENTENCES, "probe", "Only %(n)s of %(all)s.")
    why = without_value("probe", n=3, all=7)

    with translation.override("pt-br"):
        assert (reason(why), reason_language(why)) == ("Only 3 of 7.", "en")


def test_the_error_of_a_statistic_becomes_the_reason_and_says_the_same_sentence() -> None:
    error = Incomputable("all_ratings_alike", name="Fleiss' kappa")

    assert Reason.of(error) == Reason(code="all_ratings_alike", values={"name": "Fleiss' kappa"})
    assert str(error) == to_english(error) == to_english(Reason.of(error))
