"""Reference sets: stories that a study's own are measured against, stored under a name before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judges.laboratory import embeddings
from judges.laboratory.embeddings import CannotEmbed, EmptyText
from judges.models import ReferenceSet
from studies import hashing
from studies.models import Story, Study

if TYPE_CHECKING:
    from stats.arrays import FloatArray, IntArray

FEWEST_STORIES = 2
LONGEST_NAME = 80  # as its column keeps
PLANNED_WORDS = ("hypotheses", "exclusions")  # of an analysis plan, in which whoever plans can name a set


class CannotStore(ValueError):
    """There can be no such reference set; the message says why and what would do."""


class CannotDelete(ValueError):
    """The reference set stays; the message says why and what would do."""


@dataclass(frozen=True)
class MeasuredStory:
    """A story as it is measured. number : of its text among the references, -1 if it is none of them"""

    code: str
    text: str
    number: int


@dataclass(frozen=True)
class Material:
    """A reference set with the texts that are still what they were when it was stored.

    stories : of the study, by code; those whose text is here
    codes, texts : of the references
    n_gone : references whose text was erased or changed since
    """

    stories: tuple[MeasuredStory, ...]
    codes: tuple[str, ...]
    texts: tuple[str, ...]
    n_gone: int


def store(
    study: Study,
    name: str,
    *,
    embedding: str = embeddings.OFFLINE,
    corpus: Study | None = None,
    by: str,
    at: datetime,
) -> ReferenceSet:
    """Write down the readable stories of a study as a reference set of `study`. Raises CannotStore.

    corpus : whose stories it holds; None for the study's own
    Unless the embedding is fitted on the texts anew, all vectors that the report will need are made here, over the
    network too; a report never sends a text anywhere.
    """
    holder = corpus or study
    stories = _readable(holder)
    _check(study, name, holder, stories)
    try:
        chosen = embeddings.find_embedding(embedding, occasion=embeddings.Occasion(study, by))
        texts = list(dict.fromkeys(story.text for story in [*stories, *_readable(study)]))
        chosen.vectors(texts)
        version = chosen.version
    except EmptyText as error:
        empty = next(story for story in [*stories, *_readable(study)] if story.text == texts[error.number - 1])
        message = _("story %(story)s has no words; take it out of the study, or give it its text")
        raise CannotStore(message % {"story": empty.code}) from None
    except CannotEmbed as error:
        raise CannotStore(str(error)) from None
    members = [[story.code, story.sha256] for story in stories]
    content = {"stories": sorted(sha for _code, sha in members), "embedding": chosen.name, "version": version}
    try:
        with transaction.atomic():
            return ReferenceSet.objects.create(
                study=study,
                name=name.strip(),
                corpus=holder,
                embedding=chosen.name,
                version=version,
                stories=members,
                sha256=hashing.sha256(hashing.canonical_json(content)),
                by=by,
                at=at,
            )
    except IntegrityError:
        raise CannotStore(
            _("there is a reference set “%(name)s” already; choose another name") % {"name": name}
        ) from None


def _check(study: Study, name: str, corpus: Study, stories: Sequence[Story]) -> None:
    if not name.strip():
        raise CannotStore(_("a reference set needs a name"))
    if len(name.strip()) > LONGEST_NAME:
        message = _("the name has %(n)d characters; at most %(most)d are kept")
        raise CannotStore(message % {"n": len(name.strip()), "most": LONGEST_NAME})
    if len(stories) < FEWEST_STORIES:
        message = ngettext(
            "%(study)s has %(n)s story with a text; a reference set needs at least %(least)s. Bring in more",
            "%(study)s has %(n)s stories with texts; a reference set needs at least %(least)s. Bring in more",
            len(stories),
        )
        raise CannotStore(message % {"study": corpus.slug, "n": len(stories), "least": FEWEST_STORIES})
    languages = {story.language for story in [*stories, *_readable(study)]}
    if len(languages) > 1:
        message = _(
            "the stories are in several languages (%(languages)s), and texts are measured against texts of their own; "
            "make a study for each language"
        )
        raise CannotStore(message % {"languages": ", ".join(sorted(languages))})


def _readable(study: Study) -> list[Story]:
    return list(study.stories.filter(is_withheld=False).order_by("code"))


@transaction.atomic
def delete(study: Study, name: str) -> ReferenceSet:
    """The set of that name, which is gone then. Raises CannotDelete if there is none, or the study's plan names it."""
    row = ReferenceSet.objects.filter(study=study, name=name.strip()).first()
    if row is None:
        names = ", ".join(f"“{other}”" for other in ReferenceSet.objects.filter(study=study)) or _("none")
        message = _("%(study)s has no reference set “%(name)s”; there are: %(names)s")
        raise CannotDelete(message % {"study": study.slug, "name": name, "names": names})
    plan = study.analysis_plan or {}
    if any(row.name in str(plan.get(words, "")) for words in PLANNED_WORDS):
        message = _(
            "the analysis plan of %(study)s names the reference set “%(name)s”; take it out of the plan first, "
            "which a draft allows"
        )
        raise CannotDelete(message % {"study": study.slug, "name": row.name})
    row.delete()
    return row


def read_material(reference_set: ReferenceSet) -> Material:
    """The texts of the set that are still what they were, and those of the study. Two queries."""
    members = {(code, sha) for code, sha in reference_set.stories}
    references = [story for story in _readable(reference_set.corpus) if (story.code, story.sha256) in members]
    # Of another study's stories one may be the same text; of the study's own, a second one of that text is a copy.
    is_own = reference_set.corpus_id == reference_set.study_id
    number_by_key: dict[str, int] = {}
    for number, story in enumerate(references):
        number_by_key.setdefault(story.code if is_own else story.sha256, number)
    return Material(
        stories=tuple(
            MeasuredStory(story.code, story.text, number_by_key.get(story.code if is_own else story.sha256, -1))
            for story in _readable(reference_set.study)
        ),
        codes=tuple(story.code for story in references),
        texts=tuple(story.text for story in references),
        n_gone=len(members) - len(references),
    )


def embed(reference_set: ReferenceSet, material: Material) -> tuple[FloatArray, FloatArray, IntArray]:
    """Unit vectors of the study's stories (Q, d) and of the references (N, d), and each story's own number, shape (Q,).

    Raises CannotEmbed if the embedding has another version by now, or vectors that were kept are gone: nothing is sent.
    """
    import numpy as np

    chosen = embeddings.find_embedding(reference_set.embedding)
    if chosen.version != reference_set.version:
        message = _("%(name)s has version %(new)s by now, and the reference set was stored with %(old)s; store another")
        raise CannotEmbed(message % {"name": chosen.name, "new": chosen.version, "old": reference_set.version})
    text_by_place = [*(story.text for story in material.stories), *material.texts]
    texts = list(dict.fromkeys(text_by_place))
    if not chosen.is_fitted and chosen.find_missing(texts):
        message = _("vectors of some texts are not kept any more; store another reference set")
        raise CannotEmbed(message)
    row_by_text: Mapping[str, FloatArray] = dict(zip(texts, chosen.vectors(texts), strict=True))
    rows = np.stack([row_by_text[text] for text in text_by_place])
    n = len(material.stories)
    return rows[:n], rows[n:], np.array([story.number for story in material.stories], dtype=np.int64)
