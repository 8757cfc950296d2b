"""Writing instruments: a draft is begun, copied or brought from a file, its questions are changed, and it is published.

The pages of instruments call these. What is published is protected by the tables themselves; see `studies.publication`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.db import transaction
from django.db.models import F, Max
from django.utils.text import slugify
from django.utils.translation import gettext as _

from studies import loader
from studies.documents.instrument import WORDED, InstrumentDocument
from studies.documents.names import first_free
from studies.documents.scores import ScoreDocument, select_possible
from studies.models import Instrument, Item, Step
from studies.publication import explain_published

LONGEST_SLUG, LONGEST_VERSION = 60, 40  # characters
ASIDE = 10_000  # a position that no item has: one waits there while two change places


class InstrumentInUse(ValueError):
    """A draft that a study asks cannot be deleted; the message names the studies."""


def begin_draft(title: str, *, language: str = "en", citation: str = "") -> Instrument:
    """A new draft without a question."""
    return Instrument.objects.create(
        slug=_free_slug(title), version="1", title=title, language=language, citation=citation
    )


@transaction.atomic
def copy_draft(instrument: Instrument, *, title: str) -> Instrument:
    """A draft that asks what the instrument asks: its next version if it keeps the title, else one of its own."""
    is_next_version = title == instrument.title
    draft = Instrument.objects.create(
        slug=instrument.slug if is_next_version else _free_slug(title),
        version=_next_version(instrument) if is_next_version else "1",
        title=title,
        language=instrument.language,
        citation=instrument.citation,
        note=instrument.note,
        scores=instrument.scores,
    )
    items = list(instrument.items.order_by("position"))
    for item in items:
        item.pk, item.instrument = None, draft
        item._state.adding = True
    Item.objects.bulk_create(items)
    return draft


@transaction.atomic
def load_draft(document: InstrumentDocument) -> Instrument:
    """The instrument of that file as a draft. Raises loader.VersionConflict."""
    if Instrument.objects.filter(slug=document.slug, version=document.version).exists():
        raise loader.VersionConflict(
            _("“%(title)s”, version %(version)s, already exists. Raise the version in the file.")
            % {"title": document.title, "version": document.version}
        )
    draft = Instrument.objects.create(**loader.fields_of(document))
    Item.objects.bulk_create(
        Item(instrument=draft, position=position, **asdict(item))
        for position, item in enumerate(document.items, start=1)
    )
    return draft


@transaction.atomic
def save_item(instrument: Instrument, fields: Mapping[str, Any], *, item: Item | None = None) -> Item:
    """The question with these fields of `ItemDocument`, a new one at the end if none is given.

    Words that were quoted from a source and are others now count as adapted. Raises AlreadyPublished.
    """
    locked = _lock(instrument)
    if item is None:
        last = locked.items.aggregate(last=Max("position"))["last"] or 0
        name = str(fields.get("title") or fields["question"])
        item = Item(instrument=locked, position=last + 1, key=_free_key(locked, name))
    changed = {name for name, value in fields.items() if getattr(item, name) != value}
    for name, value in fields.items():
        setattr(item, name, value)
    item.adapted = sorted({*item.adapted, *(set(item.quoted) & changed)} & _worded_fields(item))
    item.quoted = sorted(set(item.quoted) - changed)
    item.save()
    _keep_possible_scores(locked)
    return item


@transaction.atomic
def move_item(item: Item, *, by: int) -> None:
    """Let the question change places with the one before it (by = -1) or after it (1); at an end it stays."""
    instrument = _lock(item.instrument)
    items = list(instrument.items.order_by("position"))
    index = [row.pk for row in items].index(item.pk)
    if not 0 <= index + by < len(items):
        return
    first, second = items[index], items[index + by]
    positions = first.position, second.position
    rows = Item.objects.filter(instrument=instrument)
    rows.filter(pk=first.pk).update(position=F("position") + ASIDE)
    rows.filter(pk=second.pk).update(position=positions[0])
    rows.filter(pk=first.pk).update(position=positions[1])


@transaction.atomic
def remove_item(item: Item) -> None:
    """Take the question out, and out of the scores that it counts in. Raises AlreadyPublished."""
    locked = _lock(item.instrument)
    item.delete()
    _keep_possible_scores(locked)


@transaction.atomic
def save_score(instrument: Instrument, score: ScoreDocument) -> str:
    """Keep the score in place of the one with its key, which is returned; a new one gets a key from its title.

    What it names and is gone meanwhile goes out of it. Raises AlreadyPublished.
    """
    locked = _lock(instrument)
    score_by_key = {saved.key: saved for saved in locked.score_documents}
    key = score.key or first_free(slugify(score.title) or "score", set(score_by_key), longest=LONGEST_SLUG)
    score_by_key[key] = replace(score, key=key)
    _save_scores(locked, list(score_by_key.values()))
    return key


@transaction.atomic
def remove_score(instrument: Instrument, key: str) -> None:
    """Take the score out; its questions stay. Raises AlreadyPublished."""
    locked = _lock(instrument)
    _save_scores(locked, [score for score in locked.score_documents if score.key != key])


@transaction.atomic
def delete_draft(instrument: Instrument) -> None:
    """Delete the draft with its questions. Raises AlreadyPublished, InstrumentInUse."""
    locked = _lock(instrument)
    steps = Step.objects.filter(instrument=locked).select_related("version__study")
    if titles := sorted({step.version.study.title for step in steps}):
        reason = _("It is asked in %(studies)s. Take it out of what is asked there first.")
        raise InstrumentInUse(reason % {"studies": ", ".join(f"“{title}”" for title in titles)})
    locked.delete()


def _lock(instrument: Instrument) -> Instrument:
    """The draft, which nobody publishes until this transaction is over. Raises AlreadyPublished."""
    locked = Instrument.objects.select_for_update().get(pk=instrument.pk)
    if locked.status == Instrument.Status.PUBLISHED:
        raise explain_published(locked)
    return locked


def _keep_possible_scores(instrument: Instrument) -> None:
    """Take out of the scores the items that are gone or give no number any more."""
    _save_scores(instrument, instrument.score_documents)


def _save_scores(instrument: Instrument, scores: Sequence[ScoreDocument]) -> None:
    """Those scores, with those of their items that give a number."""
    tables = select_possible([score.as_table() for score in scores], list(instrument.items.all()))
    if tables != instrument.scores:
        instrument.scores = tables
        instrument.save(update_fields=["scores"])


def _worded_fields(item: Item) -> set[str]:
    """The fields that say anything: only those can be marked as adapted."""
    return {name for name in WORDED if getattr(item, name)}


def _free_slug(title: str) -> str:
    taken = set(Instrument.objects.values_list("slug", flat=True))
    return first_free(slugify(title).strip("-_") or "instrument", taken, longest=LONGEST_SLUG)


def _free_key(instrument: Instrument, name: str) -> str:
    taken = set(instrument.items.values_list("key", flat=True))
    return first_free(slugify(name).strip("-_") or "question", taken, longest=LONGEST_SLUG)


def _next_version(instrument: Instrument) -> str:
    taken = set(Instrument.objects.filter(slug=instrument.slug).values_list("version", flat=True))
    numbers = [int(version) for version in taken if version.isdigit()]
    return str(max(numbers) + 1) if numbers else first_free(instrument.version, taken, longest=LONGEST_VERSION)
