"""The radar of mean ratings: drawn on request, where each source has all of three items on one scale or more."""

import re

import pytest
from django.test import Client

from annotation.responses import Answer
from reports.document import plots
from reports.page.radar import draw_radar
from reports.page.shapes import Drawing
from studies.models import Item, Study
from tests import factories, triggers
from tests.reports import given

AXIS = plots.Axis(1, 5, ((1, "1"), (3, "3"), (5, "5")))


def radar(*values_by_row: tuple[float | None, ...]) -> plots.RadarPlot:
    rows = [
        plots.PlotRow(f"Item {n}", "", tuple(plots.Mark(s, value, None, None) for s, value in enumerate(values)))
        for n, values in enumerate(values_by_row)
    ]
    return plots.RadarPlot(rows, ["Ann", "Bo"], AXIS)


def curves(drawing: Drawing) -> list[str]:
    return [shape.d for shape in drawing.shapes if shape.css.startswith("curve")]


def test_the_centre_is_the_lowest_point_and_the_first_spoke_points_up() -> None:
    wide = draw_radar(radar((5, 1), (1, 1), (1, 1), (3, 1))).wide

    ann, bo = curves(wide)
    x, y = map(float, bo[1:].split("L")[0].split())
    assert bo == f"M{x} {y}L{x} {y}L{x} {y}L{x} {y}z"
    assert ann == f"M{x} {y - 180}L{x} {y}L{x} {y}L{x - 90} {y}z"


def test_a_source_without_all_values_is_not_drawn() -> None:
    assert len(curves(draw_radar(radar((5, None), (1, 2), (2, 2))).narrow)) == 1


def test_names_stand_within_the_drawing_and_say_all_sources() -> None:
    for drawing in (draw_radar(radar((5, 1), (1, 2), (2, 2))).wide, draw_radar(radar((5, 1), (1, 2), (2, 2))).narrow):
        texts = [shape.text for shape in drawing.shapes if shape.text]
        assert {"Ann", "Bo", "Item 0", "Item 1", "Item 2", "1", "3", "5"} <= set(texts)
        assert all(0 <= shape.x <= drawing.width and 0 <= shape.y <= drawing.height for shape in drawing.shapes)


def scaled(n_items: int) -> Study:
    study = given.closed_study(n_items=n_items)
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug="plums-tests").update(type="scale", settings={"low": 1, "high": 5})
        factories.freeze_anew(Study.objects.get())
    rows = [
        given.Row("test", rater, f"plot{g}", f"p{g}s{n}", "tests", f"item-{item}", Answer(value=g + n, rationale="So."))
        for rater in ("E01", "E02")
        for g in (1, 2)
        for n in (1, 2)
        for item in range(1, n_items + 1)
    ]
    given.bring(Study.objects.get(), rows)
    return study


@pytest.mark.django_db
@pytest.mark.embedded
@pytest.mark.parametrize(("n_items", "is_there"), [(2, False), (3, True)])
def test_a_report_folds_the_radar_below_the_means_of_three_items_or_more(
    client: Client, n_items: int, is_there: bool
) -> None:
    study = scaled(n_items)
    client.force_login(factories.staff("researcher"))
    page = client.get(f"/reports/{study.slug}/figures/ratings/").content.decode()

    folded = re.findall(r"<details[^>]*>\s*<summary>As a radar</summary>", page)
    assert len(folded) == is_there
    assert (client.get(f"/reports/{study.slug}/ratings-2.svg").status_code == 200) == is_there
