"""How far people agree, item by item, with what must stand beside a coefficient."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports import reasons
from reports.dataset.choices import choice_table, choices_of
from reports.figures.agreement_words import scale_statement, verdict_statement
from reports.figures.base import (
    N_RESAMPLES,
    Estimate,
    Figure,
    Floor,
    Head,
    Highlight,
    Interval,
    ItemRow,
    Mean,
    Row,
    Statement,
    chance_floor,
    estimate,
    interval,
    item_cells,
    item_fields,
    mean,
    weakest_note,
    without_value,
)
from reports.lazy import agreement, intervals, np
from reports.numbers import NONE, coefficient, decimal
from stats.reasons import Incomputable
from studies.models import Source

if TYPE_CHECKING:
    from reports.dataset import Cube, Dataset, StepItem
    from stats.arrays import BoolArray, FloatArray, IntArray
    from stats.intervals import Interval as StatisticInterval

PREFERENCE_NAME = "Brennan and Prediger's kappa"


@dataclass(frozen=True, kw_only=True)
class SourceAgreement(Estimate):
    source: str


@dataclass(frozen=True, kw_only=True)
class ItemAgreement(ItemRow):
    """The coefficient of one item.

    yes_percent : of items answered Yes or No
    alpha : nominal, beside a kappa
    within_source, among_models : of items about a story, unless sealed
    """

    level: str
    coefficient: Estimate
    percent_agreement: Estimate
    yes_percent: Estimate | None
    alpha: Estimate | None
    interval: Interval
    floor: Floor
    within_source: tuple[SourceAgreement, ...] | None = None
    among_models: Estimate | None = None


@dataclass(frozen=True, kw_only=True)
class MeanAgreement:
    """The mean over items answered Yes or No that have a kappa."""

    coefficient: Mean
    interval: Interval
    floor: Floor
    percent_agreement: Mean
    yes_percent: Mean
    among_models: Mean | None = None

    @property
    def rests_on_sources(self) -> bool:
        """Whether agreement is shown to be above chance over all stories, and among those of models lies below the
        interval of that: then it comes, at least in part, from telling people from models."""
        low, upper = self.interval.low, self.floor.upper
        among_models = self.among_models.value if self.among_models else None
        if low is None or among_models is None or low <= max(upper or 0.0, 0.0):
            return False
        return among_models < low


@dataclass(frozen=True, kw_only=True)
class AgreementResult:
    items: tuple[ItemAgreement, ...]
    mean: MeanAgreement | None
    n_resamples: int
    seed: int


class Agreement(Figure[AgreementResult]):
    """Intervals rest on clusters: a group shares its raters."""

    key = "agreement"
    title = gettext_lazy("How far raters agree")
    position = 50
    result = AgreementResult
    tables = ("agreement",)
    edition = 6
    has_head_note = True

    def compute(self, dataset: Dataset) -> AgreementResult:
        asked_of_stories = [item for item in dataset.items if item.level != "none" and item.step.scope != "once"]
        # Where judges alone have answered, every line would say that nobody did.
        asked_of_stories = asked_of_stories if dataset.raters or not len(dataset.judges) else []
        floors = _verdict_floors(dataset)
        items = tuple(_of_item(dataset, item, floors) for item in asked_of_stories)
        keys = {item.key for item in dataset.verdict_items}
        verdicts = [row for row in items if (row.step, row.item) in keys]
        return AgreementResult(
            items=items,
            mean=_mean(dataset, verdicts, floors) if len(verdicts) > 1 else None,
            n_resamples=N_RESAMPLES,
            seed=dataset.study.seed,
        )

    def rows(self, result: AgreementResult) -> dict[str, Iterator[Row]]:
        return {"agreement": (_row(item) for item in result.items)}

    def lines(self, result: AgreementResult) -> Iterator[str]:
        yield "\nAgreement"
        for row in result.items:
            yield _line(row)
        if result.mean and result.mean.coefficient.value is not None:
            yield f"  Mean of {result.mean.coefficient.n}: {coefficient(result.mean.coefficient.value)}"

    def is_empty(self, result: AgreementResult) -> bool:
        return not result.items

    def statements(self, result: AgreementResult, head: Head) -> Iterator[Statement]:
        mean = result.mean
        if mean is not None and mean.coefficient.value is not None and mean.floor.upper is not None:
            among_models = mean.among_models.value if mean.rests_on_sources and mean.among_models else None
            yield verdict_statement(mean.coefficient, mean.floor.upper, mean.interval, among_models=among_models)
        rated = [row for row in result.items if row.coefficient.name == "Krippendorff's alpha, ordinal"]
        values = [(row.coefficient.value, row.floor.upper, row.interval.low) for row in rated]
        scales = [(value, upper, low) for value, upper, low in values if value is not None and upper is not None]
        if scales:
            yield scale_statement(scales)

    def context(self, result: AgreementResult) -> dict[str, Any]:
        return {
            "has_dimensions": any(row.dimension for row in result.items),
            "has_preferences": any(row.coefficient.name == PREFERENCE_NAME for row in result.items),
            "has_yes": any(row.yes_percent and row.yes_percent.value is not None for row in result.items),
            "has_alpha": any(row.alpha and row.alpha.value is not None for row in result.items),
            "has_among_models": any(row.among_models for row in result.items),
            "rests_on": _only([_rests_on(row.coefficient) for row in result.items]),
            "coefficient_name": _coefficient_name(result),
            "note": weakest_note(row.interval for row in result.items),
            "extremes": _extremes(result),
        }

    def highlights(self, result: AgreementResult) -> list[Highlight]:
        if not result.mean or result.mean.coefficient.value is None:
            return []
        words = ngettext("mean kappa, %(n)s test", "mean kappa, %(n)s tests", result.mean.coefficient.n or 0)
        number = coefficient(result.mean.coefficient.value)
        return [Highlight(words % {"n": result.mean.coefficient.n}, number, position=50)]


@dataclass(frozen=True)
class _Floors:
    """Chance floors of items answered Yes or No by their keys, and of the mean of those with a kappa; all from the same
    shuffles, since shuffling is most of what agreement costs."""

    by_item: dict[tuple[str, str], Floor]
    mean: Floor


def _verdict_floors(dataset: Dataset) -> _Floors:
    cube = dataset.verdict_cube
    is_used = [estimate(agreement.fleiss_kappa, ratings).value is not None for ratings in cube.readings.values]
    if not any(is_used):
        why = without_value("no_kappa_to_average")
        return _Floors({}, Floor(mean=None, upper=None, why=why))
    used = cube.select_items(is_used)
    floors, of_mean = agreement.fleiss_chance_floors(used.values, rng=dataset.shuffling())
    by_item = {key: chance_floor(floor) for key, floor in zip(used.items, floors, strict=True)}
    return _Floors(by_item, chance_floor(of_mean))


def _of_item(dataset: Dataset, item: StepItem, floors: _Floors) -> ItemAgreement:
    if item.is_preference:
        return _of_preference(dataset, item)
    is_nominal, is_verdict = item.level == "nominal", item.type.is_verdict
    drawn, rng, level = dataset.resampling(), dataset.shuffling(), item.level
    cube, place = _cube_with(dataset, item)
    ratings, raters = cube.readings.values[place], cube.readings.raters
    if is_nominal:
        ends = interval(intervals.fleiss_kappa_interval, ratings, dataset.clusters(cube), rng=drawn)
        floor = floors.by_item.get(item.key) or chance_floor(agreement.fleiss_chance_floor, cube.values[place], rng=rng)
    else:
        ends = interval(intervals.alpha_interval, ratings, level, dataset.clusters(cube), rng=drawn)
        floor = chance_floor(agreement.alpha_chance_floor, cube.values[place], level, rng=rng)
    is_by_source = item.is_about_a_story and not dataset.is_sealed

    def of_units(units: BoolArray) -> Estimate:
        return _coefficient(ratings[:, units], level, raters[:, units])

    return ItemAgreement(
        **item_fields(item),
        level=level,
        coefficient=_coefficient(ratings, level, raters),
        percent_agreement=estimate(agreement.percent_agreement, ratings),
        yes_percent=_yes_percent(ratings) if is_verdict else None,
        alpha=estimate(agreement.krippendorff_alpha, ratings, level, raters) if is_nominal else None,
        interval=ends,
        floor=floor,
        within_source=_within_source(dataset, cube, of_units) if is_by_source else None,
        among_models=_among_models(dataset, cube, of_units) if is_by_source else None,
    )


def _cube_with(dataset: Dataset, item: StepItem) -> tuple[Cube, int]:
    """People's answers to an item, and the place of the item among those of the cube."""
    if item.type.is_verdict and item.is_about_a_story:
        return dataset.verdict_cube, dataset.verdict_cube.items.index(item.key)
    is_choice = item.level == "nominal" and not item.type.is_verdict
    return (_coded(dataset, item) if is_choice else dataset.cube([item])), 0


def _coefficient(ratings: FloatArray, level: str, raters: IntArray) -> Estimate:
    """Fleiss' kappa of what is only told apart, Krippendorff's alpha of what lies on a scale."""
    if level == "nominal":
        return estimate(agreement.fleiss_kappa, ratings, raters)
    return estimate(agreement.krippendorff_alpha, ratings, level, raters)


def _yes_percent(ratings: FloatArray) -> Estimate:
    share = estimate(agreement.base_rate, ratings)
    return share if share.value is None else Estimate(value=100 * share.value)


def _coded(dataset: Dataset, item: StepItem) -> Cube:
    """A choice as numbers: which option it was."""
    position_by_value = {option["value"]: float(n) for n, option in enumerate(item.item.options)}
    answers = dataset.answers_to(item)
    return dataset.cube([item], answers.assign(analysed=answers["value"].map(position_by_value)))


def _within_source(
    dataset: Dataset, cube: Cube, of_units: Callable[[BoolArray], Estimate]
) -> tuple[SourceAgreement, ...]:
    return tuple(
        SourceAgreement(source=name, **vars(of_units(dataset.is_of_source(cube, name))))
        for name, _kind in dataset.sources
    )


def _among_models(dataset: Dataset, cube: Cube, of_units: Callable[[BoolArray], Estimate]) -> Estimate | None:
    """Agreement among the stories of all models together; None where all stories are theirs, or none.

    Agreement that comes only from telling people from models is a different finding.
    """
    kinds = {kind for _name, kind in dataset.sources}
    is_by_model = dataset.is_of_kind(cube, Source.Kind.MODEL)
    return of_units(is_by_model) if len(kinds) > 1 and is_by_model.any() else None


def _of_preference(dataset: Dataset, item: StepItem) -> ItemAgreement:
    """How far raters agree on the preferred stories.

    The chance floor is of raters who keep their habits as to the position on the page, and do not look at the stories.
    """
    choices = choices_of(dataset, item)
    groups = sorted({choice.group for choice in choices})
    table = choice_table(choices, groups)
    clusters = dataset.clusters_of(groups)
    n_stories = {choice.group: len(choice.order) for choice in choices}
    n_values = np.array([n_stories[group] + ("no_difference" in item.item.settings) for group in groups])

    def kappa(ratings: FloatArray, units: Any = slice(None)) -> agreement.Coefficient:
        return agreement.brennan_prediger(ratings[:, units], n_values[units])

    def floor() -> agreement.Floor:
        return agreement.chance_floor(
            table.positions, lambda positions: kappa(table.at_positions(positions)), rng=dataset.shuffling()
        )

    return ItemAgreement(
        **item_fields(item),
        level=item.level,
        coefficient=estimate(kappa, table.chosen),
        percent_agreement=estimate(agreement.percent_agreement, table.chosen),
        yes_percent=None,
        alpha=Estimate(value=None, why=without_value("depends_on_first_story")),
        interval=interval(
            intervals.bootstrap, lambda units: kappa(table.chosen, units), clusters, rng=dataset.resampling()
        ),
        floor=chance_floor(floor),
    )


def _mean(dataset: Dataset, rows: list[ItemAgreement], floors: _Floors) -> MeanAgreement:
    """The mean over items answered Yes or No that have a kappa: its interval from joint resamples of groups, its chance
    floor from shuffles of all items together."""
    cube = dataset.verdict_cube
    items = cube.readings.values[np.array([row.coefficient.value is not None for row in rows], dtype=np.bool_)]

    def ends() -> StatisticInterval:
        _refuse_none(items)
        return intervals.mean_fleiss_kappa_interval(items, dataset.clusters(cube), rng=dataset.resampling())

    among_models = [row.among_models for row in rows if row.among_models]
    return MeanAgreement(
        coefficient=mean(row.coefficient for row in rows),
        interval=interval(ends),
        floor=floors.mean,
        percent_agreement=mean(row.percent_agreement for row in rows),
        yes_percent=mean(row.yes_percent for row in rows if row.yes_percent),
        among_models=mean(among_models) if among_models else None,
    )


def _refuse_none(items: FloatArray) -> None:
    if not len(items):
        raise Incomputable("no_kappa_to_average")


def _row(row: ItemAgreement) -> Row:
    kappa = row.coefficient
    return item_cells(row) | {
        "coefficient": kappa.name or "",
        "value": kappa.value,
        "low": row.interval.low,
        "high": row.interval.high,
        "chance_mean": row.floor.mean,
        "chance_upper": row.floor.upper,
        "n_units": kappa.n_units,
        "n_raters": kappa.n_raters,
        "percent_agreement": row.percent_agreement.value,
        "yes_percent": row.yes_percent and row.yes_percent.value,
        "alpha": (row.alpha or kappa).value,
        "among_models": row.among_models and row.among_models.value,
        **{f"within {part.source}": part.value for part in row.within_source or ()},
        "note": reasons.to_english(kappa.why) if kappa.why else kappa.note,
    }


def _line(row: ItemAgreement) -> str:
    kappa, ends = row.coefficient, row.interval
    if kappa.value is None:
        return f"  {row.title[:34]:<34} {NONE} {reasons.to_english(kappa.why) if kappa.why else ''}"
    beside = "" if row.percent_agreement.value is None else f", agree {decimal(row.percent_agreement.value, 0)} %"
    if row.among_models:
        beside += f", among models {coefficient(row.among_models.value)}"
    return (
        f"  {row.title[:34]:<34} {kappa.name} {coefficient(kappa.value)}, "
        f"95 % {coefficient(ends.low)} to {coefficient(ends.high)}, chance to {coefficient(row.floor.upper)}, "
        f"n = {kappa.n_units} units, {kappa.n_raters} raters{beside}"
    )


def _rests_on(kappa: Estimate) -> tuple[str, ...]:
    """How much a coefficient rests on, in words, and the note that came with it; nothing if it has no value."""
    if kappa.value is None:
        return ()
    counts = _("%(units)d units, %(raters)d raters") % {"units": kappa.n_units, "raters": kappa.n_raters}
    return counts, kappa.note or ""


def _coefficient_name(result: AgreementResult) -> str:
    """The coefficient that all items share, in the language of whoever reads; nothing if they share none."""
    name = _only([row.coefficient.name for row in result.items])
    return _(name) if name in reasons.NAMES else name or ""


def _extremes(result: AgreementResult) -> dict[str, str]:
    """The items on which people agree most and least."""
    pairs = [(row.coefficient.value, row.title) for row in result.items if row.coefficient.value is not None]
    if len(pairs) < 2:
        return {}
    ordered = sorted(pairs, key=lambda pair: pair[0])
    return {"least": ordered[0][1], "most": ordered[-1][1]}


def _only(values: list[Any]) -> Any:
    """The one that all share, or nothing."""
    return values[0] if len(set(values)) == 1 and values[0] else ""
