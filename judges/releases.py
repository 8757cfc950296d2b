"""Texts of a study released for sending, each with a reason: filled ones, ones that models wrote, and printed ones."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Substr
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.responses import fills
from judges.models import GeneratedText, TextRelease
from studies.models import Provenance, Source, Study

LONGEST_BEGINNING = 160  # letters, by which a text is known again
OF_ORIGIN = ("code", "provenance__licence", "provenance__may_send_out")
NOT_WAITING = gettext_lazy("%(value)s is not among the texts waiting for release.")


class CannotRelease(ValueError):
    """These texts cannot be released so; the message says why."""


@dataclass(frozen=True)
class ClosedStory:
    """A story that may not be sent, by its code, with its licence; "" if none is entered."""

    code: str
    licence: str


@dataclass(frozen=True)
class ClosedText:
    """A text that may not be sent yet.

    licence : its own; "" if none is entered
    made_from : stories which may not be sent either
    is_derived : it was filled in or written by a model, and nothing else is known of it; else its own licence counts
    """

    code: str
    source: str
    beginning: str
    licence: str
    made_from: tuple[ClosedStory, ...]
    is_derived: bool


def find_releasable(study: Study) -> list[ClosedText]:
    """The texts of the study that may not be sent yet, by code. Three queries.

    Derived is what was filled into a cloze of ours, what a model wrote, and every copy of that in another study.
    Whatever was printed elsewhere has a licence of its own; so has what a model made from a story, once nobody can say
    any more from which: the rows that say so go with the study in which it was written.
    """
    is_traced = Q(generated__isnull=False) | Q(provenance__copied_from__generated__isnull=False)
    is_filled = Q(fill__isnull=False) | Q(provenance__copied_from__fill__isnull=False)
    # What a copy was copied from may have been deleted; its source and factors stay.
    is_by_writer = Q(fills.is_by_writer("provenance__source__name"), provenance__source__kind=Source.Kind.OTHER)
    # As its factors say, which a generated text gets when it is taken in.
    is_made_from_stories = Q(provenance__factors__has_key="extracted by") | Q(provenance__factors__round__gt=0)
    closed = study.stories.filter(is_withheld=False, provenance__may_send_out=False)
    rows = closed.annotate(
        beginning=Substr("text", 1, LONGEST_BEGINNING),
        source=F("provenance__source__name"),
        licence=F("provenance__licence"),
        original=F("provenance__copied_from"),
        is_derived=Case(
            When(is_traced | is_filled | is_by_writer, then=Value(True)),
            When(is_made_from_stories, then=Value(False)),
            When(provenance__source__kind=Source.Kind.MODEL, then=Value(True)),
            default=Value(False),
        ),
    )
    names = ("pk", "original", "code", "source", "beginning", "licence", "is_derived")
    stories = list(rows.distinct().order_by("code").values_list(*names))
    keys = {key for pk, original, *_rest in stories for key in (pk, original) if key}
    closed_by_story, untraced = _find_closed(keys), _find_untraced(keys)
    return [
        ClosedText(
            code,
            source,
            beginning,
            licence,
            tuple(closed_by_story[pk] or closed_by_story[original]),
            is_derived and not untraced & {pk, original},
        )
        for pk, original, code, source, beginning, licence, is_derived in stories
    ]


def _find_closed(keys: Collection[int]) -> defaultdict[int | None, list[ClosedStory]]:
    """Of each of these stories the stories which it was made from and which may not be sent. One query."""
    found: defaultdict[int | None, list[ClosedStory]] = defaultdict(list)
    names = [f"{way}__{name}" for way in ("draft__original", "draft__generation__reference") for name in OF_ORIGIN]
    for key, number, *cells in GeneratedText.objects.filter(story__in=keys).values_list("story", "round", *names):
        original, reference = cells[: len(OF_ORIGIN)], cells[len(OF_ORIGIN) :]
        # An idea of reference is shown from the first round on.
        shown = [original, reference] if number else [original]
        found[key] += [ClosedStory(code, licence or "") for code, licence, may_leave in shown if code and not may_leave]
    return found


def _find_untraced(keys: Collection[int]) -> set[int]:
    """Of these stories those that a model wrote after an idea of reference which was deleted. One query."""
    rows = GeneratedText.objects.filter(story__in=keys, round__gt=0, draft__generation__reference=None)
    with_reference = rows.exclude(draft__generation__run__document__contains='"reference":""')
    return set(with_reference.values_list("story", flat=True))


def find_brought_in(study: Study) -> dict[str, list[str]]:
    """Codes of the texts that may be sent though no release of this study names them, by their licence, "" for none.

    What brought them in said so: a file of stories, or the study that they were copied from.
    """
    released = {
        code for codes in TextRelease.objects.filter(study=study).values_list("codes", flat=True) for code in codes
    }
    open_rows = Provenance.objects.filter(story__study=study, story__is_withheld=False, may_send_out=True)
    codes_by_licence: defaultdict[str, list[str]] = defaultdict(list)
    for code, licence in open_rows.order_by("licence", "story__code").values_list("story__code", "licence"):
        if code not in released:
            codes_by_licence[licence.strip()].append(code)
    return dict(codes_by_licence)


@transaction.atomic
def release(
    study: Study, codes: Collection[str], *, licence: str = "", reason: str, by: str, at: datetime
) -> TextRelease:
    """Let these texts go to outside providers: the one way of saying so. Raises CannotRelease.

    licence : written beside each of them; as it is if empty
    reason : of a text that was made from a story which may not be sent, it names that story's licence; of a printed
        one its own
    """
    # Of two that release the same text at once, the second must be told of the first.
    Study.objects.select_for_update().get(pk=study.pk)
    if not reason.strip():
        raise CannotRelease(_("Say why these texts may be sent."))
    if not codes:
        raise CannotRelease(_("Choose at least one text."))
    text_by_code = {text.code: text for text in find_releasable(study)}
    if unknown := sorted(set(codes) - set(text_by_code)):
        raise CannotRelease(NOT_WAITING % {"value": unknown[0]})
    _check_reason(reason, [text_by_code[code] for code in sorted(codes)], licence=licence)
    rows = Provenance.objects.filter(story__study=study, story__code__in=codes)
    rows.update(may_send_out=True, **({"licence": licence.strip()} if licence.strip() else {}))
    return TextRelease.objects.create(
        study=study, codes=sorted(codes), licence=licence.strip(), reason=reason.strip(), by=by, at=at
    )


def _check_reason(reason: str, texts: Iterable[ClosedText], *, licence: str) -> None:
    """Raise CannotRelease unless the reason names the licence of every closed story that these texts were made from,
    and of printed texts their own. licence : which they are given now"""
    words = _fold(reason)
    for text in texts:
        for story in text.made_from:
            names = {"text": text.code, "story": story.code, "licence": story.licence}
            if not story.licence.strip():
                message = _(
                    "%(text)s was made from %(story)s, which may not be sent and has no licence. Enter the licence of "
                    "%(story)s with its provenance first, or leave %(text)s out."
                )
                raise CannotRelease(message % names)
            if _fold(story.licence) not in words:
                message = _(
                    "%(text)s was made from %(story)s, which may not be sent: its licence is “%(licence)s”. Say in the "
                    "reason why %(text)s may be sent all the same, and name that licence; or leave %(text)s out."
                )
                raise CannotRelease(message % names)
        if not text.is_derived:
            _check_own_licence(words, text, licence.strip() or text.licence.strip())


def _check_own_licence(words: str, text: ClosedText, licence: str) -> None:
    """Raise CannotRelease unless a text that was not written here has a licence, and the reason names it."""
    names = {"text": text.code, "licence": licence}
    if not licence:
        message = _("%(text)s has no licence. Enter it here or with its provenance, or leave %(text)s out.")
        raise CannotRelease(message % names)
    if _fold(licence) not in words:
        message = _(
            "The licence of %(text)s is “%(licence)s”. Say in the reason why it allows %(text)s to be sent, and name "
            "that licence; or leave %(text)s out."
        )
        raise CannotRelease(message % names)


def _fold(words: str) -> str:
    return " ".join(words.split()).casefold()
