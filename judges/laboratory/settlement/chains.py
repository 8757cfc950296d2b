"""Drafts of texts: what follows from the replies so far, by the recipe, and how a draft ends.

All calls of a draft are rows from the beginning; one whose turn has not come has no words yet. What a recipe does next
is decided from the replies that are kept, so that it can be decided again.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_noop

from judges import parsing, prompts, reasons
from judges.laboratory import drafts, recipes
from judges.laboratory.recipes import Ask, Finished, GaveUp
from judges.models import Attempt, Call, Draft, GeneratedText, Run
from judges.parsing.boilerplate import strip_boilerplate
from judges.providers import Completion
from judges.requests import texts
from judges.settlement import attempts
from judges.settlement.handlers import ReplyHandler, SettledReply

REPLIED = (Attempt.Outcome.ANSWERED, Attempt.Outcome.REUSED)
WITHOUT_REPLY = gettext_noop("a call of it ended without a text: %(reason)s")
NO_CALL_LEFT = gettext_noop("it would need more calls than were planned")
WRITTEN = reasons.WRITTEN_WITHOUT
ENDED = reasons.DRAFT_ENDED
# In words; what is longer is taken for the text that was asked for.
LONGEST_REFUSAL = 60


class DraftHandler(ReplyHandler):
    kind = Call.Kind.GENERATE

    def read(self, call: Call, completion: Completion) -> dict[str, Any] | parsing.Failure:
        """A text that was to be written: any reply that is none of the failures. A long one that begins as refusals do
        is a text, since stories begin so, too."""
        reply = parsing.clean_reply(completion.text, finish_reason=completion.finish_reason)
        if isinstance(reply, str) and len(reply.split()) <= LONGEST_REFUSAL:
            reply = parsing.find_refusal(reply) or reply
        return reply if isinstance(reply, parsing.Failure) else {"n_words_written": len(reply.split())}

    def follow(self, replies: Sequence[SettledReply]) -> None:
        for reply in replies:
            advance(reply.call)

    def finish(self, run: Run, *, at: datetime) -> None:
        end_open(run)


def advance(call: Call) -> None:
    """Take the draft of a call that has ended a step on: its next call, its texts, or its end without one."""
    rows = Draft.objects.select_related("generation__reference", "original", "item")
    draft = rows.get(calls=call.pk)
    ended = draft.calls.exclude(state__in=Call.PENDING).exclude(state=Call.State.NOT_NEEDED).order_by("section")
    if failed := ended.exclude(state=Call.State.OK).first():
        _end(draft, Draft.State.FAILED, WITHOUT_REPLY, {"reason": failed.reason or failed.state})
        return
    run, generation = call.run, draft.generation
    replies = [_load_reply(row, run) for row in ended]
    draft.n_attempts = len(replies)
    reference = generation.reference
    n_rounds, reference_text = generation.settings["n_rounds"], reference.text if reference else ""
    brief = drafts.make_brief(draft, n_rounds=n_rounds, reference=reference_text)
    step = recipes.find_recipe(generation.recipe).next_step(brief, replies)
    if isinstance(step, Ask):
        _open_next(draft, run, step, section=len(replies) + 1)
    elif isinstance(step, GaveUp):
        draft.n_discards = step.n_discards
        _end(draft, Draft.State.GIVEN_UP, step.sentence, dict(step.values))
    else:
        _complete(draft, step)


def end_open(run: Run) -> None:
    """End the drafts of a run that is over; each says for want of which reply."""
    for draft in Draft.objects.filter(generation=run.pk, state=Draft.State.OPEN):
        failed = draft.calls.exclude(state__in=[Call.State.OK, Call.State.NOT_NEEDED]).order_by("section").first()
        reason = (failed.reason or failed.state) if failed else ""
        _end(draft, Draft.State.FAILED, WITHOUT_REPLY, {"reason": reason})


def _load_reply(call: Call, run: Run) -> str:
    """The words of the call's last reply, without thoughts."""
    attempt = call.attempts.filter(outcome__in=REPLIED).order_by("-number").first()
    if attempt is None:
        raise ValueError(f"{call} has no reply")
    completion = attempts.read_reply(attempt, adapter=run.adapter)
    reply = parsing.clean_reply(completion.text, finish_reason=completion.finish_reason)
    return reply if isinstance(reply, str) else ""


def _open_next(draft: Draft, run: Run, ask: Ask, *, section: int) -> None:
    """Write the words of the next call, which may be sent from now on."""
    following = draft.calls.filter(section=section, request_sha256="")
    if not following.exists():
        _end(draft, Draft.State.GIVEN_UP, NO_CALL_LEFT, {})
        return
    mark, shelf = prompts.new_mark(), texts.Shelf()
    request = drafts.build_request(run.judge, ask, run.frozen["prompts"], mark=mark, draft=draft)
    stored = drafts.store_request(shelf, request, ask, mark=mark, draft=draft, reference=draft.generation.reference)
    shelf.store()
    sha256 = texts.fingerprint(request, endpoint=run.judge.endpoint_id, draft=draft.pk, section=section)
    following.update(request=stored, request_sha256=sha256, state=Call.State.PLANNED, reason="")
    Draft.objects.filter(pk=draft.pk).update(
        state=Draft.State.OPEN, note_sentence="", note_values={}, n_attempts=draft.n_attempts
    )


def _complete(draft: Draft, step: Finished) -> None:
    draft.n_discards = step.n_discards
    GeneratedText.objects.bulk_create(
        GeneratedText(
            draft=draft,
            round=output.round,
            text=output.text,
            cleaned="" if (cleaned := strip_boilerplate(output.text)) == output.text else cleaned,
        )
        for output in step.outputs
    )
    _end(draft, Draft.State.COMPLETE, "", {})


def _end(draft: Draft, state: Draft.State, sentence: str, values: dict[str, str | int]) -> None:
    """End the draft, and the calls of it whose turn has not come."""
    Draft.objects.filter(pk=draft.pk).update(
        state=state,
        note_sentence=sentence,
        note_values=values,
        n_attempts=draft.n_attempts,
        n_discards=draft.n_discards,
    )
    waiting = draft.calls.filter(section__gt=0, request_sha256="", state__in=Call.PENDING)
    reason = WRITTEN if state == Draft.State.COMPLETE else ENDED
    waiting.update(state=Call.State.NOT_NEEDED, reason=reason)
