"""The probability of each answer is that of the token with which the verdict begins, not of a word in the reasons."""

import math

import pytest

from judges.parsing import Verdicts, grade_verdicts, parse_reply
from judges.providers import Token
from tests.judges.questions import Asking

SCALE = Asking("empathy", type="scale", settings={"low": 1, "high": 5})
TEN = Asking("depth", type="scale", settings={"low": 0, "high": 10})


def tokens_of(*parts: str | tuple[str, float, dict[str, float]]) -> list[Token]:
    """Tokens of words that are certain, or of a word with its probability and those of others."""
    tokens = []
    for part in parts:
        text, share, others = part if isinstance(part, tuple) else (part, 1.0, {})
        alternatives = tuple((other.encode(), math.log(p)) for other, p in others.items())
        tokens.append(Token(text.encode(), math.log(share), alternatives))
    return tokens


def grade(tokens: list[Token], *items: Asking, protocol: str = "reasoning_first") -> dict[str, dict[str, float]]:
    """The probabilities of each item's answers, in percent, with what is outside."""
    text = b"".join(token.text for token in tokens).decode()
    asked = items or (Asking(),)
    verdicts = parse_reply(text, finish_reason="stop", protocol=protocol, items=asked)
    assert isinstance(verdicts, Verdicts), verdicts
    grades = grade_verdicts(tokens, verdicts, text=text, protocol=protocol, items=asked, by_key=len(asked) > 1)
    return {
        key: {value: round(100 * share, 1) for value, share in one.by_value.items() if share}
        | {"outside": round(100 * one.outside, 1)}
        for key, one in grades.items()
    }


YES = ("yes", 0.6, {"yes": 0.6, "no": 0.15, " No": 0.05, "maybe": 0.1})


def test_it_is_the_share_of_yes_among_yes_and_no_in_any_writing() -> None:
    assert grade(tokens_of('{"answer": "', YES, '"}')) == {"ending": {"yes": 75.0, "no": 25.0, "outside": 20.0}}


@pytest.mark.parametrize(
    "tokens",
    [
        tokens_of("yes, it could be said, or no.\n", "**Verdict:** ", YES, "**"),
        tokens_of("It is.\n", YES),
        tokens_of('{"rationale": "yes and no", "answer": "', YES, '"}'),
        tokens_of("<think>The answer is no</think>", "Answer: ", YES),
        tokens_of("It is so.\n\\boxed{", YES, "}"),
    ],
)
def test_it_is_that_of_the_verdict_and_not_of_the_reasons(tokens: list[Token]) -> None:
    assert grade(tokens)["ending"]["yes"] == 75.0


def test_a_verdict_that_comes_first_is_found_first() -> None:
    tokens = tokens_of(("Yes", 0.9, {"Yes": 0.9, "No": 0.1}), ", since the end says yes to it all.")

    assert grade(tokens, protocol="verdict_first") == {"ending": {"yes": 90.0, "no": 10.0, "outside": 0.0}}


def test_a_token_can_be_the_beginning_of_a_word_or_hold_the_quotation_mark() -> None:
    assert grade(tokens_of('{"answer": ', ('"Y', 0.7, {'"Y': 0.7, '"n': 0.3}), 'es"}'))["ending"]["yes"] == 70.0


def test_a_part_of_a_letter_moves_no_place() -> None:
    whole = "“é”\n".encode()
    tokens = [Token(whole[n : n + 1], 0.0) for n in range(len(whole))] + tokens_of(YES)

    assert grade(tokens)["ending"]["yes"] == 75.0


def test_each_item_of_a_reply_has_its_own() -> None:
    four = ("4", 0.5, {"4": 0.5, "5": 0.3, "3": 0.1, " 4": 0.1})
    tokens = tokens_of('{"ending": "', YES, '", "empathy": {"answer": ', four, ', "rationale": "no"}}')

    assert grade(tokens, Asking(), SCALE) == {
        "ending": {"yes": 75.0, "no": 25.0, "outside": 20.0},
        "empathy": {"3": 10.0, "4": 60.0, "5": 30.0, "outside": 0.0},
    }


def test_of_a_scale_to_ten_a_digit_is_a_point_only_where_numbers_are_written_whole() -> None:
    by_digit = tokens_of("Rating: ", ("1", 0.6, {"1": 0.6, "9": 0.4}))
    whole = tokens_of("Rating: ", ("9", 0.6, {"9": 0.6, "10": 0.3, "8": 0.1}))

    assert grade(by_digit, TEN) == {}
    assert grade(whole, TEN) == {"depth": {"8": 10.0, "9": 60.0, "10": 30.0, "outside": 0.0}}


@pytest.mark.parametrize(
    "tokens",
    [
        tokens_of("It is.\n", "yes"),  # of which no other was listed
        tokens_of("Answer: ", "y", "e", "s"),
    ],
)
def test_where_only_the_written_token_is_listed_nothing_is_known(tokens: list[Token]) -> None:
    assert grade(tokens) == {}


def test_tokens_of_another_text_say_nothing() -> None:
    verdicts = parse_reply("yes", finish_reason="stop", protocol="reasoning_first", items=[Asking()])
    assert isinstance(verdicts, Verdicts)

    tokens = tokens_of(("no", 0.9, {"no": 0.9, "yes": 0.1}))

    assert grade_verdicts(tokens, verdicts, text="yes", protocol="x", items=[Asking()], by_key=False) == {}
