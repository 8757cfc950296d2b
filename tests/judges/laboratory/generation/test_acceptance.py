"""Texts that were written become stories: with all that is known of them, all or none, by a person."""

import pytest

from judges.laboratory import generation
from judges.laboratory.generation import CannotAccept, Terms
from judges.models import GeneratedText, Generation, TextRelease
from judges.settlement import erasure
from studies.models import Instrument, Item, Provenance, Source, Study
from tests import factories
from tests.judges import standin as told
from tests.judges.laboratory.generation.stories import draft_study, endpoint_at, order, story_of, words, written
from tests.judges.standin import StandIn
from tests.replay import replayed

pytestmark = pytest.mark.django_db
AT = factories.NOON


@pytest.fixture
@replayed
def study() -> Study:
    return draft_study()


@pytest.fixture
def result(study: Study, standin: StandIn) -> Generation:
    """A story for each of two premises: one after a discard, the other with words of the model before it."""
    standin.script = [words(100), words(450, "Okay! Here's the story:\n\n"), words(500)]
    wish = order(endpoint_at(standin), groups=("plot1", "plot2"), n_rounds=2, temperatures=(0.7,))
    return written(study, wish)


def all_of(result: Generation, *, is_cleaned: bool = True) -> dict[int, bool]:
    return {row.pk: is_cleaned for row in GeneratedText.objects.filter(draft__generation=result)}


def test_an_accepted_text_says_where_it_comes_from(study: Study, result: Generation) -> None:
    terms = Terms(licence="CC BY 4.0", may_send_out=True, reason="It was written for us.")

    stories = generation.accept(result, all_of(result), terms, by="rui", at=AT)

    assert study.stories.count() == 4
    release = TextRelease.objects.get()
    assert (release.codes, release.reason, release.by) == (
        sorted(story.code for story in stories),
        "It was written for us.",
        "rui",
    )
    assert [group.stories.count() for group in study.groups.order_by("code")] == [2, 2]
    origins = {origin.story_id: origin for origin in Provenance.objects.filter(story__in=stories)}
    source = Source.objects.get(name="standin")
    assert source.kind == Source.Kind.MODEL
    framed = GeneratedText.objects.exclude(cleaned="").get()
    origin = origins[framed.story_id or 0]
    assert (origin.source, origin.licence, origin.may_send_out, origin.may_redistribute) == (
        *(source, "CC BY 4.0", True),
        False,
    )
    discards = {row.draft.n_discards for row in GeneratedText.objects.all()}
    assert discards == {0, 1}
    assert origin.factors == {
        "model": "standin",
        "recipe": "pds-writer-profile",
        "prompts": "pds-writer-profile 1",
        "temperature": 0.7,
        "replies": framed.draft.n_attempts,
        "discarded": framed.draft.n_discards,
    }
    assert (framed.accepted_by, framed.accepted_at) == ("rui", AT)


def test_both_texts_are_kept_where_one_was_cleaned(study: Study, result: Generation) -> None:
    framed = GeneratedText.objects.exclude(cleaned="").get()

    generation.accept(result, all_of(result), Terms(), by="rui", at=AT)

    framed.refresh_from_db()
    assert framed.story is not None
    assert (framed.story.text, framed.is_cleaned) == (story_of(450), True)
    assert framed.story.provenance.raw_text == f"Okay! Here's the story:\n\n{story_of(450)}" == framed.text
    plain = GeneratedText.objects.get(cleaned="")
    assert plain.story is not None
    assert (plain.story.provenance.raw_text, plain.is_cleaned) == ("", False)


def test_a_text_can_be_taken_as_it_came(study: Study, result: Generation) -> None:
    framed = GeneratedText.objects.exclude(cleaned="").get()

    (story,) = generation.accept(result, {framed.pk: False}, Terms(placement="alone"), by="rui", at=AT)

    assert story.text == framed.text
    assert [list(group.stories.all()) for group in story.groups.all()] == [[story]]
    assert story.groups.get().premise == framed.draft.premise


def test_all_or_none_are_accepted(study: Study, result: Generation) -> None:
    rows = list(GeneratedText.objects.order_by("pk"))
    generation.accept(result, {rows[0].pk: True}, Terms(), by="rui", at=AT)

    with pytest.raises(CannotAccept, match="is in the study already"):
        generation.accept(result, all_of(result), Terms(), by="rui", at=AT)

    assert study.stories.count() == 3


@pytest.mark.parametrize("state", [Study.State.LIVE, Study.State.CLOSED])
def test_a_study_that_is_no_draft_takes_none(study: Study, result: Generation, state: str) -> None:
    Study.objects.filter(pk=study.pk).update(state=state)

    with pytest.raises(CannotAccept, match="launched"):
        generation.accept(result, all_of(result), Terms(), by="rui", at=AT)

    assert study.stories.count() == 2


def test_a_source_of_another_kind_is_refused_and_nothing_is_written(study: Study, result: Generation) -> None:
    with pytest.raises(CannotAccept, match="Give the source another name"):
        generation.accept(result, all_of(result), Terms(source="Source 1"), by="rui", at=AT)

    assert study.stories.count() == 2


def test_a_group_that_would_have_no_letters_left_is_refused(study: Study, result: Generation) -> None:
    group = study.groups.get(code="plot1")
    group.stories.add(*[factories.story(study, f"more{n}") for n in range(25)])

    with pytest.raises(CannotAccept, match="more than 26 stories"):
        generation.accept(result, all_of(result), Terms(), by="rui", at=AT)

    assert not GeneratedText.objects.exclude(accepted_at=None).exists()


def test_texts_may_not_be_sent_at_once_without_a_reason(study: Study, result: Generation) -> None:
    with pytest.raises(CannotAccept, match="Say why these texts may be sent"):
        generation.accept(result, all_of(result), Terms(may_send_out=True, reason=" "), by="rui", at=AT)

    assert study.stories.count() == 2


def test_an_extracted_idea_is_its_writers_with_their_factors(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.says("A well runs dry.")
    Provenance.objects.filter(story__code="p1s1").update(factors={"votes": 12, "tier": "novice"}, licence="CC0")
    made = written(study, order(endpoint_at(standin), "nsv-extraction", groups=(), stories=("p1s1",), sizes=(50,)))

    terms = Terms(may_send_out=True, reason="The writers agreed.")
    (story,) = generation.accept(made, all_of(made), terms, by="rui", at=AT)

    origin = story.provenance
    assert (origin.source.name, origin.licence, origin.may_send_out) == ("Source 1", "CC0", False)
    assert origin.factors == {
        "votes": 12,
        "tier": "novice",
        "extracted by": "standin",
        "recipe": "nsv-extraction",
        "prompts": "nsv-idea-extraction 1",
        "words asked for": 50,
        "replies": 1,
        "discarded": 0,
    }
    assert story.groups.get().code != "plot1", "ideas do not stand among the stories that they were made of"
    erasure.forget(factories.rater(study), [study.stories.get(code="p1s1").pk])
    story.refresh_from_db()
    assert (story.text, story.is_withheld) == ("", True)


def test_the_idea_of_every_round_can_become_a_story(study: Study, standin: StandIn) -> None:
    standin.script = [told.says(text) for text in ("One idea.", "Two ideas.", "Three ideas.")]
    made = written(study, order(endpoint_at(standin), "nsv-feedback", n_rounds=2, reference="p2s1"))
    assert "The p2s1 began." in standin.hits[1].body["messages"][1]["content"]

    stories = generation.accept(made, all_of(made), Terms(placement="new"), by="rui", at=AT)

    assert [(story.text, story.provenance.factors["round"]) for story in stories] == [
        *[("One idea.", 0), ("Two ideas.", 1)],
        ("Three ideas.", 2),
    ]
    assert len({group.pk for story in stories for group in story.groups.all()}) == 1


def test_a_measure_becomes_a_background_once_it_was_approved(study: Study, standin: StandIn) -> None:
    draft = Instrument.objects.create(slug="own", version="1", title="Own", fingerprint="0" * 64)
    item = Item.objects.create(
        instrument=draft, position=1, key="end", type="binary", question="Does it end well?", rationale="none"
    )
    standin.reply = lambda hit: told.says("An end is earned when …")
    made = written(study, order(endpoint_at(standin), "ttcw-measures", groups=(), instrument=draft))
    asked = standin.hits[0].body["messages"][1]["content"]
    assert asked.startswith("What do creative experts mean when they say the following: <question fence-")
    item.refresh_from_db()
    assert item.background == ""
    row = GeneratedText.objects.get(draft__generation=made)

    n = generation.approve_measures(made, {row.pk: "An end is earned when it follows."}, by="rui", at=AT)

    item.refresh_from_db()
    row.refresh_from_db()
    assert (n, item.background) == (1, "An end is earned when it follows.")
    assert (row.text, row.is_cleaned, row.accepted_by) == ("An end is earned when …", True, "rui")


def test_who_writes_and_who_judges_should_differ(study: Study, standin: StandIn) -> None:
    endpoint = endpoint_at(standin)
    standin.reply = lambda hit: words(500)
    written(study, order(endpoint, model="gpt-4o"))

    alone = generation.find_shared_families(study)
    judged = generation.find_shared_families(study, besides=("judge", "openai/gpt-4.1"))
    other = generation.find_shared_families(study, besides=("judge", "claude-sonnet-4"))

    assert (alone, other) == ([], [])
    assert [row.family for row in judged] == ["OpenAI"]
    assert str(judged[0]).startswith(
        "OpenAI has more than one part in this study: writes (gpt-4o), judges (openai/gpt-4.1)."
    )
