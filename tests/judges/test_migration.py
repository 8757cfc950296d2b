"""A database of the release before: what its calls held is kept when they are moved to the tables of today."""

from datetime import timedelta
from typing import Any

import pytest
from django.apps.registry import Apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotation.models import Assignment
from judges import catalogue, prompts, runs
from judges.models import Attempt, Call, Reading, Run, Text
from judges.requests import texts
from studies.models import Study
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.slow  # it needs a database that was made by migrations: see the Makefile

BEFORE = [("judges", "0001_initial")]
MARK = f"fence-{'1' * 32}"


def migrated(targets: list[tuple[str, str]]) -> Apps:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


def latest() -> list[tuple[str, str]]:
    return [key for key in MigrationExecutor(connection).loader.graph.leaf_nodes() if key[0] == "judges"]


def old_run(apps: Apps, study: Study) -> Any:
    """A run as the release before wrote it, without calls."""
    endpoint = apps.get_model("judges", "Endpoint").objects.create(name="far", base_url="https://api.example.org/v1")
    prompt = apps.get_model("judges", "Prompt").objects.create(name="p", version="1", template="t")
    judge = apps.get_model("judges", "Judge").objects.create(slug="far", endpoint=endpoint, model="m", prompt=prompt)
    return apps.get_model("judges", "Run").objects.create(
        study_id=study.pk, judge=judge, document="{}", sha256="0" * 64, created_by="tests", n_planned=3
    )


def seated(study: Study) -> Assignment:
    group = study.groups.get()
    order = [f"p1s{n}" for n in (2, 1, 4, 3)]
    return Assignment.objects.create(
        study=study,
        rater=factories.rater(study, "far", kind="model"),
        rater_kind="model",
        seat=factories.judge_seat(study, group, order),
        group=group,
        version=study.versions.get(),
    )


def test_bodies_tokens_and_words_of_old_calls_are_kept(committed: None) -> None:
    study = factories.study()
    assignment = seated(study)
    stories = {story.code: story for story in study.stories.all()}
    steps = {step.key: step for step in study.versions.get().steps.all()}
    about_one = f"{prompts.fence(stories['p1s1'].text, MARK)}\n\nIs it good?"
    blocks = [
        prompts.fence(stories[code].text, MARK, name=f"story {letter}")
        for letter, code in (("A", "p1s2"), ("B", "p1s1"))
    ]
    about_group = "\n\n".join([*blocks, "Which is better?"])
    old = migrated(BEFORE)
    try:
        run = old_run(old, study)
        old_call, old_attempt = old.get_model("judges", "Call"), old.get_model("judges", "Attempt")

        def add(step: str, story: str, content: str, **values: Any) -> Any:
            item = steps[step].instrument.items.first()
            request = {"model": "m", "messages": [{"role": "user", "content": content}], "parameters": {}, "schema": {}}
            return old_call.objects.create(
                run=run,
                assignment_id=assignment.pk,
                step_id=steps[step].pk,
                item_id=item.pk,
                story_id=stories[story].pk if story else None,
                request=request,
                **values,
            )

        answer = {"state": "ok", "response": "{“yes”}", "n_tokens_in": 11, "n_tokens_out": 3, "answered_at": NOON}
        answered = add("tests", "p1s1", about_one, **answer)
        old_attempt.objects.create(call=answered, number=1, sent_at=NOON, outcome="failed", reason="HTTP 500")
        old_attempt.objects.create(call=answered, number=2, sent_at=NOON, outcome="answered")
        in_flight = add("ranking", "", about_group, state="leased", lease_until=NOON + timedelta(minutes=1))
        old_attempt.objects.create(call=in_flight, number=1, sent_at=NOON)
        of_metric = add("guess", "p1s1", "nothing", state="ok", response='{"words": 8}', sent_at=NOON, answered_at=NOON)
    finally:
        migrated(latest())

    call = Call.objects.get(pk=answered.pk)
    last = call.attempts.get(number=2)
    assert (last.body, last.n_tokens_in, last.n_tokens_out) == ("{“yes”}", 11, 3)
    assert call.attempts.get(number=1).body == ""
    assert call.items == [call.item.key]
    assert texts.render(call.request)["messages"] == [{"role": "user", "content": about_one}]
    group_call = Call.objects.get(pk=in_flight.pk)
    assert texts.render(group_call.request)["messages"] == [{"role": "user", "content": about_group}]
    assert group_call.attempts.get().lease_until == NOON + timedelta(minutes=1)
    by_story = {text.content: text.story and text.story.code for text in Text.objects.exclude(story=None)}
    one = prompts.fence(stories["p1s1"].text, MARK)
    assert by_story == {one: "p1s1", blocks[0]: "p1s2", blocks[1]: "p1s1"}
    assert Attempt.objects.get(call=of_metric.pk).body == '{"words": 8}'
    reading = Reading.objects.get()
    assert (reading.run_id, reading.assignment_id, reading.order, reading.repeat) == (
        run.pk,
        assignment.pk,
        "planned",
        1,
    )


@pytest.mark.slow
def test_going_back_gives_calls_what_was_theirs(committed: None) -> None:
    run = runs.drain(runs.start(factories.study(comparative=False), catalogue.make_stub_judge(), by="tests"))
    first = run.calls.order_by("pk")[0]
    body, sent = first.attempts.get().body, texts.render(first.request)["messages"]

    try:
        old_call = migrated(BEFORE).get_model("judges", "Call")
        row = old_call.objects.get(pk=first.pk)
        held = row.response, row.request["messages"]
    finally:
        migrated(latest())

    assert held == (body, sent)
    assert Run.objects.get().calls.get(pk=first.pk).attempts.get().body == body
