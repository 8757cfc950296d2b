"""The replies of a log as a run that has ended. Nothing was sent, and all works on them as on a run's own replies."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import design
from annotation.models import Assignment, Rater
from judges import lifecycle, parsing, providers
from judges.foreign_logs.base import ForeignLog, LogSample
from judges.foreign_logs.matches import LogChoices, LogMatches, MatchedReply, match
from judges.models import Attempt, Call, Endpoint, Judge, Prompt, Reading, Run
from judges.providers import Completion
from judges.requests import texts
from judges.settlement import Ended, attempts, ended_attempts
from studies import hashing
from studies import protocol as protocols
from studies.documents.errors import InvalidValue
from studies.documents.names import SLUG
from studies.incoming_tables.errors import ImportRefused
from studies.incoming_tables.problems import list_lines
from studies.models import StoryGroup, Study

# The form in which a reply is kept, whose provider reads it again; and the endpoint of all that was sent elsewhere.
ADAPTER, ENDPOINT, PROMPT = "openai", "finished-logs", "finished-log"
TOGETHER = 200  # replies that are recorded in one go
MOST_NAMED = 20  # problems in a message
UNKNOWN_WORDS = "The words that were sent stand with each call; these were sent to nobody."
Place = tuple[int, int]  # of a group and a repeat


@transaction.atomic
def import_log(study: Study, log: ForeignLog, choices: LogChoices, *, sha256: str, by: str, at: datetime) -> Run:
    """The run that the replies of the chosen model have become.

    sha256 : of the file
    Raises ImportRefused, NotPlannable if nothing is frozen yet; then nothing has come in.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    check_judge(study, choices, sha256=sha256)
    matches = match(study, log, choices)
    _refuse_problems(matches, choices)
    run = _write_run(study, log, choices, matches, sha256=sha256, by=by, at=at)
    calls = _write_calls(run, matches, salt=f"{study.pk} {sha256}")
    for start in range(0, len(calls), TOGETHER):
        _record(calls[start : start + TOGETHER], protocol=choices.protocol, at=at)
    lifecycle.finish(run, at=at)
    run.refresh_from_db()
    return run


def check_judge(study: Study, choices: LogChoices, *, sha256: str) -> None:
    """Raise ImportRefused if the judge cannot be called so, or if the file's replies of its model are in already."""
    try:
        SLUG.check(choices.judge)
    except InvalidValue as error:
        raise ImportRefused(_("name of the judge: %(why)s") % {"why": error}) from None
    if study.raters.filter(code=choices.judge).exists():
        message = _("%(judge)s has answers in this study already; give the judge another name")
        raise ImportRefused(message % {"judge": choices.judge})
    of_model = study.runs.filter(judge__endpoint__base_url=Endpoint.LOGS, judge__model=choices.model)
    if run := of_model.filter(document__contains=sha256).select_related("judge").first():
        message = _("the replies of %(model)s in this file are in already, as those of %(judge)s")
        raise ImportRefused(message % {"model": choices.model, "judge": run.judge.slug})
    other = Judge.objects.filter(slug=choices.judge).select_related("endpoint", "prompt").first()
    if other and not (other.is_from_log and (other.model, other.protocol) == (choices.model, choices.protocol)):
        message = _("%(judge)s is another judge, which asks %(model)s itself; give this one another name")
        raise ImportRefused(message % {"judge": choices.judge, "model": other.model or other.metric})


def _refuse_problems(matches: LogMatches, choices: LogChoices) -> None:
    if matches.problems and not choices.may_be_left_out:
        raise ImportRefused("\n".join(list_lines(matches.problems, MOST_NAMED)))
    if not matches.replies:
        raise ImportRefused(_("no reply is about a story of this study; choose what names the story and the item"))


def _make_judge(choices: LogChoices) -> Judge:
    endpoint, _made = Endpoint.objects.get_or_create(
        name=ENDPOINT, defaults={"adapter": ADAPTER, "base_url": Endpoint.LOGS, "is_allowed": False}
    )
    if not endpoint.is_of_logs:
        message = _("An endpoint is called %(name)s, which is kept for logs of other tools. Rename it.")
        raise ImportRefused(message % {"name": ENDPOINT})
    prompt, _made = Prompt.objects.get_or_create(
        name=PROMPT,
        version=choices.protocol.replace("_", "-"),
        defaults={
            "template": "{{ stories }}\n\n{{ question }}",
            "protocol": choices.protocol,
            "missing": UNKNOWN_WORDS,
        },
    )
    values = {"endpoint": endpoint, "model": choices.model, "prompt": prompt}
    judge, _made = Judge.objects.get_or_create(slug=choices.judge, defaults=values)
    return judge


def _write_run(
    study: Study,
    log: ForeignLog,
    choices: LogChoices,
    matches: LogMatches,
    *,
    sha256: str,
    by: str,
    at: datetime,
) -> Run:
    judge = _make_judge(choices)
    version = protocols.current(study)
    Rater.objects.create(study=study, code=judge.slug, kind=judge.kind)
    endpoint = judge.required_endpoint
    document = hashing.canonical_json(
        {
            "study": study.slug,
            "protocol": {"number": version.number, "sha256": version.sha256},
            "judge": judge.slug,
            "endpoint": {"name": endpoint.name, "adapter": endpoint.adapter, "base_url": endpoint.base_url},
            "model": judge.model,
            "parameters": {},
            "prompt": judge.required_prompt.content,
            "parser": parsing.VERSION,
            "log": {
                "format": log.format,
                "file": log.name,
                "sha256": sha256,
                "n_replies": len(matches.replies),
                "n_left_out": len(matches.problems),
                "story_key": choices.story_key,
                "item_key": choices.item_key,
            },
        }
    )
    return Run.objects.create(
        study=study,
        judge=judge,
        state=Run.State.RUNNING,
        document=document,
        sha256=hashing.sha256(document),
        created_by=by,
        created_at=at,
        n_planned=0,
        n_repeats=matches.n_repeats,
    )


def _write_calls(run: Run, matches: LogMatches, *, salt: str) -> list[tuple[Call, LogSample, bool]]:
    """A call for each reply in each group of its story, and whether it is another copy: those cost nothing again."""
    groups_by_story: dict[int, list[StoryGroup]] = defaultdict(list)
    for group in run.study.groups.prefetch_related("stories").order_by("code"):
        for story in group.stories.all():
            groups_by_story[story.pk].append(group)
    assignments = _write_places(run, matches, groups_by_story)
    shelf = texts.Shelf()
    calls: list[tuple[Call, LogSample, bool]] = []
    for n, reply in enumerate(matches.replies):
        request = _store_request(shelf, reply, model=run.judge.model, salt=salt)
        for group in groups_by_story[reply.story.pk]:
            call = Call(
                run=run,
                assignment=assignments[group.pk, reply.repeat],
                step=reply.step,
                item=reply.items[0] if len(reply.items) == 1 else None,
                items=[item.key for item in reply.items],
                story=reply.story,
                request=request,
                request_sha256=hashing.sha256(f"{salt} {run.judge.slug} {n} {group.pk}"),
            )
            calls.append((call, reply.sample, group != groups_by_story[reply.story.pk][0]))
    shelf.store()
    Call.objects.bulk_create([call for call, _sample, _is_copy in calls], batch_size=TOGETHER)
    Run.objects.filter(pk=run.pk).update(n_planned=len(calls))
    return calls


def _write_places(
    run: Run, matches: LogMatches, groups_by_story: dict[int, list[StoryGroup]]
) -> dict[Place, Assignment]:
    """The judge's assignment of each group and repeat."""
    codes_by_place: dict[Place, set[str]] = defaultdict(set)
    group_by_pk = {group.pk: group for groups in groups_by_story.values() for group in groups}
    for reply in matches.replies:
        for group in groups_by_story[reply.story.pk]:
            codes_by_place[group.pk, reply.repeat].add(reply.story.code)
    places = sorted(codes_by_place, key=lambda place: (place[1], group_by_pk[place[0]].code))
    orders = [(group_by_pk[group], sorted(codes_by_place[group, repeat])) for group, repeat in places]
    rater = Rater.objects.get(study=run.study, code=run.judge.slug)
    seats = design.add_judge_seats(run.study, orders, kind=rater.kind)
    version = protocols.current(run.study)
    assignments = Assignment.objects.bulk_create(
        Assignment(study=run.study, rater=rater, rater_kind=rater.kind, seat=seat, group=seat.group, version=version)
        for seat in seats
    )
    Reading.objects.bulk_create(
        Reading(run=run, assignment=assignment, repeat=repeat)
        for (_group, repeat), assignment in zip(places, assignments, strict=True)
    )
    return dict(zip(places, assignments, strict=True))


def _store_request(shelf: texts.Shelf, reply: MatchedReply, *, model: str, salt: str) -> dict[str, object]:
    """What was asked, each message a text that goes when the story is erased."""
    messages = [
        {"role": role, "texts": [shelf.put(words, reply.story, salt=f"{salt} {reply.story.pk} ")]}
        for role, words in reply.sample.messages
    ]
    return {"model": model, "parameters": {}, "schema": {}, "messages": messages}


def _record(calls: Sequence[tuple[Call, LogSample, bool]], *, protocol: str, at: datetime) -> None:
    """Record what the replies say. Raises ImportRefused if an answer cannot be recorded."""
    new_attempts = attempts.begin([call for call, _sample, _is_copy in calls], worker="", probes=(), shares={}, at=at)
    ended = list(_end(new_attempts, calls, protocol=protocol, at=at))
    for call, refusal in ended_attempts.settle(ended):
        raise ImportRefused(f"{call}: {refusal}")


def _end(
    new_attempts: Sequence[Attempt], calls: Sequence[tuple[Call, LogSample, bool]], *, protocol: str, at: datetime
) -> Iterator[Ended]:
    for attempt, (call, sample, is_copy) in zip(new_attempts, calls, strict=True):
        completion = completion_of(sample)
        cost = Decimal(sample.cost).quantize(Decimal("1e-8")) if sample.cost else None
        if is_copy:
            completion = replace(completion, n_tokens_in=None, n_tokens_out=None, n_tokens_cached=None)
            completion = replace(completion, n_tokens_cache_written=None, n_tokens_reasoning=None)
            cost = Decimal(0)
        attempt.call = call
        yield Ended(attempt, completion, at, protocol=protocol, cost=cost, is_reused=is_copy, is_from_log=True)


def completion_of(sample: LogSample) -> Completion:
    """The reply in the form of a chat completion, in which it is kept."""
    usage = {
        "prompt_tokens": sample.n_tokens_in,
        "completion_tokens": sample.n_tokens_out,
        "prompt_tokens_details": {"cached_tokens": sample.n_tokens_cached},
        "completion_tokens_details": {"reasoning_tokens": sample.n_tokens_reasoning},
    }
    choice = {"message": {"role": "assistant", "content": sample.reply}, "finish_reason": sample.ended}
    document = {"object": "log.sample", "id": sample.sample, "model": sample.answered_by, "choices": [choice]}
    body = json.dumps(document | {"usage": usage}, ensure_ascii=False)
    completion = providers.find_provider(ADAPTER).read(body)
    return replace(completion, n_tokens_cache_written=sample.n_tokens_cache_written)
