"""Each tool's log is known by what stands in it, and read whole; what is hostile or broken gets a sentence."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from judges.foreign_logs import ForeignLog, all_formats, read_log
from studies.incoming_tables.errors import UnreadableFile
from tests.judges.foreign_logs.samples import (
    DATED,
    MODEL,
    YES,
    evals_event,
    evals_log,
    inspect_archive,
    inspect_log,
    inspect_sample,
    promptfoo_log,
    promptfoo_result,
)


def test_the_formats_that_come_with_quire_are_found() -> None:
    assert list(all_formats()) == ["inspect", "openai-evals", "promptfoo"]


@pytest.mark.parametrize("write", [inspect_log, inspect_archive])
def test_an_inspect_log_is_read_with_its_tokens_and_what_it_says_of_samples(write: Callable[..., bytes]) -> None:
    reasoned = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": YES}]
    second = inspect_sample("two", "B?", reasoned, epoch=2, metadata={"story": "p1s1", "n": 3, "deep": {"a": 1}})

    log = read_log("log.eval", write([inspect_sample("one", "A?"), second]))

    first, other = log.samples
    assert (log.format, log.models, [s.sample for s in log.samples]) == ("inspect", [MODEL], ["one", "two (2)"])
    assert first.messages == (("system", "You judge."), ("user", "A?"))
    assert (first.reply, first.ended, first.answered_by, first.cost) == (YES, "stop", DATED, "")
    assert (first.n_tokens_in, first.n_tokens_out, first.n_tokens_cached) == (430, 30, 30)
    assert other.reply == YES
    assert other.keys == {"id": "two", "story": "p1s1", "n": "3"}


def test_a_promptfoo_file_is_read_with_its_costs_and_its_messages() -> None:
    chat = json.dumps([{"role": "system", "content": "S"}, {"role": "user", "content": "A?"}])
    cached = {"output": {"answer": "yes"}, "cached": True, "tokenUsage": {"total": 9, "cached": 9}}
    failed = promptfoo_result("C?", response=None, error="Timed out", provider="anthropic:messages:claude-9")
    log = read_log(
        "out.json",
        promptfoo_log(
            [
                promptfoo_result(chat, vars={"story": "p1s1", "text": "x" * 400}),
                promptfoo_result("B?", response=cached, cost=0),
                promptfoo_result("D?", cost=0),
                failed,
            ]
        ),
    )

    first, second, unpriced, third = log.samples
    assert log.models == ["gpt-9", "claude-9"]
    assert first.messages == (("system", "S"), ("user", "A?"))
    assert (first.n_tokens_in, first.n_tokens_out, first.cost) == (400, 30, "0.0021")
    assert first.keys == {"story": "p1s1"}
    assert (second.reply, second.cost) == ('{"answer": "yes"}', "0")
    assert unpriced.cost == ""
    assert third.failure == "Timed out"


def test_openais_evals_are_read_event_by_event_and_reply_by_reply() -> None:
    log = read_log("run.jsonl", evals_log([evals_event("craft.dev.0", "A?", ["yes", "no"])]))

    assert [(s.sample, s.reply, s.n_tokens_in) for s in log.samples] == [
        ("craft.dev.0", "yes", 400),
        ("craft.dev.0 (2)", "no", 0),
    ]
    assert log.models == ["gpt-9"]


@pytest.mark.parametrize(
    "content",
    [
        inspect_log([inspect_sample("one", "A?", metadata={"story": "p1s1"})]),
        promptfoo_log([promptfoo_result("A?")]),
        evals_log([evals_event("x", "A?")]),
    ],
)
def test_a_log_that_was_kept_is_the_same(content: bytes) -> None:
    log = read_log("log", content)

    assert ForeignLog.of_table(type(log.as_table()).from_text("log", log.as_table().as_text())) == log


def archive(**content_by_name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in content_by_name.items():
            written.writestr(name.replace("_", "/", 1) if name.startswith("samples") else f"{name}.json", content)
    return buffer.getvalue()


def misnamed() -> bytes:
    """Its name says that it is UTF-8, and is not."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as written:
        written.writestr("hé.json", "{}")
    return buffer.getvalue().replace("é".encode(), b"\xff\xff")


def broken_lzma() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as written:
        written.writestr("header.json", HEADER * 100)
    content = bytearray(buffer.getvalue())
    start = content.index(b"header.json") + len("header.json")
    content[start + 4] = 0xFF  # the properties of its filter
    return bytes(content)


HEADER = json.dumps({"eval": {"model": "m"}})
WHOLE = inspect_archive([inspect_sample("one", "A?")])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is no log that Quire knows"),
        (b"\xff\xfe\x00", "is no log that Quire knows"),
        (b'{"eval": 1}', "is no log that Quire knows"),
        (b'{"results": {"results": 7}}', "is no log that Quire knows"),
        (b'{"spec": 1}\nnonsense', "is no log that Quire knows"),
        (b"[" * 200_000, "within one another"),
        (b'{"eval": {"model": "m"}, "samples": null}', "without its samples"),
        (b'{"eval": {"model": "m"}, "samples": [1, null]}', "holds no reply"),
        (b'{"results": {"results": []}}', "holds no reply"),
        (WHOLE[: len(WHOLE) // 2], "cannot be unpacked"),
        (archive(header=HEADER), "holds no reply"),
        (archive(header=HEADER, samples_1=" " * 210_000_000), "holds too much"),
        (archive(header=HEADER, samples_1=" " * 11_000_000), "larger than 10 MB"),
        (archive(header=" " * 1_100_000), "larger than 1 MB"),
        (b"[" + b"[]," * 1_600_000 + b"[]]", "too many values"),
        (misnamed(), "cannot be unpacked"),
        (broken_lzma(), "cannot be unpacked"),
        (archive(other="{}"), "is no log that Quire knows"),
    ],
)
def test_what_is_no_log_or_a_hostile_one_gets_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(UnreadableFile, match=sentence):
        read_log("log.json", content)


@pytest.mark.parametrize(
    "change",
    [
        {"output": None},
        {"output": {"choices": []}},
        {"output": {"choices": [{"message": 3}]}},
        {"output": {"choices": 3, "usage": 3}, "input": 3, "metadata": 3},
        {"id": None, "input": None, "error": {"message": "Broke"}},
    ],
)
def test_a_sample_in_another_form_is_one_without_a_reply(change: dict[str, Any]) -> None:
    (sample,) = read_log("log.json", inspect_log([inspect_sample("one", "A?") | change])).samples

    assert sample.reply == "" or sample.failure


def test_more_replies_than_are_read_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judges.foreign_logs.MOST_SAMPLES", 2)

    with pytest.raises(UnreadableFile, match="more than 2 replies"):
        read_log("log.json", inspect_log([inspect_sample(str(n), "A?") for n in range(3)]))


def test_letters_that_no_database_keeps_are_taken_out() -> None:
    content = inspect_log([inspect_sample("o\x00ne", "A\ud800?", "ye\x00s", metadata={"st\x00ory": "p\x001"})])

    (sample,) = read_log("log.json", content).samples

    assert (sample.sample, sample.reply, sample.messages[1]) == ("o\ufffdne", "ye\ufffds", ("user", "A\ufffd?"))
    assert sample.keys == {"id": "o\ufffdne", "st\ufffdory": "p\ufffd1"}
