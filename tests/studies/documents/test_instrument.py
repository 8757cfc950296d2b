import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.documents import instrument
from studies.documents.errors import DocumentError
from studies.documents.instrument import InstrumentDocument
from studies.documents.ttcw_release import read_ttcw_release

ITEM = '[[items]]\nkey = "mood"\ntype = "binary"\nquestion = "Is there a mood?"\n'
HEAD = 'slug = "mood"\nversion = "1"\ntitle = "Mood"\n'


def written(folder: Path, content: str | bytes) -> Path:
    file = folder / "mood.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def test_a_document_is_read_as_written(tmp_path: Path) -> None:
    document = instrument.read_instrument(written(tmp_path, HEAD + ITEM + 'settings = { correct = "yes" }\n'))

    assert (document.slug, document.version, document.title, document.language) == ("mood", "1", "Mood", "en")
    assert [asdict(item) for item in document.items] == [
        {
            "key": "mood",
            "type": "binary",
            "question": "Is there a mood?",
            "dimension": "",
            "title": "",
            "background": "",
            "help": "",
            "instruction": "",
            "options": [],
            "settings": {"correct": "yes"},
            "rationale": "none",
            "rationale_least": 0,
            "rationale_unit": "sentences",
            "rationale_label": "",
            "suggested": "",
            "is_skippable": False,
            "quoted": [],
            "adapted": [],
        }
    ]


def test_defaults_hold_for_items_that_do_not_say_otherwise(tmp_path: Path) -> None:
    second = '[[items]]\nkey = "tone"\nquestion = "Is there a tone?"\nrationale = "none"\n'
    defaults = '[defaults]\ntype = "text"\nrationale = "optional"\n'

    items = instrument.read_instrument(written(tmp_path, HEAD + defaults + ITEM + second)).items

    assert [(item.type, item.rationale) for item in items] == [("binary", "optional"), ("text", "none")]


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    assert instrument.read_instrument(written(tmp_path, b"\xef\xbb\xbf" + (HEAD + ITEM).encode())).slug == "mood"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "file: the file is empty; docs/instruments.md has an example"),
        (" \n\n", "file: the file is empty"),
        (b"\xff\xfe", "file: line 1 is not UTF-8; save the file as UTF-8"),
        ("slug = ", "file: is not TOML: "),
        ('slug = "a"\nslug = "b"', "file: is not TOML: Cannot overwrite a value"),
        ("x" * 1_000_001, "file: the file is larger than 1,000,000 bytes"),
        ("a" + ".a" * 300_000 + " = 1", "file: has a key of more than 24 parts at line 1"),
        ("a = " + "[" * 100_000, "file: is nested too deeply"),
        ("a = " + "9" * 5_000, "file: holds a number with too many digits"),
        (HEAD, "items: an instrument has at least one item"),
        (HEAD + "items = []", "items: an instrument has at least one item"),
        (HEAD + "items = [1]", "items: an instrument has at least one item"),
        (HEAD + 'autor = "X"\n' + ITEM, "autor: there is no such key; known are slug, version"),
        (HEAD.replace("title", "titel") + ITEM, "titel: there is no such key; did you mean “title”?"),
        (HEAD.replace('title = "Mood"', "") + ITEM, "title: is missing or empty"),
        (HEAD.replace('"Mood"', '" "') + ITEM, "title: is missing or empty"),
        (HEAD.replace('"Mood"', "3") + ITEM, "title: must be text, not a whole number"),
        (HEAD.replace('"Mood"', f'"{"x" * 201}"') + ITEM, "title: has 201 characters; at most 200 are kept"),
        (HEAD.replace('"mood"', '"My Mood"') + ITEM, "slug: “My Mood” will not do; use small letters, digits"),
        (HEAD + "defaults = 1\n" + ITEM, "defaults: must be a table without key and question"),
        (HEAD + '[defaults]\nquestion = "?"\n' + ITEM, "defaults: must be a table without key and question"),
        (HEAD + "[defaults]\nhelp = 1\n" + ITEM, "items.mood, help: must be text, not a whole number"),
        (HEAD + ITEM + "typ = 1", "items.mood, typ: there is no such key; did you mean “type”?"),
        (HEAD + ITEM.replace('key = "mood"', ""), "items[1], key: is missing or empty"),
        (HEAD + ITEM + ITEM, "items.mood, key: stands twice; every item needs a key of its own"),
        (HEAD + ITEM.replace("binary", "slider"), "items.mood, type: “slider” is not an item type; there are binary"),
        (HEAD + ITEM + "is_skippable = 1", "items.mood, is_skippable: must be true or false, not a whole number"),
        (
            HEAD + ITEM + "rationale_least = true",
            "items.mood, rationale_least: must be a whole number, not true or false",
        ),
        (
            HEAD + ITEM + "rationale_least = 2",
            'items.mood, rationale_least: needs rationale = "req',
        ),
        (
            HEAD + ITEM + 'rationale_label = "Why?"',
            'items.mood, rationale_label: says nothing while rationale is "none"',
        ),
        (HEAD + ITEM + 'rationale = "must"', "items.mood, rationale: “must” is not one of none, optional, required"),
        (HEAD + ITEM + 'options = ["yes", "no"]', "items.mood, options: must be a list of tables"),
        (HEAD + ITEM + "quoted = [1]", "items.mood, quoted: must be a list of texts"),
        (HEAD + ITEM + 'quoted = ["help"]', "items.mood, quoted: “help” has no words in this item; there are question"),
        (HEAD + ITEM + 'quoted = ["key"]', "items.mood, quoted: “key” has no words in this item"),
        (
            HEAD + ITEM + 'quoted = ["question"]\nadapted = ["question"]',
            "items.mood, adapted: question cannot be quoted and",
        ),
        (HEAD + ITEM + "settings.high = 5", "items.mood, settings.high: not a setting of this type; it has correct"),
        (
            HEAD + ITEM + 'settings.correct = "\\u0000"',
            "items.mood, settings: contains a character that cannot be stored",
        ),
        (HEAD + ITEM + "settings.correct = 1979-05-27", "items.mood, settings.correct: must be text, not datetime"),
    ],
    ids=lambda case: case[:40] if isinstance(case, str) else "bytes",
)
def test_a_bad_document_is_refused_in_one_line_with_file_and_field(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(DocumentError) as caught:
        instrument.read_instrument(written(tmp_path, content))

    assert str(caught.value).startswith(f"mood.toml: {said}")
    assert "\n" not in str(caught.value)


tables = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.dates(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=10,
)
known = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("slug", "version", "title", "note", "language", "defaults"), tables)
    | {
        "items": st.lists(
            st.fixed_dictionaries(
                {"key": st.just("mood") | tables, "question": st.just("Is it?") | tables},
                optional={"type": st.sampled_from(["binary", "choice", "scale", "text", "ranking"]) | tables}
                | dict.fromkeys(("options", "settings", "rationale", "quoted", "help"), tables),
            ),
            max_size=2,
        )
    },
)


@given(table=known | st.dictionaries(st.text(max_size=9), tables, max_size=5))
def test_any_table_at_all_is_a_document_or_is_refused(table: dict[str, Any]) -> None:
    try:
        document = instrument.parse_instrument(table, "any.toml")
    except DocumentError:
        return
    assert instrument.fingerprint(document)


ONE_TO_FIVE = {"low": 1, "high": 5, "anchors": {"1": "None", "5": "Too much"}}
DOCUMENT = instrument.parse_instrument(
    {
        "slug": "mood",
        "version": "1",
        "title": "Mood",
        "items": [
            {"key": "mood", "type": "binary", "question": "Is there a mood?"},
            {"key": "tone", "type": "scale", "question": "How much tone?", "settings": ONE_TO_FIVE},
        ],
    },
    "mood.toml",
)


def with_item(**changes: Any) -> InstrumentDocument:
    return replace(DOCUMENT, items=[replace(DOCUMENT.items[0], **changes), *DOCUMENT.items[1:]])


def test_the_fingerprint_of_a_document_stays_the_same_for_ever() -> None:
    # A new value here means that every stored instrument would be taken for a changed one.
    # The value was taken when a scale could do without anchors.
    bare = replace(DOCUMENT.items[1], settings={"low": 1, "high": 5})
    document = replace(DOCUMENT, items=[DOCUMENT.items[0], bare])

    assert instrument.fingerprint(document) == "2c3e74382d828de0c6a32764f41bf8f2bdad5bc4198f4eaae2fa1b38518bbf62"


@pytest.mark.parametrize(
    "changed",
    [
        replace(DOCUMENT, title="Moods"),
        replace(DOCUMENT, language="de"),
        replace(DOCUMENT, items=DOCUMENT.items[::-1]),
        replace(DOCUMENT, items=DOCUMENT.items[:1]),
        with_item(question="Is there a mood"),
        with_item(type="text"),
        with_item(background="A mood is a weather."),
        with_item(help="Guess."),
        with_item(instruction="List the moods."),
        with_item(options=[{"value": "yes", "label": "Ja"}, {"value": "no", "label": "Nein"}]),
        with_item(settings={"correct": "yes"}),
        with_item(rationale="required"),
        with_item(rationale_unit="words"),
        with_item(rationale_label="Comments"),
        with_item(suggested="a line"),
        with_item(is_skippable=True),
        with_item(key="moods"),
        with_item(title="Mood"),
        with_item(dimension="Weather"),
    ],
    ids=str,
)
def test_the_fingerprint_changes_with_whatever_raters_or_models_meet(changed: InstrumentDocument) -> None:
    assert instrument.fingerprint(changed) != instrument.fingerprint(DOCUMENT)


@pytest.mark.parametrize(
    "corrected",
    [
        replace(DOCUMENT, citation="Somebody (2024)."),
        replace(DOCUMENT, note="Ours."),
        replace(DOCUMENT, url="https://example.org"),
        replace(DOCUMENT, version="2"),
        with_item(adapted=["question"]),
        with_item(quoted=["question"]),
    ],
    ids=str,
)
def test_the_fingerprint_does_not_change_with_what_nobody_meets(corrected: InstrumentDocument) -> None:
    assert instrument.fingerprint(corrected) == instrument.fingerprint(DOCUMENT)


# The release of TTCW

RELEASED = [
    {
        "ttcw_idx": 1,
        "torrance_dimension": "Fluency",
        "category": "Weather & Light",
        "question": "Does it rain?",
        "full_prompt": "Rain is water.\n\nIt falls. \n\nGiven the story above, list each drop.\n\nQ) Does it rain?",
    }
]


def test_a_released_test_is_split_into_measure_and_instruction_and_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "ttcw_all_tests.json"
    file.write_text(json.dumps(RELEASED))

    document = read_ttcw_release(file)

    (item,) = document.items
    assert (document.slug, document.version) == ("ttcw", "published")
    assert (item.key, item.type, item.dimension, item.title) == (
        "weather-light",
        "binary",
        "Fluency",
        "Weather & Light",
    )
    assert item.question == "Does it rain?"
    assert item.background == "Rain is water.\n\nIt falls."
    assert item.instruction == "Given the story above, list each drop.\n\nQ) Does it rain?"
    assert (item.rationale, item.rationale_least, item.rationale_unit) == ("required", 1, "sentences")


@pytest.mark.parametrize(
    "content", ["", "{", "{}", "[]", "[1]", '[{"category": "X"}]', json.dumps([RELEASED[0] | {"full_prompt": "?"}])]
)
def test_a_file_that_is_not_the_release_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "ttcw_all_tests.json"
    file.write_text(content)

    with pytest.raises(DocumentError, match=r"^ttcw_all_tests\.json: "):
        read_ttcw_release(file)


@pytest.mark.data
def test_our_questions_are_those_of_the_release_word_for_word(release: Path) -> None:
    theirs = read_ttcw_release(release / "ttcw" / "ttcw_all_tests.json").items
    ours = instrument.read_instrument(instrument.discover()["ttcw"]).items

    quoted = [(item.key, item.dimension, item.title, item.question) for item in theirs]
    assert [(item.key, item.dimension, item.title, item.question) for item in ours] == quoted


@pytest.mark.data
def test_nothing_of_the_release_is_lost_in_reading_it(release: Path) -> None:
    file = release / "ttcw" / "ttcw_all_tests.json"

    for test, item in zip(json.loads(file.read_text()), read_ttcw_release(file).items, strict=True):
        assert "".join((item.background + item.instruction).split()) == "".join(test["full_prompt"].split())


@pytest.mark.data
def test_our_backgrounds_and_instructions_share_no_seven_words_with_the_release(release: Path) -> None:
    theirs = read_ttcw_release(release / "ttcw" / "ttcw_all_tests.json").items
    published = sevens(" ".join(item.background + " " + item.instruction for item in theirs))

    for item in instrument.read_instrument(instrument.discover()["ttcw"]).items:
        assert not sevens(item.background + " " + item.instruction) & published


def sevens(text: str) -> set[tuple[str, ...]]:
    """Every run of seven words."""
    words = text.lower().split()
    return {tuple(words[i : i + 7]) for i in range(len(words) - 6)}
