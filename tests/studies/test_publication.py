"""Published items, many at once: the manager refuses what `save` and `delete` of each would."""

import pytest

from studies.models import Instrument, Item
from studies.publication import AlreadyPublished, explain_published
from tests import factories

pytestmark = pytest.mark.django_db
CHANGES = "^tests 1 .* item-1 never changes"


@pytest.fixture
def published() -> Instrument:
    return factories.instrument("tests", n_items=2)


@pytest.fixture
def draft() -> Instrument:
    made = Instrument.objects.create(slug="draft", version="1", title="Draft")
    Item.objects.create(instrument=made, position=1, key="one", type="binary", question="Oen?")
    return made


def questions() -> list[str]:
    return list(Item.objects.order_by("instrument__slug", "position").values_list("question", flat=True))


def test_many_are_not_changed_at_once(published: Instrument, draft: Instrument) -> None:
    before = questions()

    with pytest.raises(AlreadyPublished, match=CHANGES):
        Item.objects.update(question="Another?")
    with pytest.raises(AlreadyPublished, match=CHANGES):
        published.items.update(question="Another?")
    items = [Item(pk=item.pk, question="Another?") for item in published.items.all()]
    with pytest.raises(AlreadyPublished, match=CHANGES):
        Item.objects.bulk_update(items, ["question"])

    assert questions() == before


def test_many_are_not_deleted_at_once(published: Instrument) -> None:
    with pytest.raises(AlreadyPublished, match=r"^tests 1 .* item-1 stays"):
        Item.objects.filter(key="item-1").delete()

    assert published.items.count() == 2


def test_the_manager_cannot_delete_all_items_by_a_slip() -> None:
    assert not hasattr(Item.objects, "delete")
    assert hasattr(Item.objects.all(), "delete")


def test_none_is_brought_into_a_published_instrument(published: Instrument, draft: Instrument) -> None:
    said = str(explain_published("tests 1"))

    with pytest.raises(AlreadyPublished, match=said):
        Item.objects.bulk_create([Item(instrument=published, position=3, key="more", type="binary", question="More?")])
    with pytest.raises(AlreadyPublished, match=said):
        draft.items.update(instrument=published, position=3)
    moved = draft.items.get()
    moved.instrument, moved.position = published, 3
    with pytest.raises(AlreadyPublished, match=said):
        Item.objects.bulk_update([moved], ["instrument", "position"])

    assert (published.items.count(), draft.items.count()) == (2, 1)


def test_drafts_are_edited_many_at_once(published: Instrument, draft: Instrument) -> None:
    other = Instrument.objects.create(slug="other", version="1", title="Another draft")
    assert Item.objects.bulk_update([Item(pk=draft.items.get().pk, instrument=other)], ["instrument"]) == 1
    assert other.items.update(instrument=draft) == 1
    assert draft.items.update(question="One?") == 1
    assert Item.objects.filter(instrument=draft).delete()[0] == 1

    assert "One?" not in questions()


def test_what_only_says_where_words_come_from_can_be_corrected(published: Instrument) -> None:
    assert published.items.update(quoted=["question"], adapted=[]) == 2
