"""Recipes: from the replies so far to what is asked next, without a table or a call."""

import re

import pytest

from judges import prompts
from judges.laboratory import recipes
from judges.laboratory.recipes import Ask, Brief, Finished, GaveUp, Recipe
from tests.judges.attacks import attacks

RECIPES = list(recipes.all_recipes().values())


def words(n: int) -> str:
    return " ".join(["word"] * n)


def brief_for(recipe: Recipe, *, n_rounds: int | None = None) -> Brief:
    """A brief that the recipe can work on, with its own lengths and rounds."""
    usual = recipe.rounds.usual if recipe.rounds else 0
    return Brief(
        premise="A well.",
        original="Once.",
        question="Is it good?",
        reference="Another idea." if recipe.takes_reference else "",
        n_words=recipe.sizes[0] if recipe.sizes else 0,
        n_rounds=usual if n_rounds is None else n_rounds,
        disagreements="A case.",
        summary="- one of two",
        system="You judge.",
        template="{{ stories }} {{ question }}",
    )


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.slug)
def test_a_recipe_asks_with_its_own_prompts_and_ends(recipe: Recipe) -> None:
    brief, mark = brief_for(recipe), prompts.new_mark()

    usual = recipes.rehearse(recipe, brief, is_longest=False)
    longest = recipes.rehearse(recipe, brief, is_longest=True)

    assert usual[0].prompt == recipe.prompts[0]
    assert {ask.prompt for ask in [*usual, *longest]} == set(recipe.prompts)
    assert 1 <= len(usual) <= len(longest) <= recipes.MOST_CALLS_A_TEXT
    for ask in longest:
        file = prompts.find_built_in(ask.prompt)
        assert file.kind in prompts.WRITING
        _system, user = prompts.render_writing(
            file.system, file.template, texts=ask.texts, values=ask.values, mark=mark
        )
        assert f" {mark}>" in "".join(user["content"]), "what is worked on stands in a fence"
    assert all((recipe.gaps, recipe.place, recipe.citation))


def test_no_injected_text_escapes_its_fence_where_a_text_is_to_be_written() -> None:
    mark, n_fenced = prompts.new_mark(), 0
    asks = [ask for recipe in RECIPES for ask in recipes.rehearse(recipe, brief_for(recipe), is_longest=False)]
    for n, attack in enumerate(attacks(300, seed=20_262)):
        ask = asks[n % len(asks)]
        file = prompts.find_built_in(ask.prompt)
        around = []
        for words in (attack.story, "x"):
            texts = {name: words if text else "" for name, text in ask.texts.items()}
            rendered = prompts.render_writing(file.system, file.template, texts=texts, values=ask.values, mark=mark)
            said = prompts.join(rendered)[1]["content"]
            around.append(re.sub(rf"<([^<>\n]+) {mark}>\n.*?\n</\1 {mark}>", "", said, flags=re.DOTALL))
        n_fenced += f" {mark}>" in said
        assert around[0] == around[1], (ask.prompt, attack)

    assert n_fenced == 300


@pytest.mark.parametrize("recipe", [r for r in RECIPES if r.rounds], ids=lambda recipe: recipe.slug)
def test_as_many_rounds_as_may_be_asked_for_fit_into_a_run(recipe: Recipe) -> None:
    assert recipe.rounds is not None

    longest = recipes.rehearse(recipe, brief_for(recipe, n_rounds=recipe.rounds.most), is_longest=True)

    assert len(longest) <= recipes.MOST_CALLS_A_TEXT


def test_ttcw_expands_until_it_is_less_than_200_words_away() -> None:
    recipe = recipes.find_recipe("ttcw-expansion")
    brief = Brief(premise="A well.", n_words=1500, n_rounds=20)

    assert recipe.next_step(brief, []) == Ask("ttcw-story", {"premise": "A well."}, {"word_count": 1500})
    counts = {"word_count": 1500, "current_word_count": 1300}
    assert recipe.next_step(brief, [words(1300)]) == Ask("ttcw-expansion", {"draft": words(1300)}, counts)
    finished = recipe.next_step(brief, [words(900), words(1301)])
    assert isinstance(finished, Finished)
    assert [output.text for output in finished.outputs] == [words(1301)]
    assert isinstance(recipe.next_step(brief, [words(1699)]), Finished)
    assert isinstance(recipe.next_step(brief, [words(1700)]), GaveUp)


def test_ttcw_gives_up_after_twenty_rounds() -> None:
    recipe = recipes.find_recipe("ttcw-expansion")
    brief = Brief(premise="A well.", n_words=1500, n_rounds=20)

    assert isinstance(recipe.next_step(brief, [words(100)] * 20), Ask)
    assert isinstance(recipe.next_step(brief, [words(100)] * 21), GaveUp)


@pytest.mark.parametrize(("slug", "lead"), [("pds-writer-profile", []), ("pds-plan-write", ["Ana. Rui."])])
def test_pds_discards_whole_what_is_outside_400_to_600_words(slug: str, lead: list[str]) -> None:
    recipe = recipes.find_recipe(slug)
    brief = Brief(premise="A well.", n_rounds=4)

    first = recipe.next_step(brief, lead)
    again = recipe.next_step(brief, [*lead, words(399), words(601)])
    finished = [recipe.next_step(brief, [*lead, words(399), words(601), words(n)]) for n in (400, 600)]
    gave_up = recipe.next_step(brief, [*lead, *[words(601)] * 4])

    assert isinstance(first, Ask)
    assert again == first, "another is asked for in the same words"
    for step, n in zip(finished, (400, 600), strict=True):
        assert step == Finished((recipes.Output(words(n)),), n_discards=2)
    assert isinstance(gave_up, GaveUp)
    assert gave_up.n_discards == 4


def test_feedback_takes_turns_and_keeps_the_idea_of_every_round() -> None:
    recipe = recipes.find_recipe("nsv-feedback")
    brief = Brief(premise="A well.", reference="A better idea.", n_words=50, n_rounds=2)

    rounds = [recipe.next_step(brief, ["one", "two", "three"][:n]) for n in (1, 2, 3)]

    asks = [step for step in rounds if isinstance(step, Ask)]
    assert [ask.values["operator"] for ask in asks] == ["surprise", "perspective"]
    assert [ask.texts["draft"] for ask in asks] == ["one", "two"]
    assert rounds[2] == Finished(tuple(recipes.Output(text, n) for n, text in enumerate(["one", "two", "three"])))
