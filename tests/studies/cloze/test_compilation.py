from collections import Counter
from dataclasses import asdict
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.prompts import PromptFile, StoryText, join
from studies.cloze.compilation import (
    CONSISTENCY,
    KNOCK_OUT,
    SATISFACTION,
    filling_instrument,
    judging_instrument,
    number_by_key,
)
from studies.documents.cloze import ClozeDocument, read_cloze
from studies.documents.instrument import ItemDocument, parse_instrument
from tests.judges.prompts.test_prompts import ASKING, messages
from tests.studies.cloze.documents import FILLS, shoes
from tests.studies.cloze.generated import document as any_document

MYSTERY = Path(__file__).parents[3] / "studies" / "demo" / "mystery" / "cloze.toml"


def test_every_blank_becomes_a_text_in_the_order_of_the_text() -> None:
    instrument = filling_instrument(shoes())

    assert (instrument.slug, instrument.version, instrument.title) == ("shoes-fill", "1", "Seven Pairs: the blanks")
    assert [item.key for item in instrument.items] == ["blank-01", "blank-02", "blank-03", "blank-04", "blank-05"]
    assert instrument.items[3] == ItemDocument(
        key="blank-04",
        type="text",
        dimension="The Compartments",
        title="Blank 4",
        question="Blank 4. what Anselm did next",
        settings={"kind": "paragraph", "least": 1},
        suggested="a paragraph",
        adapted=["title", "question", "suggested"],
    )


def test_constraints_checks_and_edges_become_items_that_judge() -> None:
    instrument = judging_instrument(shoes())

    assert (instrument.slug, instrument.title) == ("shoes-judge", "Seven Pairs: the judgement")
    assert [(item.key, item.type) for item in instrument.items] == [
        ("s1-c1", "scale"),
        ("s1-c1-k1", "binary"),
        ("s1-c1-k2", "binary"),
        ("s1-c2", "scale"),
        ("s2-c1", "scale"),
        ("s3-c1", "scale"),
        ("edge-1-2", "scale"),
        ("edge-1-3", "scale"),
    ]


def test_musts_and_required_checks_are_marked_and_no_others() -> None:
    by_key = {item.key: item.settings for item in judging_instrument(shoes()).items}

    assert [key for key, settings in by_key.items() if settings.get("must")] == ["s1-c1", "s3-c1"]
    assert [key for key, settings in by_key.items() if settings.get("required")] == ["s1-c1-k1"]


@pytest.mark.parametrize("prompt", [p for p in ASKING if p.can_ask("scale")], ids=lambda p: p.name)
def test_a_model_is_told_once_what_a_broken_must_is_worth_and_only_where_there_is_one(prompt: PromptFile) -> None:
    by_key = {item.key: item for item in judging_instrument(shoes()).items}

    said = {
        key: join(messages(prompt, item=by_key[key], stories=[StoryText("A", "Once.")])) for key in ("s1-c1", "s1-c2")
    }

    assert said["s1-c1"][-1]["content"].count(KNOCK_OUT) == 1
    assert KNOCK_OUT not in said["s1-c2"][-1]["content"]
    assert by_key["s1-c1"].help == ""


def test_constraints_are_judged_on_the_papers_scale_and_edges_on_ours() -> None:
    by_key = {item.key: item for item in judging_instrument(shoes()).items}

    assert by_key["s1-c2"].settings == {"low": 0, "high": 5, "anchors": SATISFACTION}
    assert "settings" in by_key["s1-c2"].quoted
    assert by_key["edge-1-3"].settings == {"low": 0, "high": 5, "anchors": CONSISTENCY}
    assert "settings" in by_key["edge-1-3"].adapted


def test_the_source_of_the_text_stands_beside_that_of_the_method() -> None:
    first, second = judging_instrument(shoes()).citation.split("\n")

    assert first == "Written for the tests."
    assert second.startswith("The method: Zou, B., & Xu, C. (2026). QUIET")


@pytest.mark.parametrize("compiled", [filling_instrument, judging_instrument])
def test_the_mystery_compiles_into_instruments_that_can_be_asked(compiled: object) -> None:
    instrument = compiled(read_cloze(MYSTERY))  # type: ignore[operator]

    assert parse_instrument(asdict(instrument), "mystery.toml") == instrument


def test_the_mystery_has_as_many_items_as_parts() -> None:
    document = read_cloze(MYSTERY)

    assert Counter(item.type for item in filling_instrument(document).items) == {"text": 44}
    assert Counter(item.type for item in judging_instrument(document).items) == {"scale": 40 + 16, "binary": 64}


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(0, 2**64))
def test_any_cloze_compiles_into_instruments_that_can_be_asked(seed: int) -> None:
    document: ClozeDocument = any_document(Random(seed))

    for instrument in (filling_instrument(document), judging_instrument(document)):
        assert parse_instrument(asdict(instrument), "any.toml") == instrument


def test_every_item_leads_back_to_its_blank() -> None:
    keys = [item.key for item in filling_instrument(shoes()).items]

    assert number_by_key(shoes()) == dict(zip(keys, FILLS, strict=True))
