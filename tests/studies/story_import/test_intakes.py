"""Long files, brought in by a worker: asked for once, counted, all or none, taken over from the dead."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.utils import timezone, translation

from studies import construction, story_edits, tasks
from studies.models import Story, StoryImport, StoryIntake, Study
from studies.story_import import imports, intakes
from studies.story_import.files import read_file
from studies.vocabulary import IntakeStage
from tests.studies.folders import rows_by_table
from tests.studies.story_import.files import CSV
from tests.studies.story_import.test_story_imports import keep, make_draft
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of which imports a worker was told, and none came."""
    told: list[int] = []
    monkeypatch.setattr(intakes, "_send", told.append)
    return told


@pytest.fixture
def every_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intakes, "COUNT_SECONDS", 0)


def asked(study: Study, content: str = CSV) -> StoryImport:
    """The file, that a worker is to bring in."""
    row = keep(study, content)
    intakes.ask(row, at=timezone.now())
    return row


def intake_of(row: StoryImport) -> StoryIntake:
    return StoryIntake.objects.get(pk=row.pk)


@pytest.mark.parametrize(
    ("content", "is_long"),
    [
        ("text\n" + "x\n" * 1_000, False),
        ("text\n" + "x\n" * 1_001, True),
        ("text\n" + f"{'x' * 999_999}\n" * 5, False),
        ("text\n" + f"{'x' * 999_999}\n" * 6, True),
    ],
)
def test_a_file_is_long_by_its_rows_or_letters(content: str, is_long: bool) -> None:
    assert intakes.is_long(read_file("a.csv", content.encode())) is is_long


def test_a_worker_brings_in_all_that_was_asked_for_and_keeps_no_file(
    sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    study = make_draft()

    with django_capture_on_commit_callbacks(execute=True):
        row = asked(study)
    tasks.bring_in_stories(row.pk)

    assert sent == [row.pk]
    assert {g.code: g.stories.count() for g in study.groups.all()} == {"orchard": 2, "harbour": 2}
    intake = intake_of(row)
    assert (intake.n_stories, intake.n_groups, intake.is_under_way) == (4, 2, False)
    row.refresh_from_db()
    assert (row.table, row.choices) == ("", {})
    assert [entry.change_message for entry in LogEntry.objects.all()] == ["4 stories brought in"]


def test_however_often_it_is_asked_for_one_worker_is_told_and_brings_it_in_once(
    sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    study = make_draft()
    with django_capture_on_commit_callbacks(execute=True):
        row = asked(study)
        intakes.ask(row, at=timezone.now())

    for _ in range(2):
        tasks.bring_in_stories(row.pk)

    assert sent == [row.pk]
    assert study.stories.count() == 4


@pytest.mark.usefixtures("every_count")
def test_rows_are_counted_stage_by_stage_before_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    row, counted = asked(make_draft()), []
    renew = intakes.IntakeLease._renew

    def note(lease: intakes.IntakeLease, duration: timedelta, **values: Any) -> None:
        counted.append((values["stage"], values["n_rows_done"], values["n_rows"], len(connection.savepoint_ids)))
        renew(lease, duration, **values)

    monkeypatch.setattr(intakes.IntakeLease, "_renew", note)
    n_open = len(connection.savepoint_ids)

    intakes.carry_out(row.pk)

    assert counted == [
        *((IntakeStage.READING, n, 4, n_open) for n in range(4)),
        *((IntakeStage.EXAMINING, n, 4, n_open) for n in range(4)),
        (IntakeStage.WRITING, 4, 4, n_open),
    ]


@pytest.mark.usefixtures("committed")
@pytest.mark.django_db(transaction=True)
def test_while_stories_are_put_in_others_read_that_all_rows_are_through_and_no_story(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = make_draft()
    row, add = asked(study), construction.add_stories
    is_writing, may_end = threading.Event(), threading.Event()

    def wait(*args: Any) -> None:
        add(*args)
        is_writing.set()
        assert may_end.wait(10)

    monkeypatch.setattr(construction, "add_stories", wait)

    def look() -> tuple[str, int, int]:
        assert is_writing.wait(10)
        intake = intake_of(row)
        n_stories = Story.objects.count()
        may_end.set()
        return intake.stage, intake.n_rows_done, n_stories

    _done, seen = at_once(lambda: intakes.carry_out(row.pk), look)

    assert seen == ("writing", 4, 0)
    assert study.stories.count() == 4


def launch(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(state="live")


def add_story(study: Study) -> None:
    Story.objects.create(study=study, code="c1", text="Another one.")


MEANWHILE = {
    "launched": (launch, story_edits.LAUNCHED),
    "edited": (add_story, "The study’s stories were changed in the meantime."),
}


@pytest.mark.parametrize("name", MEANWHILE)
def test_a_study_that_is_changed_meanwhile_takes_in_nothing_and_says_why(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, sentence = MEANWHILE[name]
    study = make_draft()
    row, prepare = asked(study), imports.prepare

    def prepare_and_change(*args: Any, **more: Any) -> imports.PreparedImport:
        prepared = prepare(*args, **more)
        change(study)
        return prepared

    monkeypatch.setattr(imports, "prepare", prepare_and_change)
    intakes.carry_out(row.pk)

    intake = intake_of(row)
    assert intake.problem.startswith(sentence)
    assert not study.stories.filter(code="a1").exists()
    row.refresh_from_db()
    assert row.table


def test_with_problems_nothing_comes_in_and_it_is_said_in_the_language_of_who_asked() -> None:
    study = make_draft()
    row = keep(study, CSV)
    with translation.override("pt-br"):
        intakes.ask(row, at=timezone.now())
    launch(study)

    intakes.carry_out(row.pk)

    assert intake_of(row).problem.startswith("O estudo foi lançado")


def test_a_mistake_of_ours_is_said_the_file_is_kept_and_it_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    sent: list[int],
    django_capture_on_commit_callbacks: Any,
) -> None:
    study = make_draft()
    row, add = asked(study), construction.add_stories

    def fail_at_the_end(*args: Any) -> None:
        add(*args)
        raise ZeroDivisionError

    monkeypatch.setattr(construction, "add_stories", fail_at_the_end)
    rows = {name: n for name, n in rows_by_table().items() if name != "studies_storyintake"}
    intakes.carry_out(row.pk)
    assert "(ZeroDivisionError)" in intake_of(row).problem
    assert f"stories {row.pk} did not come in" in caplog.text
    assert {name: n for name, n in rows_by_table().items() if name != "studies_storyintake"} == rows

    monkeypatch.setattr(construction, "add_stories", add)
    intakes.carry_out(row.pk)
    assert study.stories.count() == 0, "nobody asked for it again"
    with django_capture_on_commit_callbacks(execute=True):
        intakes.ask(row, at=timezone.now())
    intakes.carry_out(row.pk)
    assert (study.stories.count(), sent) == (4, [row.pk])


def test_a_worker_that_died_is_noticed_and_another_is_told_once(
    sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    study = make_draft()
    row, at = asked(study), timezone.now()
    StoryIntake.objects.update(leased_until=at + timedelta(seconds=30), stage="reading")
    intakes.carry_out(row.pk)
    assert study.stories.count() == 0

    with django_capture_on_commit_callbacks(execute=True):
        for seconds in (16, 29, 31, 32):
            intakes.remind(intake_of(row), at=at + timedelta(seconds=seconds))
    assert sent == [row.pk]

    StoryIntake.objects.update(leased_until=at)
    intakes.carry_out(row.pk)
    assert study.stories.count() == 4


@pytest.mark.usefixtures("every_count")
@pytest.mark.parametrize("stage", list(IntakeStage))
def test_one_who_was_taken_for_dead_stops_where_it_is(stage: IntakeStage, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_draft()
    row, renew, others = asked(study), intakes.IntakeLease._renew, []

    def sleep(lease: intakes.IntakeLease, duration: timedelta, **values: Any) -> None:
        renew(lease, duration, **values)
        if values["stage"] == stage and not others:
            others.append(values["stage"])
            StoryIntake.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
            intakes.carry_out(row.pk)

    monkeypatch.setattr(intakes.IntakeLease, "_renew", sleep)

    intakes.carry_out(row.pk)

    assert others == [stage]
    assert (study.stories.count(), intake_of(row).problem) == (4, "")
    assert LogEntry.objects.count() == 1


def test_one_whose_turn_another_has_taken_leaves_writing_to_that_one(monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_draft()
    row, begin_writing = asked(study), intakes.IntakeLease.begin_writing

    def begin_too_late(lease: intakes.IntakeLease, n_rows: int) -> None:
        begin_writing(lease, n_rows)
        StoryIntake.objects.update(leased_until=timezone.now() + timedelta(minutes=1))

    monkeypatch.setattr(intakes.IntakeLease, "begin_writing", begin_too_late)

    intakes.carry_out(row.pk)

    assert (study.stories.count(), intake_of(row).is_under_way) == (0, True)


def test_what_is_cancelled_does_not_come_in(monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_draft()
    row, prepare = asked(study), imports.prepare

    def cancel_meanwhile(*args: Any, **more: Any) -> imports.PreparedImport:
        prepared = prepare(*args, **more)
        assert intakes.cancel(intake_of(row))
        return prepared

    monkeypatch.setattr(imports, "prepare", cancel_meanwhile)
    intakes.carry_out(row.pk)
    assert study.stories.count() == 0

    monkeypatch.setattr(imports, "prepare", prepare)
    intakes.ask(row, at=timezone.now())
    intakes.carry_out(row.pk)
    assert study.stories.count() == 4
    assert not intakes.cancel(intake_of(row)), "they are in"


def test_another_file_leaves_alone_what_is_under_way_and_replaces_what_is_not() -> None:
    study = make_draft()
    under_way = asked(study)

    second = keep(study, CSV)
    assert set(StoryImport.objects.all()) == {under_way, second}

    intakes.carry_out(under_way.pk)
    third = keep(study, CSV)
    assert set(StoryImport.objects.all()) == {third}


def test_an_old_file_that_was_asked_for_today_is_not_forgotten() -> None:
    row = asked(make_draft())
    StoryImport.objects.update(created_at=timezone.now() - timedelta(hours=30))

    assert imports.forget_old_imports(at=timezone.now()) == 0
    assert imports.forget_old_imports(at=timezone.now() + timedelta(hours=25)) == 1
    assert not StoryIntake.objects.filter(pk=row.pk).exists()


@pytest.mark.usefixtures("committed")
@pytest.mark.django_db(transaction=True)
def test_tasks_at_the_same_moment_bring_it_in_once() -> None:
    study = make_draft()
    row = asked(study)

    outcomes = at_once(*[lambda: intakes.carry_out(row.pk)] * 3)

    assert outcomes == [None, None, None]
    assert (study.stories.count(), intake_of(row).problem, LogEntry.objects.count()) == (4, "", 1)
