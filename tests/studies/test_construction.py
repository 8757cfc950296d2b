"""The one builder of studies: what it makes of documents, and that a source has one kind."""

import pytest

from studies.construction import SourceConflict, create_study
from studies.documents.stories import GroupDocument, StoryDocument
from studies.models import Source, Study

pytestmark = pytest.mark.django_db

FIELDS = {"slug": "plums", "title": "Plums", "language": "pt"}
GROUPS = [GroupDocument(key="g", premise="A tree.", stories=("a", "b"))]


def test_a_study_has_its_stories_groups_provenance_and_a_draft() -> None:
    stories = [
        StoryDocument("a", "One two.", "Ada", "expert_writer", title="A", factors={"tier": "high"}),
        StoryDocument("b", "", "Ada", "expert_writer"),
    ]

    study = create_study(FIELDS, stories=stories, groups=GROUPS)

    rows = study.stories.order_by("code").values_list("code", "language", "n_words", "is_withheld", "provenance__title")
    assert list(rows) == [("a", "pt", 2, False, "A"), ("b", "pt", 0, True, "")]
    assert [(g.code, g.premise, g.stories.count()) for g in study.groups.all()] == [("g", "A tree.", 2)]
    assert [(v.number, v.frozen_at) for v in study.versions.all()] == [(1, None)]
    assert Source.objects.get().kind == "expert_writer"


def test_a_source_of_two_kinds_makes_no_study() -> None:
    stories = [StoryDocument("a", "One.", "Ada", "expert_writer"), StoryDocument("b", "Two.", "Ada", "language_model")]

    with pytest.raises(SourceConflict, match="“Ada” is known as expert_writer, not language_model") as conflict:
        create_study(FIELDS, stories=stories, groups=GROUPS)

    assert conflict.value.story == "b"
    assert not Study.objects.exists()
