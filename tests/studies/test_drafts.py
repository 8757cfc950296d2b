"""Changing the draft of a protocol: where steps may stand, what follows for the document that is frozen."""

from pathlib import Path

import pytest

from studies import loader, protocol
from studies.documents.study import read_study
from studies.models import Step, Study
from studies.protocol import drafts
from tests import factories

pytestmark = pytest.mark.django_db
DEMO = Path(__file__).parents[2] / "studies" / "demo"


@pytest.fixture
def study() -> Study:
    """Consent, tests on each story, a ranking, a guess."""
    return factories.study(planned=False, state=Study.State.DRAFT)


def steps_of(study: Study) -> list[str]:
    rows = Step.objects.filter(version__study=study).order_by("position")
    assert [row.position for row in rows] == list(range(1, len(rows) + 1))
    return [row.key for row in rows]


def step(study: Study, key: str) -> Step:
    return Step.objects.select_related("version__study").get(version__study=study, key=key)


def document(study: Study) -> str:
    return protocol.write_document(protocol.read_rows(study.versions.select_related("study").get()))


@pytest.mark.parametrize("demo", ["orchard", "pairs", "depth", "mystery"])
def test_a_study_made_step_by_step_has_the_protocol_of_its_file(demo: str) -> None:
    study = loader.load_study(DEMO / demo)
    from_file = document(study)
    instrument_by_key = {s.key: s.instrument for s in Step.objects.filter(version__study=study)}
    for row in Step.objects.filter(version__study=study).select_related("version__study").order_by("-position"):
        drafts.remove_step(row)

    for row in read_study(DEMO / demo).steps:
        # As somebody would type it: what the study says of itself by its name in braces.
        text = row.text.replace(study.organiser, "{organiser}").replace(study.contact, "{contact}")
        names = ("title", "locks", "background", "revises", "options", "story", "samples")
        fields = {name: getattr(row, name) for name in names} | {"text": text, "instrument": instrument_by_key[row.key]}
        drafts.add_step(study, kind=row.kind, scope=row.scope, fields=fields, key=row.key)

    assert "{organiser}" in step(study, "consent").text
    assert document(study) == from_file


def test_names_in_braces_follow_the_study_until_they_are_frozen(study: Study) -> None:
    drafts.change_step(step(study, "consent"), {"text": "{organiser} pays {pay}."})
    drafts.change_told(study, {"pay": "€ 40"})

    version = factories.freeze(study)

    assert step(study, "consent").text == "{organiser} pays {pay}."
    assert protocol.load_protocol(version).steps[0].text == "Us pays € 40."
    assert '"pay":"€ 40"' in version.document


def test_pay_enters_the_protocol_only_where_it_is_said(study: Study) -> None:
    assert "pay" not in document(study)


def test_a_new_step_stands_where_its_kind_belongs(study: Study) -> None:
    def add(title: str, *, kind: str = "briefing", scope: str = "", is_last: bool = False) -> None:
        current = protocol.read_rows(study.versions.get())
        instrument = factories.instrument(f"more-{title}") if scope else None
        fields = {"title": title, "instrument": instrument}
        index = drafts.default_index(current, kind=kind, scope=scope, is_last=is_last)
        drafts.add_step(study, kind=kind, scope=scope, fields=fields, index=index)

    add("Before")
    add("After", is_last=True)
    add("Each", kind="rating", scope="story")
    add("All", kind="rating", scope="group")

    assert steps_of(study) == ["consent", "before", "tests", "each", "ranking", "all", "guess", "after"]


def test_two_steps_of_one_name_have_keys_of_their_own(study: Study) -> None:
    for _n in range(2):
        drafts.add_step(study, kind="briefing", fields={"title": "Before you read"})

    assert steps_of(study)[-2:] == ["before-you-read", "before-you-read-2"]


def test_a_step_moves_and_the_others_close_up(study: Study) -> None:
    drafts.move_step(step(study, "guess"), to=1)
    assert steps_of(study) == ["consent", "guess", "tests", "ranking"]

    drafts.move_step(step(study, "guess"), to=99)
    assert steps_of(study) == ["consent", "tests", "ranking", "guess"]


@pytest.mark.parametrize(
    ("key", "fields", "to", "reason"),
    [
        ("consent", {}, 2, "“Consent” must stay first"),
        ("tests", {}, 0, "“Consent” must stay first"),
        ("guess", {"locks": True}, 1, "locks what was answered before it"),
    ],
)
def test_a_step_in_an_impossible_place_goes_back_with_the_reason(
    study: Study, key: str, fields: dict[str, object], to: int, reason: str
) -> None:
    drafts.change_step(step(study, key), fields)
    before = steps_of(study)

    with pytest.raises(drafts.Misplaced, match=reason):
        drafts.move_step(step(study, key), to=to)

    assert steps_of(study) == before


def test_a_second_consent_is_refused(study: Study) -> None:
    with pytest.raises(drafts.Misplaced, match="There is already a consent step"):
        drafts.add_step(study, kind="consent", fields={"title": "Again"}, index=0)


def test_a_step_that_another_shows_again_stays_before_it(study: Study) -> None:
    fields = {"title": "Once more", "instrument": step(study, "tests").instrument, "revises": "tests"}
    drafts.add_step(study, kind="rating", scope="story", fields=fields)

    with pytest.raises(drafts.Misplaced, match="shows the answers of an earlier step again"):
        drafts.remove_step(step(study, "tests"))


def test_questions_that_compare_stories_are_asked_about_the_group_only(study: Study) -> None:
    ranking = step(study, "ranking")
    assert ranking.instrument

    assert {c.scope for c in drafts.list_scopes(ranking.instrument) if not c.reason} == {"group"}
    with pytest.raises(drafts.NotChanged, match="these questions compare stories"):
        drafts.change_step(ranking, {"scope": "story"})


def test_nothing_changes_once_the_protocol_is_frozen(study: Study) -> None:
    factories.freeze(study)
    consent = step(study, "consent")

    for change in (
        lambda: drafts.add_step(study, kind="briefing", fields={"title": "Late"}),
        lambda: drafts.change_step(consent, {"title": "Late"}),
        lambda: drafts.move_step(consent, to=0),
        lambda: drafts.remove_step(consent),
        lambda: drafts.change_told(study, {"title": "Late"}),
    ):
        with pytest.raises(drafts.NotEditable, match="frozen"):
            change()
