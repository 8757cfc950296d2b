"""What is marked as quoted stands in its source to the character, white space folded."""

import os
import re
from functools import cache
from pathlib import Path

import pytest

from judges import prompts
from judges.prompts import PersonaFile, PromptFile

# Which of the sources a citation names.
SOURCE_BY_WORD = {"Chakrabarty": "ttcw", "Harel-Canada": "pds", "Fein": "litbench", "Zou": "quiet", "Marcacini": "nsv"}
QUOTING = [prompt for prompt in prompts.load_built_in() if prompt.quoted]


@pytest.fixture
def sources() -> Path:
    """The folder with the sources as text, beside that of the public releases."""
    folder = Path(os.environ.get("QUIRE_DATA", "")).parent / "sources"
    if not os.environ.get("QUIRE_DATA") or not folder.is_dir():
        pytest.skip("there is no folder sources beside that which QUIRE_DATA names")
    return folder


@cache
def read_source(path: Path) -> str:
    """The words of a source, without the hyphens that end a line within a word."""
    text = path.read_text(encoding="utf-8")
    return folded(re.sub(r"(?<=[a-z])-\s+(?=[a-z])", "", text)) + "\n" + folded(text)


def folded(text: str) -> str:
    return " ".join(text.split())


def source_of(citation: str, sources: Path) -> str:
    return read_source(next(sources / f"{name}.txt" for word, name in SOURCE_BY_WORD.items() if word in citation))


@pytest.mark.data
@pytest.mark.parametrize(
    ("prompt", "name"),
    [(prompt, name) for prompt in QUOTING for name in prompt.quoted],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_what_a_prompt_quotes_stands_in_its_source(prompt: PromptFile, name: str, sources: Path) -> None:
    assert folded(prompt.quoted[name]) in source_of(prompt.citation, sources)


@pytest.mark.data
@pytest.mark.parametrize("name", ["ttcw-story", "ttcw-expansion"])
def test_a_prompt_with_openings_is_its_source_with_those_filled(name: str, sources: Path) -> None:
    prompt = prompts.find_built_in(name)
    template = re.sub(r"\{\{ (word_count|current_word_count) \}\}", r"{{\1}}", prompt.template)
    words = template.replace("{{ draft }}", "{{story}}").replace("{{ premise }}", "")

    assert folded(words) in source_of(prompt.citation, sources)


@pytest.mark.data
@pytest.mark.parametrize("personas", prompts.load_personas(), ids=lambda p: p.name)
def test_personas_stand_in_their_source(personas: PersonaFile, sources: Path) -> None:
    for persona in personas.personas:
        assert folded(persona.text) in source_of(personas.citation, sources)


@pytest.mark.data
def test_a_word_that_is_changed_would_be_seen(sources: Path) -> None:
    prompt = prompts.find_built_in("litbench-writerly")

    changed = prompt.quoted["task"].replace("vivid descriptions", "vivid description")

    assert folded(changed) not in source_of(prompt.citation, sources)


def test_all_that_the_papers_print_is_there() -> None:
    verbatim = {prompt.name for prompt in prompts.load_built_in() if prompt.is_verbatim}

    assert verbatim == {
        *("litbench-writerly", "litbench-alternative", "litbench-minimal"),
        *("litbench-reddit-minimal", "litbench-reddit-verbose", "litbench-reddit-permuted"),
        *("ttcw-paper-reasoning-first", "pds-character-portraits", "quiet-fill-paper"),
        *("ttcw-story", "ttcw-expansion", "ttcw-expanded-measure", "pds-writer-profile"),
    }
    assert [len(personas.personas) for personas in prompts.load_personas()] == [5]


@pytest.mark.parametrize("prompt", QUOTING, ids=lambda p: p.name)
def test_whoever_quotes_says_from_where_and_what_is_missing(prompt: PromptFile) -> None:
    assert prompt.citation
    assert prompt.place
    assert prompt.missing
    for words in prompt.quoted.values():
        assert words in prompt.template, "what is quoted is said"


@pytest.mark.parametrize("prompt", prompts.load_built_in(), ids=lambda p: p.name)
def test_a_prompt_after_a_source_says_what_the_source_does_not_print(prompt: PromptFile) -> None:
    is_new = prompt.name not in ("ttcw-reasoning-first", "plain-verdict-first")

    assert bool(prompt.missing) or not (prompt.citation and is_new)
