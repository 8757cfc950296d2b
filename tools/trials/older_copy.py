"""An older copy of the database put under open pages with drafts on their device: does every word arrive?"""

import os
import re
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connection
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.models import Response
from annotation.participation import invitations
from studies.models import Step, Study
from tests import factories
from tests.annotation import clozes
from tools.measurement import progress
from tools.trials import restarts
from tools.trials.server import Server

EARLIER, LATER, LAST = "A pane of glass.", " And the frost on it.", " And who sees it first."


def run(browser: Browser) -> dict[str, Any]:
    """On each kind of page: a copy is made, words are saved twice, more is written offline (nothing where the page is
    closed with all of it acknowledged), and the copy is put back under the server. Then the page, left open or opened
    anew, must bring all of them.
    """
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's event loop runs in this thread
    cases = [(kind, way) for kind in STUDIES for way in ("left open", "opened anew", "acknowledged and closed")]
    arrivals = {
        f"{kind}, {way}": _arrives(browser, kind, stays=way == "left open", goes_on=way != "acknowledged and closed")
        for kind, way in cases
    }
    lost = [name for name, has_arrived in arrivals.items() if not has_arrived]
    return {"pages": len(cases), "with every word": len(cases) - len(lost), "lost": lost}


def _arrives(browser: Browser, kind: str, *, stays: bool, goes_on: bool) -> bool:
    last = EARLIER + LATER + (LAST if goes_on else "")
    study, find_fields = STUDIES[kind][0](), STUDIES[kind][1]
    server = Server()
    server.start()
    context = browser.new_context(locale="en-GB")
    context.set_default_timeout(20_000)
    try:
        page = context.new_page()
        link = f"{server.address}/r/{invitations.issue(study)[1]}/"
        _come_in(page, link)
        fields = find_fields(page)
        with older_copy(server):
            for field in fields:
                _write(field, EARLIER)
            _wait_for_words(page, study, [EARLIER] * len(fields))
            for field in fields:
                _write(field, EARLIER + LATER)
            _wait_for_words(page, study, [EARLIER + LATER] * len(fields))
            if goes_on:
                context.set_offline(True)
                for field in fields:
                    _write(field, last)
                expect(page.locator("#status")).to_have_text("Offline, kept on this device")
            else:
                expect(page.locator("#status")).to_have_text(re.compile("^Saved"))
            if not stays:
                page.evaluate("navigator.sendBeacon = () => true")
                address = page.url
                page.close()
        context.set_offline(False)
        if stays:
            page.evaluate("dispatchEvent(new Event('online'))")
        else:
            page = context.new_page()
            page.goto(address)
        return _come_to_be(page, study, [last] * len(fields))
    finally:
        context.close()
        server.stop(signal.SIGTERM)
        if connection.vendor == "postgresql":
            connection.close()
            connection.close_pool()  # it would open connections anew to a database that is about to be dropped


@contextmanager
def older_copy(server: Server) -> Iterator[None]:
    """The database as it was at the beginning is put back at the end, while the server is down."""
    keep, put_back = (
        (_copy_file, _put_file_back) if connection.vendor == "sqlite" else (_copy_database, _put_database_back)
    )
    server.stop(signal.SIGTERM)
    connection.close()
    copy = keep()
    server.start()
    yield
    server.stop(signal.SIGTERM)
    connection.close()
    put_back(copy)
    server.start()


def _copy_file() -> Path:
    path = Path(str(connection.settings_dict["NAME"]))
    copy = path.with_suffix(".older")
    source, target = sqlite3.connect(path), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.close()
    return copy


def _put_file_back(copy: Path) -> None:
    path = Path(str(connection.settings_dict["NAME"]))
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    copy.replace(path)


def _copy_database() -> str:
    """On PostgreSQL a database of its own, made after the pattern of ours. Its name."""
    name = str(connection.settings_dict["NAME"])
    _execute(f'DROP DATABASE IF EXISTS "{name}_older"', f'CREATE DATABASE "{name}_older" TEMPLATE "{name}"')
    return f"{name}_older"


def _put_database_back(copy: str) -> None:
    name = str(connection.settings_dict["NAME"])
    _execute(f'DROP DATABASE "{name}" WITH (FORCE)', f'ALTER DATABASE "{copy}" RENAME TO "{name}"')


def _execute(*statements: str) -> None:
    """From a connection to another database, since nobody may be in the one that is copied, our own pool neither."""
    import psycopg

    connection.close_pool()
    restarts.end_backends()
    with restarts.connect_beside() as other:
        for statement in statements:
            other.execute(psycopg.sql.SQL(statement))


# ── the pages ──


def _come_in(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()
    page.locator("main button[type=submit]").first.click()
    page.wait_for_url("**/a/**")
    page.wait_for_load_state()


def _write(field: Locator, words: str) -> None:
    field.fill(words)
    field.blur()


def _find_words(study: Study) -> list[str]:
    """Of the rater who came last."""
    rater = study.raters.order_by("pk").last()
    rows = Response.objects.filter(assignment__rater=rater).order_by("item__position")
    return [row.rationale or str(row.value or "") for row in rows]


def _come_to_be(page: Page, study: Study, words: list[str]) -> bool:
    for _ in range(600):
        if _find_words(study) == words:
            return True
        page.wait_for_timeout(50)
    progress(f"there is {_find_words(study)}, not {words}")
    return False


def _wait_for_words(page: Page, study: Study, words: list[str]) -> None:
    if not _come_to_be(page, study, words):
        raise TimeoutError(f"{words} was not saved within 30 seconds")


def _desk() -> Study:
    return factories.study(_new_slug(), n_stories=1, k=1, n_items=1, comparative=False)


def _several_questions() -> Study:
    """The stories and two questions about both of them on one page."""
    study = factories.study(_new_slug(), n_stories=2, k=1, n_items=2, comparative=False, planned=False)
    Step.objects.filter(version__study=study, key="tests").update(scope="group")
    factories.plan(study)
    return study


def _cloze() -> Study:
    study = Study.objects.filter(slug="shoes-study").first()
    return study or clozes.study()


def _new_slug() -> str:
    return f"copies{Study.objects.count()}"


def _find_reasons(page: Page) -> list[Locator]:
    return page.get_by_label("Your reasons").all()


def _find_blanks(page: Page) -> list[Locator]:
    return [page.locator(f"#answer-fill-blank-{blank:02}") for blank in (1, 2)]


# By kind of page a study that has it, and its fields for words.
STUDIES: dict[str, tuple[Callable[[], Study], Callable[[Page], list[Locator]]]] = {
    "desk": (_desk, _find_reasons),
    "several questions": (_several_questions, _find_reasons),
    "cloze": (_cloze, _find_blanks),
}
