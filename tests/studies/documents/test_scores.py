"""Scores in the file of an instrument: what is read, what is refused, and what they leave as it was."""

from typing import Any

import pytest

from studies import instrument_drafts, loader
from studies.documents.errors import DocumentError
from studies.documents.instrument import discover, fingerprint, parse_instrument, read_instrument, write_instrument
from studies.documents.reader import parse_toml
from studies.documents.scores import ScoreDocument
from studies.models import Instrument

SCALE: dict[str, Any] = {"type": "scale", "settings": {"low": 1, "high": 5, "anchors": {"1": "Low", "5": "High"}}}
SCORE: dict[str, Any] = {
    "key": "total",
    "title": "In all",
    "how": "sum",
    "items": ["voice", "waste"],
    "weights": {"voice": 1.5},
    "reversed": ["waste"],
}
TABLE: dict[str, Any] = {
    "slug": "craft",
    "version": "1",
    "title": "Craft",
    "items": [
        {"key": "voice", "question": "A voice?", **SCALE},
        {"key": "waste", "question": "Waste?", **SCALE},
        {"key": "sound", "question": "Sound?", "type": "binary"},
        {"key": "more", "question": "What else?", "type": "text"},
    ],
}


def parsed(**score: Any) -> Any:
    return parse_instrument({**TABLE, "scores": [SCORE | score]}, "craft.toml")


def test_a_score_is_read_and_written_as_the_same() -> None:
    document = parsed()

    again = parse_instrument(parse_toml(write_instrument(document), "craft.toml", guide=""), "craft.toml")

    assert document.scores == [
        ScoreDocument("total", "In all", "sum", ("voice", "waste"), {"voice": 1.5}, ("waste",)),
    ]
    assert again == document


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"items": ["voice", "noise"]}, "items: there is no item “noise”; there are voice, waste, sound, more"),
        ({"items": ["voice", "more"]}, "items: “more” gives no number between two ends"),
        ({"items": ["voice"], "reversed": []}, "items: a score is of two items or more"),
        ({"items": ["voice", "voice", "waste"]}, "items: “voice” stands there twice"),
        ({"how": "median"}, "how: “median” is not one of sum, mean"),
        ({"weights": {"voice": 0}}, "weights: “voice” must be larger than 0"),
        ({"weights": {"voice": True}}, "weights: “voice” must be a number, not true or false"),
        ({"weights": {"sound": 2}}, "weights: “sound” is none of its items"),
        ({"reversed": ["sound"]}, "reversed: “sound” is none of its items"),
        ({"title": ""}, "title: is missing or empty"),
        ({"sort": "mean"}, "sort: there is no such key"),
    ],
)
def test_a_score_that_cannot_be_made_is_refused(change: dict[str, Any], refusal: str) -> None:
    with pytest.raises(DocumentError) as error:
        parsed(**change)

    assert f"craft.toml: scores.total, {refusal}" in str(error.value)


def test_two_scores_of_one_key_are_refused() -> None:
    with pytest.raises(DocumentError, match=r"scores\.total, key: stands twice"):
        parse_instrument({**TABLE, "scores": [SCORE, SCORE]}, "craft.toml")


def test_yes_and_no_may_be_in_a_score() -> None:
    assert parsed(items=["voice", "waste", "sound"]).scores[0].items[2] == "sound"


def test_the_fingerprint_holds_scores_and_is_what_it_was_without_them() -> None:
    without = fingerprint(parse_instrument(TABLE, "craft.toml"))

    assert without == "f131db21199a6898947b5e676a9424b232f305b4caabc21864ec7999fb748fc8"
    assert len({without, fingerprint(parsed()), fingerprint(parsed(how="mean"))}) == 3


def test_the_depth_scale_has_the_mean_of_its_five_components_and_nothing_else_has_a_score() -> None:
    scores = {name: read_instrument(path).scores for name, path in discover().items()}

    assert scores.pop("pds") == [
        ScoreDocument(
            *("depth", "Psychological depth", "mean"),
            ("authenticity", "empathy", "engagement", "emotion-provocation", "narrative-complexity"),
        )
    ]
    assert not any(scores.values())


@pytest.mark.django_db
def test_an_instrument_keeps_its_scores_in_the_database_in_its_file_and_in_a_copy() -> None:
    document = parsed()

    instrument = loader.load_instrument(document)

    assert instrument.score_documents == document.scores
    assert loader.document_of(instrument).scores == document.scores
    assert instrument_drafts.copy_draft(instrument, title="Craft").score_documents == document.scores


@pytest.mark.django_db
def test_a_file_with_other_scores_under_the_same_version_is_refused() -> None:
    loader.load_instrument(parsed())

    with pytest.raises(loader.VersionConflict):
        loader.load_instrument(parsed(how="mean"))


@pytest.mark.django_db
def test_a_question_taken_out_of_a_draft_goes_out_of_its_scores() -> None:
    document = parse_instrument({**TABLE, "scores": [SCORE, wide()]}, "craft.toml")
    draft = instrument_drafts.load_draft(document)

    instrument_drafts.remove_item(draft.items.get(key="waste"))

    draft = Instrument.objects.get(pk=draft.pk)
    assert draft.score_documents == [ScoreDocument("all", "All three", "mean", ("voice", "sound"))]
    assert loader.publish(draft).status == Instrument.Status.PUBLISHED


@pytest.mark.django_db
def test_a_question_that_gives_no_number_any_more_goes_out_of_the_scores_of_its_draft() -> None:
    draft = instrument_drafts.load_draft(parse_instrument({**TABLE, "scores": [wide()]}, "craft.toml"))

    instrument_drafts.save_item(draft, {"type": "text", "settings": {}}, item=draft.items.get(key="voice"))

    assert Instrument.objects.get(pk=draft.pk).score_documents[0].items == ("waste", "sound")


def wide() -> dict[str, Any]:
    return {"key": "all", "title": "All three", "how": "mean", "items": ["voice", "waste", "sound"]}
