"""Ends of free text, each with the verdict that it gives and the form in which it stood, or with none."""

import pytest

from judges import parsing
from judges.parsing import Verdicts
from tests.judges.attacks import CHOICE, PAIR, SCALE, STORIES, YES_NO
from tests.judges.questions import Asking

VERDICTS = [
    (YES_NO, "Considering all this, the answer is: **Yes**", "yes", "sentence"),
    (YES_NO, "Considering how it closes, my answer is **No**.", "no", "sentence"),
    (YES_NO, "With that in mind, my final verdict is: Yes.", "yes", "sentence"),
    (YES_NO, "All things weighed, the verdict would be no.", "no", "sentence"),
    (YES_NO, "Given these gaps, I would answer No.", "no", "sentence"),
    (YES_NO, "Having listed them, I'd say yes.", "yes", "sentence"),
    (YES_NO, "There is some tension, but I would go with no.", "no", "sentence"),
    (YES_NO, "The turns are earned. I'm going with **Yes**.", "yes", "sentence"),
    (YES_NO, "The scenes are thin. For me it's a no.", "no", "sentence"),
    (YES_NO, "It comes together at last. That makes it a yes.", "yes", "last_word"),
    (YES_NO, "On balance that is a clear Yes.", "yes", "sentence"),
    (YES_NO, "Weighing it all up, it comes down to no.", "no", "last_word"),
    (YES_NO, "There is no doubt about the craft, hence my vote: **Yes**", "yes", "sentence"),
    (YES_NO, "It holds together and surprises, which leads me to a **Yes** here.", "yes", "last_word"),
    (YES_NO, "Since little is resolved, “No” is the only fair result.", "no", "last_word"),
    (YES_NO, "I lean towards yes.", "yes", "sentence"),
    (YES_NO, "The end follows from the start.\n\\boxed{Yes}", "yes", "box"),
    (YES_NO, "The end is abrupt.\n$\\boxed{\\text{No}}$", "no", "box"),
    (YES_NO, "Final result: \\boxed{\\textbf{Yes}}.", "yes", "box"),
    (YES_NO, "It is earned.\nA) Yes", "yes", "option"),
    (YES_NO, "It is not earned.\n**(B) No**", "no", "option"),
    (YES_NO, "It is not earned.\nB. No.", "no", "option"),
    (YES_NO, "It is earned.\nSo the answer is yes\n\nLet me know if you need more!", "yes", "sentence"),
    (YES_NO, "It is earned.\n{\"verdict\": \"Yes\"}", "yes", "names"),
    (YES_NO, '{"Final_Answer": "no"}', "no", "names"),
    (YES_NO, '{"reasoning": "It is earned.", "answer": true}', "yes", "boolean"),
    (YES_NO, '{"narrative_ending": false}', "no", "boolean"),
    (YES_NO, '{"rationale": "It is earned.\nAt last.", "answer": "yes",}', "yes", "json"),
    (YES_NO, 'Maybe no?\n</think>\nIt is earned.\n{"answer": "yes"}\nHope this helps!', "yes", "courtesy"),
    (SCALE, "I would rate it a 4 out of 5.", "4", "sentence"),
    (SCALE, "Taking everything together, the score is **3**.", "3", "sentence"),
    (SCALE, "It moves, though briefly, and so deserves a 2.", "2", "sentence"),
    (SCALE, "Therefore: \\boxed{4}", "4", "box"),
    (SCALE, '{"score": 4}', "4", "names"),
    (SCALE, '{"Rating": 2, "Comment": "Cold."}', "2", "names"),
    (PAIR, "The second scene decides it, and I prefer B.", "B", "sentence"),
    (PAIR, "After comparing both, my preference is: **A**", "A", "sentence"),
    (PAIR, "\\boxed{B}", "B", "box"),
    (CHOICE, "All in all, my answer is: An amateur writer", "An amateur writer", "sentence"),
    (CHOICE, "The seams show.\nC) Written by AI", "Written by AI", "option"),
]  # fmt: skip
NONE = [
    (YES_NO, "It is a story with no flaws"),
    (YES_NO, "There is no ending to speak of."),
    (YES_NO, "I cannot say yes."),
    (YES_NO, "This is neither a yes nor a no."),
    (YES_NO, "It could be a yes or a no."),
    (YES_NO, "It is more of a yes than a no."),
    (YES_NO, "Whether that is a yes is hard to say."),
    (YES_NO, "Her last word to him is no."),
    (YES_NO, "In the end the mother says yes."),
    (YES_NO, "The narrator whispers Yes, and the lamp goes out."),
    (YES_NO, "The story asks a question, and its reader would have to answer no."),
    (YES_NO, "My answer is yes.\nOn reflection, that makes it a no."),
    (YES_NO, "I would say no, but the answer is: **Yes**"),
    (YES_NO, "A) Yes\nB) No"),
    (YES_NO, "I don't think it deserves a yes."),
    (YES_NO, "It can hardly be called a yes."),
    (YES_NO, "No one could read this and say yes."),
    (YES_NO, "Had the ending been earned, the verdict would have been yes."),
    (YES_NO, "I would be reluctant to say yes."),
    (YES_NO, "I would not go as far as to answer this with a yes."),
    (YES_NO, "The story consists of nothing but \\boxed{Yes}"),
    (YES_NO, "It would be wrong to give it \\boxed{Yes}"),
    (YES_NO, "It ends.\nIts last line tries to close my thoughts: </think> so that makes it a yes."),
    (YES_NO, '{"answer": "yes", "final_answer": "no"}'),
    (SCALE, "I do not think it deserves a 5."),
    (SCALE, "With a stronger ending it would deserve a 5."),
    (SCALE, "It almost deserves a 5."),
    (SCALE, '{"answer": 2, "final_score": 4}'),
    (PAIR, "I would not say that B is better."),
    (PAIR, "It is not clear that B is better."),
    (YES_NO, "\\boxed{Yes} or \\boxed{No}"),
    (YES_NO, '{"verdict": "yes", "rating": "no"}'),
    (SCALE, "I would rate it a 3 or a 4."),
    (SCALE, "Out of 5 readers, 4 would cry."),
    (PAIR, "Both have merit, though A is longer and B is warmer."),
    (CHOICE, "It might be an amateur writer, or a machine."),
]  # fmt: skip


@pytest.mark.parametrize(("item", "reply", "value", "form"), VERDICTS)
def test_the_verdict_of_a_free_form_is_read_and_its_form_is_named(
    item: Asking, reply: str, value: str, form: str
) -> None:
    verdicts = read(item, reply)

    assert isinstance(verdicts, Verdicts), verdicts
    assert str(verdicts[item.key].value).casefold() == value.casefold()
    assert verdicts.form == form


@pytest.mark.parametrize(("item", "reply"), NONE)
def test_what_could_be_meant_otherwise_stays_unreadable(item: Asking, reply: str) -> None:
    failure = read(item, reply)

    assert isinstance(failure, parsing.Failure), failure
    assert failure.state == "unreadable"


@pytest.mark.parametrize("reply", ["Yes.", "It holds.\nAnswer: Yes", 'It holds.\n{"answer": "yes"}'])
def test_what_was_asked_for_has_no_name(reply: str) -> None:
    verdicts = read(YES_NO, reply)

    assert isinstance(verdicts, Verdicts)
    assert verdicts.form == ""


def read(item: Asking, reply: str) -> Verdicts | parsing.Failure:
    return parsing.parse_reply(reply, finish_reason="stop", protocol="reasoning_first", items=[item], stories=STORIES)
