"""Exports of other tools on screen, from file to database: stories, answers and what people say of themselves."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Response
from studies import loader
from studies.documents.instrument import parse_instrument
from studies.incoming_tables import uploads
from studies.models import Instrument, Provenance, Step, StoryGroup, Study
from studies.vocabulary import SourceKind
from tests import factories
from tests.replay import replayed
from tests.studies.incoming_tables.test_tools import GULLS, TIDE, find

pytestmark = pytest.mark.django_db

STORIES, ANSWERS = "/studies/plums/stories/", "/studies/plums/answers/"
SCALE = {"low": 1, "high": 5, "anchors": {"1": "not at all", "5": "very"}}


def options(*words: str) -> list[dict[str, str]]:
    return [{"value": word.lower(), "label": word} for word in words]


def make_instrument(slug: str, **items: dict[str, Any]) -> Instrument:
    listed = [{"key": key, "question": f"{key}?"} | item for key, item in items.items()]
    table = {"slug": slug, "version": "1", "title": slug, "items": listed}
    return loader.load_instrument(parse_instrument(table, slug))


@pytest.fixture
@replayed
def study() -> Study:
    """A draft without stories that asks about each story, and once about the rater."""
    study = factories.study(n_groups=0, comparative=False, state="draft", planned=False)
    version = study.versions.get()
    about_story = make_instrument(
        "of-stories",
        engagement={"type": "scale", "settings": SCALE},
        authenticity={"type": "scale", "settings": SCALE},
        quality={"type": "choice", "options": options("Good", "Bad")},
        genre={"type": "multi", "options": options("Horror", "Comedy")},
        liked={"type": "binary"},
    )
    about_rater = make_instrument(
        "of-raters",
        age={"type": "number"},
        country={"type": "text"},
        work={"type": "multi", "options": options("1", "2", "3")},
    )
    Step.objects.filter(version=version, key="tests").update(instrument=about_story)
    Step.objects.filter(version=version, position__gt=1).update(position=10)
    Step.objects.create(version=version, position=2, key="you", kind="rating", instrument=about_rater, scope="once")
    return study


def add_stories(study: Study) -> None:
    group = StoryGroup.objects.create(study=study, code="plot1")
    group.stories.add(*factories.stories(study, {"p1s1": "A", "p1s2": "B"}))


@pytest.fixture
def page(client: Client) -> Client:
    """Of somebody who may bring in both stories and answers."""
    user = factories.staff("researcher")
    user.groups.add(Group.objects.get(name="designer"))
    client.force_login(user)
    return client


def form_of(response: Any) -> dict[str, Any]:
    """What a browser would send of the page's form."""
    values = {field.html_name: field.value() for field in response.context["form"]}
    return {name: "on" if value is True else value for name, value in values.items() if value not in (False, None)}


def faults(response: Any) -> list[str]:
    """What the page says is wrong."""
    context = response.context
    problems = [str(problem) for _n, problem, _buttons in context.get("problems", ())]
    return [*context.get("refusals", ()), *context.get("obstacles", ()), *problems, str(context["form"].errors)]


def upload(page: Client, address: str, name: str, content: bytes) -> str:
    response = page.post(address, {"file": SimpleUploadedFile(name, content)})
    assert response.status_code == 302, faults(response)
    return str(response["Location"])


def bring_stories(page: Client, name: str, content: bytes, **choices: str) -> str:
    """What the page said of the file, whose stories are in now."""
    address = upload(page, f"{STORIES}new/", name, content)
    first = page.get(address)
    kinds = {field: SourceKind.MODEL for field in form_of(first) if field.startswith("kind-")}
    posted = form_of(first) | kinds | {"source_kind": SourceKind.MODEL} | choices

    response = page.post(address, posted | {"bring_in": "yes"})

    assert response.status_code == 302, faults(response)
    return str(first.content.decode())


def bring_answers(
    page: Client, name: str, content: bytes, role_by_column: dict[str, str], *, are_numbered: bool = True
) -> list[tuple[Any, ...]]:
    """What came in of the file: rater, story, question and answer."""
    address = upload(page, ANSWERS, name, content)
    first = page.get(address)
    hints = uploads.restore(first.context["row"]).hints
    hinted = {column: key for column, key in hints["roles"].items() if key != "time"}
    columns = first.context["form"].table.columns
    roles = {f"role-{at}": role_by_column.get(column) or hinted.get(column, "") for at, column in enumerate(columns)}

    numbered = {"is_numbered": "on"} if are_numbered else {}
    response = page.post(address, form_of(first) | roles | numbered | {"bring_in": "yes"})

    assert "This is an export of " in first.content.decode()
    assert response.status_code == 302, faults(response)
    return sorted(Response.objects.values_list("assignment__rater__code", "story__code", "item__key", "value"), key=str)


RATED = {"engagement": "answer:tests/engagement", "quality": "answer:tests/quality", "genre": "answer:tests/genre"}
OF_LABEL_STUDIO = [
    ("1", "11", "engagement", 4),
    ("1", "11", "genre", ["horror", "comedy"]),
    ("1", "11", "quality", "good"),
    ("2", "11", "engagement", 2),
]
OF_POTATO = [
    ("1", "p1s1", "engagement", 4),
    ("1", "p1s1", "quality", "good"),
    ("2", "p1s1", "engagement", 2),
    ("2", "p1s1", "quality", "bad"),
]


@pytest.mark.parametrize(
    ("name", "questions", "answers"),
    [
        ("label-studio.json", RATED, [*OF_LABEL_STUDIO, ("2", "12", "engagement", 5)]),
        ("label-studio-min.json", RATED, OF_LABEL_STUDIO),
        ("label-studio.csv", RATED, OF_LABEL_STUDIO),
        (
            "argilla.json",
            RATED,
            [
                ("1", "p1s1", "engagement", 4),
                ("1", "p1s1", "genre", ["horror", "comedy"]),
                ("2", "p1s1", "engagement", 2),
                ("2", "p1s2", "engagement", 5),
            ],
        ),
        ("potato.jsonl", RATED, OF_POTATO),
        ("potato.tsv", RATED, OF_POTATO),
        (
            "prodigy.jsonl",
            {"accept": "answer:tests/liked"},
            [("1", "p1s1", "liked", "yes"), ("2", "p1s2", "liked", "no")],
        ),
    ],
)
def test_stories_and_answers_come_in_from_the_same_file(
    study: Study, page: Client, name: str, questions: dict[str, str], answers: list[tuple[Any, ...]]
) -> None:
    content = find(name).read_bytes()
    bring_stories(page, name, content, source="plum-1", grouping="alone")

    assert bring_answers(page, name, content, questions) == sorted(answers, key=str)
    assert set(study.stories.values_list("text", flat=True)) <= {TIDE, GULLS}


SURVEYS = [
    (
        "qualtrics.csv",
        {"Q1": "story", "Q2": "answer:tests/engagement"},
        [("1", "p1s1", "engagement", 4), ("2", "p1s1", "engagement", 3)],
    ),
    (
        "google-forms.csv",
        {
            "Story": "story",
            "Please rate the story [Engagement]": "answer:tests/engagement",
            "Please rate the story [Authenticity]": "answer:tests/authenticity",
        },
        [
            ("1", "p1s1", "authenticity", 5),
            ("1", "p1s1", "engagement", 4),
            ("2", "p1s1", "authenticity", 2),
            ("2", "p1s1", "engagement", 3),
        ],
    ),
    (
        "limesurvey.csv",
        {
            "story": "story",
            "rate[engagement]": "answer:tests/engagement",
            "rate[authenticity]": "answer:tests/authenticity",
        },
        [
            ("1", "p1s1", "authenticity", 5),
            ("1", "p1s1", "engagement", 4),
            ("2", "p1s2", "authenticity", 2),
            ("2", "p1s2", "engagement", 3),
        ],
    ),
    (
        "redcap.csv",
        {"story": "story", "engagement": "answer:tests/engagement", "work": "answer:you/work"},
        [
            ("1", "p1s1", "engagement", 4),
            ("1", None, "work", ["1", "3"]),
            ("2", "p1s1", "engagement", 3),
        ],
    ),
    (
        "mturk.csv",
        {
            "Input.story": "story",
            "Answer.engagement.label": "answer:tests/engagement",
            "Answer.genre": "answer:tests/genre",
        },
        [
            ("1", "p1s1", "engagement", 4),
            ("1", "p1s1", "genre", ["horror"]),
            ("2", "p1s2", "engagement", 3),
            ("2", "p1s2", "genre", ["horror", "comedy"]),
        ],
    ),
    (
        "prolific.csv",
        {"Age": "answer:you/age", "Country of residence": "answer:you/country"},
        [
            ("1", None, "age", 34),
            ("1", None, "country", "Portugal"),
            ("2", None, "country", "Brazil"),
        ],
    ),
]


@pytest.mark.parametrize(("name", "roles", "answers"), SURVEYS, ids=[name for name, *_rest in SURVEYS])
def test_answers_of_a_survey_and_what_people_say_of_themselves_come_in(
    study: Study,
    page: Client,
    name: str,
    roles: dict[str, str],
    answers: list[tuple[Any, ...]],
) -> None:
    add_stories(study)

    assert bring_answers(page, name, find(name).read_bytes(), roles) == answers


def test_what_people_say_of_themselves_may_come_after_what_they_said_of_stories(study: Study, page: Client) -> None:
    add_stories(study)
    answered = "HITId,WorkerId,Input.story,Answer.engagement\n3X,5f01,p1s1,4\n"
    roles = {"Input.story": "story", "Answer.engagement": "answer:tests/engagement"}
    bring_answers(page, "batch.csv", answered.encode(), roles, are_numbered=False)

    rows = bring_answers(
        page,
        "demographics.csv",
        find("prolific.csv").read_bytes().replace(b"5f02,AWAITING REVIEW", b"5f02,RETURNED"),
        {"Age": "answer:you/age"},
        are_numbered=False,
    )

    assert rows == [("5f01", "p1s1", "engagement", 4), ("5f01", None, "age", 34)]


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("mturk.csv", {"p1s1": "plum-1", "p1s2": "a hand"}),
        ("hugging-face.json", {TIDE: "plum-1", GULLS: "a hand"}),
        ("prodigy.jsonl", {"p1s1": "plum-1", "p1s2": "a hand"}),
    ],
)
def test_a_model_that_a_file_names_is_a_source_and_stands_nowhere_else(
    study: Study, page: Client, name: str, sources: dict[str, str]
) -> None:
    assert b"plum-1" in find(name).read_bytes()

    bring_stories(page, name, find(name).read_bytes(), grouping="alone")

    rows = Provenance.objects.values_list("story__code", "story__text", "source__name", "factors", "title")
    assert {code if code in sources else text: source for code, text, source, _factors, _title in rows} == sources
    assert not any("plum" in f"{code}{factors}{title}" for code, _text, _source, factors, title in rows)


def test_rows_that_the_tool_marks_stay_out_visibly_and_can_be_taken(study: Study, page: Client) -> None:
    content = find("qualtrics.csv").read_bytes()
    address = upload(page, f"{STORIES}new/", "written.csv", content)

    first = page.get(address)
    page.post(address, form_of(first) | {"act": '["restore"]'})
    taken = page.get(address).content.decode()

    assert "1 row stays out because “Status” is “Survey Preview”." in first.content.decode()
    assert "2 rows are left out." in first.content.decode()
    assert "This is an export of Qualtrics" in first.content.decode()
    assert "stays out because" not in taken


def test_the_next_file_of_the_same_columns_has_rows_of_its_own_that_stay_out(study: Study, page: Client) -> None:
    content = find("qualtrics.csv").read_bytes().replace(b"R_4d5e6f,p1s1,3,", b"R_4d5e6f,p1s1,3,No gulls.")
    roles = {"role-7": "", "role-8": "", "role-9": "text"}
    bring_stories(page, "written.csv", content, source="A", grouping="alone", **roles)

    again = page.get(upload(page, f"{STORIES}new/", "more.csv", content))

    assert study.stories.count() == 2
    assert again.context["form"].saved.roles["Q3"] == "text"
    assert again.context["n_left_out"] == 2
