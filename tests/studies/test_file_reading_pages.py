"""How a file is read, on the page of its columns: guessed, shown, and read otherwise as somebody chooses."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from studies.models import StoryImport, Study
from tests import factories
from tests.studies.test_story_pages import STORIES, brought, form_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def draft() -> Study:
    return factories.study(n_groups=2, n_stories=2, state="draft", planned=False)


def read_otherwise(client: Client, address: str, **choices: str) -> Any:
    """The page after somebody chose how the file is read."""
    reading = {f"reading-{name}": value for name, value in choices.items()}
    return client.post(address, form_of(client, address) | reading, follow=True)


@pytest.mark.parametrize(
    ("content", "name", "choices", "columns"),
    [
        ("id,text;x,source\n1,Once.;y,Ann\n", "a.csv", {"delimiter": ";"}, ["id,text", "x,source"]),
        ("Café\nid,text\n1,Once.\n".encode("mac-roman"), "a.csv", {"encoding": "mac-roman"}, ["id", "text"]),
        ("a,b\nid,text\n1,Once.\n", "a.csv", {"header_row": "2"}, ["id", "text"]),
        ('{"a": [{"x": 1}, {"x": 2}], "b": [{"text": "Once."}]}', "a.json", {"sheet": "b"}, ["text"]),
    ],
)
def test_the_file_is_read_otherwise_as_somebody_chooses(
    designer: Client, content: str | bytes, name: str, choices: dict[str, str], columns: list[str]
) -> None:
    address = brought(designer, content, name)

    page = read_otherwise(designer, address, **choices)

    assert [column.name for column in page.context["form"].columns()] == columns
    assert page.context["reading_form"].is_open
    unchanged = read_otherwise(designer, address, **choices).context["form"]
    assert [column.name for column in unchanged.columns()] == columns


def test_what_cannot_be_read_so_is_said_at_its_field_and_stays_as_it_was(designer: Client) -> None:
    address = brought(designer, "id,text\n1,Café.\n".encode("cp1252"))
    before = StoryImport.objects.get().table

    response = read_otherwise(designer, address, encoding="utf-8")

    assert response.status_code == 400
    assert list(response.context["reading_form"].errors) == ["encoding"]
    assert StoryImport.objects.get().table == before


def test_what_was_said_of_columns_stays_where_only_the_encoding_is_another(designer: Client) -> None:
    address = brought(designer, "id,text,note\n1,Café.,x\n".encode("mac-roman"))
    fields = form_of(designer, address)
    designer.post(address, fields | {"role-2": "licence", "source": "Ann"})

    page = read_otherwise(designer, address, encoding="mac-roman")

    assert StoryImport.objects.get().choices["roles"]["note"] == "licence"
    assert StoryImport.objects.get().choices["source"] == "Ann"
    assert "Café" in page.content.decode()


def test_how_the_file_is_read_is_folded_unless_something_is_unsure(designer: Client) -> None:
    sure = designer.get(brought(designer)).context["reading_form"]
    unsure = designer.get(brought(designer, "Spring\n\ntext,source\nOnce.,Ann\n")).context["reading_form"]
    pasted = designer.post(f"{STORIES}new/", {"pasted": "text\tsource\nOnce.\tAnn"}, follow=True).context[
        "reading_form"
    ]

    assert (sure.is_open, unsure.is_open, pasted) == (False, True, None)
    assert len(unsure.unsure_labels) == 1


def test_columns_of_two_stories_are_grouped_by_row(designer: Client) -> None:
    address = brought(designer, "one,other,source\nOnce upon a time.,Twice upon a time.,Ann\n")

    page = designer.post(
        address, form_of(designer, address) | {"role-0": "text", "role-1": "text", "source_kind": "other"}, follow=True
    )

    assert page.context["form"]["grouping"].value() == "row"
    assert (page.context["n_stories"], page.context["groups"]) == (2, "That makes 1 group of 2.")


def test_rows_that_the_tool_says_stay_out_do_so_however_the_file_is_read(designer: Client) -> None:
    header = "StartDate,EndDate,Status,ResponseId,text,source"
    address = brought(designer, f"{header}\na,b,Spam,R_1,Café.,Ann\na,b,IP Address,R_2,Twice.,Ann\n".encode("cp1252"))

    read_otherwise(designer, address, encoding="mac-roman")

    assert StoryImport.objects.get().choices["left_out"] == [2]


def test_the_file_itself_is_not_loaded_to_show_its_columns(designer: Client) -> None:
    address = brought(designer)

    for page in (address, STORIES):
        with CaptureQueriesContext(connection) as queries:
            designer.get(page)
        assert not [query["sql"] for query in queries if '"content"' in query["sql"]]
