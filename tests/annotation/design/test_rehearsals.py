"""A rehearsal is a copy that opens as a study does, that only its maker has, and that can be taken away."""

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client

from annotation import walkthrough
from annotation.design import deletion, launches, rehearsals
from annotation.models import Assignment, Rater, ResponseEvent, Seat
from annotation.responses import verification
from studies import lifecycle, protocol
from studies.lifecycle import NotReady
from studies.models import ProtocolVersion, Provenance, Step, Story, StoryGroup, Study
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return factories.study(planned=False, state=Study.State.DRAFT)


@pytest.fixture
def designer() -> User:
    return factories.staff("designer")


def rehearse(study: Study, by: User, *, sees_sources: bool = True) -> Study:
    return rehearsals.renew(study, by=by, sees_sources=sees_sources, at=NOON)


def test_it_asks_the_same_of_the_same_stories_in_places_of_its_own(study: Study, designer: User) -> None:
    rehearsal = rehearse(study, designer)

    mine, theirs = (protocol.read_rows(protocol.latest(each)) for each in (rehearsal, study))
    assert [(s.key, s.text, s.instrument_id, s.scope) for s in mine.steps] == [
        (s.key, s.text, s.instrument_id, s.scope) for s in theirs.steps
    ]
    assert list(rehearsal.stories.values_list("code", "text", "sha256")) == list(
        study.stories.values_list("code", "text", "sha256")
    )
    assert (rehearsal.state, rehearsal.title, rehearsal.seats.count()) == ("live", study.title, 3)
    study.refresh_from_db()
    assert (study.state, study.seats.count(), protocol.is_frozen(study)) == ("draft", 0, False)


def test_nothing_that_lists_studies_has_it(study: Study, designer: User) -> None:
    rehearsal = rehearse(study, designer)

    assert list(Study.objects.all()) == [study]
    assert set(Study.every.all()) == {study, rehearsal}


def test_whoever_does_not_know_the_sources_gets_a_copy_without_them(study: Study, designer: User) -> None:
    Study.objects.update(analysis_plan={"outcome": "verdicts", "reference": "Source 1"})
    blind = rehearse(study, designer, sees_sources=False)

    assert not Provenance.objects.filter(story__study=blind).exists()
    assert blind.analysis_plan == {}
    knowing = rehearse(study, designer)
    assert Provenance.objects.filter(story__study=knowing).count() == 4
    assert knowing.analysis_plan["reference"] == "Source 1"


def test_each_account_has_its_own_and_making_it_anew_leaves_the_others(study: Study, designer: User) -> None:
    colleague = User.objects.create_superuser("colleague")
    theirs = rehearse(study, colleague)
    first = rehearse(study, designer)

    second = rehearse(study, designer)

    assert second.pk != first.pk
    assert set(Study.every.filter(rehearsal_of=study)) == {second, theirs}
    assert rehearsals.find_rehearsal(study, designer) == second


def test_without_a_consent_it_can_be_rehearsed_and_not_launched(study: Study, designer: User) -> None:
    Step.objects.filter(key="consent").delete()

    assert launches.launch_obstacles(study, at=NOON)
    assert rehearse(study, designer).is_live


def test_without_stories_there_is_nothing_to_rehearse_and_none_is_left_half_made(study: Study, designer: User) -> None:
    study.groups.all().delete()

    obstacles = rehearsals.find_obstacles(launches.findings(study, at=NOON))

    assert [(o.place, o.sentence) for o in obstacles] == [("stories", "the study has no groups of stories")]
    with pytest.raises(NotReady):
        rehearse(study, designer)
    assert Study.every.count() == 1


def test_of_a_large_study_it_holds_what_is_read_in_a_moment(designer: User) -> None:
    study = factories.study(n_groups=1, planned=False, state=Study.State.DRAFT)
    Story.objects.bulk_create(
        Story(study=study, code=f"x{n:05}", text="A text.", n_words=2, sha256="0" * 64) for n in range(10_000)
    )
    keys = list(study.stories.filter(code__startswith="x").values_list("pk", flat=True))
    groups = StoryGroup.objects.bulk_create(StoryGroup(study=study, code=f"x{n:05}") for n in range(2_500))
    through = StoryGroup.stories.through
    through.objects.bulk_create(through(storygroup_id=groups[n // 4].pk, story_id=key) for n, key in enumerate(keys))

    rehearsal = rehearse(study, designer)

    assert (study.groups.count(), rehearsal.groups.count(), rehearsal.stories.count()) == (2_501, 12, 48)


def test_it_is_outdated_once_something_is_changed(study: Study, designer: User) -> None:
    rehearsal = rehearse(study, designer)
    assert not rehearsals.is_outdated(rehearsal, study)

    Step.objects.filter(version__study=study, key="consent").update(text="Another text.")

    assert rehearsals.is_outdated(rehearsal, study)
    assert not rehearsals.is_outdated(rehearse(study, designer), study)


def warnings(study: Study) -> list[str]:
    findings = rehearsals.add_rehearsal_finding(launches.findings(study, at=NOON), study)
    return [finding.sentence for finding in findings if finding.place == "rehearsal"]


def test_a_draft_says_whether_it_was_rehearsed_as_it_is(study: Study, designer: User) -> None:
    assert warnings(study) == ["nobody has rehearsed it yet"]

    rehearsal = rehearse(study, designer)
    assert warnings(study) == ["nobody has rehearsed it yet"], "begun is not rehearsed"
    walkthrough.go_to(rehearsal, None, at=NOON)
    assert warnings(study) == []

    Step.objects.filter(version__study=study, key="consent").update(text="Another text.")
    assert warnings(study) == ["it was changed after it was last rehearsed"]


def test_the_launch_takes_its_rehearsals_away(study: Study, designer: User) -> None:
    walkthrough.go_to(rehearse(study, designer), None, at=NOON)

    launches.launch(study, by="tests", at=NOON)

    assert list(Study.every.all()) == [study]
    assert not Rater.objects.exists()
    with pytest.raises(NotReady):
        rehearse(study, designer)


def test_a_draft_is_deleted_with_its_rehearsals(study: Study, designer: User) -> None:
    walkthrough.fill(rehearse(study, designer), at=NOON)

    deletion.delete_draft(study)

    assert not Study.every.exists()
    assert not ResponseEvent.objects.exists()


def test_the_records_delete_a_draft_with_its_rehearsals(study: Study, designer: User, client: Client) -> None:
    walkthrough.fill(rehearse(study, designer), at=NOON)
    client.force_login(designer)
    address = f"/admin/studies/study/{study.pk}/delete/"

    page = client.get(address).content.decode()
    client.post(address, {"post": "yes"})

    assert "rehearsal-" not in page
    assert not Study.every.exists()


# ── what the database still refuses ────────────────────────────────────────────────────────────────────────────────


def test_no_study_is_made_a_rehearsal_by_which_it_could_be_deleted(study: Study, designer: User) -> None:
    other = factories.study("pears")

    for rows, fields in [
        (Study.every.filter(pk=other.pk), {"rehearsal_of": study}),
        (Study.every.filter(pk=rehearse(study, designer).pk), {"rehearsal_of": None}),
    ]:
        with pytest.raises(IntegrityError, match="never becomes a rehearsal"), transaction.atomic():
            rows.update(**fields)


def test_of_a_study_beside_a_rehearsal_nothing_final_goes(study: Study, designer: User) -> None:
    rehearse(study, designer)
    live = factories.study("pears")
    factories.answer(factories.assignment(live, factories.rater(live, "E01")), why="So.")

    for rows in (
        ResponseEvent.objects.all(),
        ProtocolVersion.objects.filter(study=live),
        Step.objects.filter(version__study=live),
        Study.every.filter(pk=live.pk),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows._raw_delete(rows.db)


def test_raters_of_a_study_are_not_deleted_as_those_of_a_rehearsal() -> None:
    live = factories.study("pears")
    factories.answer(factories.assignment(live, factories.rater(live, "E01")), why="So.")

    deletion.delete_raters(live)

    assert Rater.objects.get().code == "E01"


def test_proving_the_history_leaves_rehearsals_out(study: Study, designer: User) -> None:
    rehearsal = rehearse(study, designer)
    walkthrough.go_to(rehearsal, None, at=NOON)

    everything, its_own = verification.verify(), verification.verify(rehearsal)

    assert (everything.n_assignments, everything.n_protocols) == (0, 0)
    assert (its_own.n_assignments, its_own.faults) == (1, [])


def test_results_of_a_rehearsal_are_not_sealed(study: Study, designer: User) -> None:
    assert not lifecycle.is_sealed(rehearse(study, designer))
    assert lifecycle.is_sealed(study)


def test_nobody_sits_in_a_seat_of_a_rater_who_began_again(study: Study, designer: User) -> None:
    rehearsal = rehearse(study, designer)
    walkthrough.go_to(rehearsal, None, at=NOON)

    deletion.delete_raters(rehearsal, code=rehearsals.CODE)

    assert Seat.objects.filter(study=rehearsal, is_taken=True).count() == 0
    assert not Assignment.objects.exists()
