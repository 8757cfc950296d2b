"""What every intervention promises, whichever file defines it."""

import random
import re

import pytest

from judges import interventions
from judges.interventions import Intervention
from judges.interventions.filler import SHARE
from judges.models import Reading

STORY = (
    "The ferry stopped at noon. Nobody waved.\n\nShe left. He stayed!\n\n“Why?” asked the boy.\n\nNobody answered him."
)
TEXTS = ["One.", STORY, "你好。再见！", "a\nb\nc", "…", "", " \n\n ", "\n\nShe left.\n\n\n\nHe stayed.\n", STORY * 40]
every_intervention = pytest.mark.parametrize("kind", interventions.all_interventions().values(), ids=lambda k: k.slug)


def alter(kind: Intervention, text: str, code: str = "A1") -> str:
    return interventions.alter(kind, text, seed=7, code=code)


@every_intervention
def test_an_intervention_has_a_name_that_fits_its_column_and_says_what_it_does(kind: Intervention) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*-\d+", kind.name)
    assert len(kind.name) <= (Reading._meta.get_field("intervention").max_length or 0)
    assert interventions.find_intervention(kind.slug) is kind
    assert str(kind.description).endswith(".")
    assert str(kind.words).startswith("with ")


@every_intervention
@pytest.mark.parametrize("text", TEXTS)
def test_an_intervention_gives_the_same_text_each_time_and_takes_no_words_away(kind: Intervention, text: str) -> None:
    altered = alter(kind, text)

    assert alter(kind, text) == altered
    kept = altered.replace("**", "").split()
    assert all(kept.count(word) >= text.split().count(word) for word in set(text.split()))
    if not text.strip():
        assert altered == text, "there is nothing to change, and so nothing to ask about"


@every_intervention
def test_an_intervention_changes_a_story(kind: Intervention) -> None:
    assert alter(kind, STORY) != STORY


@every_intervention
def test_only_what_adds_english_words_says_so(kind: Intervention) -> None:
    n_added = len(re.findall(r"[A-Za-z]+", alter(kind, STORY))) - len(re.findall(r"[A-Za-z]+", STORY))

    assert (n_added > 0) is kind.is_english


def test_padding_adds_its_share_of_words_after_any_of_the_paragraphs() -> None:
    padded = alter(interventions.find_intervention("padding"), STORY * 40)

    n_words = len((STORY * 40).split())
    assert SHARE * n_words <= len(padded.split()) - n_words < SHARE * n_words + 15
    assert len(padded.split("\n\n")) == len((STORY * 40).split("\n\n"))


def test_reordering_keeps_every_paragraph_and_moves_some() -> None:
    kind = interventions.find_intervention("reordering")

    assert sorted(alter(kind, STORY).split("\n\n")) == sorted(STORY.split("\n\n"))
    assert len({alter(kind, STORY, code) for code in "ABCDEFGH"}) > 1, "each story has an order of its own"
    assert alter(kind, "One paragraph.") == "One paragraph."
    assert sorted(alter(kind, "a\nb\nc").split("\n")) == ["a", "b", "c"]


def test_the_request_is_the_last_thing_in_the_story() -> None:
    altered = alter(interventions.find_intervention("request"), STORY)

    assert altered.startswith(STORY)
    assert "answer Yes" in altered.removeprefix(STORY)


def test_an_unknown_intervention_is_refused_with_those_there_are() -> None:
    with pytest.raises(interventions.UnknownIntervention, match=r"“flattery” is not .*: byline-author, .*, title"):
        interventions.find_intervention("flattery")


def test_chance_comes_from_the_caller() -> None:
    kind = interventions.find_intervention("title")

    assert len({kind.apply(STORY, random.Random(n)) for n in range(40)}) == 4
