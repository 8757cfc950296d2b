"""Subsets: what is copied and what stays, what is recorded and for whom, the page, the command, and what it costs."""

import io
import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.test import Client

from studies import protocol, subsets
from studies.documents.analysis_plan import AnalysisPlan
from studies.models import Membership, Provenance, Step, Story, Study, Subset
from studies.protocol.preregistration import write_preregistration
from studies.protocol.subset_descriptions import describe_subset
from studies.strata import CannotDraw, SubsetRule, draw, parse_criterion
from tests import factories
from tests.studies.folders import rows_by_table
from tests.studies.subsets import create_subset
from tests.trust.test_words_designers import find_unwanted

pytestmark = pytest.mark.django_db
PAGE = "/studies/plums/stories/subset/"
TIERS = ("high", "low")


def make_study(n_groups: int = 6) -> Study:
    """Two stories a group, by two sources: the first of tier high, the second low; votes 1, 2, 3 and so on."""
    study = factories.study(n_groups=n_groups, n_stories=2, state="draft", planned=False, comparative=False)
    rows = list(Provenance.objects.filter(story__study=study).order_by("story__code"))
    for n, row in enumerate(rows, start=1):
        row.factors = {"tier": TIERS[n % 2 == 0], "votes": n}
    Provenance.objects.bulk_update(rows, ["factors"])
    return study


def rule(n: int, *by: str, each: bool = False, seed: int = 7) -> SubsetRule:
    return SubsetRule(n, seed, is_each=each, criteria=tuple(map(parse_criterion, by)))


def test_a_subset_is_a_draft_like_the_study_with_what_was_drawn_and_the_study_stays() -> None:
    study = make_study()
    before = list(study.stories.order_by("code").values_list("pk", "code", "sha256"))
    maker = factories.staff("designer")

    subset = create_subset(study, rule(2, "tier", each=True), "Some plums", by=maker)

    drawn = draw(subsets.read_population(study).candidates, rule(2, "tier", each=True))
    originals = {story.code: story for story in Story.objects.filter(pk__in=drawn.keys)}
    assert (subset.slug, subset.state, subset.organiser) == ("some-plums", "draft", "Us")
    assert Membership.objects.get(study=subset).user == maker
    assert list(study.stories.order_by("code").values_list("pk", "code", "sha256")) == before
    steps = Step.objects.filter(version__study=study).order_by("position").values_list("key", "instrument")
    assert list(Step.objects.filter(version__study=subset).order_by("position").values_list("key", "instrument")) == (
        list(steps)
    )
    assert len(originals) == 4
    for story in subset.stories.all():
        original = originals.pop(story.code)
        assert (story.text, story.n_words, story.sha256) == (original.text, original.n_words, original.sha256)
        origin, copied = original.provenance, story.provenance
        assert (copied.source, copied.title, copied.factors) == (origin.source, origin.title, origin.factors)
        assert copied.copied_from_id == original.pk
        assert list(story.groups.values_list("code", "premise")) == list(original.groups.values_list("code", "premise"))
    assert not originals
    assert not subset.groups.filter(stories=None).exists()


def test_how_it_was_drawn_is_recorded_and_said_in_words() -> None:
    study = make_study()
    subset = create_subset(study, rule(3, "tier", "votes=thirds", seed=11), "Some", by=None)

    row = Subset.objects.get(study=subset)

    assert (row.original, row.title, row.seed, row.n, row.is_each) == ("plums", study.title, 11, 3, False)
    assert row.criteria == ["tier", "votes=thirds"]
    assert [(s["parts"], s["n_there"]) for s in row.strata] == [
        (["high", "1 – 4"], 2),
        (["high", "5 – 8"], 2),
        (["high", "9 – 12"], 2),
        (["low", "1 – 4"], 2),
        (["low", "5 – 8"], 2),
        (["low", "9 – 12"], 2),
    ]
    assert sum(s["n_taken"] for s in row.strata) == 3
    # With the seed the draw could be done again, and what was not drawn would tell the strata.
    assert describe_subset(subset, with_strata=False) == (
        "3 stories were drawn from the 12 of “Fourteen tests of a story”."
    )
    drawn = "3 stories were drawn from the 12 of “Fourteen tests of a story” with the seed 11."
    assert describe_subset(subset, with_strata=True) == (
        f"{drawn} They were drawn in 6 strata by tier and votes in thirds, spread over these as evenly as possible."
    )
    assert describe_subset(study, with_strata=True) == ""


def test_what_lacked_and_what_was_left_out_is_said_too() -> None:
    study = make_study()
    for row in Provenance.objects.filter(story__study=study, story__code__in=["p1s1", "p2s1", "p3s1", "p4s2"]):
        row.factors = {}
        row.save()

    subset = create_subset(study, rule(5, "tier", each=True), "Some", by=None)

    assert describe_subset(subset, with_strata=True) == (
        "8 stories were drawn from the 8 of “Fourteen tests of a story” with the seed 7. They were drawn in 2 strata "
        "by tier, 5 from each. 1 stratum had fewer and gave all. Stories without a value were left out: tier (4)."
    )


def test_the_registered_plan_says_how_stories_were_drawn() -> None:
    subset = create_subset(make_study(), rule(2, "source", each=True), "Some", by=None)

    text = write_preregistration(subset, AnalysisPlan(outcome="tests/item-1"))

    assert "- 4 stories were drawn from the 12 of “Fourteen tests of a story” with the seed 7. They were drawn" in text
    assert "in 2 strata by source, 2 from each." in text


def test_the_log_that_everybody_reads_says_nothing_of_strata() -> None:
    subset = create_subset(make_study(), rule(1, "tier", each=True), "Some", by=factories.staff("designer"))

    assert LogEntry.objects.get(object_id=str(subset.pk)).change_message == "subset of plums"


def test_a_launched_study_can_be_drawn_from_and_its_subset_is_planned_and_frozen() -> None:
    study = make_study()
    factories.plan(study)
    Study.objects.filter(pk=study.pk).update(state="live")

    subset = create_subset(study, rule(4), "Some", by=None)
    factories.plan(subset)

    assert protocol.is_frozen(subset)
    assert study.stories.count() == 12


def test_a_subset_outlives_the_draft_that_it_was_drawn_from() -> None:
    study = make_study()
    subset = create_subset(study, rule(4), "Some", by=None)
    factories.plan(subset)

    study.delete()

    assert subset.stories.count() == 4
    assert describe_subset(subset, with_strata=True).startswith("4 stories were drawn from the 12 of “Fourteen")


def test_withheld_texts_and_stories_in_no_group_are_not_drawn() -> None:
    study = make_study(2)
    Story.objects.filter(study=study, code="p1s1").update(text="", is_withheld=True)
    study.stories.get(code="p2s2").groups.clear()

    population = subsets.read_population(study)

    codes = set(study.stories.filter(pk__in=[c.key for c in population.candidates]).values_list("code", flat=True))
    assert codes == {"p1s2", "p2s1"}
    assert (population.n_withheld, population.n_in_no_group) == (1, 1)


def test_prompts_are_premises_and_a_story_in_several_groups_of_one_stands_on_one() -> None:
    study = make_study(3)
    study.groups.filter(code="plot2").update(premise="  PREMISE 1 ")
    study.groups.get(code="plot2").stories.add(study.stories.get(code="p1s1"))

    drawn = draw(subsets.read_population(study).candidates, rule(1, "group", each=True))

    assert [(s.labels, s.n_there) for s in drawn.strata] == [(("Premise 1",), 4), (("Premise 3",), 2)]


def test_a_refused_draw_leaves_nothing() -> None:
    study = make_study()
    rows = rows_by_table()

    with pytest.raises(CannotDraw):
        create_subset(study, rule(13), "Some", by=factories.staff("designer"))

    assert {k: n for k, n in rows_by_table().items() if "auth" not in k} == {
        k: n for k, n in rows.items() if "auth" not in k
    }


def test_the_page_shows_what_would_be_drawn_and_then_makes_the_study(designer: Client) -> None:
    make_study()
    asked = {"n": "4", "allocation": "each", "by_1": "tier", "by_2": "", "by_3": "", "day": "", "seed": "7"}

    html = designer.get(PAGE, asked).content.decode()

    assert Study.objects.count() == 1
    assert "8 stories of 12." in html
    assert "4 groups would keep only some of their stories." in html
    response = designer.post(PAGE, asked | {"title": "Some plums"}, follow=True)
    assert "8 stories are in this draft. “Fourteen tests of a story” has not changed." in response.content.decode()
    made = Study.objects.get(slug="some-plums")
    drawn = draw(subsets.read_population(Study.objects.get(slug="plums")).candidates, rule(4, "tier", each=True))
    codes = set(Story.objects.filter(pk__in=drawn.keys).values_list("code", flat=True))
    assert set(made.stories.values_list("code", flat=True)) == codes
    assert "8 stories were drawn from the 12" in designer.get("/studies/some-plums/stories/sources/").content.decode()


def test_the_page_shows_what_lacks_and_what_is_left_out(designer: Client) -> None:
    study = make_study()
    row = Provenance.objects.get(story__study=study, story__code="p1s1")
    row.factors = {}
    row.save()

    html = designer.get(PAGE, {"n": "6", "allocation": "each", "by_1": "tier"}).content.decode()

    cells = " ".join(html.split())
    for name, value in (("Available", 5), ("Asked for", 6), ("Would be drawn", 5), ("Missing", 1)):
        assert f'<td class="n" data-label="{name}">{value}</td>' in cells
    assert "1 stratum has fewer than its share and gives all." in html
    assert "1 story has no value for “tier” and is left out." in html


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"n": "13", "allocation": "all"}, "There are 12 stories to draw from"),
        ({"n": "2", "allocation": "each"}, "Choose what the strata are formed by"),
        ({"n": "2", "allocation": "all", "by_1": "colour"}, "colour"),
        ({"n": "0", "allocation": "all"}, "greater than or equal to 1"),
        ({"n": "many", "allocation": "all"}, "Enter a whole number"),
        ({"n": "2", "allocation": "all", "seed": "-1"}, "greater than or equal to 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused_on_the_page_and_nothing_is_made(
    designer: Client, asked: dict[str, str], sentence: str
) -> None:
    make_study()

    shown = designer.get(PAGE, asked)
    posted = designer.post(PAGE, asked | {"title": "Some plums"})

    assert (shown.status_code, posted.status_code) == (200, 400)
    assert sentence in shown.content.decode()
    assert sentence in posted.content.decode()
    assert Study.objects.count() == 1


def test_dates_are_offered_around_a_day_which_must_be_said(designer: Client) -> None:
    study = make_study(2)
    for row in Provenance.objects.filter(story__study=study):
        row.factors = {"date": f"202{row.story.code[1]}-06-01"}
        row.save()
    asked = {"n": "1", "allocation": "each", "by_1": "date=day"}

    assert "Enter the day that divides the stories." in designer.get(PAGE, asked).content.decode()
    html = designer.get(PAGE, asked | {"day": "2022-01-01"}).content.decode()

    assert "&lt; 2022-01-01" in html
    assert "2 stories of 4." in html


def test_a_title_is_needed_and_a_form_sent_twice_makes_one_study(designer: Client) -> None:
    make_study()
    asked = {"n": "4", "allocation": "all"}

    assert "Give it a title." in designer.post(PAGE, asked).content.decode()
    for _ in range(2):
        designer.post(PAGE, asked | {"title": "Some", "once": "abc"})

    assert Study.objects.filter(title="Some").count() == 1


@pytest.mark.parametrize("role", ["coordinator", "researcher", "steward", "administrator"])
def test_who_may_not_know_sources_or_make_studies_neither_draws_nor_learns_counts(client: Client, role: str) -> None:
    study = make_study()
    subset = create_subset(study, rule(2, "source", each=True), "Some", by=None)
    client.force_login(factories.staff(role))

    for address in (PAGE, f"{PAGE}?n=2&allocation=each&by_1=source"):
        assert client.get(address).status_code == 403
    assert client.post(PAGE, {"n": "2", "allocation": "all", "title": "Mine"}).status_code == 403
    html = "".join(client.get(f"/studies/{subset.slug}/{part}").content.decode() for part in ("", "stories/"))
    assert "strata" not in html
    assert "Draw a subset" not in html
    assert Study.objects.count() == 2


def test_a_cloze_is_not_drawn_from(designer: Client) -> None:
    from tests.annotation import clozes

    study = clozes.study()

    html = designer.get(f"/studies/{study.slug}/stories/subset/", follow=True).content.decode()

    assert "raters fill one text, so there are no stories to draw from." in html


@pytest.mark.parametrize("n_groups", [2, 6])
def test_the_page_asks_as_often_for_few_stories_as_for_many(
    designer: Client, django_assert_num_queries: Any, n_groups: int
) -> None:
    make_study(n_groups)
    asked = {"n": "1", "allocation": "each", "by_1": "tier"}
    designer.get(PAGE, asked)
    ContentType.objects.get_for_model(Study)  # which the log asks for once a process

    with django_assert_num_queries(21):
        page = designer.get(PAGE, asked).content.decode()
    with django_assert_num_queries(46):
        designer.post(PAGE, asked | {"title": "Some"})
    assert "What would be drawn" in page
    assert find_unwanted(page) == [], "words of how a study is stored"


def test_whoever_names_no_seed_gets_one_that_is_not_the_studys(designer: Client) -> None:
    study = make_study()
    asked = {"n": "1", "allocation": "each", "by_1": "source", "seed": ""}

    page = designer.get(PAGE, asked).content.decode()
    [seed] = re.findall(r'<input type="hidden" name="seed" value="(\d+)"', page)
    designer.post(PAGE, asked | {"seed": seed, "title": "By page"})
    call_command("draw_subset", "plums", title="By command", each=1, by=["source"], stdout=io.StringIO())

    assert Subset.objects.get(study__slug="by-page").seed == int(seed)
    assert len({*Subset.objects.values_list("seed", flat=True), study.seed}) == 3


def test_by_the_seed_of_a_draw_whoever_knows_no_source_could_tell_some() -> None:
    """Why it is said only to those who may know: one story by each of two sources was drawn."""
    study = make_study()
    candidates = subsets.read_population(study).candidates
    source_by_key = {candidate.key: candidate.source for candidate in candidates}
    are_alike = []
    for seed in range(20):
        drawn = set(draw(candidates, rule(1, "source", each=True, seed=seed)).keys)
        # Without a criterion the seed puts all stories into the order that every stratum follows.
        order = draw(candidates, rule(len(candidates), seed=seed)).keys
        first, second = sorted(map(order.index, drawn))
        are_alike += [source_by_key[key] == source_by_key[order[first]] for key in order[first + 1 : second]]

    assert are_alike, "stories that were not drawn"
    assert all(are_alike)


def test_the_command_draws_what_the_page_draws_and_says_it() -> None:
    study = make_study()
    said = io.StringIO()

    call_command("draw_subset", "plums", title="Some plums", each=4, by=["tier"], seed=7, dry_run=True, stdout=said)
    assert Study.objects.count() == 1
    call_command("draw_subset", "plums", title="Some plums", each=4, by=["tier"], seed=7, stdout=said)

    assert said.getvalue().splitlines() == [
        *["high: 6 there, 4 asked for, 4 taken", "low: 6 there, 4 asked for, 4 taken"],
        *["4 groups keep only some of their stories", "8 of 12 stories, seed 7"],
        *["high: 6 there, 4 asked for, 4 taken", "low: 6 there, 4 asked for, 4 taken"],
        *["4 groups keep only some of their stories", "8 of 12 stories, seed 7"],
        "some-plums: 8 stories. Next: manage.py plan some-plums",
    ]
    drawn = draw(subsets.read_population(study).candidates, rule(4, "tier", each=True))
    codes = set(Story.objects.filter(pk__in=drawn.keys).values_list("code", flat=True))
    assert set(Study.objects.get(slug="some-plums").stories.values_list("code", flat=True)) == codes


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n": 4}, "name the new study with --title"),
        ({"n": 40, "title": "Some"}, "There are 12 stories to draw from"),
        ({"each": 1, "by": ["tier=fifths"], "title": "Some"}, "“tier=fifths” cannot be read"),
        ({"each": 1, "by": ["colour"], "title": "Some"}, "There are: source, group, text=quarters, tier, votes."),
    ],
)
def test_the_command_refuses_in_one_line(options: dict[str, Any], sentence: str) -> None:
    make_study()

    with pytest.raises(CommandError, match=r"^[^\n]*$") as refusal:
        call_command("draw_subset", "plums", **options)

    assert sentence in str(refusal.value)
    assert Study.objects.count() == 1
