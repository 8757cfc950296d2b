"""Studies of what others wrote: blind stories, their writers as sources, and what is refused."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation import design
from annotation.models import Assignment, Fill, Rater
from annotation.responses import derivation, submission
from annotation.responses.derivation import NotDerivable
from studies import protocol
from studies.models import Provenance, Source, Study
from tests import factories
from tests.annotation import clozes
from tests.replay import replayed
from tests.studies.cloze.documents import FILLS, SHOES

pytestmark = pytest.mark.django_db


def written(of: Study, lead: str = "", **rater: object) -> Assignment:
    """A complete text that was sent in; every fill begins with that lead."""
    work = clozes.assignment(of, **rater)
    clozes.fill(work, {number: f"{lead}{text}" for number, text in FILLS.items()})
    submission.submit(work, at=timezone.now())
    return work


@pytest.fixture
@replayed
def source() -> Study:
    """A study in which two people and one model have written, and one person has dropped out."""
    made = clozes.study()
    written(made, "first ")
    written(made, "second ")
    rater = Rater.objects.create(study=made, code="gpt", kind=Rater.Kind.MODEL)
    seat = factories.judge_seat(made, made.groups.get(), ["shoes"])
    version = made.versions.get()
    work = Assignment.objects.create(
        study=made, rater=rater, rater_kind="model", seat=seat, group=seat.group, version=version
    )
    clozes.fill(work)
    submission.submit(work, at=timezone.now())
    dropout = clozes.assignment(made)
    clozes.fill(dropout, {1: "boots"})
    submission.submit(dropout, at=timezone.now())
    return made


def test_every_complete_fill_becomes_a_story_in_a_group_of_its_own(source: Study) -> None:
    made = derivation.derive(source, "judged", derivation.derivable_fills(source))

    assert made.state == "draft"
    assert [group.stories.count() for group in made.groups.all()] == [1, 1, 1]
    texts = [story.text for story in made.stories.all()]
    assert sum("They were ¹first brown walking boots¹ and they were wet" in text for text in texts) == 1
    assert sum("but ³a drawer, and then nothing, twice³.”" in text for text in texts) == 1
    assert not any("{{" in text for text in texts)
    assert all("§ 2 The Compartments\n\n“I have heard" in text for text in texts)
    assert set(Fill.objects.exclude(story=None).values_list("story__study__slug", flat=True)) == {"judged"}


def test_the_text_can_be_left_as_its_writer_wrote_it(source: Study) -> None:
    made = derivation.derive(source, "judged", derivation.derivable_fills(source), numbered=False)

    assert any("They were first brown walking boots and" in story.text for story in made.stories.all())
    assert not any("¹" in story.text or "§" in story.text for story in made.stories.all())


def test_the_stories_are_judged_with_the_judging_instrument_and_can_be_planned(source: Study) -> None:
    made = derivation.derive(source, "judged", derivation.derivable_fills(source))

    (step,) = protocol.load_protocol(made.versions.get()).ratings
    assert (step.instrument, step.scope, step.background) == (clozes.cloze(source).judging, "story", "above")
    keys = {item.key for item in protocol.items_of(step)}
    assert {"s1-c1", "s1-c1-k1", "edge-1-2"} <= keys
    assert len(design.plan(made)) == 9


def test_writers_are_sources_by_code_and_nothing_that_raters_see_names_them(source: Study) -> None:
    made = derivation.derive(source, "judged", derivation.derivable_fills(source))

    told = Provenance.objects.filter(story__study=made).values_list("source__name", "source__kind", "factors")
    assert sorted(told, key=str) == [
        ("gpt", "language_model", {"outcome": "submitted"}),
        ("participant E01 of shoes-study", "other", {"outcome": "submitted"}),
        ("participant E02 of shoes-study", "other", {"outcome": "submitted"}),
    ]
    shown = [made.title, made.versions.get().steps.get().text]
    shown += [f"{group.code} {group.premise}" for group in made.groups.all()] + [s.code for s in made.stories.all()]
    assert not any(name in words for words in shown for name in ("E01", "E02", "gpt", "participant", "submitted"))


def test_a_stand_in_is_not_called_a_language_model(source: Study) -> None:
    Rater.objects.filter(code="gpt").update(is_simulated=True)

    derivation.derive(source, "judged", derivation.derivable_fills(source))

    assert Source.objects.get(name="gpt").kind == "other"


def test_what_an_editor_made_of_it_is_not_judged(source: Study) -> None:
    fill = derivation.derivable_fills(source)[0]
    Fill.objects.filter(pk=fill.pk).update(
        state="shortlisted", reason="It surprises.", shortlisted_by="editor", edited_text="Wholly another text."
    )

    made = derivation.derive(source, "judged", derivation.derivable_fills(source))

    assert not made.stories.filter(text__contains="Wholly another").exists()
    assert Provenance.objects.get(story__fill=fill).factors == {"outcome": "shortlisted"}


def bad(source: Study, what: str) -> tuple[str, list[Fill]]:
    fills = derivation.derivable_fills(source)
    if what == "a dropout":
        return "judged", list(Fill.objects.filter(state="dropped_out"))
    if what == "of another study":
        other = clozes.study("others")
        written(other)
        return "judged", derivation.derivable_fills(other)
    if what == "derived already":
        derivation.derive(source, "first", fills)
        return "judged", list(Fill.objects.filter(pk=fills[0].pk))
    if what == "withdrawn":
        Assignment.objects.filter(fill=fills[0]).update(status="withdrawn")
        return "judged", list(Fill.objects.filter(pk=fills[0].pk))
    return {"no slug": ("No Slug", fills), "taken": (source.slug, fills), "none": ("judged", [])}[what]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("a dropout", "is not a complete text that was submitted"),
        ("of another study", "belongs to another study than shoes-study"),
        ("derived already", "is the story fill-.* of first already"),
        ("withdrawn", "is not a complete text that was submitted"),
        ("no slug", "the slug “No Slug” will not do"),
        ("taken", "there is a study “shoes-study” already"),
        ("none", "shoes-study has no complete fill that is in no derived study yet"),
    ],
)
def test_what_cannot_be_derived_is_refused_and_nothing_is_made(source: Study, what: str, said: str) -> None:
    slug, fills = bad(source, what)

    with pytest.raises(NotDerivable, match=said):
        derivation.derive(source, slug, fills)

    assert not Study.objects.filter(slug="judged").exists()


def test_a_source_of_that_name_and_another_kind_is_not_taken_for_the_writer(source: Study) -> None:
    Source.objects.create(name="gpt", kind=Source.Kind.EXPERT)

    with pytest.raises(NotDerivable, match="the source “gpt” is known as expert writer"):
        derivation.derive(source, "judged", derivation.derivable_fills(source))

    assert not Study.objects.filter(slug="judged").exists()


def test_the_command_derives_what_is_in_no_derived_study_yet(source: Study) -> None:
    said = StringIO()
    call_command("derive", source.slug, "--slug", "judged", stdout=said)
    written(source, "third ")

    call_command("derive", source.slug, "--slug", "judged-2", "--plain", stdout=said)

    first, second = said.getvalue().splitlines()
    assert first == (
        "judged: 3 stories, each in a group of its own. "
        "Add consent and briefing in the admin; then: manage.py plan judged"
    )
    assert second.startswith("judged-2: 1 stories")
    with pytest.raises(CommandError, match="has no complete fill that is in no derived study yet"):
        call_command("derive", source.slug, "--slug", "judged-3")


def test_the_command_takes_the_shortlist_alone_if_asked(source: Study) -> None:
    fill = derivation.derivable_fills(source)[1]
    Fill.objects.filter(pk=fill.pk).update(state="shortlisted", reason="Good.", shortlisted_by="editor")

    call_command("derive", source.slug, "--slug", "judged", "--shortlisted", stdout=StringIO())

    assert Study.objects.get(slug="judged").stories.get().fill == fill


def test_the_command_names_the_studies_that_there_are() -> None:
    clozes.study(toml=SHOES)

    with pytest.raises(CommandError, match=r"study “x”.*: shoes-study$"):
        call_command("derive", "x", "--slug", "y")
