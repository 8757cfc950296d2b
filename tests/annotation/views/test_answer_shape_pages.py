"""Files of answers of every shape on screen: columns that name stories, times, rows to leave out, orders in columns."""

import pytest
from django.test import Client

from annotation.models import Response
from studies.models import Study
from tests import factories
from tests.annotation.answer_import.test_answer_shapes import study
from tests.annotation.views.test_answer_import_pages import fields_of, upload

__all__ = ["study"]  # a fixture
pytestmark = pytest.mark.django_db
CROSSED = (
    "who,at,Status,s1_engagement,s1_mood,s3_engagement,s3_mood\nann,5/1/2024 9:00,done,4,3,2,1\nbo,,Preview,5,5,5,5\n"
)


@pytest.fixture
def page(client: Client) -> Client:
    client.force_login(factories.staff("researcher"))
    return client


def brought() -> list[tuple[object, ...]]:
    return sorted(Response.objects.values_list("assignment__rater__code", "story__code", "item__key", "value"))


def test_columns_of_stories_are_a_row_for_each_question_and_bring_their_answers(study: Study, page: Client) -> None:
    address = upload(page, CROSSED)
    first = page.get(address)
    labels = {field.label: name for name, field in first.context["form"].fields.items() if name.startswith("question-")}

    page.post(address, fields_of(page, address) | {labels["mood"]: "read/voice", "dates": "month-day"})
    second = page.get(address).content.decode()
    page.post(address, fields_of(page, address) | {"bring_in": "yes"})

    assert "4 columns: 2 stories × 2 questions." in first.content.decode()
    assert "could be two days" in first.content.decode()
    assert [name for name in first.context["form"].fields if name.startswith("role-")] == ["role-0", "role-1", "role-2"]
    assert "1 row is left out: Status is “Preview”." in second
    assert "Times without a time zone are in UTC." in second
    assert "2024-05-01 09:00 UTC" in second
    assert brought() == [
        ("ann", "s1", "engagement", 4),
        ("ann", "s1", "voice", 3),
        ("ann", "s3", "engagement", 2),
        ("ann", "s3", "voice", 1),
    ]


def test_columns_of_stories_may_be_read_one_by_one(study: Study, page: Client) -> None:
    address = upload(page, CROSSED)

    fields = fields_of(page, address)
    del fields["is_crossed"]
    page.post(address, fields)
    after = page.get(address).context["form"]

    assert [name for name in after.fields if name.startswith("role-")] == [f"role-{n}" for n in range(7)]
    assert after.saved.answers == ()


def test_stories_that_the_file_calls_otherwise_are_said_one_by_one(study: Study, page: Client) -> None:
    address = upload(page, "who,story,voice\nann,The Plum,4\nann,The Pear,5\n")

    form = page.get(address).context["form"]
    named = {row.name: row.field.html_name for row in form.stories.rows()}
    page.post(address, fields_of(page, address) | {named["The Plum"]: "s2", named["The Pear"]: "s4"})
    page.post(address, fields_of(page, address) | {"bring_in": "yes"})

    assert brought() == [("ann", "s2", "voice", 4), ("ann", "s4", "voice", 5)]


def test_a_condition_for_rows_to_leave_out_is_said_and_taken_back(study: Study, page: Client) -> None:
    address = upload(page, "who,story,voice,check\nann,s1,4,passed\nbo,s1,5,failed\ncy,s1,3,\n")

    page.post(address, fields_of(page, address) | {"out-column-0": "check", "out-words-0": "failed; (empty)"})
    with_condition = page.get(address).content.decode()
    page.post(address, fields_of(page, address) | {"out-column-0": ""})
    without = page.get(address).content.decode()

    assert "1 row is left out: check is “failed”." in with_condition
    assert "1 row is left out: check is “(empty)”." in with_condition
    assert "is left out: check" not in without


def test_an_order_and_a_choice_in_columns_are_mapped_by_place_letter_and_option(study: Study, page: Client) -> None:
    address = upload(page, "who,set,best,worst,p,q\nann,plot1,s2,s1,1,1\n")
    roles = ["rater", "group", "place:compare/order:1", "place:compare/order:2"]
    roles += ["option:compare/work:writer", "option:compare/work:editor"]

    page.post(address, fields_of(page, address) | {f"role-{n}": role for n, role in enumerate(roles)})
    kept = fields_of(page, address)
    page.post(address, kept | {"bring_in": "yes"})

    assert [kept[f"role-{n}"] for n in range(6)] == roles
    assert brought() == [
        ("ann", None, "order", [["s2"], ["s1"]]),
        ("ann", None, "work", ["writer", "editor"]),
    ]


def test_a_mapping_that_the_page_cannot_say_stays_as_it_is(study: Study, page: Client) -> None:
    mapping = '[rater]\ncolumn = "who"\n[[answers]]\nvalue = "Q17"\nitem = "voice"\nstory = "s3"\n'
    address = upload(page, "who,Q17\nann,4\n", mapping)

    page.post(address, fields_of(page, address) | {"rater_prefix": "E"})
    page.post(address, fields_of(page, address) | {"bring_in": "yes"})

    assert brought() == [("Eann", "s3", "voice", 4)]


def test_nine_hundred_columns_are_no_nine_hundred_lists(page: Client) -> None:
    factories.study(n_groups=65, n_stories=1, n_items=14, comparative=False, state="closed")
    columns = [f"p{story}s1_item-{item}" for story in range(1, 66) for item in range(1, 15)]
    address = upload(
        page, f"who,{','.join(columns)}\n" + "".join(f"r{n},{','.join(['yes'] * 910)}\n" for n in range(2))
    )

    shown = page.get(address)

    assert "910 columns: 65 stories × 14 questions." in shown.content.decode()
    assert shown.content.count(b"<select") < 40
    assert len(shown.context["examination"].rows) == 1_820


def test_one_question_in_a_column_for_each_group_can_be_saved_with_its_meanings(study: Study, page: Client) -> None:
    address = upload(page, "who,plot1_work,plot2_work\nann,w,writer\n")
    means = {
        row.column: row.field.html_name for row in page.get(address).context["form"].meanings() if row.value == "w"
    }

    saved = page.post(address, fields_of(page, address) | {means["plot1_work"]: "writer"})
    page.post(address, fields_of(page, address) | {"bring_in": "yes"})

    assert saved.status_code == 302
    assert brought() == [("ann", None, "work", ["writer"]), ("ann", None, "work", ["writer"])]


def test_what_is_mapped_stays_though_it_stands_behind_many_columns(study: Study, page: Client) -> None:
    others = [f"note {n}" for n in range(160)]
    address = upload(page, f"{','.join(others)},who,story,voice\n{',' * 160}ann,s1,4\n")

    page.post(address, fields_of(page, address))
    form = page.get(address).context["form"]
    page.post(address, fields_of(page, address) | {"bring_in": "yes"})

    assert (form.table.columns[-3:], form.n_unlisted) == (("who", "story", "voice"), 13)
    assert brought() == [("ann", "s1", "voice", 4)]


def test_an_answer_in_more_columns_than_are_listed_stays_as_it_is(study: Study, page: Client) -> None:
    ranks = "".join(f'"r{n}" = "{"AB"[n % 2]}"\n' for n in range(160))
    mapping = f'[rater]\ncolumn = "who"\n[group]\ncolumn = "g"\n[[answers]]\nitem = "order"\n[answers.ranks]\n{ranks}'
    address = upload(
        page, f"who,g,{','.join(f'r{n}' for n in range(160))}\nann,plot1,{','.join(['1'] * 160)}\n", mapping
    )

    page.post(address, fields_of(page, address))

    [answer] = page.get(address).context["form"].saved.answers
    assert len(answer.ranks) == 160


def test_words_with_a_semicolon_stay_one_and_what_no_mapping_keeps_is_refused(study: Study, page: Client) -> None:
    mapping = '[rater]\ncolumn = "who"\n[story]\ncolumn = "story"\n[[answers]]\nvalue = "voice"\nitem = "voice"\n'
    mapping += '[[leave_out]]\ncolumn = "check"\nis = ["Rejected; late", "\\"no\\"", ""]\n'
    address = upload(page, "who,story,voice,check\nann,s1,4,passed\n", mapping)

    page.post(address, fields_of(page, address))
    [rows] = page.get(address).context["form"].saved.leave_out
    refused = page.post(address, fields_of(page, address) | {"rater_prefix": "=R"})

    assert rows.words == ("Rejected; late", '"no"', "")
    assert (refused.status_code, page.get(address).status_code) == (400, 200)
    assert "would run as a formula" in refused.content.decode()
