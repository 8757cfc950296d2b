"""Readings of a judge planted as a run leaves them: one assignment each, with what was answered in it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation import responses
from annotation.models import Assignment, Rater
from annotation.responses import Answer
from judges import catalogue
from judges.models import Attempt, Call, Judge, Parse, PersonaSet, Reading, Run
from studies import protocol
from studies.models import Study
from tests import factories
from tests.factories import NOON

# Step, item and story ("" for the group) of an answer.
Place = tuple[str, str, str]
LOST = ("declined", "unreadable")


def start_run(
    study: Study, slug: str, *, personas: Sequence[str] = (), like: Judge | None = None, **frozen: Any
) -> Run:
    """A finished run of a judge of this name, as these personas. like : the judge whose model and prompt it shares"""
    stub = like or catalogue.make_stub_judge()
    judge, _ = Judge.objects.get_or_create(
        slug=slug,
        defaults={
            "endpoint": stub.endpoint,
            "model": stub.model if like else f"model of {slug}",
            "prompt": stub.prompt,
            "parameters": stub.parameters,
        },
    )
    persona_set = None
    if personas:
        named = [{"name": name, "text": f"You are a {name}."} for name in personas]
        persona_set, _ = PersonaSet.objects.get_or_create(name="planted", version="1", defaults={"personas": named})
    return Run.objects.create(
        study=study,
        judge=judge,
        state="finished",
        persona_set=persona_set,
        document=json.dumps(frozen),
        sha256="",
        created_by="tests",
        n_planned=0,
    )


def read(
    run: Run, group: str, answers: Mapping[Place, Any], *, stories: Sequence[str] = (), **reading: Any
) -> Assignment:
    """One reading of a group. answers : "declined" and "unreadable" are no answers"""
    study = run.study
    rater = study.raters.filter(code=run.judge.slug).first()
    rater = rater or factories.rater(study, run.judge.slug, kind=Rater.Kind.MODEL)
    version = protocol.current(study)
    row = study.groups.get(code=group)
    codes = list(stories) or sorted(story.code for story in row.stories.all())
    work = Assignment.objects.create(
        study=study,
        rater=rater,
        rater_kind=rater.kind,
        seat=factories.judge_seat(study, row, codes),
        group=row,
        version=version,
    )
    Reading.objects.create(run=run, assignment=work, **reading)
    by_code = {story.code: story for story in row.stories.all()}
    for (key, item_key, story), value in answers.items():
        step = protocol.load_protocol(version).step(key)
        assert step is not None
        (item,) = [item for item in protocol.items_of(step) if item.key == item_key]
        answer = Answer(outcome=value) if value in LOST else Answer(value=value)
        responses.record(work, step=step, item=item, story=by_code.get(story), answer=answer, at=NOON)
    return work


def grade(run: Run, work: Assignment, probabilities: Mapping[Place, Mapping[str, float]]) -> None:
    """What the judge's server said of the probabilities of its answers in a reading, as a run keeps it."""
    document = protocol.load_protocol(work.version)
    for (key, item_key, story), by_value in probabilities.items():
        step = document.step(key)
        assert step is not None
        (item,) = [item for item in protocol.items_of(step) if item.key == item_key]
        row = run.study.stories.get(code=story)
        call = Call.objects.create(
            run=run, assignment=work, step=step, item=item, story=row, state=Call.State.OK, request={}, answered_at=NOON
        )
        attempt = Attempt.objects.create(call=call, number=1, sent_at=NOON, outcome=Attempt.Outcome.ANSWERED)
        value = max(by_value, key=lambda written: by_value[written])
        grades = {item_key: {"by_value": dict(by_value), "outside": 0.0}}
        Parse.objects.create(
            attempt=attempt, version="7", state=Call.State.OK, values={item_key: value}, grades=grades, at=NOON
        )
