"""How the stories of a study are typed: what tells one source from another, and making it alike before anybody reads.

Raters are to know a story by its words alone. Models write “—” where a manuscript has “--”, and pasted texts bring bold
type, zero-width characters and spaces of their own. Nothing here judges words or length: those are the author's.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from django.db import transaction
from django.utils.formats import localize
from django.utils.translation import gettext as _

from studies import hashing
from studies.models import Provenance, Step, Story, Study
from studies.signs import INVISIBLE, NORMALISATIONS, ODD_SPACE, SIGNS, Sign, blocks, normalised

# ── which formatting differs by source ─────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Cell:
    """A sign in the stories of one source: in how many it stands, and how often in a thousand words.

    n_stories : of those that could have it: what is no ellipsis at all is none of either kind
    """

    n_with: int
    n_stories: int
    rate: float

    @property
    def share(self) -> float:
        return self.n_with / self.n_stories


@dataclass(frozen=True)
class Row:
    """One sign, source by source. why : how it tells sources apart, in words; empty if it does not"""

    sign: Sign
    by_source: tuple[Cell, ...]
    why: str


@dataclass(frozen=True)
class Amount:
    """How much there is of something, source by source: the author's, which no normalisation touches."""

    title: str
    by_source: tuple[float, ...]
    why: str


@dataclass(frozen=True)
class Table:
    """The formatting of some stories by source: of a group, or of all groups together."""

    title: str
    sources: tuple[str, ...]
    rows: tuple[Row, ...]
    amounts: tuple[Amount, ...]

    @property
    def telling(self) -> tuple[Row | Amount, ...]:
        found: tuple[Row | Amount, ...] = (*self.rows, *self.amounts)
        return tuple(row for row in found if row.why)


# When a difference is called one: a sign in at least half more of one source's stories than of another's; twice as
# often, and once more in a thousand words; a quarter more words or paragraphs.
SHARE, TIMES, MORE_OFTEN, LONGER = 0.5, 2.0, 1.0, 1.25


def table(title: str, texts_by_source: Mapping[str, Sequence[str]]) -> Table:
    """Every sign that stands in any of the texts, and how much there is of what, by source."""
    sources = tuple(sorted(texts_by_source))
    texts = [texts_by_source[name] for name in sources]
    rows = [Row(sign, cells := tuple(_cell(sign, some) for some in texts), _why(sign, cells)) for sign in SIGNS]
    return Table(
        title, sources, tuple(row for row in rows if any(c.n_with for c in row.by_source)), tuple(_amounts(texts))
    )


def _cell(sign: Sign, texts: Sequence[str]) -> Cell:
    alternatives = [other for other in SIGNS if other.among == sign.among] if sign.among else []
    could = [text for text in texts if not alternatives or any(other.count(text) for other in alternatives)]
    return Cell(sum(sign.count(text) > 0 for text in could), len(could), _rate([sign], texts))


def _rate(signs: Sequence[Sign], texts: Sequence[str]) -> float:
    n_words = sum(len(text.split()) for text in texts)
    return 1000 * sum(sign.count(text) for sign in signs for text in texts) / max(n_words, 1)


def _why(sign: Sign, cells: Sequence[Cell]) -> str:
    shares = [cell.share for cell in cells if cell.n_stories]
    if shares and max(shares) - min(shares) >= SHARE:
        said = _("in %(most)s %% of the stories of one source, in %(least)s %% of another's")
        if sign.among:
            said = _("in %(most)s %% of the stories with %(among)s of one source, in %(least)s %% of another's")
        ends = {"most": f"{100 * max(shares):.0f}", "least": f"{100 * min(shares):.0f}"}
        return said % (ends | {"among": sign.among and _(sign.among)})
    # How often there is a dash at all is told below, once for all ways of typing it.
    return "" if sign.among else _why_more_often([cell.rate for cell in cells])


def _why_more_often(rates: Sequence[float]) -> str:
    if max(rates) >= TIMES * min(rates) and max(rates) - min(rates) >= MORE_OFTEN:
        said = _("%(most)s in a thousand words of one source, %(least)s of another's")
        return said % {"most": localize(round(max(rates), 1)), "least": localize(round(min(rates), 1))}
    return ""


def _amounts(texts: Sequence[Sequence[str]]) -> Iterator[Amount]:
    for name in dict.fromkeys(sign.among for sign in SIGNS if sign.among):
        signs = [sign for sign in SIGNS if sign.among == name]
        rates = tuple(_rate(signs, some) for some in texts)
        yield Amount(_("%(what)s of any kind, in a thousand words") % {"what": _(name)}, rates, _why_more_often(rates))
    n_words = tuple(fmean(len(text.split()) for text in some) for some in texts)
    n_paragraphs = tuple(fmean(len(blocks(text)) for text in some) for some in texts)
    yield Amount(_("words"), n_words, _why_more(n_words))
    yield Amount(_("paragraphs"), n_paragraphs, _why_more(n_paragraphs))
    longest = tuple(n / max(m, 1) for n, m in zip(n_words, n_paragraphs, strict=True))
    yield Amount(_("words in a paragraph"), longest, _why_more(longest))


def _why_more(found: Sequence[float]) -> str:
    if len(found) > 1 and max(found) >= LONGER * min(found):
        said = _("%(most)s on average in one source, %(least)s in another")
        return said % {"most": f"{max(found):.0f}", "least": f"{min(found):.0f}"}
    return ""


# ── a study's ──────────────────────────────────────────────────────────────────────────────────────────────────────


class CannotNormalise(ValueError):
    """The texts stay as they are; the message says why, and what would do."""


def report(study: Study) -> list[Table]:
    """The formatting of all groups together, then group by group. Stories without provenance or text are left out."""
    found = Provenance.objects.filter(story__study=study, story__is_withheld=False).select_related("story", "source")
    known = {p.story_id: (p.source.name, p.story.text) for p in found.order_by("story__code")}
    if not known:
        return []
    groups = [
        (_("Group %(group)s") % {"group": g.code}, {s.pk for s in g.stories.all()})
        for g in study.groups.prefetch_related("stories")
    ]
    tables = [(_("All groups"), set(known)), *groups]
    told = [(title, [known[pk] for pk in known if pk in members]) for title, members in tables]
    return [table(title, _by_source(found)) for title, found in told if found]


def _by_source(told: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for source, text in told:
        found.setdefault(source, []).append(text)
    return found


def telling_codes(study: Study) -> list[tuple[str, str]]:
    """Stories whose code names their source or a factor, with what it names: a blind coordinator reads codes."""
    found = Provenance.objects.filter(story__study=study).select_related("story", "source").order_by("story__code")
    return [(p.story.code, named) for p in found if (named := _named_in(p.story.code, p))]


def _named_in(code: str, provenance: Provenance) -> str:
    """The longest word of what is known about the source that stands in the code as a word, or all of a name."""
    said = (provenance.source.name, provenance.title, *map(str, provenance.factors.values()))
    words = {word for each in said for word in _words(each) & _words(code)}
    words |= {each for each in said if len(_joined(each)) >= 3 and _joined(each) in _joined(code)}
    return max(sorted(words), key=len, default="")


def _words(text: str) -> set[str]:
    return {word for word in re.split(r"[\W\d_]+", text.casefold()) if len(word) >= 3}


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


def effects(study: Study) -> list[Effect]:
    """What each normalisation would do to the study's texts, taken by itself."""
    texts = list(study.stories.filter(is_withheld=False).order_by("code").values_list("text", flat=True))
    found = []
    for kind, (meaning, change) in NORMALISATIONS.items():
        changed = [(text, after) for text in texts if (after := change(text)) != text]
        found.append(Effect(kind, meaning, len(changed), *(_example(*changed[0]) if changed else ("", ""))))
    return found


def _example(before: str, after: str) -> tuple[str, str]:
    """The first place where the two differ, with a few words around it; what cannot be seen written out."""
    at = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after)))
    return _shown(before[max(at - 25, 0) : at + 35]), _shown(after[max(at - 25, 0) : at + 35])


def _shown(text: str) -> str:
    marked = INVISIBLE.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)
    return ODD_SPACE.sub(lambda found: f"[U+{ord(found[0]):04X}]", marked).replace("\n", "⏎").replace("\t", "⇥")


def obstacle(study: Study) -> str:
    """Why the texts of the study cannot be normalised, in words; empty if they can."""
    if study.versions.exclude(frozen_at=None).exists():
        said = _("%(study)s is planned, so its texts stay as they are; load it again under another slug")
        return said % {"study": study.slug}
    if Step.objects.filter(version__study=study, layout=Step.Layout.CLOZE).exists():
        said = _("%(study)s is a cloze, whose text belongs to its blanks; change the cloze's document")
        return said % {"study": study.slug}
    homeless = study.stories.filter(provenance=None, is_withheld=False).values_list("code", flat=True)
    if homeless:
        said = _("%(codes)s: without provenance, where the text as it came would be kept; add that first")
        return said % {"codes": ", ".join(homeless)}
    return ""


@transaction.atomic
def normalise(study: Study, kinds: Iterable[str]) -> int:
    """How many stories were changed. What they were is kept with their provenance. Raises CannotNormalise."""
    chosen = list(kinds)
    if unknown := [kind for kind in chosen if kind not in NORMALISATIONS]:
        said = _("there is no normalisation %(unknown)s; there are %(known)s")
        raise CannotNormalise(said % {"unknown": ", ".join(unknown), "known": ", ".join(NORMALISATIONS)})
    if why := obstacle(study):
        raise CannotNormalise(why)
    n_changed = 0
    for story in study.stories.filter(is_withheld=False):
        text = normalised(story.text, chosen)
        if text != story.text and text.strip():
            keep_raw(story)
            story.text = text
            story.save()
            n_changed += 1
    return n_changed


def keep_raw(story: Story) -> None:
    """Keep the story's stored text as the one that came, unless an earlier one is kept already."""
    came = Story.objects.filter(pk=story.pk).values_list("text", flat=True).first()
    if came:
        Provenance.objects.filter(story=story, raw_text="").update(raw_text=came, raw_sha256=hashing.sha256(came))
