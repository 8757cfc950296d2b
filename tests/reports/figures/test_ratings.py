"""Ratings on a scale, as the page shows them."""

import pytest
from django.test import Client

from reports import results
from reports.document.model import DrawnPlot, ReportTable, find_blocks
from reports.document.phrases import plain
from reports.figures import all_figures
from reports.figures.base import NO_HEAD, Listing
from studies.models import Item, Source, Study
from tests import factories, triggers
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def rated_study(second: dict[str, int] | None = None) -> Study:
    """One rater's ratings of the two stories of three groups, from 1 to 5; a second one's as they are given."""
    made = given.closed_study(n_groups=3)
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug="plums-tests").update(type="scale", settings={"low": 1, "high": 5})
        factories.freeze_anew(made)
    values = {"p1s1": 5, "p1s2": 1, "p2s1": 3, "p2s2": 2, "p3s1": 4, "p3s2": 4}
    given.bring(
        made,
        [
            given.Row("test", rater, f"plot{story[1]}", story, "tests", "item-1", given.Answer(value=value))
            for rater, ratings in (("E01", values), ("E02", second or {}))
            for story, value in ratings.items()
        ],
    )
    return made


def test_few_stories_are_said_to_be_few_beside_ratings(admin_client: Client) -> None:
    made = rated_study()
    ratings = results.compute(made)["ratings"][0]["by_source"]

    page = " ".join(admin_client.get("/reports/plums/figures/all/").content.decode().split())

    assert [row["interval"]["note"] for row in ratings] == ["t interval over 3 clusters"] * 2
    section = page[page.index('id="ratings"') :]
    assert "†</abbr>" in section[: section.index("</section>")]
    assert "t interval over 3 clusters" in section[section.index("<aside") : section.index("</aside>")]


def test_sources_stand_story_by_story_in_the_order_of_all_other_sections() -> None:
    made = rated_study()
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(kind=Source.Kind.MODEL)
        Source.objects.filter(name="Source 2").update(kind="expert_writer")

    (row,) = results.read_results(results.compute(made)).figures["story_ratings"].rows

    figure = all_figures()["story_ratings"]
    (drawing,) = find_blocks(figure.describe(Listing(rows=(row,)), NO_HEAD), DrawnPlot)
    assert [name for name, _means in drawing.plot.values_by_row] == ["Source 2", "Source 1"]


def test_agreement_on_scales_has_no_column_of_verdicts() -> None:
    document = results.read_results(results.compute(rated_study()))

    (table,) = find_blocks(document.describe(all_figures()["agreement"], NO_HEAD), ReportTable)
    headings = [plain(column.heading) for column in table.columns if column.heading]
    assert any("Chance floor" in heading for heading in headings)
    assert not [heading for heading in headings if heading.startswith(("Yes", "Alpha"))]


def test_the_interval_of_a_standard_deviation_ends_at_0(admin_client: Client) -> None:
    made = rated_study({"p1s1": 3, "p2s1": 3, "p3s1": 4})

    (row,) = results.compute(made)["story_ratings"]

    assert row["spread"]["value"] == pytest.approx(2**0.5 / 3), "5 and 3; 3 and 3; 4 and 4"
    assert row["spread"]["interval"]["low"] == 0
    assert row["spread"]["interval"]["high"] > 1


def test_an_interval_that_is_not_there_is_left_out_of_the_sentence(admin_client: Client) -> None:
    rated_study({"p1s1": 4})

    page = " ".join(admin_client.get("/reports/plums/figures/all/").content.decode().split())

    assert "in the mean over 1 story.</p>" in page
    assert "interval –" not in page
