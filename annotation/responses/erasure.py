"""What others answered about a text that was erased: what they chose stays, the words of the text in it go."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from django.db.models import Q

from annotation.models import Rater, Response, ResponseEvent
from annotation.responses import history
from studies.items import find_type

AT_ONCE = 500
EMPTY: dict[str, Any] = {"value": None, "outcome": Response.Outcome.OPEN, "rationale": "", "quotes": []}


def empty_answers(stories: Collection[int]) -> None:
    """Take the words of these stories, which were erased, out of all answers about them or about their groups.

    Of everybody's the passages that were quoted or marked; of judges' all words, since their replies were erased. The
    events that held them are emptied, and the chain still verifies.
    """
    about = Q(response__story__in=stories) | Q(response__story=None, response__assignment__group__stories__in=stories)
    events = ResponseEvent.objects.filter(about, words__isnull=False).distinct()
    rows = events.select_related("response__item", "response__assignment").order_by("pk")
    responses = {event.response_id: event.response for event in rows.iterator(AT_ONCE) if _holds_words(event)}
    kept = [pk for pk, response in responses.items() if not _is_in_words(response)]
    by_judges = {pk for pk, response in responses.items() if _is_of_judge(response)}
    _update(set(responses) - set(kept), EMPTY)
    _update(by_judges.intersection(kept), {"rationale": "", "quotes": []})
    _update(set(kept) - by_judges, {"quotes": []})
    for pks in _in_parts(responses):
        ResponseEvent.objects.filter(response__in=pks).update(words=None)


def _holds_words(event: ResponseEvent) -> bool:
    """Whether words of the text stand in it, or may stand in what a judge wrote."""
    content, response = history.parse_event(event), event.response
    if _is_of_judge(response) and content.get("rationale"):
        return True
    return bool(content.get("quotes") or (_is_in_words(response) and content.get("value")))


def _is_in_words(response: Response) -> bool:
    """Whether its value goes with the text: marked passages, and what a judge wrote."""
    kind = find_type(response.item.type)
    return kind.marks_passages or (kind.is_written and _is_of_judge(response))


def _is_of_judge(response: Response) -> bool:
    return response.assignment.rater_kind != Rater.Kind.PERSON


def _update(keys: Iterable[int], fields: dict[str, Any]) -> None:
    for pks in _in_parts(keys):
        Response.objects.filter(pk__in=pks).update(**fields)


def _in_parts(keys: Iterable[int]) -> Iterator[list[int]]:
    """The keys in lists that every database takes."""
    rows = sorted(keys)
    return (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE))
