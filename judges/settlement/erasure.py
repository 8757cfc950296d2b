"""What calls forget when the writer of a story withdraws: the text that was sent, and what was said of it."""

from collections.abc import Collection, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import Rater
from annotation.participation import withdrawal
from judges import reasons
from judges.models import (
    Attempt,
    BroughtLog,
    Call,
    Endpoint,
    GeneratedText,
    Parse,
    ProviderBatch,
    Run,
    Text,
    TextVector,
)
from judges.requests import texts
from judges.settlement.attempts import OUT_OF_TRIES
from studies import story_edits
from studies.models import Story

REASON = reasons.ERASED


def forget(rater: Rater, stories: Sequence[int], **_: Any) -> None:
    """Empty every call in which words of the writer's stories stand, and what models made out of these stories."""
    empty_calls(stories)
    if made := _empty_made(stories):
        withdrawal.forget_texts(made, writer=rater)


def empty_calls(stories: Sequence[int]) -> None:
    """Empty every call in which words of these stories stand; one that was still to be sent ends without an answer.

    What is erased: the stories' texts as they were sent, every body that came back, also where a later call took it,
    what was read in it, what was said of it, and the vectors of the texts: a text can be guessed at from its vector.
    """
    empty(Call.objects.filter(pk__in=_find_calls(stories)))
    Text.objects.filter(story__in=stories).update(content="")
    BroughtLog.objects.filter(study__stories__in=stories).delete()
    # A story that was emptied keeps the hash of its text; what it was before an edit is no story's any more.
    theirs = Q(sha256__in=Story.objects.filter(pk__in=stories).values("sha256"))
    TextVector.objects.filter(theirs | ~Q(sha256__in=Story.objects.values("sha256"))).delete()


def empty(about: QuerySet[Call]) -> None:
    """Empty these calls: what was sent in them alone, every reply, what was read in it and what was said of it."""
    attempts = Attempt.objects.filter(call__in=about)
    embedded = about.filter(kind=Call.Kind.EMBED).values_list("request", flat=True)
    # Of the texts that were embedded each call has rows of its own, with the story of that text that was first.
    Text.objects.filter(pk__in=[sha for request in embedded for sha in texts.hashes_of(request)]).update(content="")
    # A call for a proposal of a prompt holds what experts said beside each story: all goes while the request names it.
    # The cases stand in fences with a number of their own, so that no other call shares these texts.
    shown = about.filter(draft__proposal__isnull=False).values_list("request", flat=True)
    cases = Text.objects.filter(pk__in=[sha for request in shown for sha in texts.hashes_of(request)])
    cases.exclude(story=None).update(content="")
    _strike_reasons({*about.values_list("reason", flat=True), *attempts.values_list("reason", flat=True)} - {""}, about)
    unanswered = Q(state__in=[*Call.PENDING, Call.State.BUDGET_STOPPED]) | OUT_OF_TRIES
    about.filter(unanswered).update(state=Call.State.BLOCKED)
    about.update(request={}, request_sha256="", reason=REASON)
    attempts.update(body="", reason="")
    Parse.objects.filter(attempt__in=attempts).update(values={}, grades={}, reason="")


def _empty_made(stories: Sequence[int]) -> list[int]:
    """Empty what models made out of these stories, or with one of them before them; the stories that it had become."""
    with_reference = Q(draft__generation__reference__in=stories, round__gt=0)
    made = GeneratedText.objects.filter(Q(draft__original__in=stories) | with_reference)
    taken_in = list(made.exclude(story=None).values_list("story", flat=True))
    made.update(text="", cleaned="")
    return story_edits.erase_texts(taken_in) if taken_in else []


def _find_calls(stories: Sequence[int]) -> list[int]:
    """Ids of the calls about these stories, and of all others in which their words are sent."""
    hashes = set(Text.objects.filter(story__in=stories).values_list("pk", flat=True))
    about = set(Call.objects.filter(story__in=stories).values_list("pk", flat=True))
    of_studies = Call.objects.filter(run__study__stories__in=stories).distinct()
    requests = of_studies.values_list("pk", "request").iterator()
    about |= {pk for pk, request in requests if hashes & set(texts.hashes_of(request))}
    # Texts are embedded for whichever study is measured against them.
    theirs = set(Story.objects.filter(pk__in=stories).values_list("sha256", flat=True))
    embedded = Call.objects.filter(kind=Call.Kind.EMBED).exclude(request={}).values_list("pk", "request").iterator()
    about |= {pk for pk, request in embedded if theirs & {sha256 for sha256, _n in request["of"]["texts"]}}
    return list(about)


def _strike_reasons(reasons: Collection[str], about: QuerySet[Call]) -> None:
    """Take these sentences out of where runs and endpoints repeat them: a provider may quote what it was sent."""
    runs = Run.objects.filter(pk__in=about.values("run")).select_related("judge__endpoint")
    # Of a batch that was not taken nobody knows which of its calls the provider's sentence is about.
    refused = ProviderBatch.objects.filter(run__in=runs, state=ProviderBatch.State.FAILED)
    reasons = {*reasons, *refused.values_list("reason", flat=True)}
    refused.update(reason=REASON)
    for run in runs:
        _strike(run, ("note_sentence",), reasons)
        Run.objects.filter(pk=run.pk).update(note_values=_strike_values(run.note_values, reasons))
        if endpoint := run.judge.endpoint:
            _strike(endpoint, ("needs_attention", "resting_reason"), reasons)
            values = _strike_values(endpoint.attention_values, reasons)
            Endpoint.objects.filter(pk=endpoint.pk).update(attention_values=values)


def _strike_values(values: dict[str, Any], sentences: Collection[str]) -> dict[str, Any]:
    return {
        name: _replace_sentences(value, sentences) if isinstance(value, str) else value
        for name, value in values.items()
    }


def _strike(row: Run | Endpoint, names: Collection[str], sentences: Collection[str]) -> None:
    for name in names:
        text = _replace_sentences(getattr(row, name), sentences)
        if text != getattr(row, name):
            type(row).objects.filter(pk=row.pk).update(**{name: text})


def _replace_sentences(text: str, sentences: Collection[str]) -> str:
    for sentence in sorted(sentences, key=len, reverse=True):
        text = text.replace(sentence, REASON)
    return text
