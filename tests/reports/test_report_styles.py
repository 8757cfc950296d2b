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


def luminance(colour: list[float]) -> float:
    """WCAG 2.2, relative luminance."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["sepia", "dark"])
def test_numbers_within_the_parts_of_a_bar_are_legible(theme: str) -> None:
    """The first five parts hold a number in the page's colour, the others one in that of the ink."""
    styles = Path(str(finders.find("quire/research.css"))).read_text(encoding="utf-8")
    opacities = re.findall(r"\.plot \.part-(\d+) \{ fill-opacity: ([.\d]+);", styles)
    ink, page = ([int(palette(theme)[name][n : n + 2], 16) / 255 for n in (1, 3, 5)] for name in ("--ink", "--page"))

    contrast = {}
    for part, opacity in opacities:
        fill = [float(opacity) * i + (1 - float(opacity)) * p for i, p in zip(ink, page, strict=True)]
        dark, light = sorted([luminance(fill), luminance(page if int(part) < 6 else ink)])
        contrast[part] = (light + 0.05) / (dark + 0.05)

    assert len(contrast) == 10
    assert {part: value for part, value in contrast.items() if value < 4.5} == {}


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
