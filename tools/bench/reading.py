"""What the reading page weighs and how long the server takes for it."""

import re
import time
from urllib.parse import urljoin

import numpy as np
from django.db import connection

from annotation.participation import invitations
from studies.models import Story, Study
from tests import factories
from tools.trials.person import Person
from tools.trials.server import Server

N_WORDS, N_ITEMS = 2000, 14
SENTENCE = "A man who had bought the greenhouse came on a Saturday. "  # ten words
LINKED = re.compile(r'<(?:link|script)[^>]+(?:href|src)="([^"]+)"')
IMPORTED = re.compile(r'^import (?:[^"]* from )?"([^"]+)"', re.MULTILINE)
BLOCKING = re.compile(r"<script(?![^>]*(?:\bdefer\b|type=\"(?:module|application/json)\"))[^>]*>")


def run(n: int = 60) -> dict[str, float | str]:
    """The desk with a story of 2,000 words and 14 items: n answers one after another, and all that they refer to."""
    design = {"n_stories": 4, "k": 1, "n_items": N_ITEMS, "comparative": False, "planned": False}
    study = factories.study(f"page{Study.objects.count()}", **design)
    paragraph = SENTENCE * 10
    Story.objects.filter(study=study).update(text="\n\n".join([paragraph] * (N_WORDS // 100)))
    factories.plan(study)
    with Server() as server:
        person = Person(server.port, compresses=True)
        first = person.come_in(f"/r/{invitations.issue(study)[1]}/")
        answer, seconds = person.get(first), []
        for _ in range(n):
            began = time.perf_counter()
            answer = person.get(first)
            seconds.append(time.perf_counter() - began)
        html = answer.text
        files = _files(person, first, html)
        person.compresses = False
        unpacked = _files(person, first, html)
        person.hang_up()
    connection.close()
    story = html[html.index("<article") : html.index("</article>")]
    return {
        "server ms, median": 1000 * float(np.median(seconds)),
        "page kB": answer.n_bytes / 1000,
        "styles, scripts and icon kB": sum(files.values()) / 1000,
        "together kB, without fonts": (answer.n_bytes + sum(files.values())) / 1000,
        "the same before compression kB": (len(html.encode()) + sum(unpacked.values())) / 1000,
        "words of the story in the page itself": len(re.sub(r"<[^>]+>", " ", story).split()),
        "scripts that hold up the page": len(BLOCKING.findall(html)),
    }


def _files(person: Person, page: str, html: str) -> dict[str, int]:
    """Bytes of everything that the page links to and that scripts import, by address."""
    sizes: dict[str, int] = {}
    waiting = [urljoin(page, address) for address in LINKED.findall(html)]
    while waiting:
        path = waiting.pop()
        if path in sizes:
            continue
        answer = person.get(path)
        sizes[path] = answer.n_bytes
        if path.endswith(".js"):
            waiting += [urljoin(path, address) for address in IMPORTED.findall(answer.text)]
    return sizes
