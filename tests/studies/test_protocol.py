"""What is frozen: only what was published, with every word that raters meet, so that nothing reaches them later."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.db import connection
from django.db.models import Model

from annotation import design
from annotation.responses import verification
from studies import protocol
from studies.models import Cloze, Instrument, Item, ProtocolVersion, Step, Study
from studies.protocol import amendments, frozen
from studies.protocol.prose import ProseFacts, write_prose, write_text
from tests import factories, triggers
from tests.annotation import clozes
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def unpublished(*, n_items: int = 2) -> Study:
    """A study in draft, one step of which asks an instrument that is not published yet."""
    made = factories.study(state=Study.State.DRAFT, planned=False, n_items=n_items)
    with triggers.lifted():
        Instrument.objects.filter(slug="plums-tests").update(status=Instrument.Status.DRAFT, fingerprint="")
    return made


IS_DRAFT = "“The tests” asks plums-tests 1, which is a draft and could still change; publish it first"


def test_a_study_that_asks_a_draft_instrument_is_not_planned() -> None:
    study = unpublished()

    with pytest.raises(protocol.NotPlannable, match=IS_DRAFT):
        design.plan(study)


def test_a_protocol_that_asks_a_draft_instrument_is_not_frozen() -> None:
    study = unpublished()

    with pytest.raises(protocol.NotPlannable, match=IS_DRAFT):
        protocol.freeze(study.versions.get(), purpose=protocol.Purpose.RUN, reason="", by="tests", at=NOON)

    assert study.versions.get().frozen_at is None


def words(row: Model, names: tuple[str, ...]) -> dict[str, object]:
    return {name: getattr(row, name) for name in ("pk", *names)}


def everything(read: protocol.Protocol) -> list[object]:
    """All that raters' pages can ask of a protocol."""
    return [
        (
            words(step, (*frozen.STEP, "version_id", "instrument_id")),
            words(step.instrument, (*frozen.INSTRUMENT, "scores")) if step.instrument else None,
            [words(item, (*frozen.ITEM, "instrument_id")) for item in protocol.items_of(step)],
            words(cloze, (*frozen.CLOZE, "filling_id")) if (cloze := protocol.cloze_of(step)) else None,
        )
        for step in read.steps
    ]


@pytest.mark.parametrize("made", [factories.study, factories.practising_study, clozes.study])
def test_a_protocol_compiled_from_its_document_is_that_of_the_rows(made) -> None:
    version = made().versions.get()

    compiled = protocol.load_protocol(version)

    assert everything(compiled) == everything(protocol.read_rows(version))
    assert [step.pk for step in compiled.ratings] == [step.pk for step in protocol.read_rows(version).ratings]


def test_a_frozen_protocol_is_read_once(django_assert_num_queries) -> None:
    version = clozes.study().versions.get()

    with django_assert_num_queries(4):  # the document, and the keys of steps, of items and of the cloze
        protocol.load_protocol(version)
    with django_assert_num_queries(0):
        everything(protocol.load_protocol(ProtocolVersion(**words(version, ("id", "sha256", "frozen_at")))))


def test_the_version_is_that_of_the_caller_not_of_an_earlier_one() -> None:
    version = factories.study().versions.get()
    protocol.load_protocol(version)
    again = ProtocolVersion.objects.get(pk=version.pk)

    assert protocol.load_protocol(again).version is again


def test_raters_meet_what_was_frozen_whatever_the_rows_say_later() -> None:
    version = factories.study().versions.get()
    before = everything(protocol.load_protocol(version))

    with triggers.lifted():
        Item._base_manager.update(question="Forged?")
        Step.objects.filter(key="tests").update(title="Forged.", position=99)
    protocol.forget_protocols()

    assert everything(protocol.load_protocol(version)) == before


def test_what_is_no_part_of_the_document_is_read_from_the_rows() -> None:
    version = factories.study().versions.get()
    Item._base_manager.update(quoted=["question"])

    step = protocol.load_protocol(version).steps[1]

    assert [item.quoted for item in protocol.items_of(step)] == [["question"], ["question"]]


def test_a_missing_row_of_a_frozen_protocol_is_named() -> None:
    version = factories.study().versions.get()
    with triggers.lifted():
        Item._base_manager.filter(key="item-2").update(key="other")

    with pytest.raises(protocol.DamagedProtocol, match="the item plums-tests 1, item-2 of a frozen protocol is gone"):
        protocol.load_protocol(version)


def test_a_step_of_a_metric_belongs_to_no_protocol() -> None:
    study = factories.study()
    version = study.versions.get()
    numbers = factories.instrument("length", n_items=1, type="number", rationale="none", rationale_least=0)
    protocol.add_metric_step(version, numbers, key="length")

    keys = ["consent", "tests", "ranking", "guess"]
    assert [step.key for step in protocol.read_rows(version).steps] == keys
    assert [step.key for step in protocol.load_protocol(version).steps] == keys
    assert verification.verify(study).faults == []


def sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


QUESTION = "instruments, plums-tests 1, items, item-1, question"


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (
            "UPDATE studies_item SET question = 'Is it bad?' WHERE key = 'item-1' AND question LIKE '%way 1%' "
            "AND instrument_id = (SELECT id FROM studies_instrument WHERE slug = 'plums-tests')",
            f'{QUESTION}: "Is it bad?" stands where "Is it good in way 1?" was frozen',
        ),
        (
            "UPDATE studies_step SET text = 'Sign here.' WHERE key = 'consent'",
            'steps, consent, text: "Sign here." stands where "You can stop at any time." was frozen',
        ),
        (
            "UPDATE studies_step SET kind = 'metric', instrument_id = (SELECT MIN(id) FROM studies_instrument)"
            " WHERE key = 'consent'",
            "steps, consent: it was frozen and is gone",
        ),
        ("UPDATE studies_study SET contact = ''", 'contact: "" stands where "us@example.org" was frozen'),
        ("DELETE FROM studies_storygroup_stories", "groups, plot1: []"),
        ("UPDATE studies_story SET text = 'Another.' WHERE code = 'p1s2'", "stories, p1s2: "),
        ("UPDATE studies_protocolversion SET sha256 = 'f'", "its document is not the one that was frozen"),
        ("UPDATE studies_protocolversion SET document = '['", "it cannot be read (JSONDecodeError)"),
        ("UPDATE studies_instrument SET status = 'draft' WHERE slug = 'plums-tests'", 'status: "draft" stands where'),
    ],
)
def test_what_was_rewritten_behind_the_back_of_the_protocol_is_found(statement: str, fault: str) -> None:
    study = factories.study()
    assert verification.verify(study).faults == []

    with triggers.lifted():
        sql(statement)

    faults = verification.verify(study).faults
    assert any(line.startswith("protocol plums 1: ") and fault in line for line in faults), faults


def test_a_rewritten_cloze_is_found() -> None:
    study = clozes.study()
    with triggers.lifted():
        Cloze.objects.update(document=Cloze.objects.get().document.replace("slippers", "boots") + "\n")

    (fault,) = verification.verify(study).faults

    assert "cloze, document" in fault


def test_an_earlier_version_keeps_what_the_study_has_amended_since() -> None:
    study = factories.study()
    first = study.versions.get()
    second = ProtocolVersion.objects.create(study=study, number=2)
    Step.objects.create(version=second, position=1, key="consent", kind="consent", text="Other words.")
    asked = first.steps.get(key="tests")
    Step.objects.create(
        version=second, position=2, key="tests", kind="rating", scope="story", instrument=asked.instrument
    )
    with triggers.lifted():
        Study.objects.update(contact="other@example.org")
    protocol.freeze(second, purpose=protocol.Purpose.LAUNCH, reason="words", by="tests", at=NOON)

    assert verification.verify(study).faults == []


def test_the_latest_version_is_the_last_frozen_one_found_in_one_question(
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    """Between two questions another launch could freeze the draft, and a study would seem to have no version."""
    study = factories.study(state=Study.State.DRAFT, planned=False)
    (draft,) = study.versions.all()
    with django_assert_num_queries(1):
        assert protocol.latest(study) == draft

    protocol.freeze(draft, purpose=protocol.Purpose.PLAN, reason="tests", by="tests", at=NOON)
    ProtocolVersion.objects.create(study=study, number=2)
    with django_assert_num_queries(1):
        assert protocol.latest(study) == draft


def test_a_step_without_a_heading_is_called_by_its_instrument() -> None:
    study = factories.study(planned=False)
    version = study.versions.get()
    title = Instrument.objects.get(slug="plums-tests").title
    version.steps.filter(key="tests").update(title="")
    loaded = protocol.read_rows(version)

    segments = protocol.estimate_path(loaded, [100])
    prose = write_text(write_prose(protocol.write_document(loaded), ProseFacts(1, 9, "")), "", "")

    step = loaded.ratings[0]
    label = amendments.label_of("step tests text", {"tests": step})
    assert protocol.name_of(step) == title
    assert [segment.title for segment in segments if segment.step == "tests"] == [title]
    assert label == f"“{title}”: text"
    assert f"“{title}”: about each story" in prose
    assert "Questions" not in prose
