"""A study made on the pages, saved as a file, and loaded again: the same protocol, by its hash."""

import io
import re
import tempfile
import zipfile
from functools import partial
from pathlib import Path
from time import gmtime

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from studies import loader, protocol
from studies.documents.archive import unpack_study
from studies.models import Cloze, Instrument, Provenance, Story, Study
from tests import factories, triggers
from tests.annotation import clozes

pytestmark = pytest.mark.django_db
ROWS = (
    "prompt,story,author,size,verse",
    '"A letter","The letter came.\n  It said nothing.\n\nNobody spoke.",Ann Lee,1,yes',
    '"A letter","Everything felt heavy.",model-1,2,no',
    '"A coin","It lay under the radiator.",Ann Lee,3,yes',
    '"A coin","It had all begun to change.",model-1,4,no',
)


def made_on_the_pages(designer: Client, template: str) -> Study:
    """A study of that template with four stories from a CSV file, as a browser would make it."""
    told = {"title": "Nights and letters", "organiser": "Ann Lee", "contact": "ann@example.org", "language": "en"}
    designer.post("/studies/new/", told | {"template": template})
    study = Study.objects.get()
    page = f"/studies/{study.slug}"
    table = SimpleUploadedFile("stories.csv", "\n".join(ROWS).encode())
    mapping = designer.post(f"{page}/stories/new/", {"file": table}, follow=True)
    form = mapping.context["form"]
    fields = {field.html_name: field.value() for field in form if field.value() not in (None, False)}
    kinds = {
        bound.html_name: "expert_writer" if value == "Ann Lee" else "language_model"
        for value, _n, bound in form.kinds()
    }
    designer.post(mapping.request["PATH_INFO"], fields | kinds | {"bring_in": "yes"})
    form = designer.get(f"{page}/information/").context["form"]
    fields = {field.name: field.value() for field in form if field.value() is not None}
    designer.post(f"{page}/information/", fields | {"seen": form.seen_value, "pay": "9 euro a group", "minutes": 40})
    study.refresh_from_db()
    return study


def document_of(study: Study) -> str:
    return protocol.write_document(protocol.read_rows(protocol.latest(study)))


def save_file(client: Client, study: Study) -> bytes:
    response = client.get(f"/studies/{study.slug}/study.zip")
    assert response["Content-Type"] == "application/zip", client.get(f"/studies/{study.slug}/").content.decode()
    return response.content


@pytest.mark.parametrize("template", ["ttcw", "pds", "pairs"])
def test_a_study_made_on_the_pages_has_the_same_protocol_when_its_file_is_loaded(
    designer: Client, template: str
) -> None:
    study = made_on_the_pages(designer, template)
    before = document_of(study)
    content = save_file(designer, study)
    rows = "source__name", "source__kind", "factors", "story__code"
    origins = sorted(map(str, Provenance.objects.values_list(*rows)))

    again = designer.post("/studies/new/", {"template": "file", "file": SimpleUploadedFile("study.zip", content)})

    copy = Study.objects.get(slug=f"{study.slug}-2")
    assert again.status_code == 302
    assert document_of(copy) == before.replace(f'"study":"{study.slug}"', f'"study":"{copy.slug}"')
    Study.objects.all().delete()
    with tempfile.TemporaryDirectory() as folder:
        loaded = loader.load_study(unpack_study(io.BytesIO(content), "study.zip", Path(folder)))
    assert document_of(loaded) == before
    assert Story.objects.filter(text__contains="\n  It said nothing.\n\nNobody").count() == 1
    assert sorted(map(str, Provenance.objects.values_list(*rows))) == origins


def test_an_instrument_of_ones_own_goes_with_the_file_and_a_coordinator_who_is_blind_gets_none(
    designer: Client,
) -> None:
    study = factories.study(planned=False, state=Study.State.DRAFT)
    before = document_of(study)

    content = save_file(designer, study)

    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert [name for name in names if name.startswith("instruments/plums-tests-")]
    Study.objects.all().delete()
    with triggers.lifted():
        Instrument.objects.all().delete()
    with tempfile.TemporaryDirectory() as folder:
        loaded = loader.load_study(unpack_study(io.BytesIO(content), "study.zip", Path(folder)))
    # The factory publishes without reckoning the fingerprint.
    of_text = partial(re.sub, r'"fingerprint":"[0-9a-f]{64}"', "")
    assert of_text(document_of(loaded)) == of_text(before)
    designer.force_login(factories.staff("coordinator"))
    assert designer.get("/studies/plums/study.zip").status_code == 403


def test_a_cloze_has_the_same_document_and_protocol_when_its_file_is_loaded(designer: Client) -> None:
    study = clozes.study()
    before, cloze = document_of(study), Cloze.objects.get().document

    content = save_file(designer, study)

    with triggers.lifted():
        study.seats.all().delete()
        for model in (Study, Cloze, Instrument):
            model._base_manager.all().delete()
    with tempfile.TemporaryDirectory() as folder:
        loaded = loader.load_study(unpack_study(io.BytesIO(content), "study.zip", Path(folder)))
    assert Cloze.objects.get().document == cloze
    assert document_of(loaded) == before


def test_two_files_of_a_study_are_the_same_bytes(designer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    study = factories.study(planned=False, state=Study.State.DRAFT)
    first = save_file(designer, study)
    monkeypatch.setattr("time.time", lambda: 2_000_000_000.0)
    monkeypatch.setattr("time.localtime", lambda *_args: gmtime(2_000_000_000))

    assert save_file(designer, study) == first


def test_a_factor_named_like_a_column_is_refused_in_the_record_room_and_in_a_file(designer: Client) -> None:
    study = factories.study(planned=False, state=Study.State.DRAFT)
    origin = Provenance.objects.filter(story__study=study).first()
    assert origin is not None
    origin.factors = {"Source": "another"}
    with pytest.raises(ValidationError, match="is a column of files of stories"):
        origin.full_clean()
    origin.save()

    page = designer.get("/studies/plums/study.zip", follow=True).content.decode()

    assert "A story has a factor called “Source”" in page


def test_what_a_file_cannot_say_is_said_on_the_page(designer: Client) -> None:
    study = factories.study(planned=False, state=Study.State.DRAFT)
    study.groups.get().stories.remove(study.stories.get(code="p1s2"))

    page = designer.get("/studies/plums/study.zip", follow=True).content.decode()

    assert "A study file cannot hold stories without a group. Put these into a group first: p1s2." in page
