"""What is said of a study before it is launched, and to whom."""

from datetime import timedelta

import pytest
from django.test import Client

from studies import protocol
from studies.models import Provenance, Step, Story, Study
from studies.protocol import drafts
from studies.source_findings import collect_source_findings
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft() -> Study:
    return factories.study(state=Study.State.DRAFT, planned=False)


def warnings(study: Study) -> list[str]:
    findings = protocol.collect_findings(study, protocol.read_rows(study.versions.get()))
    return [finding.sentence for finding in findings if finding.level == "warning"]


def test_what_raters_are_not_told_is_named_and_leads_to_its_field(draft: Study) -> None:
    findings = protocol.collect_findings(draft, protocol.read_rows(draft.versions.get()))

    assert {(f.place, f.anchor) for f in findings} == {
        ("rater_information", "id_minutes"),
        ("rater_information", "id_pay"),
    }
    draft.pay, draft.minutes = "€ 45", 60
    assert warnings(draft) == []


def test_a_guess_before_the_ratings_is_warned_of(draft: Study) -> None:
    steps = draft.versions.get().steps
    assert not [sentence for sentence in warnings(draft) if "who wrote" in sentence]

    steps.filter(key="tests").update(position=99)

    assert [sentence for sentence in warnings(draft) if "who wrote" in sentence] == [
        "“Who wrote each one?” asks who wrote a story before “The tests” asks for ratings of it"
    ]


def test_identical_texts_are_named(draft: Study) -> None:
    first, second, *_others = Story.objects.order_by("code")
    second.text = first.text
    second.save()

    assert "the stories p1s1, p1s2 have the same text" in warnings(draft)


@pytest.mark.parametrize(("hours", "level"), [(None, "warning"), (-1, "error"), (0.01, "warning"), (48, "")])
def test_a_deadline_is_to_leave_time_for_the_work(draft: Study, hours: float | None, level: str) -> None:
    draft.closes_at = None if hours is None else NOON + timedelta(hours=hours)

    findings = protocol.check_deadline(draft, protocol.read_rows(draft.versions.get()), at=NOON)

    assert [finding.level for finding in findings] == ([level] if level else [])


def test_a_story_without_a_source_and_a_telling_code_are_found(draft: Study) -> None:
    first, second, *_others = Story.objects.order_by("code")
    Provenance.objects.filter(story=first).delete()
    source = second.provenance.source
    Story.objects.filter(pk=second.pk).update(code=source.name.replace(" ", "-"))

    sentences = " ".join(finding.sentence for finding in collect_source_findings(draft))

    assert "stories without a source: p1s1" in sentences
    assert f"the code {source.name.replace(' ', '-')} reveals the source of its story" in sentences


def test_codes_that_follow_the_sources_are_found() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False, n_stories=6)
    assert not [f for f in collect_source_findings(study) if "order of source" in f.sentence]
    stories = list(Story.objects.filter(study=study).order_by("code"))
    sources = [story.provenance.source for story in stories[:2]]

    for n, story in enumerate(stories):
        Provenance.objects.filter(story=story).update(source=sources[n // 3])

    assert [f for f in collect_source_findings(study) if "order of source" in f.sentence]


def test_what_tells_sources_is_shown_to_those_alone_who_may_see_them(client: Client, draft: Study) -> None:
    story = Story.objects.order_by("code")[0]
    Story.objects.filter(pk=story.pk).update(code="source-1-x")

    pages = {}
    for role in ("designer", "coordinator"):
        client.force_login(factories.staff(role))
        pages[role] = client.get("/studies/plums/").content.decode()

    assert "reveals the source of its story" in pages["designer"]
    assert "reveals the source of its story" not in pages["coordinator"]
    assert "Raters are not told what they are paid" in pages["coordinator"]


def test_a_fault_of_the_analysis_plan_names_no_source_to_those_who_stay_blind(client: Client, draft: Study) -> None:
    Study.objects.update(analysis_plan={"outcome": "verdicts", "reference": "Source 9"})
    addresses = ["/studies/plums/", "/studies/plums/launch/", f"/admin/studies/study/{draft.pk}/change/"]

    client.force_login(factories.staff("coordinator"))
    pages = [client.get(address).content.decode() for address in addresses]

    assert all("no story is by the reference source" in page for page in map(str.lower, pages))
    assert not any("Source 1" in page for page in pages)


def test_minutes_are_words_and_answers(draft: Study) -> None:
    Story.objects.update(n_words=220)
    steps = Step.objects.filter(version__study=draft)
    steps.update(text="")

    segments = protocol.estimate_path(protocol.read_rows(draft.versions.get()), protocol.words_of_a_group(draft))

    # Two verdicts with reasons about each of four stories, at 20 + 70 seconds each, and four minutes of reading.
    assert [(s.title, round(s.minutes, 2)) for s in segments] == [
        ("Consent", 0.0),
        ("The tests", 16.0),
        ("Put them in order", 1.0),
        ("Who wrote each one?", 1.33),
    ]


@pytest.mark.parametrize(
    ("options", "index", "correct", "sentence"),
    [
        ({"attempts": 3, "on_failure": "continue"}, 1, "yes", None),
        (
            {"attempts": 3},
            1,
            "",
            "who fail it, but none of its questions has a right answer",
        ),
        ({"attempts": 3}, 9, "yes", "is a comprehension check, which belongs before the first group"),
        ({"attempts": 6}, 1, "yes", "options: the option attempts must be a whole number from 1 to 5"),
        ({"attempts": True}, 1, "yes", "options: the option attempts must be a whole number from 1 to 5"),
        ({"on_failure": "stop"}, 1, "yes", "options: the option on_failure must be one of end, continue"),
        ({"tries": 2}, 1, "yes", "there is no option “tries”; known are attempts, on_failure"),
    ],
)
def test_a_check_has_right_answers_and_one_to_five_attempts(
    draft: Study, options: dict[str, object], index: int, correct: str, sentence: str | None
) -> None:
    asked = factories.instrument("check", n_items=1, **({"settings": {"correct": correct}} if correct else {}))
    fields = {"instrument": asked, "options": options}
    drafts.add_step(draft, kind="rating", scope="once", key="check", index=index, fields=fields)

    findings = protocol.collect_findings(draft, protocol.read_rows(draft.versions.get()))

    sentences = [f.sentence for f in findings if f.location == "step check"]
    assert (len(sentences) == 1 and sentence in sentences[0]) if sentence else sentences == []


def test_nobody_is_told_to_make_lengths_alike(draft: Study) -> None:
    Story.objects.filter(provenance__source__name="Source 1").update(text="word " * 400)

    (finding,) = (f for f in collect_source_findings(draft) if f.sentence.startswith("words: "))

    assert finding.way_out == "raters may notice it; Quire does not change lengths"
