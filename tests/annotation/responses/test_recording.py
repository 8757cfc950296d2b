import pytest

from annotation import responses
from annotation.models import Response, ResponseEvent
from annotation.participation import claims
from annotation.responses import Answer, AssignmentEnded, Entry, Stale, history
from studies import protocol
from studies.items import InvalidAnswer
from studies.models import Item
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


@pytest.fixture
def mine():
    return factories.assignment(factories.study())


def test_an_answer_is_one_row_and_one_event(mine) -> None:
    response = factories.answer(mine, value="yes", why="It holds.")

    assert Response.objects.get() == response
    assert (response.value, response.outcome, response.rationale, response.revision) == (
        "yes",
        "answered",
        "It holds.",
        1,
    )
    assert response.events.count() == 1


def test_a_changed_answer_keeps_what_was_said_before(mine) -> None:
    factories.answer(mine, value="yes")

    response = factories.answer(mine, value="no")

    assert Response.objects.count() == 1
    assert response.revision == 2
    assert ['"value":"yes"' in e.words for e in response.events.all()] == [True, False]


def test_saying_the_same_again_changes_nothing(mine) -> None:
    factories.answer(mine, value="yes")

    response = factories.answer(mine, value="yes")

    assert response.revision == 1


def test_a_cleared_answer_is_open_and_its_rationale_stays(mine) -> None:
    factories.answer(mine, value="yes", why="It holds.")

    response = factories.answer(mine, value=None, why="It holds.")

    assert (response.value, response.outcome, response.rationale) == (None, "open", "It holds.")


def test_a_short_rationale_is_saved_and_reported_as_missing(mine) -> None:
    response = factories.answer(mine, value="yes", why="")

    assert response.outcome == "answered"
    assert responses.find_shortfall(response, response.item) != ""


def test_a_value_outside_the_options_changes_nothing(mine) -> None:
    with pytest.raises(InvalidAnswer):
        factories.answer(mine, value="perhaps")

    assert not Response.objects.exists()


def test_a_ranking_is_stored_by_story_never_by_letter(mine) -> None:
    response = factories.answer(mine, step="ranking", value=[["B"], ["A"], ["D"], ["C"]], why="")

    order = mine.seat.order
    assert response.value == [[order[1]], [order[0]], [order[3]], [order[2]]]


def test_a_stale_write_is_refused_and_carries_what_stands(mine) -> None:
    first = factories.answer(mine, value="yes")
    factories.answer(mine, value="no")

    with pytest.raises(Stale) as stale:
        responses.record(
            mine, step=first.step, item=first.item, story=first.story, answer=Answer("yes", "Mine."), at=NOON, base=1
        )

    assert (stale.value.response.value, stale.value.response.revision) == ("no", 2)
    assert Response.objects.get().value == "no"


def test_a_repeated_key_gets_the_stored_answer_and_no_second_event(mine) -> None:
    step = protocol.load_protocol(mine.version).step("tests")
    place = {
        "step": step,
        "item": protocol.items_of(step)[0],
        "story": factories.Story.objects.get(code=mine.seat.order[0]),
    }
    responses.record(mine, **place, answer=Answer("yes"), at=NOON, base=0, key="k1")

    again = responses.record(mine, **place, answer=Answer("yes"), at=NOON, base=0, key="k1")

    assert (again.value, again.revision) == ("yes", 1)
    assert ResponseEvent.objects.count() == 1


def test_nothing_is_recorded_once_the_seat_is_given_up(mine) -> None:
    claims.give_up(mine, at=NOON)

    with pytest.raises(AssignmentEnded):
        factories.answer(mine)

    assert not Response.objects.exists()


def test_an_unreadable_answer_has_no_value(mine) -> None:
    step = protocol.load_protocol(mine.version).step("tests")
    story = factories.Story.objects.get(code=mine.seat.order[0])

    response = responses.record(
        mine, step=step, item=protocol.items_of(step)[0], story=story, answer=Answer(outcome="unreadable"), at=NOON
    )

    assert (response.value, response.outcome) == (None, "unreadable")


def test_an_item_that_may_be_skipped_lacks_nothing() -> None:
    assert responses.find_shortfall(None, Item(is_skippable=True)) == ""
    assert responses.find_shortfall(None, Item()) == responses.UNANSWERED


def save(mine, text: str, *, base: int, key: str = "", n_pasted: int = 0) -> Response:
    """A rationale written by a page that saw revision `base`."""
    step = protocol.load_protocol(mine.version).step("tests")
    return responses.record(
        mine,
        step=step,
        item=protocol.items_of(step)[0],
        story=factories.Story.objects.get(code=mine.seat.order[0]),
        answer=Answer("yes", text),
        at=NOON,
        base=base,
        key=key,
        n_pasted=n_pasted,
    )


def test_a_page_that_never_heard_of_its_own_save_may_go_on(mine) -> None:
    save(mine, "One.", base=0, key="page-1")

    later = save(mine, "One, two.", base=0, key="page-2")

    assert (later.rationale, later.revision) == ("One, two.", 2)


@pytest.mark.parametrize("key", ["other-2", "page-1x", "page", "-3", "", "page-0"])
def test_another_page_or_an_earlier_save_may_not(mine, key) -> None:
    save(mine, "One.", base=0, key="page-1")

    with pytest.raises(Stale):
        save(mine, "Two.", base=0, key=key)

    assert Response.objects.get().rationale == "One."


def test_a_save_that_comes_late_does_not_undo_the_next_one(mine) -> None:
    save(mine, "One, two.", base=0, key="page-2")

    with pytest.raises(Stale):
        save(mine, "One.", base=0, key="page-1")

    assert Response.objects.get().rationale == "One, two."


def test_a_repeated_save_is_told_its_own_revision_so_that_its_page_still_hears_of_others(mine) -> None:
    save(mine, "Mine.", base=0, key="page-1")
    save(mine, "Theirs, on top.", base=1, key="other-1")

    repeated = save(mine, "Mine.", base=0, key="page-1")

    assert repeated.revision == 1
    with pytest.raises(Stale):
        save(mine, "Mine, and more.", base=repeated.revision, key="page-2")


def test_a_large_paste_is_noted_in_the_history(mine) -> None:
    save(mine, "Pasted.", base=0, n_pasted=800)

    assert ResponseEvent.objects.get().n_pasted == 800


@pytest.mark.parametrize("n_stored", [0, 1])
def test_a_page_ahead_of_a_restored_database_is_written_and_the_chain_still_holds(mine, n_stored: int) -> None:
    if n_stored:
        factories.answer(mine, value="yes")

    written = factories.answer(mine, value="no", base=5)

    assert (written.value, written.revision) == ("no", 6)
    assert history.faults(Response.objects.get(), written.events.all()) == []
    with pytest.raises(Stale):
        factories.answer(mine, value="yes", base=5)


def test_in_a_batch_too_a_page_may_be_ahead(mine) -> None:
    place = factories.answer(mine, value="yes")
    entry = Entry(mine, place.step, place.item, place.story, Answer("no", "It is so."), NOON, base=5)

    [written] = responses.record_many([entry])

    assert (written.value, written.revision) == ("no", 6)
