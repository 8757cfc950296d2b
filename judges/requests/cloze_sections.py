"""A cloze that a model fills section by section: one call for each, the next written once the one before is answered.

All calls are rows from the beginning, so that the run's number is known; one whose turn has not come has no words yet.
"""

from collections.abc import Mapping

from django.db.models import Min, Q

from annotation.responses import fills as filling
from judges import prompts, reasons
from judges.models import Call, Judge, Run
from judges.providers import Request
from judges.requests import fills, texts
from studies.layouts.cloze import Switches
from studies.models import Cloze, Step

# Its turn has not come: the section before it has no fill yet.
WAITING = Q(section__gt=0, request_sha256="")


def build_request(
    judge: Judge, step: Step, cloze: Cloze, *, section: int, text_by_blank: Mapping[int, str], repeat: int, canary: str
) -> Request:
    """What is sent for a section, with what stands in the blanks before it. Raises InvalidPrompt."""
    request = fills.build_section_request(
        cloze.parsed,
        Switches(**step.options),
        section=section,
        fills=text_by_blank,
        mark=prompts.new_mark(),
        step_text=step.text,
        prompt=judge.required_prompt,
        canary=canary,
    )
    request["messages"] = prompts.join(request["messages"])
    return {"model": judge.model, "parameters": judge.parameters_of(repeat)} | request


def end_waiting(run: Run) -> None:
    """End the sections that are never asked, since one before them has no fill; each says which that is."""
    unfilled = run.calls.filter(~WAITING, section__gt=0).exclude(state=Call.State.OK).order_by()
    for assignment, step, section in unfilled.values_list("assignment", "step").annotate(first=Min("section")):
        waiting = run.calls.filter(WAITING, assignment=assignment, step=step, state__in=Call.PENDING)
        waiting.update(state=Call.State.NOT_ASKED, reason=reasons.EARLIER_SECTION % {"section": section})


def open_next(call: Call) -> None:
    """Write the words of the section after this one, whose fill has just been recorded."""
    waiting = Call.objects.filter(WAITING, run=call.run_id, assignment=call.assignment_id, step=call.step_id)
    following = waiting.filter(section__gt=call.section, state=Call.State.PLANNED).order_by("section").first()
    if following is None:
        return
    step, run = call.required_step, call.run
    cloze = Cloze.objects.get(filling=step.instrument_id)
    text_by_blank = filling.text_by_blank(cloze.parsed, filling.answers_of(call.required_assignment, cloze))
    request = build_request(
        run.judge,
        step,
        cloze,
        section=following.section,
        text_by_blank=text_by_blank,
        repeat=call.required_assignment.reading.repeat,
        canary=run.canary,
    )
    shelf = texts.Shelf()
    stored = shelf.put_request(request, {})
    shelf.store()
    sha256 = texts.fingerprint(request, endpoint=run.judge.endpoint_id, assignment=call.assignment_id)
    Call.objects.filter(pk=following.pk).update(request=stored, request_sha256=sha256)
