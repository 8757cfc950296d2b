"""A study designed in the admin: texts as files bring them, rows in another order, refusals in plain words."""

import pytest
from django.test import Client

from studies import protocol
from studies.models import Instrument, Item, ProtocolVersion, Provenance, Step, Story, Study
from studies.protocol import triggers
from tests import factories, staff_forms
from tests.annotation.conftest import url

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.User.objects.create_superuser("admin"))
    return client


@pytest.fixture
def draft() -> Study:
    return factories.study(state=Study.State.DRAFT, planned=False)


def test_steps_change_places(staff: Client, draft: Study) -> None:
    version = draft.versions.get()
    before = list(version.steps.order_by("position").values_list("key", flat=True))
    data = staff_forms.read_form(staff, url("studies_protocolversion", "change", version.pk))
    n = len(before)
    for row in range(n):
        data[f"steps-{row}-position"] = n - row

    answer = staff.post(url("studies_protocolversion", "change", version.pk), data)

    assert answer.status_code == 302
    assert list(version.steps.order_by("position").values_list("key", flat=True)) == before[::-1]


def test_items_change_places(staff: Client) -> None:
    instrument = Instrument.objects.create(slug="draft", version="1", title="Draft")
    for n in (1, 2):
        Item.objects.create(instrument=instrument, position=n, key=f"item-{n}", type="text", question="What?")
    data = staff_forms.read_form(staff, url("studies_instrument", "change", instrument.pk))
    data |= {"items-0-position": 2, "items-1-position": 1}

    answer = staff.post(url("studies_instrument", "change", instrument.pk), data)

    assert answer.status_code == 302
    assert list(instrument.items.order_by("position").values_list("key", flat=True)) == ["item-2", "item-1"]


def test_a_text_from_the_admin_has_the_hash_of_the_same_text_from_a_file(staff: Client, draft: Study) -> None:
    text = "It began.\n\n    It went on,\nand ended."
    fields = {"study": draft.pk, "code": "posted", "language": "en", "text": text.replace("\n", "\r\n") + "\r\n"}

    staff.post(url("studies_story", "add"), fields)

    story = Story.objects.get(code="posted")
    assert (story.text, story.sha256) == (text, factories.hashing.sha256(text))


def test_the_same_words_typed_in_the_admin_and_read_from_a_file_have_the_same_protocol_hash(
    staff: Client, draft: Study
) -> None:
    version = draft.versions.get()
    text = "We ask for your consent.\n\nYou can stop at any time."
    Step.objects.filter(version=version, key="consent").update(text=text)
    of_file = protocol.write_document(protocol.read_rows(version))
    Step.objects.filter(version=version, key="consent").update(text="Not yet.")
    data = staff_forms.read_form(staff, url("studies_protocolversion", "change", version.pk))
    row = next(name for name, value in data.items() if value == "consent" and name.endswith("-key"))
    data[row.replace("-key", "-text")] = text.replace("\n", "\r\n")

    assert staff.post(url("studies_protocolversion", "change", version.pk), data).status_code == 302

    assert protocol.write_document(protocol.read_rows(ProtocolVersion.objects.get(pk=version.pk))) == of_file


def test_a_step_that_does_not_fit_its_kind_is_refused_in_plain_words(staff: Client, draft: Study) -> None:
    version = draft.versions.get()
    data = staff_forms.read_form(staff, url("studies_protocolversion", "change", version.pk))
    row = next(name for name, value in data.items() if value == "tests" and name.endswith("-key"))
    data[row.replace("-key", "-scope")] = ""

    page = staff.post(url("studies_protocolversion", "change", version.pk), data).content.decode()

    assert "A step of kind rating needs an instrument and a scope" in page
    assert "rating_step_has_instrument_and_scope" not in page


@pytest.mark.parametrize(
    ("name", "label"), [("organiser", "Who runs it"), ("contact", "Who raters can write to"), ("pay", "Pay")]
)
def test_a_name_in_braces_that_nobody_fills_in_is_found_before_the_launch(draft: Study, name: str, label: str) -> None:
    version = draft.versions.get()
    Step.objects.filter(version=version, key="consent").update(text=f"Ask {{{name}}}.")
    setattr(draft, name, "")

    found = protocol.collect_findings(draft, protocol.read_rows(version))

    assert [str(finding) for finding in found if finding.location == name and finding.level == "error"] == [
        f"“Consent” tells raters “{label}”, which is still empty; fill it in"
    ]


def test_the_source_of_a_story_stays_once_its_study_is_frozen(staff: Client) -> None:
    study = factories.study()
    factories.freeze(study)
    story = study.stories.first()
    assert story
    source, other = story.provenance.source, factories.Source.objects.create(name="Another")

    fields = {"source": other.pk, "story": story.pk, "factors": "{}"}

    answer = staff.post(url("studies_provenance", "change", story.pk), fields)

    assert answer.status_code == 409
    assert triggers.OF_PROVENANCE in answer.text
    assert Provenance.objects.get(pk=story.pk).source == source


@pytest.mark.parametrize("is_new", [True, False])
def test_leave_to_send_a_text_out_is_taken_away_here_and_given_where_a_reason_is_asked_for(
    staff: Client, draft: Study, is_new: bool
) -> None:
    story = draft.stories.get(code="p1s1")
    source = story.provenance.source
    where = url("studies_provenance", "add") if is_new else url("studies_provenance", "change", story.pk)
    if is_new:
        story.provenance.delete()
    fields = {"source": source.pk, "story": story.pk, "factors": "{}", "licence": "CC0"}

    answer = staff.post(where, fields | {"may_send_out": "on"})

    assert "Texts are released under Runs, “Texts to be sent”, which asks for a reason." in answer.text
    assert not Provenance.objects.filter(may_send_out=True).exists()
    assert staff.post(where, fields).status_code == 302
    Provenance.objects.filter(story=story).update(may_send_out=True)
    change = url("studies_provenance", "change", story.pk)
    assert staff.post(change, fields | {"may_send_out": "on", "title": "Plums"}).status_code == 302
    assert Provenance.objects.get(story=story).title == "Plums"
    staff.post(change, fields)
    assert not Provenance.objects.get(story=story).may_send_out
