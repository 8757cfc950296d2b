import json
import time
from pathlib import Path
from typing import Any

import pytest

from judges import parsing
from judges.parsing import Failure, Verdict
from studies.items import StoryLabel
from tests.judges.questions import Asking

CHOICE = Asking(
    type="choice",
    options=[
        {"value": "expert", "label": "An experienced writer"},
        {"value": "ai", "label": "Written by AI"},
    ],
)
SCALE = Asking(type="scale", settings={"low": 1, "high": 5})
RANKING = Asking(type="ranking")
WORDS = Asking(type="text")
SEVERAL = Asking(type="multi", options=[{"value": "plot", "label": "Plot"}, {"value": "style", "label": "Style"}])
ABC = [StoryLabel("A"), StoryLabel("B"), StoryLabel("C")]


def read(text: str, *, last: bool = True, item: Asking | None = None, finish_reason: str = "stop") -> Verdict | Failure:
    protocol = "reasoning_first" if last else "verdict_first"
    asked = item or Asking()
    verdicts = parsing.parse_reply(text, finish_reason=finish_reason, protocol=protocol, items=[asked], stories=ABC)
    return verdicts if isinstance(verdicts, parsing.Failure) else verdicts[asked.key]


@pytest.mark.parametrize(
    ("text", "value", "rationale"),
    [
        ('It holds.\n{"answer": "yes"}', "yes", "It holds."),
        ('It holds.\n```json\n{"answer": "no"}\n```', "no", "It holds."),
        ('{"answer": "Yes", "rationale": "It holds."}', "Yes", "It holds."),
        ('It holds.\nAnswer: {"answer": "yes"}', "yes", "It holds.\nAnswer:"),
        ('It holds.\nMy verdict:\n\n{"answer": "yes"}', "yes", "It holds.\nMy verdict:"),
        ('Yes, it holds.\nSo the answer is yes.\n"Yes"', "Yes", "Yes, it holds.\nSo the answer is yes."),
        ("It holds.\nYes", "Yes", "It holds."),
        ("It holds.\n\n**No.**\n", "No", "It holds."),
        ("It holds.\nAnswer: Yes", "Yes", "It holds."),
        ("It holds.\n**Final answer:** No", "No", "It holds."),
        ("It holds.\nOverall, my answer is yes.", "yes", "It holds."),
        ("It holds.\nNo, it does not.", "No", "It holds.\nNo, it does not."),
        ("<think>No. No?</think>It holds.\nYes", "Yes", "It holds."),
        ('Maybe no? Answer: no.\n</think>\n{"answer": "yes"}', "yes", ""),
        ("No.\n</think>\nYes", "Yes", ""),
        ("I'm sorry to say that it breaks off.\nAnswer: No", "No", "I'm sorry to say that it breaks off."),
        ("I can't help but admire it.\nYes", "Yes", "I can't help but admire it."),
    ],
)
def test_with_reasoning_first_the_verdict_is_read_from_the_end(text: str, value: str, rationale: str) -> None:
    assert read(text) == Verdict(value, rationale)


@pytest.mark.parametrize(
    ("text", "value", "rationale"),
    [
        ('{"answer": "yes", "rationale": "It holds."}', "yes", "It holds."),
        ('Here is my answer:\n{"answer": "no"}', "no", "Here is my answer:"),
        ('{"answer": "no"}\n\nIt breaks off.', "no", "It breaks off."),
        ("Yes, the story holds.", "Yes", "Yes, the story holds."),
        ("No.\n\nThe story breaks off.", "No", "The story breaks off."),
        ("Yes\nIt holds.", "Yes", "It holds."),
        ("No – it breaks off.", "No", "No – it breaks off."),
        ("**No**, it breaks off.", "No", "**No**, it breaks off."),
    ],
)
def test_with_the_verdict_first_it_is_read_from_the_beginning(text: str, value: str, rationale: str) -> None:
    assert read(text, last=False) == Verdict(value, rationale)


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    ("item", "text", "value"),
    [
        (CHOICE, "An experienced writer.", "An experienced writer"),
        (CHOICE, '{"answer": "ai"}', "ai"),
        (SCALE, "4", "4"),
        (SCALE, "4. It is good.", "4"),
        (SCALE, "Engagement: 2? no.\n</think>\n**Score: 4/5**", "4"),
        (SCALE, '{"answer": 4}', 4),
        (RANKING, '{"answer": ["C", "A", "B"]}', ["C", "A", "B"]),
        (RANKING, "C > A > B", "C > A > B"),
        (WORDS, '{"answer": "The last line did."}', "The last line did."),
        (WORDS, '{"rationale": "It turns.", "answer": "The last line"}', "The last line"),
        (WORDS, "The last line did, mostly.", "The last line did, mostly."),
        (SEVERAL, '{"answer": ["plot", "style"]}', ["plot", "style"]),
    ],
)
def test_other_items_are_read_alike(item: Asking, text: str, value: Any, last: bool) -> None:
    found = read(text, item=item, last=last)

    assert isinstance(found, Verdict)
    assert found.value == value


@pytest.mark.parametrize(
    "text",
    [
        '{"rationale": "It turns.", "answer": 4,}',
        '{"rationale": "It turns.", "notes": ["a", "b",], "answer": 4\n}',
        '{"rationale": "It turns.\nThen it ends.", "answer": 4}',
        '{"answer": 4}\n\nLet me know if you need more!',
        '```json\n{"answer": 4}\n```\nFeel free to ask.',
        'Engagement: 2? no.\n</think>\n{"answer": 4}',
    ],
)
def test_slips_of_json_and_a_courteous_last_line_are_overlooked(text: str) -> None:
    found = read(text, item=SCALE, last=True)

    assert isinstance(found, Verdict)
    assert found.value == 4


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": 4,,}',
        '{"answer": 4, , "rationale": "x"}',
        '{"answer": ,}',
        '{"answer": 4}\nLet me know if it should be 2.',
        '{"answer": 4}\nThank you. Score: two',
        '{"answer": 4}\nThe story breaks off.',
    ],
)
def test_other_slips_and_last_lines_are_not(text: str) -> None:
    assert isinstance(read(text, item=SCALE, last=True), Failure)


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    ("item", "text"), [(SEVERAL, "Answer: Plot, Style"), (SCALE, "Score: 3 – 4"), (SCALE, "Rating: 3 - 4")]
)
def test_the_first_of_several_answers_is_not_taken_for_the_whole(item: Asking, text: str, last: bool) -> None:
    assert isinstance(read(text, item=item, last=last), Failure)


@pytest.mark.parametrize(
    "lead", ["My response:\n", "**My response:** ", "Output:\n", "Final response:\n", "So my answer is "]
)
def test_a_verdict_that_is_led_in_is_not_quoted(lead: str) -> None:
    verdict = read(f'It holds.\n{lead}{{"answer": "yes"}}')

    assert isinstance(verdict, Verdict)
    assert verdict.value == "yes"


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    ("text", "finish_reason", "state"),
    [
        ("Content Blocked", "stop", "blocked"),
        ("", "content_filter", "blocked"),
        ("Yes", "content_filter", "blocked"),
        ("I would rather not.", "refusal", "refused"),
        ("I'm sorry, but I can't assist with that.", "stop", "refused"),
        ("No, I cannot help with this request.", "stop", "refused"),
        ("I’m unable to evaluate this story.", "stop", "refused"),
        ("Sorry, I won't answer.", "stop", "refused"),
        ('It holds.\n{"answer": "yes"}', "length", "truncated"),
        ("Yes", "length", "truncated"),
        ("", "stop", "unreadable"),
        ("   \n", "stop", "unreadable"),
        ("***", "stop", "unreadable"),
        ("There is much to be said.", "stop", "unreadable"),
        ("No doubt it is good", "stop", "unreadable"),
        ("Yes or no", "stop", "unreadable"),
        ("Yes/No", "stop", "unreadable"),
        ("Nothing happens.", "stop", "unreadable"),
        ('{"answer": ""}', "stop", "unreadable"),
        ('{"answer": null}', "stop", "unreadable"),
        ('{"answer": "yes", "answer": "no"}', "stop", "unreadable"),
        ('{"answer": "no"', "stop", "unreadable"),
        ("<think>No, no, no.\nNo", "stop", "unreadable"),
        ('{"answer": "maybe"}', "stop", "out_of_range"),
        ('{"answer": ["no"]}', "stop", "out_of_range"),
        ("Answer: perhaps", "stop", "out_of_range"),
    ],
)
def test_a_reply_without_a_verdict_has_its_own_name_and_is_never_a_no(
    text: str, finish_reason: str, state: str, last: bool
) -> None:
    found = read(text, finish_reason=finish_reason, last=last)

    assert isinstance(found, Failure)
    assert found.state == state


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "yes"}\n{"answer": "no"}',
        '{"answer": "no", "rationale": "x"}\nIt holds.\n{"answer": "yes"}',
        '{"answer": "yes", "check": {"answer": "no"}}',
        '{"answer": "yes", "rationale": "The text says\\nAnswer: no"}',
        "Yes\nNo",
        "Yes.\nOn reflection it breaks off.\n**No**",
        "Answer: yes\nIt holds, or does it?\nAnswer: no",
        "Yes, it holds.\nSo the answer is no.",
        "Yes, it holds.\nIt ends.\nNo, it does not.",
        "Yes\n> Answer: no\nYes",
        "Yes\nThe story says it:\n“No.”\nYes",
    ],
)
def test_two_verdicts_that_contradict_each_other_are_unreadable(text: str, last: bool) -> None:
    reply = read(text, last=last)

    assert isinstance(reply, Failure)
    assert reply.state == "unreadable"


@pytest.mark.parametrize(("last", "state"), [(True, "unreadable"), (False, "out_of_range")])
def test_a_verdict_out_of_range_beside_a_valid_one_is_no_verdict(last: bool, state: str) -> None:
    reply = read('{"answer": "maybe"}\n{"answer": "yes"}', last=last)

    assert isinstance(reply, Failure)
    assert reply.state == state


@pytest.mark.parametrize(
    "text",
    [
        'The story says {"answer": "yes"}',
        'The story ends with this line:\n{"answer": "yes"}',
        '> {"answer": "yes"}',
        "> Answer: yes",
        "It ends well.\n“Yes”, she said.",
        "It ends with the words:\n“Yes.”",
        "The last line of the text reads:\nAnswer: yes",
    ],
)
def test_a_verdict_that_is_quoted_is_none(text: str) -> None:
    found = read(text)

    assert isinstance(found, Failure)
    assert found.state == "unreadable"


@pytest.mark.parametrize("last", [True, False])
def test_the_places_of_a_list_are_no_verdicts(last: bool) -> None:
    found = read("1. It begins well.\n2. It goes on.\n3. It ends.", item=SCALE, last=last)

    assert isinstance(found, Failure)
    assert found.state == "unreadable"
    assert read('1. It begins.\n2. It ends.\n{"answer": 4}', item=SCALE) == Verdict(4, "1. It begins.\n2. It ends.")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"rationale": "Three people, two of them alike. So 2.", "answer": 4}', 4),
        ('One scene drags, one does not. So 2.\n{"answer": 4}', 4),
        ("Two of the five scenes work, thus 2/5.\nScore: 4", "4"),
        ("Nobody waits in the first scene, then three.\n**Score:** 4", "4"),
    ],
)
def test_numbers_in_the_reasons_do_not_contradict_a_verdict_that_is_marked(text: str, value: Any) -> None:
    verdict = read(text, item=SCALE)

    assert isinstance(verdict, Verdict)
    assert verdict.value == value


@pytest.mark.parametrize(
    "text",
    [
        "One scene drags. So 2.\n4",
        'Overall, 2.\n{"answer": 4}',
        "So the score is 2.\nScore: 4",
        "> Score: 2\nSo 4.\nScore: 4",
        '{"rationale": "So 2.", "answer": 4}\nActually, 2.',
        '{"rationale": "So 2.\\n2", "answer": 4}',
    ],
)
def test_a_number_that_is_marked_or_stands_beside_an_unmarked_verdict_contradicts_it(text: str) -> None:
    assert isinstance(read(text, item=SCALE), Failure)
    assert isinstance(read(text, item=SCALE, last=False), Failure)


@pytest.mark.parametrize("text", ["7", '{"answer": 7}', '{"answer": 3.5}', "Score: 0", "7. It is very good."])
def test_a_number_outside_the_scale_is_out_of_range_and_not_clamped(text: str) -> None:
    found = read(text, item=SCALE)

    assert isinstance(found, Failure)
    assert found.state == "out_of_range"


def test_a_story_left_out_of_a_ranking_is_out_of_range() -> None:
    found = read('{"answer": ["C", "A"]}', item=RANKING)

    assert isinstance(found, Failure)
    assert found.state == "out_of_range"


def test_what_no_database_keeps_is_taken_out_of_reasons() -> None:
    assert read('a\x00b\ud800c\n{"answer": "yes"}') == Verdict("yes", "a\ufffdb\ufffdc")


@pytest.mark.parametrize(
    "text", ["{" * 20_000, "[" * 100_000, '{"a":' * 3000, "Answer: " * 5000, "no " * 20_000, "I'm sorry " * 20_000]
)
def test_a_reply_made_to_take_long_does_not(text: str) -> None:
    began = time.monotonic()

    found = read(text)

    assert isinstance(found, Failure)
    assert time.monotonic() - began < 2


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("gpt4", {"yes": 532, "no": 140}),
        ("gemini-pro", {"yes": 592, "no": 16, "blocked": 50}),
    ],
)
def test_the_published_replies_are_read_as_published(release: Path, name: str, counts: dict[str, int]) -> None:
    """Yes rates .792 of 672 and .974 of 608 readable ones; 50 of Gemini's were blocked."""
    found: dict[str, int] = {}
    for line in (release / "ttcw" / "judges" / f"{name}.jsonl").read_text().splitlines():
        one = read(json.loads(line)["response"], last=False)
        said = one.value.lower() if isinstance(one, Verdict) else one.state
        found[said] = found.get(said, 0) + 1

    assert found == counts
