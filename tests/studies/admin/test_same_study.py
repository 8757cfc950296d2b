"""A study designed in the admin, form by form, and the same from files: one protocol, one hash."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from studies import hashing, protocol
from studies.models import Instrument, ProtocolVersion, Source, Story, StoryGroup, Study
from tests import factories, staff_forms

pytestmark = pytest.mark.django_db

QUESTION = "Does the plum ripen?\nSay yes or no."
CONSENT = "You can stop at any time.\n\nAsk whoever invited you."
TEXT_BY_STORY = {"s1": "Once,\n    a plum.\n\nIt fell.", "s2": "Twice.\n\n\n“Again,” she said."}
INSTRUMENT = f"""
slug = "plum-tests"
version = "1"
title = "Tests of plums"

[[items]]
key = "ripe"
type = "binary"
question = '''{QUESTION}'''
rationale = "required"
rationale_least = 1

[[items]]
key = "rest"
type = "scale"
question = "How sweet?"
settings = {{ low = 1, high = 5, anchors = {{ "1" = "Sour", "5" = "Sweet" }} }}
"""
STUDY = f"""
slug = "plums"
title = "Plums"
organiser = "The orchard"
contact = "us@example.org"
seats_per_group = 2
seed = 7
shows_premise = true

[[steps]]
key = "consent"
kind = "consent"
title = "Before you begin"
text = '''{CONSENT}'''

[[steps]]
key = "tests"
kind = "rating"
title = "The tests"
instrument = "plum-tests"
scope = "story"
"""


def write_files(folder: Path) -> tuple[Path, Path]:
    """The instrument's file, and the folder of the study."""
    (folder / "instrument.toml").write_text(INSTRUMENT)
    study = folder / "study"
    study.mkdir()
    (study / "study.toml").write_text(STUDY)
    rows = [
        f'{story},g1,"{text.replace(chr(34), chr(34) * 2)}",Ann,expert_writer,Plums fall.'
        for story, text in TEXT_BY_STORY.items()
    ]
    (study / "stories.csv").write_text("\n".join(["story,group,text,source,source_kind,premise", *rows, ""]))
    return folder / "instrument.toml", study


def crlf(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as a browser posts them."""
    return {name: value.replace("\n", "\r\n") if isinstance(value, str) else value for name, value in fields.items()}


def post(client: Client, model: str, fields: dict[str, Any], pk: int | None = None) -> None:
    """Posts the page's form, as it stands, with these fields; it must be taken."""
    where = reverse(f"admin:studies_{model}_{'change' if pk else 'add'}", args=[pk] if pk else [])
    answer = client.post(where, crlf(staff_forms.read_form(client, where) | fields))
    assert answer.status_code == 302, answer.context["errors"]


def row(prefix: str, n: int, **fields: Any) -> dict[str, Any]:
    return {f"{prefix}-{n}-{name}": value for name, value in fields.items()}


def design_instrument(client: Client) -> Instrument:
    """The instrument by its forms, published by its action."""
    item = {"options": "[]", "settings": "{}", "quoted": "[]", "adapted": "[]", "rationale_unit": "sentences"}
    item |= {"rationale_least": 0, "rationale": "none"}
    ripe = item | {"position": 1, "key": "ripe", "type": "binary", "question": QUESTION}
    ripe |= {"rationale": "required", "rationale_least": 1}
    rest = item | {"position": 2, "key": "rest", "type": "scale", "question": "How sweet?"}
    rest |= {"settings": '{"low": 1, "high": 5, "anchors": {"1": "Sour", "5": "Sweet"}}'}
    fields = {"slug": "plum-tests", "version": "1", "title": "Tests of plums", "language": "en", "items-TOTAL_FORMS": 2}
    post(client, "instrument", fields | row("items", 0, **ripe) | row("items", 1, **rest))
    made = Instrument.objects.get()
    action = {"action": "publish", "_selected_action": [made.pk]}
    page = client.post(reverse("admin:studies_instrument_changelist"), action, follow=True)
    assert "plum-tests 1 is published." in map(str, page.context["messages"])
    return made


def design_study(client: Client) -> ProtocolVersion:
    """The same study by the forms of the admin alone."""
    instrument = design_instrument(client)
    fields = {"slug": "plums", "title": "Plums", "organiser": "The orchard", "contact": "us@example.org"}
    post(client, "study", fields | {"seats_per_group": 2, "seed": 7, "shows_premise": "on"})
    study = Study.objects.get()
    post(client, "source", {"name": "Ann", "kind": "expert_writer"})
    for code, text in TEXT_BY_STORY.items():
        post(client, "story", {"study": study.pk, "code": code, "language": "en", "text": text})
        story = Story.objects.get(code=code)
        post(client, "provenance", {"story": story.pk, "source": Source.objects.get().pk, "factors": "{}"})
    codes = list(study.stories.values_list("pk", flat=True))
    post(client, "storygroup", {"study": study.pk, "code": "g1", "premise": "Plums fall.", "stories": codes})
    step = {"options": "{}", "samples": "{}", "background": "folded", "layout": ""}
    consent = step | {"position": 1, "key": "consent", "kind": "consent", "title": "Before you begin", "text": CONSENT}
    tests = step | {"position": 2, "key": "tests", "kind": "rating", "title": "The tests", "scope": "story"}
    rows = row("steps", 0, **consent) | row("steps", 1, **tests, instrument=instrument.pk)
    version = study.versions.get()
    post(client, "protocolversion", {"steps-TOTAL_FORMS": 2} | rows, version.pk)
    return ProtocolVersion.objects.get(pk=version.pk)


def load_files(folder: Path) -> ProtocolVersion:
    instrument, study = write_files(folder)
    call_command("load_instrument", str(instrument))
    call_command("load_study", str(study))
    return Study.objects.get().versions.get()


def test_a_study_from_the_admin_and_the_same_from_files_have_one_hash(client: Client, tmp_path: Path) -> None:
    client.force_login(factories.User.objects.create_superuser("admin"))
    designed = design_study(client)
    written = protocol.write_document(protocol.read_rows(designed))
    frozen = factories.freeze(designed.study, purpose=protocol.Purpose.LAUNCH)
    from_admin = frozen.document, frozen.sha256
    # Slugs are alike, so the first makes way for the second.
    with factories.triggers.lifted():
        StoryGroup.objects.all().delete()
        Study.objects.all().delete()
        Instrument.objects.all().delete()

    loaded = load_files(tmp_path)

    frozen = factories.freeze(loaded.study, purpose=protocol.Purpose.LAUNCH)
    assert (frozen.document, frozen.sha256) == from_admin
    assert hashing.sha256(written) == frozen.sha256
