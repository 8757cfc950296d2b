"""Active time, counted in a real browser."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Timing
from tests.browser.saying import until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def total() -> int:
    return sum(Timing.objects.values_list("active_seconds", flat=True))


def test_time_counts_while_something_is_done_and_is_reported_on_leaving(desk: Page) -> None:
    desk.mouse.move(200, 200)
    desk.wait_for_timeout(3500)

    desk.goto(desk.url)

    until(desk, lambda: total() > 0, "no time was reported")
    assert 2 <= total() <= 8
    assert Timing.objects.get().story is not None
    assert Assignment.objects.get().timed_until is not None
    assert Assignment.objects.get().timed_until <= timezone.now()


def test_time_stops_a_minute_after_the_last_sign_of_life(desk: Page) -> None:
    desk.clock.install()
    desk.reload()
    desk.mouse.move(200, 200)
    reported: list[int] = []
    desk.on("request", lambda r: reported.append(_seconds(r.post_data or "")) if r.url.endswith("/timing/") else None)

    desk.clock.run_for(5 * 60_000)

    desk.wait_for_timeout(500)
    assert 59 <= sum(reported) <= 61, reported
    expect(desk.locator("[data-worked]")).to_have_text("less than a minute")


def test_time_that_was_reported_in_vain_is_reported_again(desk: Page) -> None:
    desk.clock.install()
    desk.reload()
    heard: list[int] = []
    desk.route("**/timing/", lambda route: route.abort(), times=1)
    desk.mouse.move(200, 200)
    desk.clock.run_for(30_000)
    desk.wait_for_timeout(200)
    desk.on("request", lambda r: heard.append(_seconds(r.post_data or "")) if r.url.endswith("/timing/") else None)

    desk.mouse.move(300, 300)
    desk.clock.run_for(30_000)

    until(desk, lambda: bool(heard), "no time was reported")
    assert 58 <= heard[0] <= 61


def _seconds(body: str) -> int:
    """The seconds in a report, which has these five fields and no others."""
    parts = [part.split("\r\n") for part in body.split('form-data; name="')[1:]]
    fields = {part[0].rstrip('"'): part[2] for part in parts}
    assert set(fields) == {"csrfmiddlewaretoken", "step", "letter", "section", "seconds"}
    return int(fields["seconds"])
