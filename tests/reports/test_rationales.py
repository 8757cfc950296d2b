"""Reasons to read: which count, what is looked for, passages marked, sources sealed, and few queries for very many."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment, Rater, Response
from annotation.participation.withdrawal import withdraw
from reports.rationales import passages, queries
from reports.rationales.queries import Filters
from studies.models import Source, Step, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import given
from tests.reports.test_pages import full_study

pytestmark = pytest.mark.django_db
PAGE = "/reports/plums/rationales/"
TEXT = "Fog lay on the quay.\n\n“I 🐚 know,” he said.\n\n    A line of verse\n  and one more,\nthe last."


@pytest.fixture
def study() -> Study:
    """Two people and a judge on four stories, two questions each; both people say Yes or No with a reason."""
    return full_study()


def as_role(client: Client, role: str) -> Client:
    client.force_login(factories.staff(role))
    return client


def write(study: Study, rater: str, story: str, item: str, reason: str, quotes: list[Any] | None = None) -> Response:
    rows = Response.objects.filter(assignment__study=study, assignment__rater__code=rater, story__code=story)
    response = rows.get(item__key=item, step__key="tests")
    Response.objects.filter(pk=response.pk).update(rationale=reason, quotes=quotes or [])
    return response


def texts(study: Study, **filters: str) -> list[str]:
    return [reason.text for reason in queries.read(queries.in_order(queries.reasons(study, Filters(**filters))))]


def n_reasons(study: Study) -> int:
    return queries.reasons(study).count()


# ── which count ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_reasons_of_people_and_judges_count_people_first(study: Study) -> None:
    story = study.stories.get(code="p1s1")
    reasons = queries.read(queries.in_order(queries.reasons(study).filter(story=story)))

    assert [(r.item.key, r.rater, r.kind, r.answer) for r in reasons] == [
        ("item-1", "plumsE01", "person", "Yes"),
        ("item-1", "plumsE02", "person", "Yes"),
        ("item-1", "gpt", "model", "Yes"),
        ("item-2", "plumsE01", "person", "Yes"),
        ("item-2", "plumsE02", "person", "No"),
        ("item-2", "gpt", "model", "Yes"),
    ]


def test_whoever_withdrew_is_at_work_or_is_simulated_is_left_out(study: Study) -> None:
    every = n_reasons(study)
    of_one = queries.reasons(study).filter(assignment__rater__code="plumsE01").count()
    assert of_one == 8

    Rater.objects.filter(code="plumsE01").update(is_simulated=True)
    assert n_reasons(study) == every - of_one
    Rater.objects.filter(code="plumsE01").update(is_simulated=False)
    of_first_group = Assignment.objects.filter(rater__code="plumsE01", group__code="plot1")
    of_first_group.update(status="open")
    assert n_reasons(study) == every - of_one / 2
    of_first_group.update(status="submitted")
    withdraw(Rater.objects.get(code="plumsE01"), at=NOON)
    assert n_reasons(study) == every - of_one


def test_a_judge_at_work_counts_and_one_that_tries_a_prompt_does_not() -> None:
    from judges import catalogue, runs
    from judges.models import Judge

    study = factories.study(n_stories=2, comparative=False)
    runs.drain(runs.start(study, catalogue.make_stub_judge(), by="tests"))
    every = n_reasons(study)
    reason = queries.read(queries.in_order(queries.reasons(study)))[0]
    assert every == 4
    assert (reason.is_person, reason.rater, bool(reason.prompt)) == (False, "stub", True)

    Judge.objects.update(is_trial=True)

    assert n_reasons(study) == 0


def test_practice_is_left_out(study: Study) -> None:
    assert n_reasons(study)

    with triggers.lifted():
        Step.objects.filter(key="tests").update(kind="practice", scope="once", story="A story.")

    assert n_reasons(study) == 0


def test_the_items_of_a_study_are_those_it_rates_though_it_or_another_practises_them() -> None:
    study = factories.practising_study()
    rating = factories.study("rating", n_stories=2, comparative=False)
    practised = Step.objects.get(version__study=study, key="practice").instrument
    with triggers.lifted():
        Step.objects.filter(version__study=rating, key="tests").update(instrument=practised)

    assert [item.key for item in queries.asked_items(study)] == ["tests.item-1", "tests.item-2"]
    assert [item.key for item in queries.asked_items(rating)] == ["tests.item-1", "tests.item-2"]


# ── what is looked for ─────────────────────────────────────────────────────────────────────────────────────────────


def test_filters_take_item_verdict_kind_source_and_words(study: Study) -> None:
    write(study, "plumsE01", "p1s1", "item-1", "The Ärmel 100% of [it] is A_B.")

    assert len(texts(study, item="tests.item-2")) == 12
    assert len(texts(study, item="tests.item-1", verdict="yes", kind="person")) == 4
    assert len(texts(study, verdict="no", kind="person")) == 8
    assert len(texts(study, source="Source 1")) == 12
    for words in ("ärmel", "ÄRMEL", "100%", "[IT]", "a_b."):
        assert texts(study, words=words) == ["The Ärmel 100% of [it] is A_B."], words
    assert texts(study, words="a.b") == []
    assert texts(study, words="100_") == []


def test_the_page_refuses_what_it_does_not_know(client: Client, study: Study) -> None:
    as_role(client, "researcher")

    assert client.get(PAGE, {"item": "tests.item-1", "kind": "model", "words": "so"}).status_code == 200
    assert client.get(PAGE, {"ordering": "source"}).status_code == 400
    for name in ("item", "verdict", "kind", "source"):
        assert client.get(PAGE, {name: "nowhere"}).status_code == 404
    assert client.get(PAGE, {"words": "\0so"}).status_code == 400


def test_the_list_says_how_many_fit_and_keeps_the_filters(client: Client, study: Study) -> None:
    page = as_role(client, "researcher").get(PAGE, {"words": "IT IS SO"}).content.decode()

    story = study.stories.get(code="p1s1")
    assert "12 reasons fit:" in " ".join(page.split())
    assert f'href="{PAGE}story/{story.pk}/?words=IT+IS+SO"' in page


# ── who sees what ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("role", "state", "is_open"),
    [("researcher", "closed", True), ("researcher", "live", False), ("coordinator", "closed", False)],
)
def test_sources_are_sealed_as_everywhere(client: Client, study: Study, role: str, state: str, is_open: bool) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    Study.objects.filter(pk=study.pk).update(state=state)
    story = study.stories.get(code="p1s1")
    as_role(client, role)

    pages = [client.get(PAGE).content.decode(), client.get(f"{PAGE}story/{story.pk}/").content.decode()]
    looked_for = client.get(PAGE, {"source": "Canary"})

    assert ["Canary" in page for page in pages] == [is_open, is_open]
    assert looked_for.status_code == (200 if is_open else 400)
    assert all("It is so." in page or PAGE in page for page in pages)


def test_a_designer_and_a_steward_read_no_reasons(client: Client, study: Study) -> None:
    for role in ("designer", "steward"):
        assert as_role(client, role).get(PAGE).status_code == 403


def test_a_member_reads_the_reasons_of_that_study_alone(client: Client, study: Study) -> None:
    from studies.models import Membership

    other = full_study("pears")
    user = factories.staff("")
    Membership.objects.create(study=study, user=user, role="researcher")
    client.force_login(user)
    theirs = Response.objects.filter(assignment__study=other).exclude(rationale="").first()
    assert theirs is not None

    assert client.get(PAGE).status_code == 200
    assert client.get("/reports/pears/rationales/").status_code == 403
    assert client.get(f"{PAGE}{theirs.pk}/").status_code == 404
    assert client.get(f"{PAGE}story/{other.stories.first().pk}/").status_code == 404


# ── passages ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_overlapping_passages_are_marked_once_for_all_who_quote_them() -> None:
    first = [{"paragraph": 1, "start": 0, "end": 12, "text": "Fog lay on t"}]
    second = [{"paragraph": 1, "start": 8, "end": 19, "text": "on the quay"}, {"paragraph": 2, "text": "🐚 know"}]

    marked = passages.mark(TEXT, [(7, first), (9, second), (11, [{"paragraph": 2, "text": "never"}])])

    words = [
        (stretch.quote, "".join(run.text for run in stretch.runs))
        for paragraph in marked.paragraphs[:2]
        for stretch in paragraph.stretches
    ]
    assert words == [
        *((1, "Fog lay "), (2, "on t"), (3, "he quay"), (0, ".")),
        *((0, "“I "), (4, "🐚 know"), (0, ",” he said.")),
    ]
    assert marked.quoted_by == {1: (7,), 2: (7, 9), 3: (9,), 4: (9,)}
    assert marked.marks_by_reason == {7: ((1, 1),), 9: ((2, 1), (4, 2))}
    assert marked.not_found == {11}


def test_a_story_is_set_as_its_rater_read_it_with_ways_to_and_fro(client: Client, study: Study) -> None:
    story = study.stories.get(code="p1s1")
    with triggers.lifted():
        type(story).objects.filter(pk=story.pk).update(text=TEXT)
    quotes = [{"paragraph": 3, "start": 22, "end": 30, "text": "and one "}]
    response = write(study, "plumsE01", "p1s1", "item-1", "Verse.\n<b>Bold</b>", quotes)

    page = as_role(client, "researcher").get(f"{PAGE}story/{story.pk}/").content.decode()

    assert '<p id="p3" class="verse">    A line of verse\n  <mark id="mark-1">' in page
    assert f'<a href="#reason-{response.pk}">and one <span' in page
    assert '<a class="passage" href="#mark-1">' in page
    # The rater's page has a script that marks the pane of this id by its form, and would unmark it here.
    assert 'id="story"' not in page
    assert "Verse.\n&lt;b&gt;Bold&lt;/b&gt;" in page


def test_a_permalink_leads_to_the_page_on_which_the_reason_stands(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "PAGE_SIZE", 2)
    as_role(client, "researcher")
    story = study.stories.get(code="p1s1")
    rows = queries.in_order(queries.reasons(study).filter(story=story))

    for n, pk in enumerate(rows.values_list("pk", flat=True)):
        answer = client.get(f"{PAGE}{pk}/")
        address, _hash, anchor = answer.headers["Location"].partition("#")
        query = f"?page={n // 2 + 1}" if n > 1 else ""
        assert (address, anchor) == (f"{PAGE}story/{story.pk}/{query}", f"reason-{pk}")
        assert f'id="{anchor}"' in client.get(address).content.decode()


def test_reasons_about_a_whole_group_have_a_page(client: Client, study: Study) -> None:
    row = Response.objects.filter(assignment__study=study, step__key="ranking").select_related("assignment").first()
    assert row is not None
    Response.objects.filter(pk=row.pk).update(rationale="The first is the best of them.")
    as_role(client, "researcher")

    address = client.get(f"{PAGE}{row.pk}/").headers["Location"]
    page = client.get(address).content.decode()

    assert address == f"{PAGE}group/{row.assignment.group_id}/#reason-{row.pk}"
    assert "The first is the best of them." in page
    assert "the whole group" in client.get(PAGE).content.decode()


# ── how much it costs ──────────────────────────────────────────────────────────────────────────────────────────────


def copy_reasons(study: Study, n: int) -> None:
    """As many more reasons about the stories of the study, by more people."""
    rows = list(Response.objects.filter(assignment__study=study, step__key="tests", assignment__rater_kind="person"))
    raters = Rater.objects.bulk_create(Rater(study=study, code=f"F{m:05}") for m in range(n // 8 + 1))
    copies: list[Response] = []
    for rater in raters:
        new_by_old: dict[int, Assignment] = {}
        for assignment in Assignment.objects.filter(pk__in={row.assignment_id for row in rows}, group__isnull=False):
            old = assignment.pk
            if any(other.group_id == assignment.group_id for other in new_by_old.values()):
                continue
            seat = assignment.seat
            assert seat is not None
            seat.pk, seat.number = None, 1000 + seat.number + 10 * len(copies)
            seat.save()
            assignment.pk, assignment.rater, assignment.seat, assignment.code = None, rater, seat, f"{rater.code}{old}"
            assignment.save()
            new_by_old[old] = assignment
        for row in rows:
            if row.assignment_id in new_by_old:
                fields = {"step_id": row.step_id, "item_id": row.item_id, "story_id": row.story_id}
                said = {"value": row.value, "outcome": row.outcome, "rationale": f"{row.rationale} {len(copies)}"}
                copies.append(Response(assignment=new_by_old[row.assignment_id], last_edited_at=NOON, **fields, **said))
    Response.objects.bulk_create(copies[:n])


def test_pages_cost_the_same_few_queries_for_few_and_many_reasons(client: Client, study: Study) -> None:
    as_role(client, "researcher")
    story = study.stories.get(code="p1s1")
    address = f"{PAGE}story/{story.pk}/"
    n_queries = {}
    for n in (22, 222):
        assert n_reasons(study) == n
        for name, url in {"list": PAGE, "story": address, "looked for": f"{address}?words=so&kind=person"}.items():
            with CaptureQueriesContext(
                connection,
            ) as captured:
                assert client.get(url).status_code == 200
            n_queries[name, n] = len(captured)
        if n == 22:
            copy_reasons(study, 200)

    assert n_queries == {
        **{("list", n): 11 for n in (22, 222)},
        **{("story", n): 14 for n in (22, 222)},
        **{("looked for", n): 14 for n in (22, 222)},
    }


def test_reasons_come_in_pages(client: Client, study: Study) -> None:
    copy_reasons(study, 600)
    story = study.stories.get(code="p1s1")
    as_role(client, "researcher")

    first = client.get(f"{PAGE}story/{story.pk}/").content.decode()
    second = client.get(f"{PAGE}story/{story.pk}/?page=2").content.decode()

    pages = [set(re.findall(r'id="reason-(\d+)"', page)) for page in (first, second)]
    assert len(pages[0]) == queries.PAGE_SIZE
    assert not pages[0] & pages[1]
    assert "?page=2" in first


def test_a_study_without_reasons_says_so(client: Client) -> None:
    given.closed_study()

    page = as_role(client, "researcher").get(PAGE).content.decode()

    assert "There are no reasons to read yet" in page
