"""A study in which a judge says Yes to everything until its prompt holds one sentence, and a model that proposes it."""

import json

from annotation.responses import submission
from judges import runs
from judges.laboratory import alignments
from judges.laboratory.alignments import AlignmentOrder
from judges.models import Alignment, Judge
from studies.models import Study
from tests import factories
from tests.judges.conftest import sendable
from tests.judges.standin.replies import NO, YES, Reply, says
from tests.judges.standin.server import Hit

LESSON = "A story that breaks off has no ending, however fine it reads."
OLD_SENTENCE = "Go through what speaks for each possible answer before you decide."
REASON = "It breaks off."


def answered_study(n_groups: int = 10) -> Study:
    """Groups of two stories, each read by two experts: the first story fails every test, the other passes."""
    study = factories.study(n_groups=n_groups, n_stories=2, k=2, comparative=False)
    experts = [factories.rater(study, f"expert-{n}") for n in range(2 * n_groups)]
    for expert in experts:
        work = factories.assignment(study, expert)
        for letter, code in zip("AB", work.seat.order, strict=True):
            value, why = ("yes", "It ends well.") if code.endswith("s2") else ("no", REASON)
            for item in (1, 2):
                factories.answer(work, item=item, letter=letter, value=value, why=why)
        submission.submit(work, at=factories.NOON)
    return sendable(study)


def proposes(template: str, *, system: str = "", changes: str = "It asks for an ending.") -> Reply:
    return says("Here it is:\n" + json.dumps({"changes": changes, "system": system, "template": template}))


class Learner:
    """Yes to everything, unless the prompt holds the lesson: then it is right. Asked for a proposal, it gives it."""

    def __init__(self, judge: Judge, sentence: str = LESSON) -> None:
        prompt = judge.required_prompt
        assert OLD_SENTENCE in prompt.template
        self.template = prompt.template.replace(OLD_SENTENCE, f"{OLD_SENTENCE} {sentence}")
        self.system = prompt.system
        self.slips: str = ""  # about this story it is wrong all the same

    def __call__(self, hit: Hit) -> Reply:
        content = hit.body["messages"][-1]["content"]
        if "Experts have answered the same questions" in content:
            return proposes(self.template, system=self.system)
        is_slip = bool(self.slips) and f"{self.slips} began" in content
        return NO if LESSON in content and "s1 began" in content and not is_slip else YES


def aligned(study: Study, judge: Judge, **order: object) -> Alignment:
    """An alignment whose proposals have come."""
    planned = alignments.plan(study, AlignmentOrder(judge, judge, **order))  # type: ignore[arg-type]
    alignment = alignments.write(study, planned, by="ann")
    runs.approve(alignment.run, by="bea")
    runs.drain(alignment.run)
    return Alignment.objects.get(pk=alignment.pk)
