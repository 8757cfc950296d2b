"""Changing the stories of a draft: texts corrected, stories removed, codes renewed, stories moved between groups."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from django.db import transaction
from django.db.models import F, ProtectedError, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from studies import formatting, hashing, lifecycle
from studies.construction import add_groups, draw_key
from studies.documents import reader
from studies.documents.errors import InvalidValue
from studies.documents.stories import MOST_IN_GROUP
from studies.models import Provenance, Story, StoryGroup, Study, StudyJob
from studies.story_groups import (
    Member,
    form_groups,
    is_group_size,
    name_groups,
    neutral_codes,
    say_group_sizes,
)

Membership = StoryGroup.stories.through


class StoriesFinal(ValueError):
    """The stories stay as they are; the message says why."""


class EditRefused(ValueError):
    """This change is not made; the message says why and what would do."""


LAUNCHED = gettext_noop(
    "The study is launched, so its stories cannot be changed. To change them, make a copy of the study."
)


def find_obstacle(study: Study) -> str:
    """Why the stories of the study cannot be changed, in words; "" if they can."""
    if not lifecycle.may_edit(study, is_frozen=study.frozen_versions.exists()):
        if study.is_draft:
            return _(
                "A run of a judge has frozen the questions and stories of this study. To change stories, make a copy "
                "of the study."
            )
        return _(LAUNCHED)
    if study.has_blanks():
        return _("The study is a cloze: its text cannot be changed here. Change the cloze.")
    return ""


def require_editable(study: Study) -> None:
    """Raise StoriesFinal unless the study's stories may be changed."""
    if sentence := find_obstacle(study):
        raise StoriesFinal(sentence)


def _hold(study: Study) -> Study:
    """The study, which nobody launches or changes meanwhile. Raises StoriesFinal."""
    row = Study.objects.select_for_update().get(pk=study.pk)
    require_editable(row)
    return row


@transaction.atomic
def correct_text(story: Story, text: str) -> bool:
    """Whether the text was another one; the one that came is kept. Raises StoriesFinal, or EditRefused."""
    _hold(story.study)
    try:
        words = str(reader.text(text))
    except InvalidValue as error:
        raise EditRefused(_("The text %(why)s.") % {"why": error}) from None
    if not words.strip():
        raise EditRefused(_("A story cannot be empty. Remove it instead."))
    if words == story.text:
        return False
    formatting.keep_raw(story)
    story.text, story.is_withheld = words, False
    story.save()
    return True


def erase_texts(keys: Collection[int], *, writer: str = "") -> list[int]:
    """Take away the texts of these stories and of all copies of them, in whatever state their study is.

    As they came and as they are read. Copies stand in rehearsals and subsets, and in copies of those. Gives the keys of
    all stories that lost their text.

    writer : name of a source all of whose stories go, so that copies of what was deleted and files that were brought in
        again are among them
    """
    by_writer = Story.objects.filter(provenance__source__name=writer) if writer else Story.objects.none()
    erased = originals = {*keys, *by_writer.values_list("pk", flat=True)}
    while originals:
        in_rehearsals = Story.objects.filter(
            study__rehearsal_of__stories__in=originals, code=F("study__rehearsal_of__stories__code")
        )
        in_subsets = Story.objects.filter(provenance__copied_from__in=originals)
        copies = {*in_rehearsals.values_list("pk", flat=True), *in_subsets.values_list("pk", flat=True)} - erased
        erased, originals = erased | copies, copies
    Story.objects.filter(pk__in=erased).update(text="", is_withheld=True)
    Provenance.objects.filter(story__in=erased).update(raw_text="")
    StudyJob.objects.filter(study__stories__in=erased).delete()  # what came of them quotes texts
    return sorted(erased)


def find_erased() -> QuerySet[Story]:
    """The stories whose texts were taken away: they keep the hash of what is not there any more."""
    return Story.objects.filter(is_withheld=True).exclude(sha256=hashing.sha256(""))


@transaction.atomic
def remove_stories(study: Study, keys: Collection[int]) -> int:
    """How many stories were removed, with what is known of them; groups that are empty now go as well.

    Raises StoriesFinal, or EditRefused.
    """
    _hold(study)
    stories = Story.objects.filter(study=study, pk__in=keys)
    n_stories = stories.count()
    group_keys = list(Membership.objects.filter(story__in=stories).values_list("storygroup", flat=True))
    try:
        stories.delete()
        _delete_empty(study, group_keys)
    except ProtectedError:
        raise EditRefused(_say_planned()) from None
    return n_stories


def _say_planned() -> str:
    return _("Places are planned for a group that would become empty. Plan the places again, then move its stories.")


def _delete_empty(study: Study, group_keys: Iterable[int]) -> None:
    StoryGroup.objects.filter(study=study, pk__in=set(group_keys), stories=None).delete()


@transaction.atomic
def give_neutral_codes(study: Study) -> int:
    """How many stories have a new code, which says nothing of where they come from. Raises StoriesFinal."""
    _hold(study)
    rows = list(study.stories.order_by("pk"))
    taken = {row.code for row in rows}
    for row, code in zip(rows, neutral_codes(len(rows), taken=taken), strict=True):
        row.code = code
    Story.objects.bulk_update(rows, ["code"], batch_size=400)
    return len(rows)


@transaction.atomic
def move_stories(study: Study, memberships: Sequence[tuple[int, int]], *, code: str) -> StoryGroup:
    """The group of that code, or a new one for "", which the stories stand in now instead of where they stood.

    memberships : (story, group) by primary key; group 0 for a story that stands in none
    Raises StoriesFinal, or EditRefused.
    """
    _hold(study)
    story_keys = {story for story, _group in memberships}
    stories = list(Story.objects.filter(study=study, pk__in=story_keys))
    group = _find_group(study, code)
    before = {group_key for _story, group_key in memberships}
    Membership.objects.filter(
        storygroup__study=study, storygroup__in=before, story__in=[story.pk for story in stories]
    ).exclude(storygroup=group).delete()
    group.stories.add(*stories)
    if group.stories.count() > MOST_IN_GROUP:
        raise EditRefused(_("A group has at most %(n)d stories, one for each letter.") % {"n": MOST_IN_GROUP})
    try:
        _delete_empty(study, before - {group.pk})
    except ProtectedError:
        raise EditRefused(_say_planned()) from None
    return group


def _find_group(study: Study, code: str) -> StoryGroup:
    if code:
        group = StoryGroup.objects.filter(study=study, code=code).first()
        if group is None:
            raise EditRefused(_("There is no group “%(group)s”. Choose one from the list.") % {"group": code})
        return group
    [own] = neutral_codes(1, taken=set(study.groups.values_list("code", flat=True)), letter="g")
    return StoryGroup.objects.create(pk=draw_key(), study=study, code=own)


@transaction.atomic
def form_groups_anew(study: Study, grouping: str, *, size: int = 0) -> int:
    """How many groups there are now that all stories are grouped that way in place of the old groups.

    grouping : “alone”, “pairs”, “size”, “balanced” or “premise”; size : of a group, where it is “size”
    Raises StoriesFinal, or EditRefused.
    """
    if grouping == "size" and not is_group_size(size):
        raise EditRefused(say_group_sizes())
    row = _hold(study)
    premise_by_story = dict(Membership.objects.filter(story__study=row).values_list("story", "storygroup__premise"))
    origins = Provenance.objects.filter(story__study=row)
    source_by_story = dict(origins.values_list("story", "source__name"))
    members = [
        Member(pk, text, source_by_story.get(pk, ""), premise_by_story.get(pk, ""))
        for pk, text in row.stories.values_list("pk", "text")
    ]
    groups = form_groups(members, grouping, seed=row.seed, size=size)
    if any(len(keys) > MOST_IN_GROUP for keys in groups.values()):
        raise EditRefused(_("A group has at most %(n)d stories, one for each letter.") % {"n": MOST_IN_GROUP})
    if grouping == "pairs" and any(len(keys) == 1 for keys in groups.values()):
        raise EditRefused(_("The number of stories is odd, so one would have no partner. Remove one, or add one."))
    try:
        row.groups.all().delete()
    except ProtectedError:
        raise EditRefused(_say_planned()) from None
    codes = name_groups(groups)
    add_groups(row, [(codes[name], premise_by_story.get(keys[0], ""), keys) for name, keys in groups.items()])
    return len(groups)
