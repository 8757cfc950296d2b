"""What every instrument that comes with Quire promises, checked for whichever there are, and what single ones do."""

import json
from typing import Any

import pytest

from studies.documents import instrument
from studies.items import InvalidAnswer, StoryLabel, find_type

BUILT_IN = instrument.discover()
ITEMS = [
    pytest.param(item, id=f"{name}-{item.key}")
    for name, path in BUILT_IN.items()
    for item in instrument.read_instrument(path).items
]


def test_the_built_in_instruments_are_found() -> None:
    assert {"ttcw", "ttcw@section-4.2", "preference-ranking", "authorship-guess", "pds"} <= set(BUILT_IN)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_instrument_is_named_by_its_file(name: str) -> None:
    document = instrument.read_instrument(BUILT_IN[name])

    assert name in (document.slug, f"{document.slug}@{document.version}")
    assert document.note
    assert len(instrument.fingerprint(document)) == 64


def test_no_two_built_in_instruments_share_slug_and_version() -> None:
    versions = [(d.slug, d.version) for d in map(instrument.read_instrument, BUILT_IN.values())]

    assert len(set(versions)) == len(versions)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_instrument_with_quotations_cites_its_source(name: str) -> None:
    document = instrument.read_instrument(BUILT_IN[name])

    assert document.citation or not any(item.quoted for item in document.items)


@pytest.mark.parametrize("item", ITEMS)
def test_every_word_of_a_built_in_item_is_marked_as_quoted_or_adapted(item: Any) -> None:
    worded = {name for name in instrument.WORDED if getattr(item, name)}
    if not any(isinstance(value, str | dict) for value in item.settings.values()):
        worded.discard("settings")  # numbers and switches are nobody's words

    assert worded <= {*item.quoted, *item.adapted}


@pytest.mark.parametrize("item", ITEMS)
def test_a_built_in_item_can_be_shown_told_and_answered(item: Any) -> None:
    kind = find_type(item.type)
    stories = [StoryLabel("A"), StoryLabel("B"), StoryLabel("C")] if kind.about_stories else []

    assert item.question in kind.field(item, stories=stories).label
    assert kind.field(item, stories=stories).widget.render("answer", None).strip()
    assert kind.words(item, stories=stories).endswith(".")
    json.dumps(kind.schema(item, stories=stories))
    with pytest.raises(InvalidAnswer):
        kind.clean(item, {"no": {"such": "answer"}}, stories=stories)


def test_ttcw_has_its_fourteen_tests_in_four_dimensions() -> None:
    items = instrument.read_instrument(BUILT_IN["ttcw"]).items

    assert [(item.dimension, item.title) for item in items] == [
        ("Fluency", "Narrative Ending"),
        ("Fluency", "Understandability and Coherence"),
        ("Fluency", "Scene vs Summary"),
        ("Fluency", "Narrative Pacing"),
        ("Fluency", "Language Proficiency and Literary Devices"),
        ("Flexibility", "Emotional Flexibility"),
        ("Flexibility", "Structural Flexibility"),
        ("Flexibility", "Perspective and Voice Flexibility"),
        ("Originality", "Originality in Thought"),
        ("Originality", "Originality in Form and Structure"),
        ("Originality", "Originality in Theme and Content"),
        ("Elaboration", "Rhetorical Complexity"),
        ("Elaboration", "World Building and Setting"),
        ("Elaboration", "Character Development"),
    ]
    assert {(i.type, i.rationale, i.rationale_least, i.rationale_unit) for i in items} == {
        ("binary", "required", 1, "sentences")
    }


def test_the_guess_has_the_published_options() -> None:
    (item,) = instrument.read_instrument(BUILT_IN["authorship-guess"]).items

    assert [option["label"] for option in item.options] == [
        "An experienced writer",
        "An amateur writer",
        "Written by AI",
    ]


def test_the_paper_has_ten_expanded_measures_and_six_instructions_to_models_and_nothing_stands_in_for_the_rest() -> (
    None
):
    release = {item.key for item in instrument.read_instrument(BUILT_IN["ttcw"]).items}
    items = instrument.read_instrument(BUILT_IN["ttcw@paper"]).items

    assert {item.key for item in items} == release
    assert {item.key for item in items if not item.background} == {
        "narrative-pacing",
        "structural-flexibility",
        "originality-in-theme-and-content",
        "originality-in-thought",
    }
    assert {item.key for item in items if item.instruction} == {
        "language-proficiency-and-literary-devices",
        "emotional-flexibility",
        "originality-in-form-and-structure",
        "world-building-and-setting",
        "character-development",
        "rhetorical-complexity",
    }
    assert {name for item in items for name in item.adapted} == {"suggested"}


def test_the_formative_form_takes_up_to_five_measures_for_each_dimension() -> None:
    five = "\n".join(f"Is it so in way {n}?" for n in range(1, 6))

    for item in instrument.read_instrument(BUILT_IN["ttcw-formative"]).items:
        assert find_type("text").clean(item, five) == five
        with pytest.raises(InvalidAnswer, match="at most 5 lines"):
            find_type("text").clean(item, five + "\nAnd so?")


def test_rankings_come_with_ties_and_without() -> None:
    stories = [StoryLabel("A"), StoryLabel("B"), StoryLabel("C")]
    (strict,) = instrument.read_instrument(BUILT_IN["preference-ranking"]).items
    (loose,) = instrument.read_instrument(BUILT_IN["preference-ranking@ties"]).items

    assert find_type("ranking").clean(loose, "B = C > A", stories=stories) == [["B", "C"], ["A"]]
    assert "share a place" in loose.help
    with pytest.raises(InvalidAnswer, match="share a position"):
        find_type("ranking").clean(strict, "B = C > A", stories=stories)


def test_section_4_2_words_three_tests_of_the_fourteen_in_another_way() -> None:
    ours = {item.key: item.question for item in instrument.read_instrument(BUILT_IN["ttcw"]).items}
    theirs = {item.key: item.question for item in instrument.read_instrument(BUILT_IN["ttcw@section-4.2"]).items}

    assert set(ours) == set(theirs)
    assert {key for key in ours if ours[key] != theirs[key]} == {
        "scene-vs-summary",
        "originality-in-form-and-structure",
        "rhetorical-complexity",
    }


def test_pds_has_its_published_ends() -> None:
    items = instrument.read_instrument(BUILT_IN["pds"]).items

    assert [(item.key, *item.settings["anchors"].values()) for item in items if item.type == "scale"] == [
        ("authenticity", "Implausible", "Undeniably Real"),
        ("empathy", "Detached", "Deep Resonance"),
        ("engagement", "Unengaging", "Captivating"),
        ("emotion-provocation", "Unmoving", "Highly Emotional"),
        ("narrative-complexity", "Simplistic", "Intricately Woven"),
        ("human-likeness", "Very Likely Human", "Very Likely LLM"),
    ]
    assert all((item.settings["low"], item.settings["high"]) == (1, 5) for item in items if item.type == "scale")


def test_pds_asks_for_comments_in_the_words_of_its_form() -> None:
    scales = [item for item in instrument.read_instrument(BUILT_IN["pds"]).items if item.type == "scale"]

    assert all(i.rationale_label.startswith("Comments on ") for i in scales)
    assert all(i.rationale_label.endswith(" (optional)") and "rationale_label" in i.quoted for i in scales)
    assert len({item.rationale_label for item in scales}) == 6


def test_pds_analyses_human_likeness_the_other_way_round_and_nothing_else() -> None:
    scales = [item for item in instrument.read_instrument(BUILT_IN["pds"]).items if item.type == "scale"]

    analysed = {item.key: find_type("scale").analysed(item, 1) for item in scales}

    assert {key for key, value in analysed.items() if value != 1} == {"human-likeness"}
    assert analysed["human-likeness"] == 5


def test_the_comprehension_check_has_an_answer_to_every_statement() -> None:
    items = instrument.read_instrument(BUILT_IN["litbench-comprehension"]).items

    assert [find_type(item.type).is_correct(item, "yes") for item in items] == [False, False, True, True, False]
    assert "the key is ours" in instrument.read_instrument(BUILT_IN["litbench-comprehension"]).note
