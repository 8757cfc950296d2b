"""1,200 injected texts and what models reply that fall for them; 100 replies with two verdicts: none is accepted.

The same replies without what was planted are accepted, and with a defence switched off some of them are: what accepts
nothing would hold here, too.
"""

import json
import random

import pytest

from judges import parsing
from judges.parsing import Verdicts, single
from tests.judges.attacks import (
    ANSWERS,
    CHOICE,
    PAIR,
    REASONS,
    SCALE,
    STORIES,
    YES_NO,
    attacks,
    replies_with_two_verdicts,
)
from tests.judges.questions import Asking

SEED = 20_261
PROTOCOLS = ("reasoning_first", "verdict_first")


# Written by hand, each in another manner.
BY_HAND = [
    (YES_NO, "Yes. But no."),
    (YES_NO, "Yes, and no."),
    (YES_NO, "Yes and no."),
    (YES_NO, "Yes... no."),
    (YES_NO, "Yes? No."),
    (YES_NO, "Yes; no"),
    (YES_NO, "yes\n\nno"),
    (YES_NO, "Answer: Yes / Answer: No"),
    (YES_NO, "Answer: Yes. Answer: No."),
    (YES_NO, "The answer is yes. The answer is no."),
    (YES_NO, "It is a yes from me. Then again it is a no.\nYes"),
    (YES_NO, "Verdict: Yes\nVerdict: No"),
    (YES_NO, "I say yes. I say no.\nyes"),
    (YES_NO, "First I thought no. Then yes.\nYes"),
    (YES_NO, "Yes it is. No it is not.\nYes"),
    (YES_NO, '{"answer": "yes", "alternative": "no"}'),
    (YES_NO, '{"answer":"yes","final":"no"}'),
    (YES_NO, '{"answer":"yes","answers":["no"]}'),
    (YES_NO, '{"answer": "yes"} {"ending": "no"}'),
    (YES_NO, '{"ANSWER": "no", "answer": "yes"}'),
    (YES_NO, "{'answer': 'no'}\n{\"answer\": \"yes\"}"),
    (YES_NO, 'answer: no\n{"answer": "yes"}'),
    (YES_NO, '{"answer": "yes"}\n\nAnswer - no'),
    (YES_NO, "Ending: no\nAnswer: yes"),
    (YES_NO, "Q) Is the end earned? No\nAnswer: Yes"),
    (YES_NO, "Is the end earned? No.\nAnswer: Yes"),
    (YES_NO, "Expert 1: Yes\nExpert 2: No"),
    (YES_NO, "Yes (80%), No (20%)"),
    (YES_NO, "Nope.\nAnswer: Yes"),
    (YES_NO, "My answer would have to be no.\nAnswer: yes"),
    (YES_NO, "I must answer with a no.\nAnswer: yes"),
    (YES_NO, "ANSWER = NO\nANSWER = YES"),
    (YES_NO, "Therefore: No.\nYes."),
    (YES_NO, "In conclusion, no.\nYes."),
    (YES_NO, "Final Answer\nNo\nFinal Answer\nYes"),
    (YES_NO, "✅ Yes\n❌ No"),
    (YES_NO, "Yes [No]"),
    (YES_NO, "Yes ~~No~~"),
    (YES_NO, "~~No~~ Yes"),
    (SCALE, "4 or 5"),
    (SCALE, "Score: 4\nScore: 3"),
    (SCALE, "4/5 and then 3/5\n4"),
    (SCALE, "I give it a 3.\n4"),
    (SCALE, "three\n4"),
    (SCALE, "I'd rate it two out of five.\nAnswer: 4"),
    (SCALE, "Rating: 3 stars\nAnswer: 4"),
    (SCALE, "A 3 would be right.\n4"),
    (SCALE, "It deserves a 3.\nAnswer: 4"),
    (SCALE, "It earns 2 points.\nAnswer: 4"),
    (SCALE, "It scores 2.\nAnswer: 4"),
    (SCALE, "It merits a score of 2.\nAnswer: 4"),
    (SCALE, "Empathy: 2\nAnswer: 4"),
    (SCALE, 'Empathy = 2\n{"answer": 4}'),
    (SCALE, "4.5"),
    (SCALE, "Between 3 and 4"),
    (SCALE, "3-4"),
    (SCALE, "3–4"),
    (SCALE, "Score: 4 (could be 5)"),
    (SCALE, "Score: 4, possibly 5"),
    (SCALE, "Score: 4; on a second reading 2"),
    (SCALE, "Score: 4 -> 2"),
    (PAIR, "Preferred: A\nPreferred: B"),
    (PAIR, "Story A is better.\nPreferred: B"),
    (PAIR, "A is the better story.\nB"),
    (PAIR, "I prefer A.\nPreferred: B"),
    (PAIR, "The winner is A.\nB"),
    (PAIR, "A > B\nPreferred: B"),
    (PAIR, "A and B"),
    (PAIR, "A or B"),
    (PAIR, "Preferred: A/B"),
    (PAIR, "Preferred: Response A, then B"),
    (PAIR, "Better: A\nPreferred: B"),
    (PAIR, "Response A wins.\nB"),
    (PAIR, "Choose A.\nB"),
    (CHOICE, "Expert.\nAI"),
    (CHOICE, "It was written by AI, I think: expert"),
    (CHOICE, "Author: ai\nAnswer: expert"),
    (CHOICE, "I think it was an experienced writer.\nAnswer: ai"),
]


def accepted(reply: str, item: Asking, protocol: str) -> bool:
    verdicts = parsing.parse_reply(reply, finish_reason="stop", protocol=protocol, items=[item], stories=STORIES)
    return isinstance(verdicts, Verdicts)


def accepted_attacks() -> list[str]:
    injected = attacks(1_200, seed=SEED)
    return [a.reply for a in injected for protocol in PROTOCOLS if accepted(a.reply, a.item, protocol)]


def accepted_doubles() -> list[str]:
    replies = replies_with_two_verdicts(100, seed=SEED)
    return [reply for item, reply, _ in replies for protocol in PROTOCOLS if accepted(reply, item, protocol)]


def test_no_planted_verdict_is_accepted() -> None:
    assert accepted_attacks() == []


def test_no_reply_with_two_verdicts_is_accepted() -> None:
    assert len({reply for _, reply, _ in replies_with_two_verdicts(100, seed=SEED)}) == 100
    assert accepted_doubles() == []


@pytest.mark.parametrize(("item", "reply"), BY_HAND, ids=lambda value: value if isinstance(value, str) else value.type)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_reply_that_could_be_read_in_two_ways_is_accepted(item: Asking, reply: str, protocol: str) -> None:
    assert not accepted(reply, item, protocol)


@pytest.mark.parametrize("seed", range(3))
def test_other_seeds_are_no_luckier(seed: int) -> None:
    for item, reply, protocol in replies_with_two_verdicts(300, seed=seed):
        assert not accepted(reply, item, protocol), reply
    for attack in attacks(300, seed=seed):
        assert not accepted(attack.reply, attack.item, "reasoning_first"), attack.reply


def test_replies_are_accepted_that_say_one_thing_in_the_same_manners() -> None:
    rng = random.Random(SEED)
    for n in range(300):
        item, value, _ = ANSWERS[n % len(ANSWERS)]
        reason, more = rng.sample(REASONS, 2)
        as_json = json.dumps({"answer": value})
        last = [
            f"{reason}\n{as_json}",
            f"{reason} {more}\nAnswer: {value}",
            f"{reason}\n\n**Final answer:** {value}.",
            f"Reasoning: {reason}\nPreferred: {value}",
            f"1. Reasoning: {reason}\n2. Preferred: {value}",
            f"{reason}\nSo {value}.",
            f"My answer is {value}. {reason}\nAnswer: {value}",
            json.dumps({"rationale": f"{reason} {more}", "answer": value}),
            f"```json\n{json.dumps({'rationale': reason, 'answer': value})}\n```",
        ]
        first = [
            f"{value}\n{reason} {more}",
            f"{value}, since it holds. {reason}",
            f"{value}. {reason}",
            f"{as_json}\n{reason}",
            f"Answer: {value}\n{reason}",
            json.dumps({"answer": value, "rationale": f"{reason} {more}"}),
        ]
        assert accepted(last[n % len(last)], item, "reasoning_first"), last[n % len(last)]
        assert accepted(first[n % len(first)], item, "verdict_first"), first[n % len(first)]


def test_without_the_look_for_other_verdicts_many_would_be_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single, "find_contradiction", lambda *args: "")

    assert len(accepted_doubles()) > 50
    assert len(accepted_attacks()) > 200


def test_without_the_rule_for_quotations_planted_verdicts_would_be_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single, "is_quotation", lambda line: False)
    monkeypatch.setattr(single, "announces_quotation", lambda lead, line: False)
    monkeypatch.setattr(single, "is_cited", lambda before: False)

    assert len(accepted_attacks()) > 50


def test_a_canary_in_a_reply_makes_it_unreadable() -> None:
    reply = f'{{"rationale": "The code is canary-{"ab" * 16}.", "answer": "yes"}}'

    def read(canary: str) -> Verdicts | parsing.Failure:
        return parsing.parse_reply(
            reply, finish_reason="stop", protocol="reasoning_first", items=[Asking()], canary=canary
        )

    assert isinstance(read(""), Verdicts)
    assert isinstance(read(f"canary-{'ab' * 16}"), parsing.Failure)
