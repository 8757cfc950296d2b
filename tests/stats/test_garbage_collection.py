"""What is searched for garbage while much is computed."""

import gc

import pytest

from stats import garbage_collection

pytestmark = pytest.mark.usefixtures("nothing_frozen")


def test_what_was_there_is_not_searched_until_the_end() -> None:
    with garbage_collection.only_new():
        n_frozen = gc.get_freeze_count()

    assert n_frozen > 1000
    assert gc.get_freeze_count() == 0


def test_an_inner_block_does_not_end_the_outer_one() -> None:
    with garbage_collection.only_new():
        with garbage_collection.only_new():
            pass
        n_frozen = gc.get_freeze_count()

    assert n_frozen > 1000


def test_an_inner_block_does_not_count_what_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counts.append(1) or 0)

    with garbage_collection.only_new(), garbage_collection.only_new(), garbage_collection.only_new():
        assert counts == [1]
    with garbage_collection.only_new():
        assert counts == [1, 1]


def test_an_error_ends_it_too() -> None:
    with pytest.raises(ZeroDivisionError), garbage_collection.only_new():
        _ = 1 / 0

    assert gc.get_freeze_count() == 0
