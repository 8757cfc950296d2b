"""Every declared fact of a study travels: form, file, frozen document, amendment, copies, and wherever it is told."""

import io
import json
from datetime import timedelta
from inspect import getattr_static
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from annotation.design import amendments, launches
from annotation.design.amendments import HoldsFor, Wish
from annotation.participation import invitations
from annotation.responses import derivation, submission
from reports import results
from reports.methods.paragraph import to_text, write_paragraphs
from reports.methods.sampled_units import find_sampled
from studies import creation, loader, protocol, study_files, subsets
from studies.creation import NewStudy
from studies.documents.archive import unpack_study
from studies.facts import COLUMNS, FACTS, KEYS, PLAIN_FACTS, FactKind, StudyFact
from studies.models import Amendment, Instrument, ProtocolVersion, Study
from studies.models.facts import StudyFacts
from studies.protocol import drafts
from studies.protocol.amendments import AmendableState, find_faults, list_stored_places, state_of
from studies.protocol.prose import ProseFacts, write_prose, write_text
from studies.strata import SubsetRule, draw
from tests import factories, triggers
from tests.annotation import clozes
from tests.factories import NOON
from tests.reports.test_packages import issued
from tests.studies.cloze.documents import FILLS

pytestmark = [pytest.mark.django_db, pytest.mark.services]
WORDS, OTHER = "The Plum Board, 2027/14", "The Pear Board, 2028/1"
EVERY = pytest.mark.parametrize("fact", PLAIN_FACTS, ids=lambda fact: fact.key)


def draft(**said: str) -> Study:
    """A draft that says these facts."""
    study = factories.study(n_stories=2, k=2, state=Study.State.DRAFT, planned=False)
    study.say(said)
    return study


def launched(**said: str) -> Study:
    return launches.launch(draft(**said), by="tests", at=NOON)


def document_of(study: Study) -> dict[str, Any]:
    return dict(json.loads(protocol.write_document(protocol.read_rows(protocol.latest(study)))))


def amend(study: Study, **values: str) -> Amendment:
    state, _protocol = state_of(study)
    wish = Wish(AmendableState(state.values | values, state.words), "It came late.", HoldsFor.NEWCOMERS)
    return amendments.amend(study, wish, by="lead", at=NOON + timedelta(days=1))


def test_every_fact_is_an_attribute_whose_name_nothing_else_has() -> None:
    assert list(Study().value_by_fact) == list(KEYS)
    assert len(set(KEYS)) == len(KEYS)
    assert set(COLUMNS) < {field.name for field in Study._meta.concrete_fields}
    for model in (Study, Amendment):
        for fact in PLAIN_FACTS:
            assert getattr_static(model, fact.key) is StudyFacts.__dict__[fact.key]


@pytest.mark.parametrize("fact", [fact for fact in FACTS if fact.has_column], ids=lambda fact: fact.key)
@pytest.mark.parametrize("model", [Study, Amendment])
def test_a_column_holds_as_many_letters_as_its_fact_may_have(fact: StudyFact, model: type[Study | Amendment]) -> None:
    # An address is as long as addresses may be, and minutes are a number.
    if fact.kind is FactKind.LINE:
        assert model._meta.get_field(fact.key).max_length == fact.longest


@EVERY
def test_it_is_typed_where_raters_information_is_and_stands_there(fact: StudyFact, client: Client) -> None:
    study = draft()
    client.force_login(factories.staff("designer"))
    page = reverse("designer:rater_information", args=[study.slug])
    form = client.get(page).context["form"]
    typed = {field.name: field.value() for field in form if field.value() is not None}

    client.post(page, typed | {"seen": form.seen_value, fact.key: WORDS})

    study.refresh_from_db()
    assert getattr(study, fact.key) == WORDS
    assert WORDS in client.get(page).text
    launches.launch(study, by="tests", at=NOON)
    assert f"<dt>{fact.label}</dt><dd>{WORDS}</dd>" in client.get(page).text


@EVERY
def test_it_is_in_the_study_file_and_read_from_it(fact: StudyFact, tmp_path: Path) -> None:
    content = study_files.write_study_file(draft(**{fact.key: WORDS}))

    path = unpack_study(io.BytesIO(content), "study.zip", tmp_path)
    with triggers.lifted():
        Study.objects.all().delete()
        Instrument.objects.all().delete()
    loaded = loader.load_study(path)

    assert f'{fact.key} = "{WORDS}"' in path.read_text()
    assert getattr(loaded, fact.key) == WORDS


@EVERY
def test_it_is_frozen_where_it_is_said_and_documents_without_it_stay_as_they_were(fact: StudyFact) -> None:
    study = draft()
    before = document_of(study)

    study.say({fact.key: WORDS})

    assert document_of(study) == before | {fact.key: WORDS}
    study.say({fact.key: ""})
    assert document_of(study) == before
    assert not {fact.key, "facts"} & set(before)


@EVERY
def test_once_it_is_frozen_an_amendment_alone_changes_it(fact: StudyFact) -> None:
    study = launched(**{fact.key: WORDS})
    with pytest.raises(DatabaseError), transaction.atomic():
        study.say({fact.key: OTHER})
    with pytest.raises(drafts.NotEditable):
        drafts.change_told(study, {fact.key: OTHER})
    study.refresh_from_db()

    amendment = amend(study, **{fact.key: OTHER})

    assert [(place.label, place.before, place.after) for place in list_stored_places(amendment, {})] == [
        (str(fact.label), WORDS, OTHER)
    ]
    study = Study.objects.get(pk=study.pk)
    assert getattr(study, fact.key) == document_of(study)[fact.key] == OTHER
    assert amendment.content["facts"] == {fact.key: OTHER}
    assert list(find_faults(study)) == []
    amend(study, **{fact.key: ""})
    assert list(find_faults(study)) == []
    assert fact.key not in document_of(Study.objects.get(pk=study.pk))


def test_an_amendment_that_says_no_plain_fact_has_the_content_that_amendments_had_before_there_were_any() -> None:
    amendment = amend(launched(), notice="A trial.")

    assert set(amendment.content) == {
        *("number", "reason", "holds_for", "by", "title", "organiser", "contact", "notice", "minutes", "pay"),
        *("pay_for_part", "seats_per_group", "words", "changes", "previous", "study", "version", "at", "closes_at"),
    }


def test_facts_without_a_column_are_kept_in_one_order_whichever_was_said_first() -> None:
    study = Study(facts={"zeal": "a", "age": "b"})

    study.ethics_approval = WORDS

    assert list(study.facts.items()) == [("age", "b"), ("ethics_approval", WORDS), ("zeal", "a")]


@EVERY
def test_copies_take_it_over_if_it_holds_for_them(fact: StudyFact) -> None:
    study = draft(**{fact.key: WORDS})
    designer = factories.staff("designer")

    like = creation.copy_study(study, NewStudy("Pears"), by=designer)
    rule = SubsetRule(1, 7, is_each=False, criteria=())
    population = subsets.read_population(study)
    subset = subsets.create_subset(study, population, draw(population.candidates, rule), "Some", by=designer)

    copied = WORDS if fact.is_copied else ""
    assert (getattr(like, fact.key), getattr(subset, fact.key)) == (copied, copied)


@EVERY
def test_a_study_of_what_was_written_takes_it_over_if_it_holds_there(fact: StudyFact) -> None:
    study = clozes.study()
    with triggers.lifted():
        study.say({fact.key: WORDS})
    work = clozes.assignment(study)
    clozes.fill(work, FILLS)
    submission.submit(work, at=NOON)

    derived = derivation.derive(study, "judged", derivation.derivable_fills(study))

    assert getattr(derived, fact.key) == (WORDS if fact.is_passed_to_fills else "")


@EVERY
def test_it_is_told_to_raters_in_the_protocol_in_words_and_in_the_methods(fact: StudyFact, client: Client) -> None:
    study = launched(**{fact.key: WORDS})

    _invitation, token = invitations.issue(study)
    arrival = client.get(reverse("annotation:invitation", args=[token])).text
    document = ProtocolVersion.objects.get(study=study).document
    prose = write_text(write_prose(document, ProseFacts(1, 9, "")), "", "")

    assert f'<dt>{fact.label}</dt><dd lang="en">{WORDS}</dd>' in arrival
    assert f"{fact.label}: {WORDS}" in prose
    report = results.ensure_report(study, at=NOON, by="ann")
    shown = results.read_results(report.result)
    methods = to_text(write_paragraphs(study, shown, report, find_sampled(study, shown)))
    assert f"{fact.label}: {WORDS}." in methods


@EVERY
def test_it_is_in_the_readme_and_the_protocol_of_a_package(fact: StudyFact) -> None:
    study = launched(**{fact.key: WORDS})

    _package, archive = issued(study)

    assert f"\n{fact.label}: {WORDS}\n" in archive.read("README.md").decode()
    versions = json.loads(archive.read("protocol.json"))["versions"]
    assert [version["document"][fact.key] for version in versions] == [WORDS]
