"""How the stories of a study are typed: what tells one source from another, and making it alike before anybody reads.

Raters are to know a story by its words alone. Models write “—” where a manuscript has “--”, and pasted texts bring bold
type, zero-width characters and spaces of their own. Nothing here judges words or length: those are the author's.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from django.db import transaction
from django.db.models import Count, Min, Sum
from django.db.models.functions import Coalesce, Left, Length
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from studies import hashing
from studies.models import Provenance, Story, Study
from studies.typography.comparison import SignRow, Table, compare_texts
from studies.typography.features import INVISIBLE, ODD_SPACE
from studies.typography.normalisation import NORMALISATIONS, normalise_text

# What a page reads of its own accord; more, a second or two of work, it reads when somebody asks for it.
LETTERS_AT_ONCE = 2_000_000
# What tells the script of a text.
LETTERS_OF_A_BEGINNING = 2_000


class CannotNormalise(ValueError):
    """The texts stay as they are; the message says why, and what would do."""


def report(study: Study, *, by_group: bool = True, most: int | None = None) -> list[Table]:
    """The formatting of all groups together, then group by group. Stories without provenance or text are left out.

    most : so many stories of a source at most are looked at, spread over its codes; None: all of them
    """
    provenances = Provenance.objects.filter(story__study=study, story__is_withheld=False).order_by("story__code")
    if most is not None:
        provenances = provenances.filter(story__in=_spread(provenances.values_list("source", "story"), most))
    rows = provenances.values_list("story", "source__name", "story__text")
    source_and_text = {story: (source, text) for story, source, text in rows}
    if not source_and_text:
        return []
    groups = [
        (_("Group %(group)s") % {"group": g.code}, {s.pk for s in g.stories.all()})
        for g in (study.groups.prefetch_related("stories") if by_group else ())
    ]
    tables = [(_("All groups"), set(source_and_text)), *groups]
    pairs_by_title = [
        (title, [pair for pk, pair in source_and_text.items() if pk in members]) for title, members in tables
    ]
    if most is not None:
        return [_compare_sample(get_language(), title, tuple(pairs)) for title, pairs in pairs_by_title if pairs]
    return [compare_texts(title, _by_source(pairs)) for title, pairs in pairs_by_title if pairs]


# Every page of a draft compares a few texts of each source, which seldom change in between. What it says is in words,
# so that each language has its own.
@lru_cache(maxsize=64)
def _compare_sample(_language: str | None, title: str, pairs: tuple[tuple[str, str], ...]) -> Table:
    """The comparison of these texts. pairs : source and text"""
    return compare_texts(title, _by_source(pairs))


def read_texts_by_source(study: Study) -> dict[str, list[str]]:
    """The texts of the study by source, sources by name. Stories without provenance or text are left out. One query."""
    provenances = Provenance.objects.filter(story__study=study, story__is_withheld=False)
    rows = provenances.order_by("source__name", "story__code").values_list("source__name", "story__text")
    return _by_source(rows)


@dataclass(frozen=True)
class SourceTexts:
    """How much text there is by one source. first_story : the code of its first one"""

    source: str
    n_texts: int
    n_letters: int
    first_story: str


def count_texts_by_source(study: Study) -> list[SourceTexts]:
    """How much `read_texts_by_source` would read. One query, which reads no text."""
    provenances = Provenance.objects.filter(story__study=study, story__is_withheld=False)
    counts = {"n": Count("pk"), "n_letters": Sum(Length("story__text")), "first": Min("story__code")}
    rows = provenances.values("source__name").annotate(**counts).order_by("source__name")
    return [SourceTexts(*values) for values in rows.values_list("source__name", *counts)]


def read_first_texts(study: Study, sources: Iterable[SourceTexts]) -> list[str]:
    """The beginning of the first text of each source. One query."""
    stories = study.stories.filter(code__in=[source.first_story for source in sources])
    return list(stories.values_list(Left("text", LETTERS_OF_A_BEGINNING), flat=True))


def count_letters(study: Study) -> int:
    """How many letters all texts of the study have. One query, which reads no text."""
    stories = study.stories.filter(is_withheld=False)
    return int(stories.aggregate(n=Coalesce(Sum(Length("text")), 0))["n"])


def _spread(pairs: Iterable[tuple[int, int]], most: int) -> list[int]:
    """At most so many stories of each source, evenly over their order. pairs : source and story"""
    stories_by_source: dict[int, list[int]] = {}
    for source, story in pairs:
        stories_by_source.setdefault(source, []).append(story)
    return [story for stories in stories_by_source.values() for story in stories[:: max(1, -(-len(stories) // most))]]


def _by_source(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    texts_by_source: dict[str, list[str]] = {}
    for source, text in pairs:
        texts_by_source.setdefault(source, []).append(text)
    return texts_by_source


def find_telling_codes(study: Study) -> list[tuple[str, str]]:
    """Stories whose code names their source or a factor, with what it names: a blind coordinator reads codes."""
    origins = Provenance.objects.filter(story__study=study).order_by("story__code")
    rows = origins.values_list("story__code", "source__name", "title", "factors")
    words = [
        (code, find_telling_word(code, (source, title, *map(str, factors.values()))))
        for code, source, title, factors in rows
    ]
    return [(code, word) for code, word in words if word]


def find_telling_word(code: str, names: Iterable[str]) -> str:
    """The longest word of names that nobody is to know that stands in the code as a word, or all of a name; or ""."""
    names = tuple(names)
    words = {word for name in names for word in _words(name) & _words(code)}
    words |= {name for name in names if len(_joined(name)) >= 3 and _joined(name) in _joined(code)}
    return max(sorted(words), key=len, default="")


# A source stands with thousands of stories, and a code is compared with several names: codes of ten thousand stories
# have room, or each page would read all of them anew.
@lru_cache(maxsize=1 << 15)
def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in re.split(r"[\W\d_]+", text.casefold()) if len(word) >= 3)


@lru_cache(maxsize=1 << 15)
def _joined(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


@dataclass(frozen=True)
class Effect:
    """What a normalisation would do: in how many stories, and one place as it is and as it would be."""

    kind: str
    meaning: str
    n_stories: int
    before: str = ""
    after: str = ""


def list_effects(study: Study, *, on_step: Callable[[], None] = lambda: None) -> list[Effect]:
    """What each normalisation alone would do to the study's texts. on_step : called after each of them"""
    texts = list(study.stories.filter(is_withheld=False).order_by("code").values_list("text", flat=True))
    listing = []
    for kind, (meaning, change) in NORMALISATIONS.items():
        changed = [(text, after) for text in texts if (after := change(text)) != text]
        listing.append(Effect(kind, meaning, len(changed), *(_example(*changed[0]) if changed else ("", ""))))
        on_step()
    return listing


def _example(before: str, after: str) -> tuple[str, str]:
    """The first place where the two differ, with a few words around it; what cannot be seen written out."""
    at = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after)))
    return _spell_out(before[max(at - 25, 0) : at + 35]), _spell_out(after[max(at - 25, 0) : at + 35])


def _spell_out(text: str) -> str:
    visible = INVISIBLE.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)
    return ODD_SPACE.sub(lambda match: f"[U+{ord(match[0]):04X}]", visible).replace("\n", "⏎").replace("\t", "⇥")


def find_obstacle(study: Study) -> str:
    """Why the texts of the study cannot be normalised, in words; empty if they can."""
    if study.frozen_versions.exists():
        message = _(
            "the protocol of %(study)s is frozen, so its texts stay as they are; load it again under another slug"
        )
        return message % {"study": study.slug}
    if study.has_blanks():
        message = _("%(study)s is a cloze: its text cannot be changed here; change the cloze's document")
        return message % {"study": study.slug}
    homeless = study.stories.filter(provenance=None, is_withheld=False).values_list("code", flat=True)
    if homeless:
        message = _("%(codes)s: without provenance, where the text as it came would be kept; add that first")
        return message % {"codes": ", ".join(homeless)}
    return ""


@dataclass(frozen=True)
class TypingDifference:
    """A way of typing or an amount that tells sources apart, and how, in words."""

    title: str
    why: str


@dataclass(frozen=True)
class TypingReport:
    """What the page of the sources says of all texts: what tells sources apart, and what could be made alike."""

    differences: tuple[TypingDifference, ...]
    effects: tuple[Effect, ...]

    def as_json(self) -> dict[str, Any]:
        """As a worker keeps it for the page."""
        effects = [[effect.kind, effect.n_stories, effect.before, effect.after] for effect in self.effects]
        return {"differences": [[row.title, row.why] for row in self.differences], "effects": effects}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        """The report as it was kept."""
        effects = tuple(
            Effect(kind, NORMALISATIONS[kind][0], n_stories, before, after)
            for kind, n_stories, before, after in document["effects"]
        )
        return cls(tuple(TypingDifference(title, why) for title, why in document["differences"]), effects)


def report_typing(study: Study, *, on_step: Callable[[], None] = lambda: None) -> TypingReport:
    """What tells the sources of the study apart in all its texts, and which normalisations would change some.

    on_step : called between the parts of the work
    """
    tables = report(study, by_group=False)
    on_step()
    rows = [
        TypingDifference(_(row.sign.title) if isinstance(row, SignRow) else row.title, row.why)
        for table in tables
        for row in table.telling
    ]
    effects = tuple(effect for effect in list_effects(study, on_step=on_step) if effect.n_stories)
    return TypingReport(tuple(rows), effects)


def normalise(study: Study, kinds: Iterable[str]) -> int:
    """How many stories were changed. What they were is kept with their provenance. Raises CannotNormalise.

    Texts are worked on before the transaction, in which nobody else can write on SQLite.
    """
    return write_texts(study, find_changes(study, kinds))


def find_changes(study: Study, kinds: Iterable[str], *, on_step: Callable[[], None] = lambda: None) -> dict[str, str]:
    """Each text that would be changed, with what it would be then. Writes nothing. Raises CannotNormalise.

    on_step : called after each text
    """
    chosen = list(kinds)
    if unknown := [kind for kind in chosen if kind not in NORMALISATIONS]:
        message = _("there is no normalisation %(unknown)s; there are %(known)s")
        raise CannotNormalise(message % {"unknown": ", ".join(unknown), "known": ", ".join(NORMALISATIONS)})
    if reason := find_obstacle(study):
        raise CannotNormalise(reason)
    after_by_text: dict[str, str] = {}
    for text in study.stories.filter(is_withheld=False).values_list("text", flat=True):
        after = normalise_text(text, chosen)
        if after != text and after.strip():
            after_by_text[text] = after
        on_step()
    return after_by_text


@transaction.atomic
def write_texts(study: Study, after_by_text: Mapping[str, str]) -> int:
    """How many stories have another text now. One that was changed in the meantime stays as it is.

    Raises CannotNormalise.
    """
    row = Study.every.select_for_update().get(pk=study.pk)
    if reason := find_obstacle(row):
        raise CannotNormalise(reason)
    n_changed = 0
    for story in row.stories.filter(is_withheld=False):
        if after := after_by_text.get(story.text):
            keep_raw(story)
            story.text = after
            story.save()
            n_changed += 1
    return n_changed


def keep_raw(story: Story) -> None:
    """Keep the story's stored text as the one that came, unless an earlier one is kept already."""
    original = Story.objects.filter(pk=story.pk).values_list("text", flat=True).first()
    if original:
        Provenance.objects.filter(story=story, raw_text="").update(
            raw_text=original, raw_sha256=hashing.sha256(original)
        )
