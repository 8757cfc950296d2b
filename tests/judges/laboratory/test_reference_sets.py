"""Reference sets are stored once, under a name, and read as far as their texts are still what they were."""

from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.design import deletion
from judges.laboratory import embeddings, reference_sets
from judges.laboratory.embeddings import CannotEmbed
from judges.laboratory.reference_sets import CannotStore, store
from judges.models import Endpoint, ReferenceSet, TextVector
from studies.models import Story, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return factories.study(comparative=False)


def test_a_set_holds_the_hashes_of_its_stories_and_a_digest_of_all(study: Study) -> None:
    row = store(study, "own", by="tests", at=NOON)

    assert [tuple(member) for member in row.stories] == list(
        study.stories.order_by("code").values_list("code", "sha256")
    )
    assert (row.corpus, row.embedding, row.version) == (study, "tfidf-svd", "3")
    assert store(study, "again", by="tests", at=NOON).sha256 == row.sha256
    with pytest.raises(CannotStore, match="there is a reference set “own” already; choose another name"):
        store(study, "own", by="tests", at=NOON)


def test_nothing_is_its_own_neighbour_but_a_second_copy_is(study: Study) -> None:
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s2").update(
            **Story.objects.filter(study=study, code="p1s1").values("text", "sha256").get()
        )
    row = store(study, "own", by="tests", at=NOON)

    material = reference_sets.read_material(row)
    queries, references, own = reference_sets.embed(row, material)

    assert own.tolist() == list(range(len(material.codes)))
    np.testing.assert_allclose((queries * references).sum(axis=1), 1)
    assert queries[0] @ references[1] == pytest.approx(1)


def test_a_text_that_changed_or_went_is_counted_and_left_out(study: Study) -> None:
    row = store(study, "own", by="tests", at=NOON)
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s1").update(text="", is_withheld=True)
        Story.objects.filter(study=study, code="p1s2").update(text="New.", sha256="0" * 64)

    material = reference_sets.read_material(row)

    assert material.n_gone == 2
    assert not {"p1s1", "p1s2"} & set(material.codes)
    assert [story.number for story in material.stories if story.code == "p1s2"] == [-1]


def test_stories_of_another_study_make_a_set_in_which_the_same_text_is_known(study: Study) -> None:
    corpus = factories.study("corpus", comparative=False)
    with triggers.lifted():
        Story.objects.filter(study=corpus, code="p1s2").update(text="The p1s2 is not here.", sha256="0" * 64)
    row = store(study, "others", corpus=corpus, by="tests", at=NOON)

    material = reference_sets.read_material(row)

    own = {story.code: story.number for story in material.stories}
    assert own["p1s1"] == material.codes.index("p1s1")
    assert own["p1s2"] == -1


def test_what_cannot_be_stored_says_why(study: Study) -> None:
    with pytest.raises(CannotStore, match="needs a name"):
        store(study, " ", by="tests", at=NOON)
    with pytest.raises(CannotStore, match="the name has 81 characters; at most 80 are kept"):
        store(study, "a" * 81, by="tests", at=NOON)
    with pytest.raises(CannotStore, match="“word2vec” is not an embedding"):
        store(study, "own", embedding="word2vec", by="tests", at=NOON)
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s2").update(text="* * *")
    with pytest.raises(CannotStore, match="story p1s2 has no words; take it out of the study, or give it its text"):
        store(study, "own", by="tests", at=NOON)
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s1").update(language="pt")
    with pytest.raises(CannotStore, match=r"in several languages \(en, pt\), .*; make a study for each language"):
        store(study, "own", by="tests", at=NOON)
    with triggers.lifted():
        Story.objects.filter(study=study).exclude(code="p1s1").update(text="", is_withheld=True)
    with pytest.raises(CannotStore, match=r"has 1 story with a text; a reference set needs at least 2\. Bring in more"):
        store(study, "own", by="tests", at=NOON)
    assert not ReferenceSet.objects.exists()


def test_vectors_are_made_when_a_set_is_stored_and_never_by_a_report(study: Study, standin: StandIn) -> None:
    Endpoint.objects.create(
        name="house", base_url=standin.base_url, key_variable="STANDIN_API_KEY", is_allowed=True, is_outside=False
    )
    row = store(study, "own", embedding="endpoint:house/small", by="tests", at=NOON)
    n_hits = len(standin.hits)
    assert n_hits == 1

    reference_sets.embed(row, reference_sets.read_material(row))
    TextVector.objects.all().delete()
    with pytest.raises(CannotEmbed, match="not kept any more; store another reference set"):
        reference_sets.embed(row, reference_sets.read_material(row))

    assert len(standin.hits) == n_hits


def test_another_version_of_the_embedding_is_refused(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    row = store(study, "own", by="tests", at=NOON)
    monkeypatch.setattr(embeddings.all_kinds()["tfidf-svd"], "version", "4")

    with pytest.raises(CannotEmbed, match="version 4 by now, and the reference set was stored with 3"):
        reference_sets.embed(row, reference_sets.read_material(row))


def test_the_command_stores_a_set(study: Study) -> None:
    out = StringIO()

    call_command("store_reference_set", "plums", "own", embedding="tfidf-svd", stdout=out)

    assert out.getvalue() == f"own: {study.stories.count()} stories of plums, tfidf-svd 3\n"
    arguments: Any = ("store_reference_set", "pears", "own")
    with pytest.raises(CommandError, match=r"study “pears”.*: plums$"):
        call_command(*arguments)


def test_the_command_deletes_a_set_that_no_plan_names_and_says_which_there_are() -> None:
    study = factories.study(comparative=False, state="draft", planned=False)
    store(study, "own", by="tests", at=NOON)
    out = StringIO()
    Study.objects.filter(pk=study.pk).update(analysis_plan={"hypotheses": "More novel beside own."})

    with pytest.raises(CommandError, match="the analysis plan of plums names the reference set “own”"):
        call_command("delete_reference_set", "plums", "own", stdout=out)
    Study.objects.filter(pk=study.pk).update(analysis_plan={})
    with pytest.raises(CommandError, match="plums has no reference set “mine”; there are: “own”"):
        call_command("delete_reference_set", "plums", "mine", stdout=out)
    call_command("delete_reference_set", "plums", "own", stdout=out)

    assert out.getvalue() == f"own: deleted; it held {study.stories.count()} stories of plums\n"
    assert not ReferenceSet.objects.exists()


def test_a_draft_goes_with_its_own_set_and_stays_as_long_as_another_is_measured_against_it() -> None:
    draft = factories.study("draft", comparative=False, state="draft", planned=False)
    other = factories.study("other", comparative=False, state="draft", planned=False)
    store(draft, "own", by="tests", at=NOON)
    store(other, "theirs", corpus=draft, by="tests", at=NOON)

    with pytest.raises(deletion.NotDeletable, match=r"a reference set of another: “theirs” \(other\). Delete the set"):
        deletion.delete_draft(draft)
    assert draft.stories.exists()
    reference_sets.delete(other, "theirs")
    deletion.delete_draft(draft)

    assert not ReferenceSet.objects.exists()
    assert list(Study.objects.values_list("slug", flat=True)) == ["other"]
