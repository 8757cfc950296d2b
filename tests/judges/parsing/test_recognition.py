"""Whether a model knows a text."""

import json

import pytest

from judges.parsing import Failure, RecognitionReply, parse_recognition, score_recognition

REST = "and then the ferry left without them, as it had every winter since the board was put up in lights"


def read(reply: str, finish_reason: str = "stop") -> RecognitionReply | Failure:
    return parse_recognition(reply, finish_reason=finish_reason)


def test_what_a_model_says_that_it_knows_is_read() -> None:
    reply = {"known": "yes", "title": "The Ferry", "author": "A. N. Other", "continuation": "and then"}

    assert read(json.dumps(reply)) == RecognitionReply(True, "The Ferry", "A. N. Other", "and then")
    assert read(f"```json\n{json.dumps(reply)}\n```") == RecognitionReply(True, "The Ferry", "A. N. Other", "and then")
    assert read('{"known": "no"}') == RecognitionReply(False)


@pytest.mark.parametrize(
    ("reply", "finish_reason", "state"),
    [
        ("Yes, I know it.", "stop", "unreadable"),
        ('{"known": "maybe"}', "stop", "out_of_range"),
        ('{"title": "x"}', "stop", "out_of_range"),
        ('{"known": "yes"} {"known": "no"}', "stop", "unreadable"),
        ('{"known": "yes", "known": "no"}', "stop", "unreadable"),
        ('{"known": "no", "title": "The Ferry"}', "stop", "unreadable"),
        ('{"known": true}', "stop", "unreadable"),
        ('{"known": "yes", "year": "1999"}', "stop", "unreadable"),
        ('It says {"known": "yes"}', "stop", "unreadable"),
        ('{"known": "yes"}', "length", "truncated"),
        ("", "content_filter", "blocked"),
    ],
)
def test_a_reply_to_the_probe_that_says_nothing_clear_has_its_state(reply: str, finish_reason: str, state: str) -> None:
    failure = read(reply, finish_reason)

    assert isinstance(failure, Failure)
    assert failure.state == state


def test_knowing_is_shown_by_what_is_true() -> None:
    claim = RecognitionReply(True, "ferry", "Somebody Else", "And then the ferry left without them, as it does")

    knowledge = score_recognition(claim, title="The Ferry", author="A. N. Other", rest=REST)

    assert (knowledge.has_title, knowledge.has_author, knowledge.n_words) == (True, False, 9)
    assert knowledge.is_proven


def test_a_claim_alone_proves_nothing() -> None:
    knowledge = score_recognition(
        RecognitionReply(True, "", "", "and then they went home"), title="", author="", rest=REST
    )

    assert knowledge.n_words == 2
    assert not knowledge.is_proven
