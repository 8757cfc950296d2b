"""Derived texts released for sending: what writers filled into a cloze, and what models wrote, in one action."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Substr
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.responses import fills
from judges.models import GeneratedText, TextRelease
from studies.models import Provenance, Source, Study

LONGEST_BEGINNING = 160  # letters, by which a text is known again
OF_ORIGIN = ("code", "provenance__licence", "provenance__may_send_out")
NOT_WAITING = gettext_lazy("%(value)s is not among the texts that wait to be released.")


class CannotRelease(ValueError):
    """These texts cannot be released so; the message says why."""


@dataclass(frozen=True)
class ClosedStory:
    """A story that may not be sent, by its code, with its licence; "" if none is entered."""

    code: str
    licence: str


@dataclass(frozen=True)
class DerivedText:
    """A text that may not be sent yet. made_from : stories which may not be sent either"""

    code: str
    source: str
    beginning: str
    made_from: tuple[ClosedStory, ...]


def find_releasable(study: Study) -> list[DerivedText]:
    """The derived texts of the study that may not be sent yet, by code. Two queries.

    Derived is what was filled into a cloze of ours, what a model wrote, and every copy of that in another study;
    whatever was printed elsewhere has a licence of its own, which is entered where it is.
    """
    is_copied = Q(provenance__copied_from__fill__isnull=False) | Q(provenance__copied_from__generated__isnull=False)
    # What a copy was copied from may have been deleted; its source stays.
    is_by_model = Q(provenance__source__kind=Source.Kind.MODEL)
    is_by_writer = Q(fills.is_by_writer("provenance__source__name"), provenance__source__kind=Source.Kind.OTHER)
    derived = Q(fill__isnull=False) | Q(generated__isnull=False) | is_copied | is_by_model | is_by_writer
    closed = study.stories.filter(derived, is_withheld=False, provenance__may_send_out=False)
    rows = closed.annotate(
        beginning=Substr("text", 1, LONGEST_BEGINNING),
        source=F("provenance__source__name"),
        original=F("provenance__copied_from"),
    )
    stories = list(rows.distinct().order_by("code").values_list("pk", "original", "code", "source", "beginning"))
    closed_by_story = _find_closed({key for pk, original, *_rest in stories for key in (pk, original) if key})
    return [
        DerivedText(code, source, beginning, tuple(closed_by_story[pk] or closed_by_story[original]))
        for pk, original, code, source, beginning in stories
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


@transaction.atomic
def release(
    study: Study, codes: Collection[str], *, licence: str = "", reason: str, by: str, at: datetime
) -> TextRelease:
    """Let these derived texts go to outside providers. Raises CannotRelease.

    licence : written beside each of them; as it is if empty
    reason : of a text that was made from a story which may not be sent, it names that story's licence
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
    _check_reason(reason, [text_by_code[code] for code in sorted(codes)])
    rows = Provenance.objects.filter(story__study=study, story__code__in=codes)
    rows.update(may_send_out=True, **({"licence": licence.strip()} if licence.strip() else {}))
    return TextRelease.objects.create(
        study=study, codes=sorted(codes), licence=licence.strip(), reason=reason.strip(), by=by, at=at
    )


def _check_reason(reason: str, texts: Iterable[DerivedText]) -> None:
    """Raise CannotRelease unless the reason names the licence of every closed story that these texts were made from."""
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


def _fold(words: str) -> str:
    return " ".join(words.split()).casefold()
