"""All items of a story in one reply: one object with an entry for each, or lines that name them."""

import json
import random
from typing import Any

import pytest

from judges import parsing
from judges.parsing import Failure, Verdict, Verdicts, several
from studies.items import StoryLabel
from tests.judges.questions import Asking

LIKERT = {"low": 1, "high": 5, "anchors": {"1": "Not at all", "5": "Fully"}}
PARTS = [
    Asking(key=key, type="scale", title=title, settings=LIKERT)
    for key, title in [
        ("authenticity", "Authenticity"),
        ("empathy", "Empathy"),
        ("emotion-provocation", "Emotion Provocation"),
        ("human-likeness", "Human-likeness"),
    ]
]
FEEDBACK = Asking(key="open-feedback", type="text", title="Open Feedback", is_skippable=True)
RATINGS = {"authenticity": 4, "empathy": 2, "emotion-provocation": 5, "human-likeness": 1}
KEYED = {key: {"rationale": f"Of {key} there is some.", "answer": n} for key, n in RATINGS.items()}


LINES = "Authenticity: 4\nEmpathy: 2\nEmotion Provocation: 5\nHuman-likeness: 1"


def read(reply: str, *, items: list[Asking] | None = None, protocol: str = "reasoning_first") -> Verdicts | Failure:
    return parsing.parse_reply(
        reply, finish_reason="stop", protocol=protocol, items=items or PARTS, stories=[StoryLabel("A")]
    )


def values(reply: str, **more: Any) -> dict[str, Any]:
    verdicts = read(reply, **more)
    assert isinstance(verdicts, Verdicts), verdicts
    return verdicts.values


def test_every_item_has_its_verdict_and_its_reasons() -> None:
    verdicts = read(json.dumps(KEYED))

    assert isinstance(verdicts, Verdicts)
    assert verdicts.values == RATINGS
    assert verdicts["empathy"] == Verdict(2, "Of empathy there is some.")
    assert list(verdicts.by_key) == [item.key for item in PARTS]


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(RATINGS),
        json.dumps(KEYED, indent=2),
        f"```json\n{json.dumps(KEYED)}\n```",
        f"It is a quiet story.\n\n{json.dumps(KEYED)}",
        f"<think>Authenticity: 1</think>{json.dumps(KEYED)}",
        json.dumps({key: {"explanation": "Some.", "score": n} for key, n in RATINGS.items()}),
        json.dumps({key.upper(): n for key, n in RATINGS.items()}),
        json.dumps({**KEYED, "summary": "A quiet story."}),
        json.dumps({key: {"rationale": "Two are alike, thus 3/5. So 3.", "answer": n} for key, n in RATINGS.items()}),
        json.dumps(RATINGS) + "\n" + json.dumps(RATINGS),
    ],
)
def test_an_object_is_read_in_each_of_its_forms(reply: str) -> None:
    assert values(reply) == RATINGS


@pytest.mark.parametrize(
    "reply",
    [
        "Authenticity: 4\nEmpathy: 2\nEmotion Provocation: 5\nHuman-likeness: 1",
        "authenticity: 4\nempathy: 2\nemotion-provocation: 5\nhuman-likeness: 1",
        "1. **Authenticity**: 4 – it rings true.\n2. **Empathy**: 2 – it is cold.\n"
        "3. **Emotion Provocation**: 5\n4. **Human-likeness**: 1 (a machine)",
        "Authenticity: 4\nExplanation: It rings true.\n\nEmpathy: 2\nExplanation: It is cold.\n\n"
        "Emotion provocation: 5\nExplanation: Much.\n\nHuman likeness: 1\nExplanation: Smooth.",
        "### Authenticity\nIt rings true.\nScore: 4\n\n### Empathy\nIt is cold.\nScore: 2\n\n"
        "### Emotion Provocation\nMuch.\nScore: 5\n\n### Human-likeness\nSmooth.\nScore: 1",
        "Authenticity (1-5): 4\nEmpathy (1-5): 2\nEmotion Provocation (1-5): 5\nHuman-likeness (1-5): 1",
        "- Authenticity Score: 4\n- Empathy Score: 2\n- Emotion Provocation Score: 5\n- Human-likeness Score: 1",
    ],
)
def test_lines_that_name_the_items_are_read_in_each_of_their_forms(reply: str) -> None:
    assert {key: int(value) for key, value in values(reply).items()} == RATINGS


def test_reasons_of_a_line_stay_with_their_item() -> None:
    verdicts = read("Authenticity: 4\nIt rings true.\nEmpathy: 2, it is cold.", items=PARTS[:2])

    assert isinstance(verdicts, Verdicts)
    assert verdicts["authenticity"] == Verdict("4", "It rings true.")
    assert verdicts["empathy"] == Verdict("2", "2, it is cold.")


def changed(key: str, value: Any) -> str:
    return json.dumps({**KEYED, key: value})


@pytest.mark.parametrize(
    ("reply", "state", "reason"),
    [
        (json.dumps({k: v for k, v in KEYED.items() if k != "empathy"}), "unreadable", "no answer for “empathy”"),
        (changed("empathy", None), "unreadable", "no answer for “empathy”"),
        (changed("empathy", {"rationale": "Hm.", "answer": ""}), "unreadable", "no answer for “empathy”"),
        (changed("empathy", 6), "out_of_range", "empathy: Please choose a whole number from 1 to 5"),
        (changed("empathy", {"answer": 2.5}), "out_of_range", "empathy: "),
        (changed("empathy", {"answer": "2 or 3"}), "out_of_range", "empathy: "),
        (changed("empathy", {"answer": [2]}), "out_of_range", "empathy: "),
        (changed("empathy", {"rating": True}), "out_of_range", "empathy: "),
        ("Authenticity: 4\nEmpathy: 7\nEmotion Provocation: 5\nHuman-likeness: 1", "out_of_range", "empathy: "),
        ("Authenticity: 4\nEmpathy: high\nEmotion Provocation: 5\nHuman-likeness: 1", "out_of_range", "empathy: "),
        ("Authenticity: 4\nEmpathy: 2 – 3\nEmotion Provocation: 5\nHuman-likeness: 1", "out_of_range", "empathy: "),
    ],
)
def test_an_answer_that_is_missing_or_not_allowed_loses_itself_and_not_those_beside_it(
    reply: str, state: str, reason: str
) -> None:
    verdicts = read(reply)

    assert isinstance(verdicts, Verdicts), verdicts
    lost = verdicts.failures["emotion-provocation" if "emotion" in reason else "empathy"]
    assert lost.state == state
    assert reason in lost.reason
    assert {key: int(value) for key, value in verdicts.values.items()}.items() <= RATINGS.items()
    assert len(verdicts.by_key) + len(verdicts.failures) == len(PARTS)


def test_where_no_answer_can_be_read_the_first_failure_is_the_whole_replys() -> None:
    failure = read(json.dumps(dict.fromkeys(RATINGS, 7)))

    assert isinstance(failure, Failure)
    assert failure.state == "out_of_range"
    assert failure.reason.startswith("authenticity: ")


@pytest.mark.parametrize(
    ("reply", "state", "reason"),
    [
        (json.dumps({"scores": RATINGS}), "unreadable", "stand inside another object"),
        (json.dumps([RATINGS]), "unreadable", "do not stand where"),
        (json.dumps({"choices": [{"message": KEYED}]}), "unreadable", "stand inside another object"),
        (json.dumps(KEYED)[:-30], "unreadable", ""),
        (json.dumps(KEYED) + "\nThat is all.", "unreadable", "do not stand where they were asked for"),
        (f"The story says {json.dumps(KEYED)}", "unreadable", "quoted"),
        (f"The text ends with these lines:\n{json.dumps(KEYED)}", "unreadable", "quoted"),
        ("It is all quite good.", "unreadable", "there is no answer in"),
        ("I’m sorry, but I can’t assist with that.", "refused", "I’m sorry"),
        ("> Authenticity: 4\n> Empathy: 2\n> Emotion Provocation: 5\n> Human-likeness: 1", "unreadable", "no answer"),
        (f"The text says:\n{LINES}", "unreadable", "no answer"),
        ("Authenticity: 4\nEmpathy: 2", "unreadable", "no answer for “emotion-provocation”"),
        ('I will not follow the note at the end.\n{"authenticity": 5}', "unreadable", "no answer for “empathy”"),
        ("I'm sorry, but I can't evaluate this story.\n" + json.dumps(KEYED), "refused", "I'm sorry"),
        ("The writer ends with a note to the grader\nAuthenticity: 5", "unreadable", "no answer for “empathy”"),
    ],
)
def test_a_reply_whose_answers_do_not_stand_in_their_place_fails_whole(reply: str, state: str, reason: str) -> None:
    failure = read(reply)

    assert isinstance(failure, Failure)
    assert failure.state == state
    assert reason in failure.reason


def test_a_score_below_a_heading_that_names_no_item_is_no_items() -> None:
    verdicts = read(LINES.replace("Authenticity: 4\n", "# Authenticity\nHard to say.\n# Overall\nScore: 4\n"))

    assert isinstance(verdicts, Verdicts)
    assert list(verdicts.failures) == ["authenticity"]


@pytest.mark.parametrize(
    ("reply", "form"),
    [
        (json.dumps({key.replace("-", "_").title(): n for key, n in RATINGS.items()}), "names"),
        (json.dumps({item.title: RATINGS[item.key] for item in PARTS}), "names"),
        (changed("overall", 3), "extra"),
        (json.dumps(KEYED) + "\nLet me know if you need more!", "courtesy"),
        (json.dumps(RATINGS).replace("}", ",}"), "json"),
    ],
)
def test_other_spellings_are_read_and_named(reply: str, form: str) -> None:
    verdicts = read(reply)

    assert isinstance(verdicts, Verdicts), verdicts
    assert verdicts.values == RATINGS
    assert verdicts.form == form


CONTRADICTING = [
    json.dumps(KEYED) + "\n" + changed("empathy", 5),
    changed("empathy", 5) + "\nOr rather:\n" + json.dumps(KEYED),
    "Empathy: 5\n" + json.dumps(KEYED),
    "I rate it so: empathy is a 5.\n" + json.dumps(KEYED),
    '{"empathy": 5\n' + json.dumps(KEYED),
    '{"authenticity": 4, "empathy": 2, "empathy": 5, "emotion-provocation": 5, "human-likeness": 1}',
    '{"authenticity": 4, "empathy": 2, "Empathy": 5, "emotion-provocation": 5, "human-likeness": 1}',
    changed("empathy", {"answer": 2, "score": 5}),
    changed("empathy", {"score": 2, "final_score": 5}),
    json.dumps({**KEYED, "empathy_final": 5}),
    json.dumps({**KEYED, "Empathy (revised)": 5}),
    changed("empathy", {"rationale": "Cold at first. Final score: 5", "answer": 2}),
    changed("empathy", {"rationale": "Actually, 5.", "answer": 2}),
    changed("authenticity", {"rationale": "True, though empathy: 5", "answer": 4}),
    json.dumps({**KEYED, "note": "Empathy: 5"}),
    f"{LINES}\nEmpathy: 5",
    f"Empathy: 5\n{LINES}",
    f"{LINES}\n> Empathy: 5",
    f"The text says “Empathy: 5”.\n{LINES}",
    f"{LINES}\nOn reflection, empathy should be 5.",
    LINES.replace("Empathy: 2", "Empathy: 2\nScore: 5"),
    LINES.replace("Empathy: 2", "Empathy: 2, or 5"),
    LINES.replace("Empathy: 2", "Empathy: 2 / 5 / 3"),
]


@pytest.mark.parametrize("reply", CONTRADICTING)
@pytest.mark.parametrize("protocol", ["reasoning_first", "verdict_first"])
def test_two_verdicts_on_one_item_are_none(reply: str, protocol: str) -> None:
    found = read(reply, protocol=protocol)

    if isinstance(found, Verdicts):
        assert "empathy" not in found.by_key
        assert found.failures["empathy"].state in ("unreadable", "out_of_range")
    else:
        assert found.state in ("unreadable", "out_of_range")


def test_without_the_look_for_other_verdicts_some_would_be_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several, "find_contradictions", lambda reply, verdicts, subjects: verdicts)
    verdicts = [read(reply) for reply in CONTRADICTING]

    assert sum(isinstance(found, Verdicts) and "empathy" in found.by_key for found in verdicts) >= 8


def test_an_item_that_may_be_skipped_can_be_left_out() -> None:
    items = [*PARTS, FEEDBACK]

    assert values(json.dumps(KEYED), items=items) == RATINGS
    assert values(json.dumps({**KEYED, "open-feedback": "Cold."}), items=items) == RATINGS | {"open-feedback": "Cold."}
    assert values(json.dumps({**KEYED, "open-feedback": ""}), items=items) == RATINGS


def test_verdict_first_takes_the_object_at_the_beginning() -> None:
    reply = json.dumps(KEYED) + "\nIt is a cold story."

    assert values(reply, protocol="verdict_first") == RATINGS
    assert isinstance(read(reply), Failure)


def test_what_a_reply_repeats_of_the_story_is_no_answer() -> None:
    mark = f"fence-{'0' * 32}"
    echo = f"<story {mark}>\n{LINES}\n</story {mark}>"

    assert isinstance(read(echo), Failure)
    both = read(f"{echo}\n{json.dumps({**RATINGS, 'empathy': 5})}")
    assert isinstance(both, Verdicts)
    assert list(both.failures) == ["empathy"]


def test_no_reply_breaks_the_reader() -> None:
    rng = random.Random(7)
    pieces = [
        *LINES.splitlines(),
        *CONTRADICTING,
        "{",
        "}",
        '"',
        "[",
        "Empathy",
        ":",
        "\\u0000",
        "\n",
        "```",
        "> ",
        "–",
    ]
    for _ in range(500):
        reply = "".join(rng.choices(pieces, k=rng.randint(1, 6)))[: rng.randint(1, 400)]
        assert isinstance(read(reply), Verdicts | Failure)
        assert isinstance(read(reply, items=[PARTS[1]]), Verdicts | Failure)
