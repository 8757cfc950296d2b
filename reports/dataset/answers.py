"""The answers that results are computed from, as one table: what the long file says of them, less its words and times.

Of a hundred thousand answers most are equal, so each different value is read once and not each answer; and names are
held as numbers with a list of names, which of a million answers takes a tenth of the memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, Any

from django.db.models import Case, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Cast, Coalesce, Concat

from annotation.models import Assignment, Rater, Response, Withdrawal
from reports.dataset.step_items import number
from reports.lazy import np, pd
from studies.models import Item, Step, Story, Study

if TYPE_CHECKING:
    from reports.dataset.sources import StorySource
    from stats.arrays import IntArray

REPEAT = "repeat"  # the status of a second reading, submitted
TRIAL, ALTERED = "trial", "altered"  # of judges: one that only tried a prompt; a reading of changed stories
AT_ONCE = 10_000  # answers that are read together
GIVEN, PARTED = "+", "|"  # before the outcome of what was once answered, and after it

COLUMNS = (
    *("assignment", "rater", "rater_kind", "status", "group", "seat", "story", "step", "item"),
    *("value", "analysed", "outcome", "was_given", "source", "source_kind"),
)


def responses(study: Study) -> QuerySet[Response]:
    """Every response of the study but those of a practice, by rater, group, story, step and item."""
    responses = Response.objects.filter(assignment__study=study).exclude(step__kind=Step.Kind.PRACTICE)
    return responses.order_by(
        "assignment__rater__code", "assignment_id", "story__code", "step__position", "item__position"
    )


def table(study: Study, source_by_story: Mapping[str, StorySource], *, without: Collection[str] = ()) -> pd.DataFrame:
    """One row an answer, in the order of the long file.

    source_by_story : by the story's code; empty where sources may not be shown
    without : codes of raters whose answers are left out
    was_given : whether there ever was an answer, which is still recorded of erased ones
    """
    keys, read = _read_keys(study, without)
    different = read.different
    rater_by_assignment = _rater_by_assignment(study)
    assignments = _Names.of(rater_by_assignment, keys["assignment"])
    stories = _Names.of({None: "", **dict(Story.objects.filter(study=study).values_list("pk", "code"))}, keys["story"])
    steps = _Names.of({pk: (key, n) for pk, key, n in _steps(study)}, keys["step"])
    items = _Names.of({pk: (item.key, item.position) for pk, item in read.item_by_id.items()}, keys["item"])
    order = np.lexsort(
        [
            *(names.ranks(key)[names.codes] for names, key in ((items, _position), (steps, _position))),
            *(stories.ranks()[stories.codes], keys["assignment"], assignments.ranks(_first)[assignments.codes]),
        ]
    )
    sources = [source_by_story.get(story) for story in stories.names]
    values = np.fromiter((answer.value for answer in different), dtype=object, count=len(different))
    numbers = np.array([answer.number for answer in different], dtype=np.float64)
    was_given = np.array([answer.was_given for answer in different], dtype=np.bool_)
    columns: dict[str, Any] = {
        "assignment": keys["assignment"],
        **{
            name: _categories([names[n] for names in assignments.names], assignments.codes)
            for n, name in enumerate(("rater", "rater_kind", "status", "group"))
        },
        "seat": np.array([of_assignment[4] for of_assignment in assignments.names], dtype=np.int64)[assignments.codes],
        "story": _categories(stories.names, stories.codes),
        "step": _categories([key for key, _position in steps.names], steps.codes),
        "item": _categories([key for key, _position in items.names], items.codes),
        "value": values[keys["answer"]],
        "analysed": numbers[keys["answer"]],
        "outcome": _categories([answer.outcome for answer in different], keys["answer"]),
        "was_given": was_given[keys["answer"]],
        "source": _categories([source and source.name for source in sources], stories.codes),
        "source_kind": _categories([source and source.kind for source in sources], stories.codes),
    }
    return pd.DataFrame({name: column[order] for name, column in columns.items()}, columns=list(COLUMNS))


@dataclass(frozen=True)
class _Names:
    """What rows of one key are about. names : of each different key; codes : which of them each row has, shape (n,)"""

    names: list[Any]
    codes: IntArray

    @classmethod
    def of(cls, name_by_key: dict[Any, Any], keys: IntArray) -> _Names:
        """keys : of each row, 0 for None"""
        different, codes = np.unique(keys, return_inverse=True)
        return cls([name_by_key[key or None] for key in different.tolist()], codes)

    def ranks(self, by: Callable[[Any], Any] = lambda name: name) -> IntArray:
        """The place of each name among all in order, shape (names,); equal ones share it."""
        values = [by(name) for name in self.names]
        rank_by_value = {value: n for n, value in enumerate(sorted(set(values)))}
        return np.array([rank_by_value[value] for value in values], dtype=np.int64)


def _first(names: tuple[Any, ...]) -> Any:
    return names[0]


def _position(key_and_position: tuple[str, int]) -> int:
    return key_and_position[1]


def _categories(names: list[Any], codes: IntArray) -> pd.Categorical:
    """A column of names, in alphabetical order if sorted; None is missing. codes : which name each row has"""
    different = sorted({name for name in names if name is not None})
    place_by_name = {name: n for n, name in enumerate(different)}
    places = np.array([place_by_name.get(name, -1) for name in names], dtype=np.int64)
    return pd.Categorical.from_codes(places[codes], categories=pd.Index(different, dtype=object))


def _steps(study: Study) -> Iterable[tuple[int, str, int]]:
    return Step.objects.filter(version__study=study).values_list("pk", "key", "position")


def _read_keys(study: Study, without: Collection[str]) -> tuple[dict[str, IntArray], _Answers]:
    """Of every answer the keys of what it is about, 0 for None, and which of the different answers it is. In no order,
    since sorting by other tables' columns would take the database longer than reading."""
    read = _Answers(study)
    # In one text what there are few different ones of: numbers and dates would be converted, one by one.
    was_given = Case(When(first_answered_at__isnull=True, then=Value("")), default=Value(GIVEN))
    text = Concat(was_given, "outcome", Value(PARTED), Cast("value", TextField()), output_field=TextField())
    taken = responses(study).exclude(assignment__rater__code__in=without) if without else responses(study)
    answers = taken.order_by().annotate(text=text, about=Coalesce("story_id", 0))
    rows = answers.values_list("assignment_id", "about", "step_id", "item_id", "text").iterator(AT_ONCE)
    parts = [_numbered(batch, read) for batch in _batches(rows, AT_ONCE)]
    columns = np.concatenate([np.zeros((5, 0), dtype=np.int64), *parts], axis=1)
    return dict(zip(("assignment", "story", "step", "item", "answer"), columns, strict=True)), read


def _numbered(batch: list[tuple[Any, ...]], read: _Answers) -> IntArray:
    """Rows as whole numbers, shape (5, n)."""
    assignments, stories, steps, items, texts = zip(*batch, strict=True)
    return np.array([assignments, stories, steps, items, read.numbers_of(items, texts)], dtype=np.int64)


def _rater_by_assignment(study: Study) -> dict[int, tuple[str, str, str, str, int]]:
    """Rater, kind of rater, status, group and number of the seat, by assignment."""
    fields = ("study", "rater", "rater_kind", "status", "group", "seat", "repeats")
    assignments = list(study.assignments.only(*fields).prefetch_related("rater"))
    group_by_id: dict[int | None, str] = dict(study.groups.values_list("pk", "code"))
    seat_by_id: dict[int | None, int] = dict(study.seats.values_list("pk", "number"))
    withdrawn = set(Withdrawal.objects.filter(rater__study=study).values_list("rater_id", flat=True))
    apart = find_apart(study.assignments.all())
    is_mixed = has_real_people(assignments)
    return {
        a.pk: (
            *(a.rater.code, a.rater.kind, status(a, withdrawn=withdrawn, apart=apart, is_mixed=is_mixed)),
            *(group_by_id.get(a.group_id, ""), seat_by_id.get(a.seat_id, 0)),
        )
        for a in assignments
    }


def _batches(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch


@dataclass(frozen=True)
class _Answer:
    """What is stored of an answer: its value, None without one, and the number that it is, nan unless answered."""

    value: Any
    number: float
    outcome: str
    was_given: bool


class _Answers:
    """Answers as results take them, each different one read once."""

    def __init__(self, study: Study) -> None:
        self.item_by_id = {i.pk: i for i in Item.objects.filter(instrument__step__version__study=study).distinct()}
        self.different: list[_Answer] = []
        self._place_by_text: dict[tuple[int, str], int] = {}

    def numbers_of(self, items: Iterable[int], texts: Iterable[str]) -> list[int]:
        """The place of each answer among the different ones."""
        keys = list(zip(items, texts, strict=True))
        for key in dict.fromkeys(keys):
            if key not in self._place_by_text:
                self._place_by_text[key] = len(self.different)
                self.different.append(self._read(*key))
        return [self._place_by_text[key] for key in keys]

    def _read(self, item: int, text: str) -> _Answer:
        status, _parted, stored = text.partition(PARTED)
        outcome, value = status.removeprefix(GIVEN), json.loads(stored) if stored else None
        is_number = value is not None and outcome == Response.Outcome.ANSWERED
        as_number = number(self.item_by_id[item], value) if is_number else None
        return _Answer(value, nan if as_number is None else as_number, outcome, status.startswith(GIVEN))


def has_real_people(assignments: Iterable[Assignment]) -> bool:
    """Whether real people are among the raters: then simulated ones do not count."""
    return any(a.rater_kind == Rater.Kind.PERSON and not a.rater.is_simulated for a in assignments)


def find_apart(assignments: QuerySet[Assignment]) -> dict[int, str]:
    """The status of those of judges that no result counts as answers of the study, by id. One query.

    They are of judges that only tried a prompt, or about changed stories.
    """
    is_apart = Q(reading__run__judge__is_trial=True) | Q(reading__intervention__gt="")
    rows = assignments.filter(is_apart).values_list("pk", "reading__run__judge__is_trial")
    return {pk: TRIAL if is_trial else ALTERED for pk, is_trial in rows}


def status(assignment: Assignment, *, withdrawn: set[int], apart: Mapping[int, str], is_mixed: bool) -> str:
    """Where an assignment stands, as the long file says it."""
    if apart.get(assignment.pk) == TRIAL:
        return TRIAL
    if assignment.rater_id in withdrawn:
        return str(Assignment.Status.WITHDRAWN)
    if assignment.rater.is_simulated and is_mixed:
        return "simulated"
    if assignment.pk in apart:
        return ALTERED
    if assignment.repeats_id and assignment.status == Assignment.Status.SUBMITTED:
        return REPEAT
    return str(assignment.status)


def select_counted(answers: pd.DataFrame) -> pd.DataFrame:
    """The rows that count: submitted by people; of judges, in every reading, also what they have answered so far."""
    is_person = answers["rater_kind"] == Rater.Kind.PERSON
    return _select(answers, (answers["status"] == "submitted") | (~is_person & (answers["status"] == "open")))


def select_repeated(answers: pd.DataFrame) -> pd.DataFrame:
    """The rows of second readings, submitted. No result counts them but how far raters agree with themselves."""
    return answers[answers["status"] == REPEAT]


def select_people(answers: pd.DataFrame) -> pd.DataFrame:
    return _select(answers, answers["rater_kind"] == Rater.Kind.PERSON)


def _select(answers: pd.DataFrame, is_in: pd.Series) -> pd.DataFrame:
    """These of the answers; of all of them no copy, which of a million takes 60 MB."""
    return answers if is_in.all() else answers[is_in]


def select_judges(answers: pd.DataFrame) -> pd.DataFrame:
    return answers[answers["rater_kind"] != Rater.Kind.PERSON]
