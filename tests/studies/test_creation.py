"""Making a study: from a template, like another one, from a file; its maker leads it, and instruments come along."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.design import launches
from annotation.views.designer.step_kinds import KIND_BY_KEY
from studies import creation, loader, protocol
from studies.creation import NewStudy
from studies.documents.errors import DocumentError
from studies.documents.instrument import discover
from studies.documents.study_template import discover_templates
from studies.lifecycle import NotReady
from studies.models import Instrument, Membership, Step, Study
from studies.protocol import drafts
from tests import factories
from tests.studies.story_import.files import archive_of

pytestmark = pytest.mark.django_db
NEWER = {"study.toml": 'slug = "a"\nholograms = 2\n', "stories.csv": "story,text\ns1,Once.\n"}
US = {"organiser": "Us", "contact": "us@example.org"}
DEMO = Path(__file__).parents[2] / "studies" / "demo"


@pytest.fixture
def designer() -> User:
    return factories.staff("designer")


def archive(folder: Path, **more: bytes) -> io.BytesIO:
    """A ZIP file of the folder, with these files in it as well."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                file.write(path, f"study/{path.relative_to(folder)}")
        for name, data in more.items():
            file.writestr(name, data)
    content.seek(0)
    return content


@pytest.mark.parametrize("key", list(discover_templates()))
def test_a_template_makes_a_draft_with_its_steps_and_its_maker_as_lead(designer: User, key: str) -> None:
    template = discover_templates()[key]

    study = creation.create_from_template(template, NewStudy("Figs & plums", "en", US), by=designer)

    version = study.versions.get()
    assert (study.slug, study.state, version.frozen_at) == ("figs-plums", "draft", None)
    assert [step.key for step in version.steps.order_by("position")] == [
        step.key for step in template.steps if step.instrument != creation.CLOZE
    ]
    assert Membership.objects.get(study=study).role == "lead"
    faults = [f for f in protocol.collect_findings(study, protocol.read_rows(version)) if f.level == "error"]
    # Stories, pay and, of those without questions, what is asked; nothing that its maker could not know.
    assert {finding.place for finding in faults} <= {"stories", "rater_information", "steps"}
    of_steps = [finding.sentence for finding in faults if finding.location.startswith("step ")]
    assert ["Say here what" in sentence for sentence in of_steps] == [True] * (key == "empty")


def test_every_template_asks_consent_forbids_searching_and_ends_with_a_debriefing() -> None:
    for template in discover_templates().values():
        texts = " ".join(step.text for step in template.steps)
        assert template.steps[0].kind == "consent", template.key
        assert template.steps[-1].key == "debriefing", template.key
        assert "24 hours" in texts, template.key
        assert "{pay}" in texts, template.key
        assert "part that is done" in texts, template.key
        assert template.key == "empty" or "no search engine" in texts, template.key
        assert "{task}" not in texts, template.key


def test_what_is_added_to_an_empty_study_stands_before_its_debriefing(designer: User) -> None:
    study = creation.create_from_template(discover_templates()["empty"], NewStudy("Figs"), by=designer)

    for kind in ("story-questions", "comparison", "exit-questions", "briefing", "debriefing"):
        new = KIND_BY_KEY[kind]
        current = protocol.read_rows(study.versions.get())
        instrument = factories.instrument(f"asks-{kind}") if new.scope else None
        index = drafts.default_index(current, kind=new.kind, scope=new.scope, is_last=new.is_last)
        fields = {"title": kind, "instrument": instrument}
        drafts.add_step(
            study, kind=new.kind, scope=new.scope, fields=fields, index=index, key=kind.replace("debr", "the-debr")
        )

    keys = [step.key for step in protocol.read_rows(study.versions.get()).steps]
    assert keys == [
        "consent",
        "briefing",
        "story-questions",
        "comparison",
        "exit-questions",
        "debriefing",
        "the-debriefing",
    ]


def test_a_debriefing_before_questions_and_words_of_a_template_are_errors_of_the_launch(designer: User) -> None:
    study = creation.create_from_template(discover_templates()["empty"], NewStudy("Figs"), by=designer)
    fields = {"title": "Tests", "instrument": factories.instrument("figs-tests")}
    drafts.add_step(study, kind="rating", scope="story", fields=fields)
    consent = study.versions.get().steps.get(key="consent")

    def errors(purpose: protocol.Purpose = protocol.Purpose.LAUNCH) -> dict[str, str]:
        findings = protocol.collect_findings(study, protocol.read_rows(study.versions.get()))
        return {f.location: f.sentence for f in findings if f.hinders(purpose) and f.location.startswith("step ")}

    assert "Say here what somebody does" in errors()["step consent"]
    assert "before “Tests” is asked" in errors()["step debriefing"]
    assert not any(name.startswith("step ") for name in errors(protocol.Purpose.RUN)), "models are told neither"
    drafts.change_step(
        consent, {"text": consent.text.replace("{Say here what somebody does who takes part.}", "Read.")}
    )
    drafts.move_step(study.versions.get().steps.get(key="debriefing"), to=9)
    assert errors() == {}


def by_pages(designer: User) -> Study:
    """A draft whose rating was added behind its debriefing, where a template's words still stand."""
    study = creation.create_from_template(discover_templates()["empty"], NewStudy("Figs"), by=designer)
    fields = {"title": "Tests", "instrument": factories.instrument("figs-tests")}
    drafts.add_step(study, kind="rating", scope="story", fields=fields)
    return study


def by_file(designer: User) -> Study:
    """The same from a study file."""
    document = (DEMO / "orchard" / "study.toml").read_text()
    document = document.replace("Nothing is paid.", "{Say here what somebody does who takes part.}")
    closing = '[[steps]]\nkey = "debriefing"\nkind = "briefing"\ntitle = "Thank you"\ntext = "Some are by models."\n\n'
    first, rest = document.split('[[steps]]\nkey = "tests"\n')
    files = {str(path.relative_to(DEMO / "orchard")): path.read_text() for path in (DEMO / "orchard").rglob("*.*")}
    files["study.toml"] = f'{first}{closing}[[steps]]\nkey = "tests"\n{rest}'
    return creation.create_from_file(io.BytesIO(archive_of(files)), "a.zip", by=designer)


def by_copy(designer: User) -> Study:
    """The same as a copy of the study that was made on pages."""
    return creation.copy_study(by_pages(designer), NewStudy("Pears"), by=designer)


@pytest.mark.parametrize("make", [by_pages, by_file, by_copy])
def test_no_way_in_leads_to_a_launch_that_debriefs_too_early_or_shows_words_of_a_template(
    designer: User, make: Callable[[User], Study]
) -> None:
    study = make(designer)

    with pytest.raises(NotReady) as refusal:
        launches.launch(study, by="tests", at=timezone.now())

    obstacles = {finding.location: finding.sentence for finding in launches.launch_obstacles(study, at=timezone.now())}
    assert "Say here what somebody does" in obstacles["step consent"]
    assert "tells raters what the study was about before" in obstacles["step debriefing"]
    assert all(obstacles[location] in str(refusal.value) for location in ("step consent", "step debriefing"))
    study.refresh_from_db()
    assert study.is_draft


def test_all_builtin_instruments_are_there_once_a_study_is_made_and_stay_as_they_are(
    designer: User, django_assert_num_queries: object
) -> None:
    creation.create_from_template(discover_templates()["empty"], NewStudy("Figs"), by=designer)

    assert Instrument.objects.filter(status="published").count() == len(discover())
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert loader.ensure_builtin_instruments() == []


def test_a_draft_of_a_builtin_name_is_left_alone() -> None:
    draft = Instrument.objects.create(slug="pds", version="1", title="Mine")

    assert loader.ensure_builtin_instruments() == []

    draft.refresh_from_db()
    assert (draft.title, draft.status) == ("Mine", "draft")


def test_slugs_are_made_of_titles_and_never_twice_or_of_words_that_addresses_use(designer: User) -> None:
    template = discover_templates()["empty"]

    slugs = [
        creation.create_from_template(template, NewStudy(title), by=designer).slug
        for title in ("Plums", "Plums", "New", "Replications", "¿?")
    ]

    assert slugs == ["plums", "plums-2", "new-2", "replications-2", "study"]


def test_a_cloze_comes_with_its_text_and_its_step(designer: User) -> None:
    text = (DEMO / "mystery" / "cloze.toml").read_text()

    study = creation.create_from_template(discover_templates()["cloze"], NewStudy("A case"), by=designer, cloze=text)

    step = Step.objects.get(version__study=study, key="fill")
    assert step.layout == "cloze"
    assert study.stories.count() == study.groups.count() == 1


def test_a_study_like_another_asks_the_same_and_leaves_stories_and_people_behind(designer: User) -> None:
    original = factories.study()

    study = creation.copy_study(original, NewStudy("Pears"), by=designer)

    keys = list(study.versions.get().steps.order_by("position").values_list("key", "instrument", "text"))
    assert keys == list(original.versions.get().steps.order_by("position").values_list("key", "instrument", "text"))
    assert (study.stories.count(), study.seats.count(), study.seats_per_group) == (0, 0, original.seats_per_group)
    assert study.seed != original.seed


def test_a_study_file_makes_the_study_and_a_slug_that_is_taken_is_changed(designer: User) -> None:
    studies = [creation.create_from_file(archive(DEMO / "orchard"), "orchard.zip", by=designer) for _time in range(2)]

    assert [study.slug for study in studies] == ["orchard", "orchard-2"]
    assert [study.stories.count() for study in studies] == [8, 8]


@pytest.mark.parametrize(
    ("file", "name", "reason"),
    [
        (io.BytesIO(b"hello"), "a.pdf", "is neither a ZIP file nor a study file"),
        (io.BytesIO(b"PK\x03\x04 no more"), "a.zip", "cannot be unpacked"),
        (archive(DEMO / "orchard", **{"../../evil.txt": b"x"}), "a.zip", "leads out of it"),
        (archive(DEMO / "orchard", **{"other/study.toml": b"x"}), "a.zip", "holds 2 files called study.toml"),
        (archive(DEMO / "orchard" / "texts"), "a.zip", "holds 0 files called study.toml"),
        (io.BytesIO(b'slug = "a"\ntitle = "A"\n'), "study.toml", "there is no file of stories in its folder"),
        (io.BytesIO(archive_of(NEWER)), "study.zip", "If a newer Quire wrote the file, only that version can read it"),
    ],
    ids=["no archive", "a broken one", "a path that leads out", "two studies", "none", "no stories", "a newer version"],
)
def test_a_file_that_is_no_study_is_refused_whole(designer: User, file: io.BytesIO, name: str, reason: str) -> None:
    file.seek(0)
    try:
        with pytest.raises(DocumentError) as refusal:
            creation.create_from_file(file, name, by=designer)
    finally:
        assert not Study.objects.exists()

    assert reason in str(refusal.value)


def test_an_archive_that_unpacks_to_too_much_is_refused(designer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.documents.archive.LARGEST_SUM", 1000)

    with pytest.raises(DocumentError, match="holds more than 1,000 bytes"):
        creation.create_from_file(archive(DEMO / "orchard"), "orchard.zip", by=designer)
