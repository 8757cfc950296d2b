from datetime import datetime, timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from annotation.models import Response, ResponseEvent
from annotation.responses import history
from tests import factories, triggers


@pytest.fixture
def response() -> Response:
    mine = factories.assignment(factories.study())
    for value in ("yes", "no", "yes"):
        factories.answer(mine, value=value)
    return Response.objects.get()


def faults(response: Response) -> list[str]:
    response.refresh_from_db()
    return history.faults(response, response.events.order_by("revision"))


@pytest.mark.django_db
def test_an_untouched_history_verifies(response: Response) -> None:
    assert response.events.count() == 3
    assert faults(response) == []


@pytest.mark.django_db
@pytest.mark.parametrize("change", [{"words": "{}"}, {"commitment": "0" * 64}, {"digest": "0" * 64}, {"revision": 9}])
def test_the_database_refuses_to_change_an_event(response: Response, change: dict[str, object]) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        ResponseEvent.objects.filter(revision=2).update(**change)


@pytest.mark.django_db
def test_the_database_refuses_to_delete_an_event(response: Response) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        ResponseEvent.objects.filter(revision=2).delete()


@pytest.mark.django_db
def test_erased_words_are_gone_and_the_chain_still_verifies(response: Response) -> None:
    ResponseEvent.objects.filter(revision=2).update(words=None)

    assert response.events.get(revision=2).words is None
    assert faults(response) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"words": '{"value":"no"}'}, "the words of event 2 are not those it was committed with"),
        ({"commitment": "0" * 64}, "event 2 does not follow from the one before"),
        ({"digest": "0" * 64}, "event 2 does not follow from the one before"),
    ],
)
def test_a_change_behind_the_triggers_is_found(response: Response, change: dict[str, object], fault: str) -> None:
    triggers.drop()

    ResponseEvent.objects.filter(revision=2).update(**change)

    assert fault in faults(response)


@pytest.mark.django_db
def test_an_answer_changed_without_an_event_is_found(response: Response) -> None:
    Response.objects.update(value="no")

    assert faults(response) == ["the response's value is not what its latest event says"]


@pytest.mark.django_db
@pytest.mark.parametrize("at", [None, factories.NOON - timedelta(seconds=1)])
def test_another_time_of_the_first_answer_is_found(response: Response, at: datetime | None) -> None:
    Response.objects.update(first_answered_at=at)

    assert faults(response) == ["the response's first answer is not of the time that its events give"]


@pytest.mark.django_db
def test_words_of_an_erased_event_leave_open_whether_it_was_the_first_answer(response: Response) -> None:
    ResponseEvent.objects.filter(revision=1).update(words=None)

    assert faults(response) == []


@pytest.mark.django_db
def test_a_history_moved_to_another_response_is_found(response: Response) -> None:
    other = factories.answer(factories.assignment(response.assignment.study), item=2)
    triggers.drop()
    other.events.all().delete()
    ResponseEvent.objects.filter(response=response).update(response=other)
    Response.objects.filter(pk=other.pk).update(head=response.head)

    assert "event 1 does not follow from the one before" in faults(other)


@pytest.mark.django_db
@pytest.mark.parametrize("change", [{"key": "other"}, {"n_pasted": 4}])
def test_the_key_and_the_paste_of_an_event_are_in_its_digest(response: Response, change: dict[str, object]) -> None:
    triggers.drop()

    ResponseEvent.objects.filter(revision=2).update(**change)

    assert faults(response) == ["event 2 does not follow from the one before"]


def test_the_triggers_come_back_after_the_tables_were_emptied(committed: None) -> None:
    triggers.drop()
    triggers.install(connection.alias)
    mine = factories.assignment(factories.study())
    factories.answer(mine)

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        ResponseEvent.objects.all().delete()
