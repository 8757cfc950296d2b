"""What every item type promises, checked for whichever types there are."""

import json
import re
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from django import forms
from hypothesis import given
from hypothesis import strategies as st

from studies.items import InvalidAnswer, InvalidDefinition, StoryLabel, all_types, find_type, is_empty
from tests.studies.items.forms import posted

TYPES = list(all_types().values())


def item_of(kind: Any, **changes: Any) -> Any:
    """The type's own example item, with these fields changed."""
    return SimpleNamespace(**({"options": [], "settings": {}} | kind.example["item"] | changes))


def stories_of(kind: Any) -> list[StoryLabel]:
    return [StoryLabel(letter, url=f"#story-{letter}") for letter in kind.example.get("stories", [])]


def form_of(kind: Any, data: Any = None, initial: Any = None) -> forms.Form:
    form = forms.Form(data, initial={"answer": initial})
    form.fields["answer"] = kind.field(item_of(kind), stories=stories_of(kind))
    return form


VALID = [
    pytest.param(kind, raw, value, id=f"{kind.name}-{i}")
    for kind in TYPES
    for i, (raw, value) in enumerate(kind.example["valid"])
]
MODEL = [
    pytest.param(kind, raw, id=f"{kind.name}-{i}") for kind in TYPES for i, raw in enumerate(kind.example["model"])
]
INVALID = [
    pytest.param(kind, raw, id=f"{kind.name}-{i}") for kind in TYPES for i, raw in enumerate(kind.example["invalid"])
]
every_type = pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)


def test_there_are_types_under_their_own_names() -> None:
    assert {"binary", "choice", "multi", "number", "pair", "ranking", "scale", "spans", "text"} <= set(all_types())
    assert all(find_type(name).name == name for name in all_types())


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidDefinition, match=r"type: “slider” is not an item type; there are binary, choice"):
        find_type("slider")


@every_type
def test_the_example_is_a_definition_that_can_be_asked(kind: Any) -> None:
    kind.check(item_of(kind))


@every_type
def test_a_setting_that_the_type_does_not_know_is_refused(kind: Any) -> None:
    item = item_of(kind, settings={**item_of(kind).settings, "colour": "red"})

    with pytest.raises(InvalidDefinition, match=r"settings\.colour: not a setting of this type"):
        kind.check(item)


@pytest.mark.parametrize(("kind", "raw", "value"), VALID)
def test_a_valid_answer_becomes_the_value_that_is_stored(kind: Any, raw: Any, value: Any) -> None:
    assert kind.clean(item_of(kind), raw, stories=stories_of(kind)) == value


@pytest.mark.parametrize(("kind", "raw", "value"), VALID)
def test_a_stored_value_is_json_and_cleans_to_itself(kind: Any, raw: Any, value: Any) -> None:
    assert json.loads(json.dumps(value)) == value
    assert kind.clean(item_of(kind), value, stories=stories_of(kind)) == value


@pytest.mark.parametrize(("kind", "raw"), INVALID)
def test_an_invalid_answer_is_refused_in_a_sentence(kind: Any, raw: Any) -> None:
    with pytest.raises(InvalidAnswer, match=r"^\S.*[.]$"):
        kind.clean(item_of(kind), raw, stories=stories_of(kind))


@every_type
def test_the_schema_is_a_schema(kind: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(kind.schema(item_of(kind), stories=stories_of(kind)))


@pytest.mark.parametrize(("kind", "raw"), MODEL)
def test_what_the_schema_allows_is_taken(kind: Any, raw: Any) -> None:
    jsonschema.validate(raw, kind.schema(item_of(kind), stories=stories_of(kind)))

    value = kind.clean(item_of(kind), raw, stories=stories_of(kind))

    assert not is_empty(value)


@pytest.mark.parametrize(("kind", "raw"), INVALID)
def test_the_schema_refuses_what_is_invalid(kind: Any, raw: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(raw, kind.schema(item_of(kind), stories=stories_of(kind)))


@every_type
def test_a_model_is_told_how_to_answer(kind: Any) -> None:
    words = kind.words(item_of(kind), stories=stories_of(kind))

    assert words[0].isupper()
    assert words.endswith(".")


@every_type
def test_nothing_is_preselected(kind: Any) -> None:
    html = str(form_of(kind)["answer"])

    assert any(tag in html for tag in ("<input", "<select", "<textarea"))
    assert all(value == "" for values in posted(html).lists() for value in values[1])


@every_type
def test_an_empty_form_is_no_answer_and_no_error(kind: Any) -> None:
    form = form_of(kind, posted(str(form_of(kind)["answer"])))

    assert form.is_valid(), form.errors
    assert form.cleaned_data == {"answer": None}


@pytest.mark.parametrize(("kind", "raw", "value"), VALID)
def test_a_form_shows_the_stored_value_and_posts_it_back(kind: Any, raw: Any, value: Any) -> None:
    form = form_of(kind, posted(str(form_of(kind, initial=value)["answer"])))

    assert form.is_valid(), form.errors
    assert form.cleaned_data == {"answer": value}


@pytest.mark.parametrize(("kind", "raw"), INVALID)
def test_a_form_can_show_what_was_refused(kind: Any, raw: Any) -> None:
    assert str(form_of(kind, initial=raw)["answer"])


@every_type
def test_controls_carry_no_style_and_no_script_of_their_own(kind: Any) -> None:
    html = str(form_of(kind)["answer"])

    assert not re.search(r"<script|\s(style|on\w+)=", html)


@every_type
def test_words_of_the_instrument_are_escaped(kind: Any) -> None:
    hostile = "<b>&\"'"
    item = item_of(kind, question=hostile)
    item.options = [{**option, "label": hostile + option["label"]} for option in item.options]

    stories = [StoryLabel(letter, url=hostile) for letter in kind.example.get("stories", [])]
    html = kind.field(item, stories=stories).widget.render("answer", None)

    assert "<b>" not in html


@pytest.mark.parametrize(("kind", "raw", "value"), VALID)
def test_a_value_has_a_label(kind: Any, raw: Any, value: Any) -> None:
    assert kind.label(item_of(kind), value).strip()


@pytest.mark.parametrize(("kind", "raw", "value"), VALID)
def test_renaming_stories_there_and_back_changes_nothing(kind: Any, raw: Any, value: Any) -> None:
    code_by_letter = {story.letter: f"code-{story.letter}" for story in stories_of(kind)}
    letter_by_code = {code: letter for letter, code in code_by_letter.items()}

    stored = kind.renamed(value, code_by_letter)

    assert kind.renamed(stored, letter_by_code) == value
    assert (stored != value) == any(f'"{letter}"' in json.dumps(value) for letter in code_by_letter)


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind.about_stories], ids=lambda kind: kind.name)
def test_a_story_without_a_new_name_is_never_kept(kind: Any) -> None:
    with pytest.raises(KeyError):
        kind.renamed(kind.example["valid"][0][1], {})


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind.about_stories], ids=lambda kind: kind.name)
def test_a_story_that_was_not_shown_is_refused(kind: Any) -> None:
    raw, _ = kind.example["valid"][0]

    with pytest.raises(InvalidAnswer, match="is not one of the stories"):
        kind.clean(item_of(kind), raw, stories=[StoryLabel("X"), StoryLabel("Y")])


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["A", "B", "yes", "1", "code"]),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9) | st.sampled_from("ABC"), inner, max_size=5)
    ),
    max_leaves=12,
)


@every_type
@given(raw=anything)
def test_any_json_at_all_is_an_answer_or_is_refused(kind: Any, raw: Any) -> None:
    try:
        value = kind.clean(item_of(kind), raw, stories=stories_of(kind))
    except InvalidAnswer:
        return
    assert kind.clean(item_of(kind), value, stories=stories_of(kind)) == value
    assert kind.field(item_of(kind), stories=stories_of(kind)).widget.render("answer", value)
