"""Texts that were written are taken into the study by a person: as they came, or cleaned as the person approved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges import releases
from judges.laboratory import recipes
from judges.models import Draft, GeneratedText, Generation
from studies import construction, hashing, instrument_drafts, story_edits
from studies.construction import SourceConflict
from studies.documents import reader
from studies.documents.errors import InvalidValue
from studies.documents.stories import MOST_IN_GROUP, GroupDocument, StoryDocument
from studies.models import Provenance, Story, Study
from studies.publication import AlreadyPublished
from studies.story_groups import neutral_codes
from studies.vocabulary import SourceKind

PLACEMENTS = {
    "premise": gettext_lazy("with the stories on the same writing prompt"),
    "new": gettext_lazy("in a new group for each writing prompt"),
    "alone": gettext_lazy("each alone in a group"),
}


class CannotAccept(ValueError):
    """Nothing was taken into the study; the message says why, and what would do."""


@dataclass(frozen=True)
class Terms:
    """What is said of all texts that are accepted together.

    source : the language model as sources are called; "" for the name of the model
    may_send_out, reason : whether they are released for sending at once, and why; what was made from a story that may
        not be sent waits all the same
    placement : one of `PLACEMENTS`
    """

    source: str = ""
    licence: str = ""
    may_send_out: bool = False
    reason: str = ""
    may_redistribute: bool = False
    placement: str = "premise"


@transaction.atomic
def accept(
    generation: Generation, is_cleaned_by_text: Mapping[int, bool], terms: Terms, *, by: str, at: datetime
) -> list[Story]:
    """The stories that these texts have become, with all that is known of where they come from. Raises CannotAccept.

    is_cleaned_by_text : by id, whether it is taken as cleaned or as it came; both texts are kept either way
    All of them or none.
    """
    study = _hold(generation.run.study)
    if terms.may_send_out and not terms.reason.strip():
        raise CannotAccept(_("Say why these texts may be sent."))
    rows = _load(generation, is_cleaned_by_text)
    codes = neutral_codes(len(rows), taken=set(study.stories.values_list("code", flat=True)))
    code_by_text = {row.pk: code for row, code in zip(rows, codes, strict=True)}
    origin_by_story = _load_origins(rows)
    documents = [
        _describe(generation, row, code_by_text[row.pk], origin_by_story, terms, is_cleaned=is_cleaned_by_text[row.pk])
        for row in rows
    ]
    try:
        construction.add_stories(study, documents, _group(study, rows, code_by_text, terms.placement))
    except SourceConflict as error:
        raise CannotAccept(_("%(why)s. Give the source another name.") % {"why": error}) from None
    stories = _link(study, rows, code_by_text, is_cleaned_by_text, by=by, at=at)
    if terms.may_send_out:
        _release(study, set(codes), terms.reason, by=by, at=at)
    return stories


def _release(study: Study, codes: set[str], reason: str, *, by: str, at: datetime) -> None:
    """Release those of the new stories that nothing is in the way of; the others wait."""
    texts = releases.find_releasable(study)
    free = [text.code for text in texts if text.code in codes and text.is_derived and not text.made_from]
    if free:
        releases.release(study, free, reason=reason, by=by, at=at)


@transaction.atomic
def approve_measures(generation: Generation, words_by_text: Mapping[int, str], *, by: str, at: datetime) -> int:
    """How many questions have these words as their background now, as somebody read and edited them.

    The draft of the model is kept as it came. Raises CannotAccept. All of them or none.
    """
    _hold(generation.run.study)
    rows = _load(generation, words_by_text)
    for row in rows:
        item, words = row.draft.item, words_by_text[row.pk].strip()
        if item is None:
            raise CannotAccept(_("This generation writes stories, not backgrounds of questions."))
        _read(words, f"{item.key}")
        try:
            instrument_drafts.save_item(item.instrument, {"background": words}, item=item)
        except AlreadyPublished as error:
            raise CannotAccept(str(error)) from None
        row.cleaned, row.is_cleaned = words, words != row.text
        row.accepted_by, row.accepted_at = by, at
        row.save()
    return len(rows)


def _hold(study: Study) -> Study:
    """The study, which nobody launches meanwhile. Raises CannotAccept."""
    row = Study.objects.select_for_update().get(pk=study.pk)
    if obstacle := story_edits.find_obstacle(row):
        raise CannotAccept(obstacle)
    return row


def _load(generation: Generation, keys: Mapping[int, Any]) -> list[GeneratedText]:
    """The texts of these ids, in the order of their drafts. Raises CannotAccept."""
    if not keys:
        raise CannotAccept(_("Choose at least one text."))
    names = ("draft__group", "draft__original", "draft__item__instrument")
    rows = GeneratedText.objects.filter(draft__generation=generation, pk__in=keys)
    texts = list(rows.select_related(*names).order_by("draft__number", "round"))
    if len(texts) != len(keys):
        raise CannotAccept(_("Some of these texts were not written in this run. Load the page again."))
    if accepted := [row for row in texts if row.accepted_at]:
        message = _("Text %(number)d is in the study already. Choose only texts that are not.")
        raise CannotAccept(message % {"number": accepted[0].draft.number})
    return texts


def _read(words: str, name: str) -> str:
    """The words, if they can be kept and read. Raises CannotAccept."""
    try:
        text = str(reader.text(words))
    except InvalidValue as error:
        raise CannotAccept(_("%(name)s: the text %(why)s.") % {"name": name, "why": error}) from None
    if not text.strip():
        raise CannotAccept(_("%(name)s is empty.") % {"name": name})
    return text


def _load_origins(rows: Sequence[GeneratedText]) -> dict[int, Provenance]:
    """Where the stories come from of which texts were made, by story."""
    keys = {row.draft.original_id for row in rows if row.draft.original_id}
    return {row.story_id: row for row in Provenance.objects.filter(story__in=keys).select_related("source")}


def _describe(
    generation: Generation,
    row: GeneratedText,
    code: str,
    origin_by_story: Mapping[int, Provenance],
    terms: Terms,
    *,
    is_cleaned: bool,
) -> StoryDocument:
    """The story with where it comes from. What was made out of a story is its writer's, and says who extracted it."""
    draft, judge = row.draft, generation.run.judge
    words = row.cleaned if is_cleaned and row.cleaned else row.text
    text = _read(words, _("Text %(number)d") % {"number": draft.number})
    origin = origin_by_story.get(draft.original_id or 0)
    factors = {**origin.factors, "extracted by": judge.model} if origin else {"model": judge.model}
    return StoryDocument(
        key=code,
        text=text,
        source=origin.source.name if origin else terms.source.strip() or judge.model,
        source_kind=origin.source.kind if origin else SourceKind.MODEL.value,
        licence=terms.licence.strip() or (origin.licence if origin else ""),
        may_redistribute=terms.may_redistribute and (origin is None or origin.may_redistribute),
        factors=factors | _count(generation, row),
    )


def _count(generation: Generation, row: GeneratedText) -> dict[str, Any]:
    """What reports can group generated texts by: recipe, prompts, length, temperature, round, replies, discards."""
    draft, frozen = row.draft, generation.run.frozen
    names = [f"{name} {words['version']}" for name, words in frozen["prompts"].items()]
    factors: dict[str, Any] = {"recipe": generation.recipe, "prompts": ", ".join(names)}
    if draft.n_words:
        factors["words asked for"] = draft.n_words
    if draft.temperature is not None:
        factors["temperature"] = draft.temperature
    if recipes.find_recipe(generation.recipe).makes == "idea" and generation.settings["n_rounds"]:
        factors["round"] = row.round
    return factors | {"replies": draft.n_attempts, "discarded": draft.n_discards}


def _group(
    study: Study, rows: Sequence[GeneratedText], code_by_text: Mapping[int, str], placement: str
) -> list[GroupDocument]:
    """The groups that the new stories stand in. Raises CannotAccept if one would be too large."""
    group_by_code = {group.code: group for group in study.groups.prefetch_related("stories")}
    members: dict[Any, list[GeneratedText]] = {}
    for row in rows:
        members.setdefault(_find_place(row, placement), []).append(row)
    groups, codes = [], neutral_codes(len(members), taken=group_by_code, letter="g")
    for place, texts in members.items():
        code = place if place in group_by_code else codes.pop()
        n_there = len(group_by_code[code].stories.all()) if code in group_by_code else 0
        if n_there + len(texts) > MOST_IN_GROUP:
            message = _(
                "Group “%(group)s” would have more than %(n)d stories, one for each letter. Put some of them "
                "into other groups."
            )
            raise CannotAccept(message % {"group": code, "n": MOST_IN_GROUP})
        premise = texts[0].draft.premise
        groups.append(GroupDocument(code, premise, tuple(code_by_text[row.pk] for row in texts)))
    return groups


def _find_place(row: GeneratedText, placement: str) -> Any:
    """What the texts of one group have in common; the code of a group that is there if they join that."""
    draft: Draft = row.draft
    if placement == "alone":
        return row.pk
    if placement == "premise" and draft.group and not draft.original_id:
        return draft.group.code
    return (draft.premise,)


def _link(
    study: Study,
    rows: Sequence[GeneratedText],
    code_by_text: Mapping[int, str],
    is_cleaned_by_text: Mapping[int, bool],
    *,
    by: str,
    at: datetime,
) -> list[Story]:
    """Note with each text which story it is now, and with the story the text as it came if it was cleaned."""
    story_by_code = {story.code: story for story in study.stories.filter(code__in=code_by_text.values())}
    for row in rows:
        row.story = story_by_code[code_by_text[row.pk]]
        row.is_cleaned = is_cleaned_by_text[row.pk] and bool(row.cleaned)
        row.accepted_by, row.accepted_at = by, at
        if row.story.text != row.text:
            origin = Provenance.objects.filter(story=row.story)
            origin.update(raw_text=row.text, raw_sha256=hashing.sha256(row.text))
    GeneratedText.objects.bulk_update(rows, ["story", "is_cleaned", "accepted_by", "accepted_at"], batch_size=200)
    return [story_by_code[code_by_text[row.pk]] for row in rows]
