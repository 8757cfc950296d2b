"""The short form of the older copy that is put under open pages: what the server does, without a browser."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from annotation import responses
from annotation.models import Response, ResponseEvent
from annotation.responses import Entry, recording, verification
from tests import factories
from tests.annotation import walk

EventsOf = Callable[[Entry, Response], Sequence[ResponseEvent]]
EARLIER, LATER, LAST = "A pane of glass.", "A pane of glass, and frost.", "A pane of glass, and frost, and who sees it."


def run(n: int) -> dict[str, Any]:
    """n raters save twice and write on; then the database is as it was before, and their pages send what they kept."""
    study = factories.study(n_stories=1, k=n, n_items=1, comparative=False)
    counts = {"gone": 0, "kept": 0, "once": 0}
    for number in range(n):
        client, page = Client(raise_request_exception=False), f"page{number}"
        mine = walk.begin(client, study)
        copy = transaction.savepoint()
        walk.give(client, mine, why=EARLIER, key=f"{page}-1", htmx=True)
        walk.give(client, mine, why=LATER, key=f"{page}-2", base=1, htmx=True)
        transaction.savepoint_rollback(copy)
        draft = {"why": LAST, "key": f"{page}-3", "base": 2}

        counts["gone"] += walk.said(mine) == []
        # The second time as a page does that never heard of the first.
        answers = [walk.give(client, mine, htmx=True, **draft).status_code for _ in range(2)]

        counts["kept"] += answers == [200, 200] and walk.said(mine) == [("yes", LAST)]
        counts["once"] += ResponseEvent.objects.filter(response__assignment=mine).count() == 1
    return counts | {"faults in the history": len(verification.verify().faults)}


@pytest.mark.django_db
def test_pages_that_are_ahead_of_an_older_copy_bring_every_word_once() -> None:
    assert run(4) == {"gone": 4, "kept": 4, "once": 4, "faults in the history": 0}


@pytest.mark.django_db
def test_without_taking_what_is_ahead_words_would_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    apply = recording._apply

    def refuse_ahead(entry: Entry, content: Any, response: Response, events_of: EventsOf) -> Any:
        if entry.base is not None and entry.base > response.revision:
            raise responses.Stale(response)
        return apply(entry, content, response, events_of)

    monkeypatch.setattr(recording, "_apply", refuse_ahead)

    assert run(2)["kept"] == 0
