"""The stylesheet of reports: dark by choice and by device are one palette, and paper knows neither."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests import factories

CSS = Path(str(finders.find("quire/quire.css"))).read_text(encoding="utf-8")


def palette(theme: str) -> dict[str, str]:
    (block,) = re.findall(rf'\[data-theme="{theme}"\] \{{(.*?)\}}', CSS, flags=re.DOTALL)
    return dict(re.findall(r"([\w-]+):\s*([^;]+);", block))


def test_dark_by_the_device_is_dark_by_choice() -> None:
    assert len(palette("dark")) > 20
    assert palette("system") == palette("dark")


def test_every_palette_is_for_screens_alone() -> None:
    """A report that is dark on the screen would be printed in pale ink on white."""
    for theme in ("sepia", "dark", "system"):
        before = CSS[: CSS.index(f'[data-theme="{theme}"]')]
        opened = before[before.rindex("@media") :]
        assert opened.startswith("@media screen"), theme


@pytest.mark.django_db
@pytest.mark.embedded
@pytest.mark.parametrize(("cookie", "theme"), [("", "system"), ("light.2.off.on", "light"), ("dark", "dark")])
def test_pages_of_the_staff_follow_the_device_until_somebody_chooses(client: Client, cookie: str, theme: str) -> None:
    client.force_login(factories.staff("researcher"))
    if cookie:
        client.cookies["reading"] = cookie

    page = client.get("/reports/").content.decode()

    assert f'data-theme="{theme}"' in page
    assert f'value="{theme}" checked' in page
