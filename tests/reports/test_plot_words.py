"""What a plot says to whoever does not see it: how many values there are, the highest and the lowest."""

import re
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.utils import translation

from reports.document import plots
from reports.page.charts import DRAW_BY_KIND
from reports.page.plot_words import PLACES_BY_KIND, describe_plot
from tests import factories
from tests.reports.test_pages import full_study

AXIS = plots.PERCENT


def dots(*values: float | None) -> plots.DotPlot:
    rows = [plots.PlotRow(f"Test {n}", "", (plots.Mark(n % 2, value, None, None),)) for n, value in enumerate(values)]
    return plots.DotPlot(rows, ["Ann", "Bo"], AXIS)


def test_dots_are_described_by_their_ends_and_missing_ones_are_not_counted() -> None:
    assert describe_plot(dots(10.4, None, 80, 33)) == (
        "3 values: the highest is 80 (Test 2, Ann), the lowest 10 (Test 0, Ann)."
    )


def test_what_shares_an_end_is_counted_with_it() -> None:
    assert describe_plot(dots(0.5, 0.1, 0.5)) == (
        "3 values: the highest is 0.50 (Test 0, Ann and 1 more), the lowest 0.10 (Test 1, Bo)."
    )


def test_a_single_value_equal_ones_and_none_are_said_as_such() -> None:
    assert describe_plot(dots(7)) == "1 value: 7.0."
    assert describe_plot(dots(7, 7)) == "2 values, all 7.0."
    assert describe_plot(dots(None)) == ""


@pytest.mark.parametrize(
    ("plot", "words"),
    [
        (plots.RadarPlot(dots(20, 90).rows, ["Ann", "Bo"], AXIS), "2 values: the highest is 90 (Test 1, Bo)"),
        (plots.StripPlot([("Ann", [1.0, 4.0]), ("Bo", [2.0])], AXIS), "3 values: the highest is 4.00 (Ann)"),
        (
            plots.DifferencePlot([plots.DifferenceMark(name, v, None, None, False, False) for name, v in
                                  (("Ann – Bo", 12.0), ("Ann – Cy", -30.0))], AXIS),
            "2 values: the highest is 12 (Ann – Bo), the lowest −30 (Ann – Cy).",
        ),
        (plots.StackPlot([plots.StackRow("Ann", "n", (40, 60))], ["Yes", "No"]), "the highest is 60 (Ann, No)"),
        (
            plots.PanelPlot([plots.Panel("Empathy", curves=(plots.Curve(((1, 0), (2, 90)), source=None),
                                                            plots.Curve(((1, 20), (2, 100)), source=1)))],
                            ["Ann", "Bo"], AXIS, AXIS),
            "2 values: the highest is 100 (Empathy, Bo), the lowest 20 (Empathy, Bo).",
        ),
        (plots.PanelPlot([plots.Panel("", points=(plots.Point(1, 3.0, label="gpt"), plots.Point(2, 30.0)))],
                         [], AXIS, AXIS), "2 values: the highest is 30"),
        (plots.PanelPlot([plots.Panel("Words", bars=(plots.HistogramBar(0, 5, 4), plots.HistogramBar(5, 9, 9)))],
                         [], AXIS, AXIS), "the lowest 4.0 (Words)"),
        (plots.JudgePlot([plots.JudgeRow("gpt", 0.3, None, None, False, None, None, ""),
                          plots.JudgeRow("old", 0.1, None, None, False, None, None, "")], [], AXIS, "kappa"),
         "the highest is 0.30 (gpt), the lowest 0.10 (old)."),
    ],
)  # fmt: skip
def test_every_kind_of_plot_is_described(plot: object, words: str) -> None:
    assert words in describe_plot(plot)  # type: ignore[arg-type]


def test_every_kind_that_is_drawn_has_words() -> None:
    assert set(PLACES_BY_KIND) == set(DRAW_BY_KIND)


def test_numbers_are_written_as_the_reader_does() -> None:
    with translation.override("pt-br"):
        assert "0,50" in describe_plot(dots(0.5, 0.1))


@pytest.mark.django_db
@pytest.mark.embedded
def test_every_plot_on_the_page_and_in_files_says_what_is_seen(client: Client) -> None:
    full_study()
    client.force_login(factories.staff("researcher"))
    page = client.get("/reports/plums/figures/all/").content.decode()
    file = ElementTree.fromstring(client.get("/reports/plums/pass-rates.svg").content)

    on_page = re.findall(r'<desc id="[^"]*">(.*?)</desc>', page)
    in_file = file.find("{http://www.w3.org/2000/svg}desc")
    assert len(on_page) >= 4
    assert [words for words in on_page if not re.match(r"\d+ values?[:,]", words)] == []
    assert in_file is not None
    assert in_file.text == (
        "4 values: the highest is 100 (Item 1, Source 1), the lowest 0 (Item 1, Source 2). "
        "The table of this plot holds every value: pass-rates.csv."
    )
