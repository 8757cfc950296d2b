"""The short form of the sessions that end in mid-sentence: what the server does, without a browser."""

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation import responses
from annotation.models import Assignment, Response, ResponseEvent
from annotation.participation import invitations
from annotation.responses import Entry, recording
from annotation.views.rater import guards
from tests import factories
from tests.annotation import walk

HALF, WHOLE = "It turns on ", "It turns on a pane of glass."


def run(n: int) -> dict[str, Any]:
    """n raters lose their session in mid-sentence, and the page sends what it kept once they have come in again."""
    study = factories.study(n_stories=1, k=n, n_items=1, comparative=False)
    counts = {"refused": 0, "unchanged": 0, "kept": 0, "once": 0}
    for number in range(n):
        client, link = Client(), reverse("annotation:invitation", args=[invitations.issue(study)[1]])
        client.post(link)
        client.post(reverse("annotation:consent"), {"agrees": "yes"})
        client.post(reverse("annotation:begin"))
        mine = Assignment.objects.latest("pk")
        page = f"page{number}"
        walk.give(client, mine, why=HALF, key=f"{page}-1", htmx=True)
        Session.objects.all().delete()
        draft = {"why": WHOLE, "key": f"{page}-2", "base": 1}

        ended = walk.give(client, mine, htmx=True, **draft)
        counts["refused"] += ended.status_code == 401
        counts["unchanged"] += walk.said(mine) == [("yes", HALF)]
        client.post(link)
        answers: list[HttpResponse] = [walk.give(client, mine, htmx=True, **draft) for _ in range(2)]
        counts["kept"] += [a.status_code for a in answers] == [200, 200] and walk.said(mine) == [("yes", WHOLE)]
        keys = (
            ResponseEvent.objects.filter(response__assignment=mine).order_by("revision").values_list("key", flat=True)
        )
        counts["once"] += list(keys) == [f"{page}-1", f"{page}-2"]
    return counts


@pytest.mark.django_db
def test_what_is_sent_after_a_session_has_ended_is_refused_and_kept_once_after_coming_in_again() -> None:
    assert run(5) == {"refused": 5, "unchanged": 5, "kept": 5, "once": 5}


@pytest.mark.django_db
def test_a_session_that_ends_with_a_redirect_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "refuse_ended_session", lambda request: HttpResponse(status=302))

    assert run(2)["refused"] == 0


@pytest.mark.django_db
def test_a_draft_that_is_sent_twice_under_no_key_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without the sender's own name for a save, a repeat is a stranger's.
    def forget(entry: Entry, response: Response) -> list[ResponseEvent]:
        raise responses.Stale(response)

    monkeypatch.setattr(recording, "_relevant_events", forget)
    monkeypatch.setattr(recording, "_says_the_same", lambda response, content: False)

    assert run(2)["kept"] == 0
