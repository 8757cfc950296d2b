"""Sources in another order: rows, columns and plots alike, each value still beside its source."""

from typing import Any

from reports.document import plots
from reports.document.model import DocumentSection, DrawnPlot, ReportTable, Subsection, TableCell, TableColumn
from reports.document.order import in_order

ORDER = ("Cedar", "Alder", "Birch")
Row = tuple[str, str, int]


def column(place: int, heading: str, **options: Any) -> TableColumn[Row]:
    return TableColumn(heading=heading, cell=lambda row: TableCell(words=str(row[place])), **options)


def reordered(block: Any) -> Any:
    (section,) = in_order([DocumentSection(heading="", body=[Subsection(blocks=[block])])], ORDER)
    (part,) = section.body
    assert isinstance(part, Subsection)
    return part.blocks[0]


def test_rows_are_sorted_among_those_that_are_about_the_same_item() -> None:
    rows = [(item, source, n) for n, item in enumerate("xy") for source in ("Alder", "Birch", "Cedar")]
    head = column(1, "Source", is_head=True, files={"source": lambda row: row[1]})
    table = ReportTable(label="", rows=rows, columns=[column(0, "Item", is_head=True), head, column(2, "Value")])

    assert reordered(table).rows == [(item, source, n) for n, item in enumerate("xy") for source in ORDER]


def test_columns_that_are_headed_by_sources_are_moved_with_their_foot() -> None:
    columns = [column(0, "Item", is_head=True), *(column(2, name) for name in ("Alder", "Birch", "Cedar"))]
    foot = [[TableCell(words=words) for words in ("all", "a", "b", "c")]]

    table = reordered(ReportTable(label="", rows=[("x", "", 1)], columns=columns, foot=foot))

    assert [moved.heading for moved in table.columns] == ["Item", *ORDER]
    assert [cell.words for cell in table.foot[0]] == ["all", "c", "a", "b"]


def test_a_table_without_sources_stays_as_it_is() -> None:
    table = ReportTable(label="", rows=[("y", "", 1), ("x", "", 2)], columns=[column(0, "Item", is_head=True)])

    assert reordered(table).rows == table.rows


def test_marks_keep_their_sources() -> None:
    axis = plots.Axis(0, 3, ())
    marks = tuple(plots.Mark(n, float(n), None, None) for n in range(3))
    plot = plots.DotPlot([plots.PlotRow("x", "", marks)], ("Alder", "Birch", "Cedar"), axis)

    moved = reordered(DrawnPlot(plot=plot, title="", described="")).plot

    assert [(moved.sources[mark.source], mark.value) for mark in moved.rows[0].marks] == [
        ("Cedar", 2.0),
        ("Alder", 0.0),
        ("Birch", 1.0),
    ]


def test_panels_of_sources_are_sorted_below_their_heading() -> None:
    axis = plots.Axis(0, 1, ())
    panels = [plots.Panel(name, heading=item) for item in "xy" for name in ("Alder", "Birch", "Cedar")]
    plot = plots.PanelPlot(panels, [], axis, axis)

    moved = reordered(DrawnPlot(plot=plot, title="", described="")).plot

    assert [(panel.heading, panel.title) for panel in moved.panels] == [(item, name) for item in "xy" for name in ORDER]


def test_a_plot_of_something_else_keeps_its_order() -> None:
    axis = plots.Axis(0, 3, ())
    plot = plots.StripPlot([("upper", [1.0]), ("lower", [2.0])], axis)

    assert reordered(DrawnPlot(plot=plot, title="", described="")).plot.values_by_row == plot.values_by_row
