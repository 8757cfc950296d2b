"""Two windows on the same answers, edited by turns over a bad line: is anything overwritten unseen?"""

import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from django.test import Client

from annotation.models import Response, ResponseEvent
from annotation.participation import invitations
from studies.models import Study
from tests import factories
from tests.annotation import walk


@dataclass
class Window:
    """One page: what it last saw of each answer, and upon which revision its next save is based."""

    name: str
    client: Client
    base: dict[int, int] = field(default_factory=dict)
    seen: dict[int, set[str]] = field(default_factory=dict)
    n_saves: int = 0

    def sees(self, item: int, text: str) -> None:
        self.seen.setdefault(item, {""}).add(text)


def run(n: int = 200, *, seed: int = 1) -> dict[str, Any]:
    """n edits of three answers in two windows, some of whose saves are heard of and some not.

    silent overwrites : events that stand on top of a text which their window had never shown
    """
    rng = np.random.default_rng(seed)
    study = factories.study(f"tabs{Study.objects.count()}", n_stories=1, k=1, n_items=3, comparative=False)
    _, token = invitations.issue(study)
    windows = [Window("one", Client()), Window("two", Client())]
    for window in windows:
        window.client.post(f"/r/{token}/")
    windows[0].client.post("/consent/", {"agrees": "yes"})
    windows[0].client.post("/group/")
    assignment = study.assignments.get(seat__isnull=False)
    counts = {"edits": n, "conflicts": 0, "unheard": 0}
    for edit in range(n):
        window, item = windows[int(rng.integers(2))], int(rng.integers(1, 4))
        text = f"{window.name} {edit}"
        is_heard = bool(rng.random() < 0.7)
        counts["unheard"] += not is_heard
        answer = _save(window, assignment, item, text)
        if answer.status_code == 409 and is_heard:
            counts["conflicts"] += 1
            _choose(window, assignment, item, text, keeps_own=bool(rng.random() < 0.5))
        elif answer.status_code == 200 and is_heard:
            window.base[item] = int(answer.text.split('value="')[1].split('"')[0])
        window.sees(item, text)
    return counts | {"silent overwrites": _overwrites(study, windows)}


def _save(window: Window, assignment: Any, item: int, text: str) -> Any:
    window.n_saves += 1
    base, key = window.base.get(item, 0), f"{window.name}-{window.n_saves}"
    return walk.give(window.client, assignment, "yes", text, item=item, base=base, key=key, htmx=True)


def _choose(window: Window, assignment: Any, item: int, text: str, *, keeps_own: bool) -> None:
    """Both versions are on the screen, and one of them is chosen."""
    stored = Response.objects.get(assignment=assignment, item__key=f"item-{item}")
    window.sees(item, stored.rationale)
    window.base[item] = stored.revision
    if keeps_own:
        answer = _save(window, assignment, item, text)
        window.base[item] = int(answer.text.split('value="')[1].split('"')[0])


def _overwrites(study: Study, windows: list[Window]) -> int:
    """Events that follow one of the other window whose text their own window had not shown."""
    texts_by_window = {window.name: window.seen for window in windows}
    n_overwrites = 0
    for response in Response.objects.filter(assignment__study=study).select_related("item"):
        events = list(ResponseEvent.objects.filter(response=response).order_by("revision"))
        for before, after in pairwise(events):
            writer, other = after.key.split("-")[0], before.key.split("-")[0]
            text = _rationale(before)
            n_overwrites += writer != other and text not in texts_by_window[writer].get(
                int(response.item.key[-1]), set()
            )
    return n_overwrites


def _rationale(event: ResponseEvent) -> str:
    return str(json.loads(event.words or "{}")["rationale"])
