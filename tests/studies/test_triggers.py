"""Triggers as such: installed, looked for, lifted, and what they let pass."""

import threading
import time

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, connection, models, transaction
from django.test import RequestFactory

from annotation.responses import verification
from studies import middleware, triggers
from studies.apps import install_triggers, lift_triggers
from studies.models import Instrument, Item, Step, Story, Study
from studies.protocol.triggers import OF_INSTRUMENT, OF_STORY, OF_VERSION, TRIGGERS
from tests import factories
from tests import triggers as tampering
from tests.threads import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def refused(name: str) -> bool:
    with pytest.raises(IntegrityError, match=OF_INSTRUMENT), transaction.atomic():
        Item._base_manager.update(question=name)
    return True


def test_a_trigger_that_is_missing_is_named_by_verify_history(capsys: pytest.CaptureFixture[str]) -> None:
    assert verification.find_missing_triggers() == []
    triggers.lift([TRIGGERS[0]], "default")

    with pytest.raises(CommandError, match="1 faults found"):
        call_command("verify_history")

    assert capsys.readouterr().out.splitlines()[1:] == [
        f"FAULT the database lacks the trigger {TRIGGERS[0].name} on studies_instrument; "
        "`manage.py migrate` puts it back"
    ]


def test_migrating_puts_the_triggers_back() -> None:
    factories.instrument()
    tampering.drop()

    install_triggers("default")

    assert triggers.find_missing(TRIGGERS) == []
    assert refused("Another?")


def test_a_block_that_tampers_ends_with_the_triggers_in_place() -> None:
    factories.instrument()

    with tampering.lifted():
        with tampering.lifted():
            Item._base_manager.update(question="Another?")
        assert Item._base_manager.update(question="A third?") == 2

    assert refused("Another?")


@pytest.mark.embedded
def test_a_table_that_triggers_speak_of_can_be_made_anew(committed: None) -> None:
    """SQLite makes an altered table anew, drops the old one and renames it, and then reads all triggers there are."""
    field = Instrument._meta.get_field("title")
    with pytest.raises(OperationalError, match="no such table"):
        alter(field)

    lift_triggers("default")
    alter(field)
    install_triggers("default")

    assert triggers.find_missing(TRIGGERS) == []


def alter(field: "models.Field[str, str]") -> None:
    """Alter the column to what it is; another help text would not be enough."""
    other = models.CharField(max_length=201)
    other.set_attributes_from_name(field.name)
    other.model = Instrument
    for old, new in ((field, other), (other, field)):
        with connection.schema_editor() as editor:
            editor.alter_field(Instrument, old, new)


@pytest.mark.embedded
def test_replacing_a_row_is_a_change_of_it() -> None:
    factories.instrument()
    columns = ", ".join(field.column for field in Instrument._meta.concrete_fields)
    forged = columns.replace("title", "'Forged'")

    with (
        pytest.raises(IntegrityError, match=OF_INSTRUMENT),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"REPLACE INTO studies_instrument ({columns}) SELECT {forged} FROM studies_instrument")


def test_saving_a_row_as_it_is_passes() -> None:
    study = factories.study()
    version = study.versions.get()
    rows: list[models.Model] = [study, version, *version.steps.all(), *study.stories.all(), *study.groups.all()]
    rows += [*Instrument.objects.all(), *Item.objects.all()]

    for row in rows:
        row.save()

    assert verification.verify(study).faults == []


def test_a_withheld_text_does_not_come_back() -> None:
    story = factories.study().stories.earliest("pk")
    Story.objects.filter(pk=story.pk).update(text="", is_withheld=True)

    with pytest.raises(IntegrityError, match=OF_STORY), transaction.atomic():
        Story.objects.filter(pk=story.pk).update(text=story.text, is_withheld=False)


def test_a_step_does_not_become_one_of_a_metric() -> None:
    study = factories.study()

    with pytest.raises(IntegrityError, match=OF_VERSION), transaction.atomic():
        Step.objects.filter(key="consent").update(kind="metric", instrument=Instrument.objects.first(), layout="")

    assert study.versions.get().steps.filter(kind="metric").count() == 0


def test_a_draft_is_deleted_whole() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)

    study.delete()

    assert not Story.objects.exists()


def test_what_the_database_refuses_is_a_page_with_its_sentence() -> None:
    factories.instrument()
    finality = middleware.FinalityMiddleware(lambda request: None)  # type: ignore[arg-type,return-value]
    request = RequestFactory().get("/")

    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        Item._base_manager.update(question="Another?")

    page = finality.process_exception(request, caught.value)
    assert page is not None
    assert (page.status_code, OF_INSTRUMENT in page.content.decode()) == (409, True)
    assert finality.process_exception(request, IntegrityError("UNIQUE constraint failed")) is None


def test_no_answer_waits_for_a_trigger_of_frozen_protocols() -> None:
    tables = {model._meta.db_table for model in apps.get_app_config("annotation").get_models()}

    assert tables.isdisjoint(trigger.table for trigger in TRIGGERS)


def test_a_step_that_is_being_changed_is_waited_for_before_its_protocol_is_frozen(committed: None) -> None:
    study = factories.study(state=Study.State.DRAFT)
    is_changed = threading.Event()

    def change() -> None:
        with transaction.atomic():
            Step.objects.filter(key="consent").update(text="At the last moment.")
            is_changed.set()
            time.sleep(0.5)

    def freeze() -> None:
        assert is_changed.wait(10)
        factories.freeze(study)

    assert at_once(change, freeze) == [None, None]

    assert "At the last moment." in study.versions.get().document
    assert verification.verify(study).faults == []
