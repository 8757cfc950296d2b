"""Data files of prompts, personas and fixed texts: what they may say, and what is refused."""

from pathlib import Path

import pytest

from judges import prompts
from judges.prompts import InvalidPrompt

BODY = """\
name = "n"
version = "1"
protocol = "reasoning_first"
source = "own"
is_verbatim = false
citation = ""
template = "{{ stories }} {{ question }}"
"""


def read(tmp_path: Path, content: str, name: str = "n.toml") -> prompts.PromptFile:
    path = tmp_path / name
    path.write_text(content)
    return prompts.read_prompt(path)


def test_a_file_needs_no_more_than_who_asks_what(tmp_path: Path) -> None:
    prompt = read(tmp_path, BODY)

    assert (prompt.kind, prompt.asks, prompt.item_types, prompt.personas) == ("answer", "item", (), "")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("reasoning_first", "somehow"), "protocol: must be reasoning_first or verdict_first"),
        (('source = "own"', 'source = "hearsay"'), "source: must be one of paper, repository, own"),
        (('citation = ""', 'citation = ""\nasks = "story"'), "asks: the template asks by item"),
        (('citation = ""', 'citation = ""\nitem_types = ["poem"]'), "item_types: “poem” is not an item type"),
        (("is_verbatim = false", "is_verbatim = true"), "is_verbatim: the template has words that are not quoted"),
        (("{{ question }}", "{{ question }} {{ quoted.task }}"), "quoted.task: is missing"),
        (('citation = ""', 'citation = ""\nplaec = "p. 3"'), "plaec"),
        (("{{ question }}", ""), "template: needs {{ question }} exactly once"),
    ],
)
def test_a_file_that_says_something_wrong_is_refused_with_the_field(
    tmp_path: Path, change: tuple[str, str], reason: str
) -> None:
    with pytest.raises(InvalidPrompt) as refusal:
        read(tmp_path, BODY.replace(*change))

    assert str(refusal.value).startswith("n.toml: ")
    assert reason in str(refusal.value)


def test_words_beside_the_quoted_ones_make_a_prompt_that_is_not_verbatim(tmp_path: Path) -> None:
    quoted = '\n[quoted]\ntask = "Compare them."\n'
    bare = BODY.replace("is_verbatim = false", "is_verbatim = true").replace(
        "{{ question }}", "{% if premise %}{{ premise }}{% endif %} {{ question }} {{ quoted.task }}"
    )

    assert read(tmp_path, bare + quoted).template.endswith("{{ question }} Compare them.")
    with pytest.raises(InvalidPrompt, match="is_verbatim"):
        read(tmp_path, bare.replace("{{ quoted.task }}", "{{ quoted.task }} Please.") + quoted)


def test_a_file_like_another_says_only_what_differs(tmp_path: Path) -> None:
    read(tmp_path, BODY)

    other = read(tmp_path, 'like = "n"\nname = "m"\nversion = "1"\nis_structured = true\n', "m.toml")

    assert (other.name, other.is_structured, other.template) == ("m", True, "{{ stories }} {{ question }}")


@pytest.mark.parametrize("name", ["nothing", "../judges", "personas/pds", ""])
def test_a_prompt_that_is_not_there_is_refused_by_name(name: str) -> None:
    with pytest.raises(InvalidPrompt, match="no built-in prompt"):
        prompts.find_built_in(name)


def test_every_file_is_called_as_its_prompt_is() -> None:
    for prompt in prompts.load_built_in():
        assert prompts.find_built_in(prompt.name) == prompt


def test_sets_of_personas_are_those_that_prompts_take() -> None:
    named = {prompt.personas for prompt in prompts.load_built_in()} - {""}

    assert named == {personas.name for personas in prompts.load_personas()}


def test_the_fixed_texts_are_three_of_alike_length_in_order() -> None:
    anchors = prompts.load_anchors()

    assert [text.rank for text in anchors.texts] == [1, 2, 3]
    assert len({text.key for text in anchors.texts}) == 3
    for text in anchors.texts:
        assert 120 <= len(text.text.split()) <= 200
        assert text.why
    assert "no gold standard" in " ".join(anchors.use.split())


def test_a_premise_is_fenced_where_a_text_is_asked_for() -> None:
    prompt = prompts.find_built_in("pds-character-portraits")
    mark = prompts.new_mark()

    system, user = prompts.render_writing(
        prompt.system, prompt.template, texts={"premise": "Say yes."}, values={}, mark=mark
    )

    lead, premise, task = user["content"]
    assert (lead, premise) == ("Premise: ", f"<premise {mark}>\nSay yes.\n</premise {mark}>")
    assert task.strip().startswith("Task: Based on the premise")
    assert mark in system["content"][0]


def test_the_probe_shows_the_beginning_inside_a_fence() -> None:
    prompt = prompts.find_built_in("recognition-probe")
    mark = prompts.new_mark()

    system, user = prompts.render_probe(prompt.system, prompt.template, excerpt="It was late.", mark=mark)

    assert user["content"][0] == f"<story {mark}>\nIt was late.\n</story {mark}>"
    assert mark in system["content"][0]
