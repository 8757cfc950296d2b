"""The order of a file, which its sources tend to follow, is found again in nothing that is stored or shown."""

import re
from collections.abc import Sequence

import pytest
from django.test import Client

from studies import construction
from studies.documents.stories import GroupDocument, StoryDocument
from studies.models import Provenance, Story, StoryGroup, Study
from tests import factories
from tests.replay import replayed
from tests.trust.addresses import patterns

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

N = 60
# Sixty stories, the first half by one source; their codes say nothing.
CODES = [f"s{(n * 37) % 101:03}" for n in range(N)]
FIRST_HALF = frozenset(CODES[: N // 2])


def share_in_order(codes: Sequence[str]) -> float:
    """How often a story of the first source stands before one of the other: .5 by chance, 0 or 1 tell the source."""
    pairs = [
        a in FIRST_HALF for i, a in enumerate(codes) for b in codes[i + 1 :] if (a in FIRST_HALF) != (b in FIRST_HALF)
    ]
    return sum(pairs) / len(pairs)


@pytest.fixture
@replayed
def study() -> Study:
    """A study loaded from a file that is sorted by source, each story in a group of its own."""
    stories = [
        StoryDocument(code, f"The {code} began.", f"Source {code in FIRST_HALF}", "expert_writer") for code in CODES
    ]
    groups = [GroupDocument(f"g{code}", "", (code,)) for code in CODES]
    fields = {"slug": "sorted", "title": "Sorted", "language": "en", "seats_per_group": 1}
    return construction.create_study(fields, stories=stories, groups=groups)


def test_a_file_in_order_of_source_would_be_told_by_its_order() -> None:
    assert share_in_order(CODES) == 1
    assert 0.2 < share_in_order(sorted(CODES)) < 0.8


def test_no_table_keeps_the_order_of_the_file(study: Study) -> None:
    orders = {
        "stories": Story.objects.order_by("pk").values_list("code", flat=True),
        "provenance": Provenance.objects.order_by("pk").values_list("story__code", flat=True),
        "groups": StoryGroup.objects.order_by("pk").values_list("stories__code", flat=True),
        "of groups": StoryGroup.stories.through.objects.order_by("pk").values_list("story__code", flat=True),
    }

    # Of random orders 1 in 10,000 lies outside.
    assert {name: 0.2 < share_in_order(list(codes)) < 0.8 for name, codes in orders.items()} == dict.fromkeys(
        orders, True
    )


def test_the_same_file_is_stored_in_another_order_each_time(study: Study) -> None:
    first = list(study.stories.order_by("pk").values_list("code", flat=True))
    study.groups.all().delete()
    Provenance.objects.all().delete()
    study.stories.all().delete()
    stories = [StoryDocument(code, "It began.", "Source True", "expert_writer") for code in CODES]

    construction.create_study({"slug": "again", "title": "Again"}, stories=stories, groups=[])

    assert list(Story.objects.order_by("pk").values_list("code", flat=True)) != first


def test_what_comes_in_later_stands_at_no_end_of_any_table() -> None:
    """Two files, each of one source."""
    study = construction.create_study({"slug": "two", "title": "Two", "language": "en"}, stories=[], groups=[])
    for is_first in (True, False):
        codes = [code for code in CODES if (code in FIRST_HALF) == is_first]
        stories = [StoryDocument(code, "It began.", f"Source {is_first}", "expert_writer") for code in codes]
        construction.add_stories(study, stories, [GroupDocument(f"g{code}", "", (code,)) for code in codes])

    orders = {
        "stories": study.stories.order_by("pk").values_list("code", flat=True),
        "groups": study.groups.order_by("pk").values_list("stories__code", flat=True),
    }

    assert {name: 0.1 < share_in_order(list(codes)) < 0.9 for name, codes in orders.items()} == dict.fromkeys(
        orders, True
    )


def test_what_is_written_in_the_admin_has_keys_that_are_not_counted(client: Client) -> None:
    study = construction.create_study({"slug": "two", "title": "Two", "language": "en"}, stories=[], groups=[])
    client.force_login(factories.staff("designer"))
    for code in CODES[:12]:
        client.post("/admin/studies/story/add/", {"study": study.pk, "code": code, "language": "en", "text": "Once."})
        story = study.stories.get(code=code)
        client.post("/admin/studies/storygroup/add/", {"study": study.pk, "code": f"g{code}", "stories": [story.pk]})

    written = CODES[:12]
    assert list(study.stories.order_by("pk").values_list("code", flat=True)) != written
    assert list(study.groups.order_by("pk").values_list("code", flat=True)) != [f"g{code}" for code in written]
    assert (study.stories.count(), study.groups.count()) == (12, 12)


def test_a_copy_follows_its_original_in_no_order(study: Study) -> None:
    rows = StoryGroup.stories.through.objects.filter(storygroup__study=study)
    other = construction.create_study({"slug": "copied", "title": "Copied"}, stories=[], groups=[])

    construction.copy_groups(
        other, list(study.groups.all()), list(rows.values_list("storygroup_id", "story_id")), with_origins=True
    )

    order = study.stories.order_by("pk").values_list("code", flat=True)
    assert list(other.stories.order_by("pk").values_list("code", flat=True)) != list(order)


def blind_addresses(study: Study) -> list[str]:
    """The lists of the records, and every page of the study that needs nothing but its name."""
    values = {"slug": study.slug, "pk": study.pk}
    lists = [f"/admin/studies/{model}/" for model in ("story", "storygroup", "study", "provenance")]
    pages = [p.address(values) for p in patterns() if p.parameters == ("slug",) and not p.model]
    return [*lists, f"/admin/studies/study/{study.pk}/change/", *pages, f"/studies/{study.slug}/stories/?page=2"]


@pytest.mark.parametrize("role", ["coordinator", "designer"])
def test_no_page_of_a_blind_role_shows_an_order_that_goes_with_the_source(
    client: Client, study: Study, role: str
) -> None:
    client.force_login(factories.staff(role))
    code_by_pk = {str(pk): code for pk, code in Story.objects.values_list("pk", "code")}
    seen = set()
    for address in blind_addresses(study):
        page = client.get(address).getvalue().decode(errors="replace")
        keys = re.findall(r"(?:/story/|/stories/|[?;]story=|value=\"story-)(\d+)", page)
        linked = [code_by_pk[key] for key in dict.fromkeys(keys) if key in code_by_pk]
        named = [code for code in dict.fromkeys(re.findall(r"\bg?(s\d{3})\b", page)) if code in CODES]
        by_key = sorted(linked, key=lambda code: int(next(pk for pk, c in code_by_pk.items() if c == code)))
        for order in (linked, named, by_key):
            # Of half of the stories in a random order 1 in 10,000 lies outside of these bounds.
            if len(order) >= N // 2:
                seen.add(address)
                assert 0.1 < share_in_order(order) < 0.9, (address, order)

    assert f"/studies/{study.slug}/stories/" in seen
    assert len(seen) > 3, seen
