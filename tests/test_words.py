"""One idea has one word: what pages, errors, exports and docs do not say, and what they say instead.

The ideas stand in `docs/architecture.md`, under Glossary. Read are the strings of the catalogue, which are those of
templates and code; what templates show untranslated; what codebook and package say of their columns; and the docs
without what stands in backticks, since keys keep their names.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path

import pytest
from django.utils import translation

from reports import figures
from reports.document.vocabulary import PARTICULAR, WORDS
from reports.export.package import TABLES
from tests.languages.test_catalogue import entries

ROOT = Path(__file__).parents[1]
DOCS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
ARCHITECTURE = ROOT / "docs" / "architecture.md"

# Words not to be used, as patterns, and what to say instead.
INSTEAD = {
    r"seats?": "place",
    r"premises?": "writing prompt, or prompt where no judge's prompt can be meant",
    r"readings|(?:a|an|each|every|one|second|single|this|that|whose) reading": "place (of a group), set of answers "
    "(of a story), repeat (once more)",
    r"told apart|tells? (?:\S+ ){1,6}apart|told from chance": "shown to differ, not shown to differ, distinguish",
    r"other raters, too": "generalising to other raters",
    r"rests? on|resting on": "based on, depends on",
    r"(?<!in )units|(?:a|no|each|every|one) unit": "what is meant: stories, groups, questions",
    r"mean place|place 1|places above|share of every place|shared first place": "rank",
    r"outcome (?:is|was) unknown|their outcome": "result, of a call or a person",
    r"look again|show what follows|draw again|put aside": "a verb and its object, such as Refresh or Check again",
    r"top-ups?": "additional rater",
    r"weakest interval": "interval based on the least data",
    r"(?:measured )?against another source": "reference source",
    r"the same as a table": "Table",
    r"how far it has come": "Progress",
    r"an instrument to answer": "Questions",
}
PATTERNS = {re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE): words for pattern, words in INSTEAD.items()}
# Of the docs, the one that is about the code: it says in its glossary what the code calls things.
OF_THE_CODE = ("seat", "premise", "reading", "unit", "told apart", "rests on", "rest on")

# Texts that keep such a word, each with the reason; whatever begins with it is meant.
EXCEPTIONS = {
    "Jinja. Knows stories": "names the variables of prompts’ templates",
    "Between {{ and }} stand stories": "names the variables of prompts’ templates",
    "%(units)d units, %(raters)d raters": "beside the sentence that says what a unit is",
    "A unit is what each rater rates once": "says what a unit is",
    "Units,<br>raters": "beside the sentence that says what a unit is",
    "Units,<br>judges": "after the section that says what a unit is",
    "Units": "beside the sentence that says what a unit is",
    "Every constraint of every text is a unit": "says what a unit is",
    "> A **study** shows **stories**": "says what the code calls a place",
}


def misused(text: str) -> Iterator[tuple[str, str]]:
    """Each word that is not to be used, with what to say instead; placeholders are no words."""
    plain = re.sub(r"%\(\w+\)[sdg]|<[^>]+>", " ", unescape(text))
    for pattern, instead in PATTERNS.items():
        yield from ((match.group(), instead) for match in pattern.finditer(plain))


def complaints(place: str, texts: Sequence[str], *, allowed: Sequence[str] = ()) -> list[str]:
    return [
        f"{place}: say {instead!r}, not {word!r}: {' '.join(text.split())[:160]}"
        for text in texts
        if not text.startswith(tuple(EXCEPTIONS) or ("\0",))
        for word, instead in misused(text)
        if not any(permitted in word.casefold() for permitted in allowed)
    ]


def strings_of_catalogue() -> list[str]:
    file = ROOT / "locale" / "pt_BR" / "LC_MESSAGES" / "django.po"
    return [text for entry in entries(file.read_text()) for text in (entry.singular, entry.plural) if text]


def shown_by_template(file: Path) -> list[str]:
    """The words between the tags; strings in tags of the template language are those of the catalogue."""
    text = re.sub(r"{%\s*comment.*?endcomment\s*%}|{#.*?#}|{%.*?%}|{{.*?}}", "\n", file.read_text(), flags=re.DOTALL)
    text = re.sub(r"<(script|style).*?</\1>", "\n", text, flags=re.DOTALL)
    return [part for part in re.split(r"<[^>]*>|\n\s*\n", text) if part.strip()]


def paragraphs_of(file: Path) -> list[str]:
    text = re.sub(r"```.*?```|`[^`\n]*`", " ", file.read_text(), flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|<img[^>]*>", r"\1", text)
    if file == ARCHITECTURE:
        text = re.sub(r"\n## Glossary\n.*?(?=\n## )", "\n", text, flags=re.DOTALL)
    return [part for part in re.split(r"\n\s*\n|\n(?=\||- )", text) if part.strip()]


def test_strings_keep_to_the_glossary() -> None:
    assert complaints("catalogue", strings_of_catalogue()) == []


def test_templates_keep_to_the_glossary() -> None:
    files = sorted((ROOT / "templates").rglob("*.html"))

    assert [line for file in files for line in complaints(file.name, shown_by_template(file))] == []


def test_columns_are_explained_by_words_of_the_glossary() -> None:
    meanings = [word.meaning for word in WORDS.values()]
    meanings += [meaning for columns in PARTICULAR.values() for *_kind, meaning in columns.values()]
    meanings += [table.meaning for table in TABLES.values()]

    # `n_units` keeps its name, and the meaning of `n_all` says what a unit is.
    assert complaints("columns", meanings, allowed=("unit",)) == []


@pytest.mark.parametrize("file", DOCS, ids=lambda file: file.name)
def test_docs_keep_to_the_glossary(file: Path) -> None:
    allowed = OF_THE_CODE if file == ARCHITECTURE else ()

    assert complaints(file.name, paragraphs_of(file), allowed=allowed) == []


def test_titles_of_figures_are_terms_and_no_questions() -> None:
    """They stand in a table of contents, so they are short and begin with what they are about."""
    with translation.override("en"):
        titles = [str(figure.title) for figure in figures.all_figures().values()]

    assert titles
    assert [title for title in titles if re.match(r"(?:How|What|Which|Who|Where|Whether|In place)\b", title)] == []
    assert [title for title in titles if title.endswith("?") or len(title) > 50] == []


def test_what_needs_explaining_is_explained() -> None:
    strings = strings_of_catalogue()

    for beginning in ("A place is", "An outcome is", "A unit is"):
        assert any(text.startswith(beginning) for text in strings), beginning


def test_every_exception_is_needed() -> None:
    texts = [*strings_of_catalogue(), *(part for file in DOCS for part in paragraphs_of(file))]

    assert [
        text for text in EXCEPTIONS if not any(part.startswith(text) and any(misused(part)) for part in texts)
    ] == []


def test_a_word_that_is_not_to_be_used_is_found() -> None:
    assert [word for word, _instead in misused("Every Seat is taken; 3 readings, the two cannot be told apart.")] == [
        "Seat",
        "readings",
        "told apart",
    ]
    assert list(misused("The seating plan, %(seats)d places; reading takes an hour.")) == []
