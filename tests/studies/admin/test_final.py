"""What the admin says of what is final, of what cannot be, and of what is missing."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import BaseConstraint, CheckConstraint, UniqueConstraint
from django.test import Client

from studies import loader
from studies.models import Instrument, Item, ProtocolVersion, Provenance, Story, Study
from studies.protocol import triggers
from tests import factories, staff_forms
from tests.annotation.conftest import url

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("admin"))
    return client


def draft() -> Study:
    return factories.study(state=Study.State.DRAFT, planned=False)


def mixed() -> Instrument:
    made = Instrument.objects.create(slug="mixed", version="1", title="Mixed")
    for n, kind in enumerate(("binary", "ranking", "text"), start=1):
        Item.objects.create(instrument=made, position=n, key=f"{kind}-1", type=kind, question="What?")
    return made


ADVICE = "“What?” compares stories, so the instrument can be asked about groups only"


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("story", triggers.OF_STORY),
        ("storygroup", triggers.OF_GROUP),
        ("provenance", triggers.OF_PROVENANCE),
        ("source", triggers.OF_SOURCE),
        ("protocolversion", triggers.OF_VERSION),
        ("instrument", triggers.OF_INSTRUMENT),
        ("study", triggers.OF_STUDY),
    ],
)
def test_a_page_of_what_is_final_says_so_and_refuses_with_that_sentence(
    staff: Client, model: str, sentence: str
) -> None:
    study = factories.study()
    row = admin.site.get_model_admin(next(m for m in admin.site._registry if m._meta.model_name == model)).model
    pk = row.objects.filter(pk=study.pk).values_list("pk", flat=True).first() or row.objects.earliest("pk").pk

    page = staff.get(url(f"studies_{model}", "change", pk)).text
    answers = [
        staff.post(url(f"studies_{model}", "change", pk), {"title": "X", "source": "1", "name": "X"}),
        *([] if model == "protocolversion" else [staff.post(url(f"studies_{model}", "delete", pk), {"post": "yes"})]),
    ]

    assert sentence in page
    assert {(answer.status_code, sentence in answer.text) for answer in answers} == {(409, True)}
    assert {"permission" in answer.text or "account" in answer.text for answer in answers} == {False}


def test_deleting_many_stories_at_once_says_that_they_are_frozen(staff: Client) -> None:
    story = factories.study().stories.earliest("pk")

    page = staff.post(url("studies_story"), {"action": "delete_selected", "_selected_action": [story.pk]})

    assert (page.status_code, triggers.OF_STORY in page.text) == (409, True)


def test_a_draft_is_deleted_with_its_protocol_and_its_seats(staff: Client) -> None:
    study = factories.study(state=Study.State.DRAFT)
    asked = staff.get(url("studies_study", "delete", study.pk)).text

    staff.post(url("studies_study", "delete", study.pk), {"post": "yes"})

    assert "your account" not in asked
    assert not Study.objects.exists()
    assert not ProtocolVersion.objects.exists()


def test_a_story_of_a_frozen_study_gets_no_source(staff: Client) -> None:
    study = draft()
    story = study.stories.earliest("pk")
    source = story.provenance.source
    story.provenance.delete()
    factories.plan(study)

    page = staff.post(url("studies_provenance", "add"), {"story": story.pk, "source": source.pk, "factors": "{}"})

    assert triggers.OF_PROVENANCE in page.text
    assert not Provenance.objects.filter(story=story).exists()


def test_of_a_study_that_is_not_there_yet_nothing_is_claimed(staff: Client) -> None:
    page = staff.get(url("studies_study", "add")).text

    assert "Nothing blocks the launch" not in page
    assert "Save the study to see what blocks its launch." in page


def test_whoever_mixes_questions_about_groups_and_stories_is_told_before_and_after_publishing(staff: Client) -> None:
    made = mixed()

    before = staff.get(url("studies_instrument", "change", made.pk)).text
    action = {"action": "publish", "_selected_action": [made.pk]}
    page = staff.post(url("studies_instrument"), action, follow=True)

    assert ADVICE in before
    published, advice = map(str, page.context["messages"])
    assert published == "mixed 1 is published."
    assert advice.startswith(ADVICE)
    assert ADVICE not in staff.get(url("studies_instrument", "change", made.pk)).text


def test_a_file_that_mixes_them_is_loaded_with_the_same_advice(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    items = [f'[[items]]\nkey = "{kind}-1"\ntype = "{kind}"\nquestion = "What?"' for kind in ("binary", "ranking")]
    (tmp_path / "mixed.toml").write_text("\n".join(['slug = "mixed"\nversion = "1"\ntitle = "Mixed"', *items, ""]))

    call_command("load_instrument", str(tmp_path / "mixed.toml"))

    assert ADVICE in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["binary", "ranking"])
def test_an_instrument_of_one_kind_needs_no_advice(kind: str) -> None:
    assert loader.advise(factories.instrument(type=kind)) == ""


def test_a_story_without_a_text_is_refused_in_plain_words(staff: Client) -> None:
    fields = {"study": draft().pk, "code": "empty", "language": "en", "text": ""}

    page = staff.post(url("studies_story", "add"), fields).text

    assert "A story has a text, or is withheld and has none." in page
    assert not Story.objects.filter(code="empty").exists()


def has_words(constraint: BaseConstraint) -> bool:
    """Whether a form says what is wrong: in its own words, or as Django does of fields that must be unique."""
    if isinstance(constraint, CheckConstraint) or getattr(constraint, "condition", None):
        return constraint.violation_error_message != constraint.default_violation_error_message
    return isinstance(constraint, UniqueConstraint) and bool(constraint.fields)


def test_no_form_of_the_admin_names_a_constraint(rf) -> None:
    request = rf.get("/")
    request.user = User.objects.create_superuser("admin")
    editable = [model for model, page in admin.site._registry.items() if page.has_add_permission(request)]
    editable += [inline.model for page in admin.site._registry.values() for inline in page.inlines]
    ours = [model for model in editable if model.__module__.split(".")[0] in ("studies", "annotation", "judges")]

    assert len(ours) >= 8
    assert [c.name for model in ours for c in model._meta.constraints if not has_words(c)] == []


def test_a_form_from_before_the_launch_changes_nothing_and_says_so(staff: Client) -> None:
    study = draft()
    where = url("studies_study", "change", study.pk)
    form = staff_forms.read_form(staff, where)
    factories.plan(study)

    answer = staff.post(where, form | {"title": "Another title"})

    assert answer.status_code == 409
    assert triggers.OF_STUDY in answer.text
    assert Study.objects.get().title == "Fourteen tests of a story"
