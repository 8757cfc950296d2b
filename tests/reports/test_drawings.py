"""Plots as files: what stands in them, that they need nothing else, and that nobody gets one that the page hides."""

import re
import struct
from io import BytesIO
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from pypdf import PdfReader

from reports import results
from reports.document.model import DocumentSection, DrawnPlot, Subsection
from reports.document.plots import PERCENT, DotPlot
from reports.figures import all_figures
from reports.models import Report
from reports.page import drawings, standalone
from reports.page.charts import Drawing, Shape, draw_plot
from studies.models import Source, Study
from tests import factories, triggers
from tests.reports.test_pages import full_study

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def study() -> Study:
    return full_study()


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.staff("researcher"))
    return client


def linked_plots(client: Client, address: str = "/reports/plums/figures/all/") -> set[str]:
    page = client.get(address).content.decode()
    found = re.findall(r'href="([^"]+\.(?:svg|png|pdf))"', page)
    return {urljoin(address, link) for link in found} - {"/static/quire/icon.svg"}


def test_every_plot_of_the_page_has_its_files_and_each_link_leads_to_one(staff: Client, study: Study) -> None:
    page = staff.get("/reports/plums/figures/all/").content.decode()
    n_drawn = page.count('class="plot plot-wide"')

    links = linked_plots(staff)
    answers = {address: staff.get(address) for address in links}

    assert n_drawn >= 2
    assert len(links) == 2 * n_drawn
    assert {answer.status_code for answer in answers.values()} == {200}
    for address, answer in answers.items():
        kind = "image/svg+xml" if address.endswith("svg") else "image/png"
        assert answer["Content-Type"] == kind
        assert answer["Content-Disposition"].startswith('attachment; filename="plums-')


def test_an_svg_stands_alone_with_title_description_source_and_date(staff: Client, study: Study) -> None:
    text = staff.get("/reports/plums/pass-rates.svg").content.decode()
    root = ElementTree.fromstring(text)
    report = Report.objects.get()

    words = [element.text for element in root.iter(f"{SVG}text")]
    last = " ".join(filter(None, words[-3:]))
    assert root.find(f"{SVG}title").text == "Pass rates"  # type: ignore[union-attr]
    assert "pass-rates.csv" in root.find(f"{SVG}desc").text  # type: ignore[union-attr, operator]
    assert study.title in last
    assert f"Report {report.fingerprint[:12]}" in last
    assert report.made_at.strftime("%Y") in last
    assert root.find(f"{SVG}rect").attrib["fill"] == "#ffffff"  # type: ignore[union-attr]
    assert not [mark for mark in ("var(", "class=", "<style", "style=", "<script", "url(") if mark in text]
    assert "Source Sans 3" in root.attrib["font-family"]


def test_every_mark_has_the_style_of_the_page(staff: Client, study: Study) -> None:
    document = results.read_results(results.compute(study))
    shapes = [
        shape
        for figure, result in document.visible
        for named in drawings.list_plots(figure, figure.describe(result, document.head))
        for shape in draw_plot(named.plot).wide.shapes
    ]
    styles = standalone.read_styles()

    assert len(shapes) > 50
    assert {css for shape in shapes for css in shape.css.split()} <= set(styles)


def test_styles_are_read_as_the_stylesheet_has_them() -> None:
    css = "".join(
        Path(str(finders.find(f"quire/{name}.css"))).read_text(encoding="utf-8") for name in ("quire", "research")
    )
    colour = re.search(r"--source-2: (#\w+);", css)
    styles = standalone.read_styles()

    assert ".plot .source-2 { fill: var(--source-2); }" in css
    assert colour is not None
    assert styles["source-2"] == {"fill": colour[1]}
    assert styles["source-4"]["fill"] == "#ffffff"
    assert styles["tick"]["font-size"] == "13"
    assert styles["numbers"] | {"paint-order": "stroke", "stroke-width": "4"} == styles["numbers"]
    assert not [value for rules in styles.values() for value in rules.values() if "var(" in value]


def test_what_stands_in_a_plot_is_escaped_and_is_xml() -> None:
    attack = "</text><script>alert(1)</script>&\x0b\ud800"
    drawing = Drawing(100, 50, (Shape("item-name", 0, 10, text=attack), Shape("grid", d="M0 0H10")))

    text = standalone.write_svg(drawing, title=attack, description=attack, notes=[attack])
    root = ElementTree.fromstring(text)

    assert not list(root.iter(f"{SVG}script"))
    assert root.find(f"{SVG}title").text == "</text><script>alert(1)</script>&"  # type: ignore[union-attr]


def test_a_png_has_twice_the_size_and_our_letters(staff: Client, study: Study) -> None:
    svg = staff.get("/reports/plums/pass-rates.svg").content.decode()
    png = staff.get("/reports/plums/pass-rates.png").content

    width, height = struct.unpack(">II", png[16:24])
    root = ElementTree.fromstring(svg)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert (width, height) == (2 * int(root.attrib["width"]), 2 * int(root.attrib["height"]))


def test_the_summary_is_a_pdf_of_one_page_with_its_words(staff: Client, study: Study) -> None:
    svg = ElementTree.fromstring(staff.get("/reports/plums/summary.svg").content)
    answer = staff.get("/reports/plums/summary.pdf")

    pdf = PdfReader(BytesIO(answer.content))
    (page,) = pdf.pages
    words = "".join(page.extract_text().split())
    assert answer["Content-Type"] == "application/pdf"
    assert answer["Content-Disposition"] == 'attachment; filename="plums-summary.pdf"'
    assert [page.mediabox.width, page.mediabox.height] == [int(svg.attrib["width"]), int(svg.attrib["height"])]
    assert pdf.metadata is not None
    assert pdf.metadata.title == study.title
    assert pdf.metadata.creation_date == Report.objects.get().made_at.replace(microsecond=0)
    for line in svg.iter(f"{SVG}text"):
        assert "".join((line.text or "").split()) in words


def test_the_summary_links_its_files_also_in_a_stored_report(staff: Client, study: Study) -> None:
    staff.get("/reports/plums/")
    stored = f"/reports/plums/by/{Report.objects.get().fingerprint[:8]}/"

    files = {
        f"{address}summary.{ending}" for address in ("/reports/plums/", stored) for ending in ("svg", "png", "pdf")
    }

    assert linked_plots(staff, "/reports/plums/") | linked_plots(staff, stored) >= files
    assert {staff.get(address).status_code for address in files} == {200}


def test_letters_are_drawn_by_the_fonts_that_come_along() -> None:
    import resvg_py

    drawing = Drawing(200, 30, (Shape("item-name", 0, 20, text="Narrative Ending"),))
    svg = standalone.write_svg(drawing, title="", description="", notes=[])
    files = [str(standalone.FONTS / name) for name in standalone.FONT_FILES]

    ours = resvg_py.svg_to_bytes(svg_string=svg, font_files=files, skip_system_fonts=True)
    none = resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True)

    assert ours != none


def test_what_must_be_read_first_travels_with_the_plot(staff: Client, study: Study) -> None:
    with triggers.lifted():
        Study.objects.update(notice="Stories of a demonstration.")

    assert "Stories of a demonstration." in staff.get("/reports/plums/pass-rates.svg").content.decode()


def test_a_plot_that_the_page_does_not_show_is_not_found(staff: Client, study: Study) -> None:
    names = ("cloze", "pass-rates-2", "pass-rate", "secrets")

    answers = [staff.get(f"/reports/plums/{name}.{ending}").status_code for name in names for ending in ("svg", "png")]

    assert answers == [404] * 8


def test_no_plot_tells_a_source_while_the_study_is_live(staff: Client, study: Study) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    addresses = [address for address in linked_plots(staff) if address.endswith("svg")]
    closed = {address: staff.get(address).content for address in addresses}
    assert [address for address in addresses if b"Canary" in closed[address]]
    Study.objects.update(state="live", closed_at=None)

    answers = {address: staff.get(address) for address in addresses}

    assert {answer.status_code for answer in answers.values()} == {200, 404}
    assert not [address for address, answer in answers.items() if b"Canary" in answer.content]


def test_whoever_stays_blind_gets_no_plot_by_source(client: Client, study: Study) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    client.force_login(factories.staff("coordinator"))

    answers = {address: client.get(address) for address in linked_plots(client) if address.endswith("svg")}

    assert {answer.status_code for answer in answers.values()} == {200}
    assert not [address for address, answer in answers.items() if b"Canary" in answer.content]


def test_the_plots_of_a_section_are_named_in_its_order_with_what_stands_beside_them() -> None:
    figure = all_figures()["pass_rates"]
    first, second, third = (DotPlot([], [name], PERCENT) for name in "abc")

    drawn = [DrawnPlot(plot=first, title="", described="", label="Empathy")]
    drawn += [DrawnPlot(plot=plot, title="", described="") for plot in (second, third)]
    folded = Subsection(summary="More", blocks=[drawn[1]])

    named = drawings.list_plots(figure, [DocumentSection(heading="", body=[drawn[0], folded, drawn[2]])])

    assert [(each.name, each.label, each.title) for each in named] == [
        ("pass-rates", "Empathy", "Pass rates: Empathy"),
        ("pass-rates-2", "", "Pass rates"),
        ("pass-rates-3", "", "Pass rates"),
    ]
    assert [each.plot for each in named] == [first, second, third]
