"""How judges read a study: which of several readings counts where one value is taken, and what the others hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.models import Assignment, Rater, Response
from judges.models import Reading
from judges.planning.readings import primary_assignments
from reports.dataset import cubes
from reports.lazy import np, pd
from studies.models import Study

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.cubes import Pair
    from reports.dataset.step_items import StepItem
    from stats.arrays import FloatArray, IntArray

UNIT = ["group", "story", "step", "item"]


@dataclass(frozen=True)
class JudgeReading:
    """One pass of a judge over a group.

    run : None for answers that were imported
    stories : by code, in the order in which they were shown
    persona : as whom it was read, "" for nobody
    personas : everybody as whom its run reads, in the order of the set
    repeat : from 1
    is_primary : whether it is the one that counts where one value is taken
    intervention : slug and version of the change with which the stories were read, "" as they are
    """

    run: int | None
    stories: tuple[str, ...]
    is_reversed: bool
    persona: str
    personas: tuple[str, ...]
    repeat: int
    is_primary: bool
    intervention: str = ""


def find_partial_readers(study: Study) -> frozenset[str]:
    """Codes of the judges and metrics that were run here and did not read every story of a group. Three queries."""
    codes = set(study.stories.filter(groups__isnull=False).values_list("code", flat=True))
    stories_by_reader: dict[str, set[str]] = defaultdict(set)
    read = study.assignments.filter(reading__intervention="").values_list("rater__code", "seat__order")
    for rater, order in read:
        stories_by_reader[rater].update(order or [])
    measured = Response.objects.filter(assignment__study=study, assignment__rater__score_card__run__isnull=False)
    for rater, story in measured.values_list("assignment__rater__code", "story__code"):
        stories_by_reader[rater].add(story or "")
    # Who fills a cloze reads no story.
    return frozenset(rater for rater, stories in stories_by_reader.items() if stories and not stories >= codes)


def list_readings(study: Study) -> dict[int, JudgeReading]:
    """The reading of each assignment of a judge, by its id. Three queries."""
    primary = primary_assignments(study)
    assignments = Assignment.objects.filter(study=study).exclude(rater_kind=Rater.Kind.PERSON)
    fields = ("run", "order", "persona", "repeat", "intervention", "run__persona_set__personas")
    rows = assignments.values_list("pk", "seat__order", *(f"reading__{name}" for name in fields))
    return {
        pk: JudgeReading(
            run=run,
            stories=tuple(stories or ()),
            is_reversed=order == Reading.Order.REVERSED,
            persona=persona or "",
            personas=tuple(entry["name"] for entry in personas or ()),
            repeat=repeat or 1,
            is_primary=pk in primary,
            intervention=intervention or "",
        )
        for pk, stories, run, order, persona, repeat, intervention, personas in rows
    }


def take_one_value(
    rows: pd.DataFrame, readings: Mapping[int, JudgeReading], *, scales: Collection[Pair]
) -> pd.DataFrame:
    """Of every judge one row for each item and unit: that of its primary reading, of two such the earlier one.

    Where the primary reading is one of several personas, a rating on a scale is the mean over all of them, and only if
    all gave one: else what is missing of the first without counts as missing of the judge. Other answers have no mean,
    and are those of the first persona.

    rows : judges' answers in every reading
    scales : step and item of those that give a number
    """
    is_primary = np.array([readings[pk].is_primary for pk in rows["assignment"]], dtype=np.bool_)
    primary = rows[is_primary].sort_values("seat", kind="stable")
    primary = primary.drop_duplicates(["rater", *UNIT]).sort_index()
    of_several = [len(readings[pk].personas) > 1 for pk in primary["assignment"]]
    is_scale = [key in scales for key in zip(primary["step"], primary["item"], strict=True)]
    is_mean = np.logical_and(of_several, is_scale)
    return _average_personas(primary, is_mean, rows, readings) if is_mean.any() else primary


def _average_personas(
    primary: pd.DataFrame, is_mean: Any, rows: pd.DataFrame, readings: Mapping[int, JudgeReading]
) -> pd.DataFrame:
    """The rows with the mean of all personas where `is_mean`; open where a persona has not answered."""
    answers = defaultdict[tuple[object, ...], dict[str, tuple[str, float]]](dict)
    for reading, unit, outcome, number in _walk(rows, readings):
        if reading.personas and reading.repeat == 1 and not reading.is_reversed:
            answers[reading.run, unit][reading.persona] = (outcome, number)
    outcomes, numbers = [], []
    for (reading, unit, outcome, number), is_averaged in zip(_walk(primary, readings), is_mean, strict=True):
        if is_averaged:
            of_personas = [
                answers[reading.run, unit].get(name, (Response.Outcome.OPEN, np.nan)) for name in reading.personas
            ]
            lost = [state for state, _rating in of_personas if state != Response.Outcome.ANSWERED]
            outcome = lost[0] if lost else outcome
            number = None if lost else float(np.mean([rating for _state, rating in of_personas]))
        outcomes.append(outcome)
        numbers.append(number)
    return primary.assign(
        outcome=pd.Series(outcomes, index=primary.index, dtype=object),
        analysed=pd.Series(numbers, index=primary.index, dtype=object),
        value=primary["value"].mask(is_mean, pd.Series(numbers, index=primary.index, dtype=object)),
    )


def _walk(
    rows: pd.DataFrame, readings: Mapping[int, JudgeReading]
) -> Iterator[tuple[JudgeReading, tuple[str, ...], str, Any]]:
    """Of each row its reading, unit, outcome and number."""
    units = zip(*(rows[name] for name in UNIT), strict=True)
    for pk, unit, outcome, number in zip(rows["assignment"], units, rows["outcome"], rows["analysed"], strict=True):
        yield readings[pk], unit, outcome, number


def answers_in_every_order(dataset: Dataset, rows: pd.DataFrame) -> pd.DataFrame:
    """Those of these answers that differ in nothing but the order from the one that counts, by judge, group and seat.

    Not those of a repeat or as another persona.

    stories : codes in the order in which they were shown
    """
    readings = [dataset.reading_by_assignment[pk] for pk in rows["assignment"]]
    rows = rows.assign(
        stories=pd.Series([reading.stories for reading in readings], index=rows.index, dtype=object),
        persona=pd.Series([reading.persona for reading in readings], index=rows.index, dtype=object),
        is_primary=[reading.is_primary for reading in readings],
        repeat=[reading.repeat for reading in readings],
    ).sort_values(["rater", "group", "seat"], kind="stable")
    primary = rows[rows["is_primary"]].drop_duplicates(["rater", "group"])
    as_whom = dict(zip(zip(primary["rater"], primary["group"], strict=True), primary["persona"], strict=True))
    same = [
        as_whom.get((rater, group)) == persona
        for rater, group, persona in zip(rows["rater"], rows["group"], rows["persona"], strict=True)
    ]
    return rows[np.array(same, dtype=np.bool_) & (rows["repeat"] == 1).to_numpy(dtype=np.bool_)]


def repeated_answers(dataset: Dataset, items: Sequence[StepItem], judge: str) -> tuple[FloatArray, list[Pair]]:
    """A judge's answers to what it was asked again in the same order and as the same persona, shape (K, N).

    One column for each question about a story, nan where there are fewer answers than in another; and its unit.
    """
    several = list(_answered_again(dataset, items, judge))
    table = np.full((max((len(values) for _unit, values in several), default=0), len(several)), np.nan)
    for n, (_unit, values) in enumerate(several):
        table[: len(values), n] = values
    return table, [unit[:2] for unit, _values in several]


def means_of_repeats(dataset: Dataset, items: Sequence[StepItem], judge: str) -> tuple[FloatArray, IntArray]:
    """The mean of a judge's answers to what it was asked again, and how many they are, both of shape (I, U).

    All that it was asked again counts, in whatever order and as whomever. nan and 0 where there was nothing.
    """
    place_by_unit = {unit: n for n, unit in enumerate(dataset.units)}
    place_by_item = {one.key: n for n, one in enumerate(items)}
    sums, counts = np.zeros((2, len(items), len(place_by_unit)))
    for (group, story, step, item), values in _answered_again(dataset, items, judge):
        if (unit := place_by_unit.get((group, story))) is not None:
            place = place_by_item[step, item], unit
            sums[place] += sum(values)
            counts[place] += len(values)
    return sums / np.where(counts > 0, counts, np.nan), counts.astype(np.int64)


def _answered_again(
    dataset: Dataset, items: Sequence[StepItem], judge: str
) -> Iterator[tuple[tuple[str, str, str, str], list[float]]]:
    """What a judge answered in several repeats, by one run or by a later one, by group, story, step and item; the
    answers in another order or as another persona by themselves. Of one repeat the first counts."""
    keys, readings = {item.key for item in items}, dataset.reading_by_assignment
    rows = _of_repeats(dataset.all_readings[dataset.all_readings["rater"] == judge], readings)
    answers = defaultdict[tuple[Any, ...], dict[int, float]](dict)
    for reading, unit, outcome, number in _walk(rows.sort_values("seat", kind="stable"), readings):
        if unit[2:] in keys and outcome == Response.Outcome.ANSWERED and number == number and number is not None:
            answers[reading.is_reversed, reading.persona, unit].setdefault(reading.repeat, float(number))
    for (_is_reversed, _persona, unit), number_by_repeat in answers.items():
        if len(number_by_repeat) > 1:
            yield unit, list(number_by_repeat.values())


def _of_repeats(rows: pd.DataFrame, readings: Mapping[int, JudgeReading]) -> pd.DataFrame:
    """The rows about groups that were read in several repeats in the same order and as the same persona, which most
    are not."""
    assignments = rows[["assignment", "group"]].drop_duplicates("assignment")
    keys = {
        pk: (group, readings[pk].is_reversed, readings[pk].persona)
        for pk, group in zip(assignments["assignment"], assignments["group"], strict=True)
    }
    n_by_key = Counter(keys.values())
    return rows[rows["assignment"].isin([pk for pk, key in keys.items() if n_by_key[key] > 1])]


@dataclass(frozen=True)
class PersonaAnswers:
    """What a judge answered as each persona of a set, and what it or its like answered as nobody.

    as_personas : shape (P, I, U), nan where there is no answer
    as_nobody : shape (I, U)
    nobody : the judge that read without a persona: itself, or one of the same model, prompt and parameters; "" if none
    """

    personas: tuple[str, ...]
    as_personas: FloatArray
    as_nobody: FloatArray
    nobody: str


def answers_as_personas(dataset: Dataset, items: Sequence[StepItem], judge: str) -> PersonaAnswers | None:
    """The judge's first answers as each persona of the first set that it read with; None if there is no such set."""
    readings = dataset.reading_by_assignment
    rows = dataset.all_readings.sort_values("seat", kind="stable")
    is_plain = [readings[pk].repeat == 1 and not readings[pk].is_reversed for pk in rows["assignment"]]
    rows = rows[np.array(is_plain, dtype=np.bool_)]
    own = rows[rows["rater"] == judge]
    sets = [readings[pk].personas for pk in own["assignment"] if len(readings[pk].personas) > 1]
    if not sets:
        return None
    has_persona = np.array([bool(readings[pk].persona) for pk in rows["assignment"]], dtype=np.bool_)
    nobody = _find_nobody(dataset, judge, set(rows.loc[~has_persona, "rater"]))
    as_nobody = rows[~has_persona & (rows["rater"] == nobody).to_numpy(dtype=np.bool_)].assign(rater="")
    names = [readings[pk].persona if readings[pk].personas == sets[0] else None for pk in own["assignment"]]
    as_personas = own.assign(rater=pd.Series(names, index=own.index, dtype=object))
    table = pd.concat([as_personas, as_nobody]).drop_duplicates(["rater", *UNIT])
    keys = [item.key for item in items]
    cube = cubes.build_cube(table, keys, raters=[*sets[0], ""], units=list(dataset.units)).values.transpose(1, 0, 2)
    return PersonaAnswers(sets[0], as_personas=cube[:-1], as_nobody=cube[-1], nobody=nobody)


def _find_nobody(dataset: Dataset, judge: str, without_persona: Collection[str]) -> str:
    """Of those that read without a persona the judge itself, or the first that is asked the same."""
    if judge in without_persona:
        return judge
    content_by_slug = {
        slug: (other.endpoint_id, other.model, other.prompt_id, other.parameters)
        for slug, other in sorted(dataset.judge_by_slug.items())
    }
    alike = [slug for slug, content in content_by_slug.items() if content == content_by_slug.get(judge)]
    return next((slug for slug in alike if slug in without_persona), "")
