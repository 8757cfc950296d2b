"""Who may change what, and until when: every kind of edit in every state of a study, in every way there is."""

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.design import launches
from annotation.responses import verification
from studies import hashing, lifecycle, protocol
from studies.models import Provenance, Source, Study
from tests import factories
from tests.trust import edits, world
from tests.trust.edits import Edit

pytestmark = [pytest.mark.django_db, pytest.mark.services]
STATES = ("draft", "live", "paused", "closed")
ANOTHER = 90_000  # a source of no story
LICENCE = "CC BY 4.0"
WAYS = ("admin", "page", "command", "queryset", "sql")


def instrument_file(study: Study, folder: Path) -> list[str]:
    """The instrument as a file that asks something else under the same version."""
    path = folder / "other.toml"
    slug = f"{study.slug}-tests"
    item = '[[items]]\nkey = "new"\ntype = "text"\nquestion = "Why?"\n'
    path.write_text(f'slug = "{slug}"\nversion = "1"\ntitle = "Another"\n{item}')
    return ["load_instrument", str(path)]


def study_file(study: Study, folder: Path) -> list[str]:
    """The study as a file that says something else under the same slug."""
    (folder / "study.toml").write_text(
        f'slug = "{study.slug}"\ntitle = "Another"\n\n[[steps]]\nkey = "consent"\nkind = "consent"\ntext = "Yes?"\n\n'
        '[[steps]]\nkey = "tests"\nkind = "rating"\ninstrument = "ttcw"\nscope = "story"\n'
    )
    (folder / "stories.csv").write_text("story,group,text,source,source_kind\ns1,g1,Once.,Ann,expert_writer\n")
    return ["load_study", str(folder)]


def plan(client: Client, study: Study) -> Any:
    return client.post(reverse("admin:studies_study_action", args=[study.pk, "plan"]))


OF_STUDY, OF_STEP, OF_ITEM = edits.study_itself, edits.step, edits.item
EDITS = {
    "study: title": Edit(
        OF_STUDY, {"title": "X"}, edits.changed(OF_STUDY, title="X"), edits.told(title="X"), study_file
    ),
    "study: organiser": Edit(
        OF_STUDY, {"organiser": "X"}, edits.changed(OF_STUDY, organiser="X"), edits.told(organiser="X")
    ),
    "study: contact": Edit(
        OF_STUDY, {"contact": "x@x.org"}, edits.changed(OF_STUDY, contact="x@x.org"), edits.told(contact="x@x.org")
    ),
    "study: pay": Edit(OF_STUDY, {"pay": "X"}, edits.changed(OF_STUDY, pay="X"), edits.told(pay="X")),
    "study: notice": Edit(OF_STUDY, {"notice": "X"}, edits.changed(OF_STUDY, notice="X"), edits.told(notice="X")),
    "study: a plain fact": Edit(OF_STUDY, {"facts": {"ethics_approval": "X"}}, page=edits.told(ethics_approval="X")),
    "study: slug": Edit(OF_STUDY, {"slug": "x"}, edits.changed(OF_STUDY, slug="x")),
    "study: seats": Edit(
        OF_STUDY,
        {"seats_per_group": 9},
        edits.changed(OF_STUDY, seats_per_group=9),
        page=plan,
        command=lambda study, _: ["plan", study.slug],
    ),
    "study: order": Edit(
        OF_STUDY,
        {"order_policy": "fixed"},
        edits.changed(OF_STUDY, order_policy="fixed"),
        edits.planned(order_policy="fixed"),
    ),
    "study: groups for one": Edit(
        OF_STUDY,
        {"groups_per_rater": 1},
        edits.changed(OF_STUDY, groups_per_rater=1),
        edits.planned(design="some", groups_per_rater="1"),
    ),
    "study: excluded": Edit(OF_STUDY, {"excluded_studies": ["x"]}, page=edits.planned(excluded_studies=["live"])),
    "study: plan": Edit(
        OF_STUDY,
        {"analysis_plan": {"outcome": "tests/item-1", "reference": "Source 1"}},
        page=edits.on_page("studies:analysis_plan", form="", **edits.PLAN),
    ),
    "study: description": Edit(OF_STUDY, {"description": "X"}, edits.changed(OF_STUDY, description="X")),
    "study: deleted": Edit(
        OF_STUDY, None, edits.deleted(OF_STUDY), edits.on_page("studies:delete", form="", sure="yes")
    ),
    "protocol: reason": Edit(edits.version, {"reason": "X"}),
    "step: text": Edit(
        OF_STEP, {"text": "X"}, edits.inline(edits.version, "consent", text="X"), edits.on_step(text="X")
    ),
    "step: kind": Edit(OF_STEP, {"kind": "briefing"}, edits.inline(edits.version, "consent", kind="briefing")),
    "step: moved": Edit(
        OF_STEP,
        {"position": 50},
        edits.inline(edits.version, "consent", position=50),
        edits.on_page("designer:step", edits.slug, edits.key_of(edits.last_step), form="", do="up"),
    ),
    "step: added": Edit(
        edits.new_step,
        {},
        edits.inline(
            edits.version,
            "new",
            position=90,
            key="new",
            kind="briefing",
            text="X",
            options="{}",
            samples="{}",
            background="folded",
        ),
        edits.on_page("designer:new_step", edits.slug, lambda _: "briefing", title="X", text="X"),
        adds=True,
    ),
    "step: deleted": Edit(
        OF_STEP, None, edits.inline(edits.version, "consent", DELETE="on"), edits.on_step(form="", do="remove")
    ),
    "step: of a metric": Edit(
        edits.metric_step,
        {},
        command=lambda study, _: ["run_judges", study.slug, "--metric", "length"],
        adds=True,
    ),
    "instrument: title": Edit(
        edits.instrument,
        {"title": "X"},
        edits.changed(edits.instrument, title="X"),
        edits.on_page("instruments:show", edits.key_of(edits.instrument), form="head", title="X"),
        instrument_file,
    ),
    "instrument: note": Edit(edits.instrument, {"note": "X"}, edits.changed(edits.instrument, note="X")),
    "instrument: a draft": Edit(
        edits.instrument, {"status": "draft"}, edits.changed(edits.instrument, status="draft", title="Tests")
    ),
    "instrument: deleted": Edit(
        edits.instrument,
        None,
        edits.deleted(edits.instrument),
        edits.on_page("instruments:delete", edits.key_of(edits.instrument), form=""),
    ),
    "item: question": Edit(
        OF_ITEM,
        {"question": "X"},
        edits.inline(edits.instrument, "item-2", question="X"),
        edits.asked("item-2", question="X"),
    ),
    "item: quoted": Edit(OF_ITEM, {"quoted": ["help"]}, edits.inline(edits.instrument, "item-2", quoted='["help"]')),
    "item: added": Edit(
        edits.new_item,
        {},
        edits.inline(edits.instrument, "new", position=90, key="new", type="text"),
        edits.asked("", question="Why?", type="text"),
        adds=True,
    ),
    "item: deleted": Edit(
        OF_ITEM, None, edits.inline(edits.instrument, "item-2", DELETE="on"), edits.asked("item-2", act="remove")
    ),
    "story: typing": Edit(edits.story, {"text": "'It began.'"}, page=edits.normalised),
    "story: text": Edit(
        edits.story,
        {"text": "Other."},
        edits.changed(edits.story, text="Other."),
        edits.on_page("studies:story", edits.slug, edits.key_of(edits.story), text="Other."),
        command=lambda study, _: ["formatting", study.slug, "--normalise", "quotes"],
    ),
    "story: code": Edit(edits.story, {"code": "x"}, edits.changed(edits.story, code="x"), edits.of_stories("codes")),
    "story: withheld": Edit(
        edits.story, {"text": "", "is_withheld": True}, edits.changed(edits.story, text="", is_withheld="on")
    ),
    "story: added": Edit(
        edits.new_story,
        {},
        edits.added(edits.new_story, code="x", language="en", text="X"),
        edits.brought_in,
        adds=True,
    ),
    "story: deleted": Edit(edits.story, None, edits.deleted(edits.story), edits.of_stories("remove")),
    "group: premise": Edit(edits.group, {"premise": "X"}, edits.changed(edits.group, premise="X")),
    "group: added": Edit(
        edits.new_group, {}, edits.members(["p1s1"], of=""), edits.of_stories("move", to="new group"), adds=True
    ),
    "group: deleted": Edit(edits.group, None, edits.deleted(edits.group), edits.emptied),
    "group: gains a story": Edit(
        edits.new_membership,
        {},
        edits.members(["p2s1", "p2s2", "p1s1"], of="plot2"),
        edits.of_stories("move", to="plot2"),
        adds=True,
    ),
    "group: loses a story": Edit(
        edits.membership, None, edits.members(["p1s2"], of="plot1"), edits.of_stories("alone")
    ),
    "provenance: source": Edit(
        edits.provenance, {"source_id": ANOTHER}, edits.changed(edits.provenance, source=ANOTHER)
    ),
    "provenance: factors": Edit(
        edits.provenance, {"factors": {"a": "b"}}, edits.changed(edits.provenance, factors='{"a": "b"}')
    ),
    "provenance: rights": Edit(
        edits.provenance, {"may_redistribute": True}, edits.changed(edits.provenance, may_redistribute="on")
    ),
    # Given on the page that asks why, and there alone.
    "provenance: leave": Edit(
        edits.provenance,
        {"may_send_out": True},
        edits.changed(edits.provenance, may_send_out="on"),
        edits.on_page("judges:releases", form="", printed=[LICENCE], reason=f"{LICENCE} allows it."),
    ),
    "provenance: typing": Edit(
        edits.provenance,
        {"raw_text": "“It began.”"},
        page=edits.on_page("studies:story_sources", form="", kinds=["quotes"]),
    ),
    "provenance: deleted": Edit(edits.provenance, None, edits.deleted(edits.provenance)),
    "source: kind": Edit(edits.source, {"kind": "other"}, edits.changed(edits.source, kind="other")),
    "source: name": Edit(edits.source, {"name": "X"}, edits.changed(edits.source, name="X")),
}

# In each way: what comes of it in a study that is draft, live, paused and closed. + allowed, - denied, . no such way.
TABLE = """
                        admin  page   command  queryset  sql
study: title            +---   +---   ----     +---      +---
study: organiser        +---   +---   .        +---      +---
study: contact          +---   +---   .        +---      +---
study: pay              +---   +---   .        +---      +---
study: notice           +---   +---   .        +---      +---
study: a plain fact     .      +---   .        +---      +---
study: slug             +---   .      .        +---      +---
study: seats            +---   +---   +---     +---      +---
study: order            +---   +---   .        +---      +---
study: groups for one   +---   +---   .        +---      +---
study: excluded         .      +---   .        +---      +---
study: plan             .      +---   .        +---      +---
study: description      ++++   .      .        ++++      ++++
study: deleted          +---   +---   .        +---      +---
protocol: reason        .      .      .        +---      +---
step: text              +---   +---   .        +---      +---
step: kind              +---   .      .        +---      +---
step: moved             +---   +---   .        +---      +---
step: added             +---   +---   .        +---      +---
step: deleted           +---   +---   .        +---      +---
step: of a metric       .      .      -+++     ++++      ++++
instrument: title       ----   ----   ----     ----      ----
instrument: note        ++++   .      .        ++++      ++++
instrument: a draft     ----   .      .        ----      ----
instrument: deleted     ----   ----   .        ----      ----
item: question          ----   ----   .        ----      ----
item: quoted            ----   .      .        ++++      ++++
item: added             ----   ----   .        ----      ----
item: deleted           ----   ----   .        ----      ----
story: typing           .      +---   .        +---      +---
story: text             +---   +---   +---     +---      +---
story: code             +---   +---   .        +---      +---
story: withheld         +---   .      .        ++++      ++++
story: added            +---   +---   .        +---      +---
story: deleted          +---   +---   .        +---      +---
group: premise          +---   .      .        +---      +---
group: added            +---   +---   .        +---      +---
group: deleted          +---   +---   .        +---      +---
group: gains a story    +---   +---   .        +---      +---
group: loses a story    +---   +---   .        +---      +---
provenance: source      +---   .      .        +---      +---
provenance: factors     +---   .      .        +---      +---
provenance: rights      ++++   .      .        ++++      ++++
provenance: leave       ----   ++++   .        ++++      ++++
provenance: typing      .      +---   .        +---      +---
provenance: deleted     +---   .      .        +---      +---
source: kind            +---   .      .        +---      +---
source: name            +---   .      .        +---      +---
"""
CELLS = [
    (line[:24].strip(), way, cell)
    for line in TABLE.strip("\n").split("\n")[1:]
    for way, cell in zip(WAYS, line[24:].split(), strict=True)
    if cell != "."
]


def study_in(state: str) -> Study:
    """A study in that state, called like it, with sources of its own and, if it is frozen, an answer."""
    study = factories.study(state, n_groups=2, n_stories=2, state=Study.State.DRAFT, planned=False)
    for story in study.stories.all():
        source = Source.objects.create(name=f"Source of {story.code} in {state}", kind="expert_writer")
        Provenance.objects.filter(story=story).update(source=source, licence=LICENCE)
        story.text = f"“It began,” said {story.code}."  # quotes that can be made straight
        story.save()
    if state == "draft":
        return study
    launches.launch(study, by="tests", at=timezone.now())
    factories.answer(factories.assignment(study))
    if state == "paused":
        lifecycle.pause(study)
    if state == "closed":
        lifecycle.close(study, at=timezone.now())
    return study


@pytest.fixture(scope="module")
def studies(module_db: None) -> dict[str, Study]:
    Source.objects.create(pk=ANOTHER, name="Another", kind="other")
    factories.instrument("numbers", n_items=1, type="number", rationale="none", rationale_least=0)
    User.objects.create_superuser("admin")
    return {state: study_in(state) for state in STATES}


Rows = dict[str, tuple[int, str]]


@pytest.fixture(scope="module")
def rows(studies: dict[str, Study]) -> Rows:
    """What is asked and answered before any edit; every edit is taken back. All of it is sound: the protocols say what
    their hashes are of, and no history has a fault."""
    for name, study in studies.items():
        version = study.versions.get()
        written = hashing.sha256(protocol.write_document(protocol.read_rows(version)))
        assert version.sha256 == ("" if name == "draft" else written)
        assert verification.verify(study).faults == []
    return rows_now()


def rows_now() -> Rows:
    """All rows of what is asked and answered; hashes and faults of histories are told by them alone."""
    return world.digests(apps.get_app_config("studies"), apps.get_app_config("annotation"))


def attempt(edit: Edit, way: str, client: Client, study: Study, folder: Path) -> str:
    """What was said to whoever tried; "" if nothing was."""
    with edits.refusal() as sentences:
        if way == "queryset":
            edits.by_queryset(edit, study)
        elif way == "sql":
            edits.by_sql(edit, study)
        elif way == "command":
            edits.run_command(edit, study, folder)
        else:
            post = edit.staff if way == "admin" else edit.page
            assert post is not None
            sentences += sentences_of(post(client, study))
    return " ".join(sentences)


def sentences_of(response: Any) -> list[str]:
    """Why the page refuses: its sentence, errors of its form, or the message on the page that follows."""
    assert response.status_code in (200, 302, 400, 409), response.status_code
    if response.status_code == 409:
        return [response.context["sentence"]]
    if response.status_code == 400:
        return [str(response.context["form"].errors)]
    if response.status_code == 200:
        return [str(response.context["adminform"].form.errors or response.context["errors"])]
    return [str(message) for message in get_messages(response.wsgi_request) if message.level >= messages.ERROR]


@pytest.mark.parametrize(("name", "way", "expected"), CELLS, ids=[f"{name}, {way}" for name, way, _ in CELLS])
def test_an_edit_is_allowed_until_its_study_is_frozen_and_refused_with_a_sentence_afterwards(
    studies: dict[str, Study],
    rows: Rows,
    client: Client,
    tmp_path: Path,
    name: str,
    way: str,
    expected: str,
) -> None:
    client.force_login(User.objects.get(username="admin"))
    outcome = ""
    for study in studies.values():
        with transaction.atomic():
            sentence = attempt(EDITS[name], way, client, study, tmp_path)
            has_changed = rows_now() != rows
            transaction.set_rollback(True)

        outcome += "+" if has_changed else "-"
        assert has_changed or sentence, f"{study.slug}: nothing was changed, and nobody was told why"
    assert outcome == expected


def test_the_table_has_every_edit() -> None:
    assert {name for name, _, _ in CELLS} == set(EDITS)
    assert len([name for name, way, _ in CELLS if way == "page"]) >= 25
