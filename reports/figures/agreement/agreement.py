"""How far people agree, item by item, with what must stand beside a coefficient."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.choices import choice_table, choices_of
from reports.dataset.cubes import Cube
from reports.document.leaderboard import Gauge
from reports.document.model import DocumentSection, Files, Head, Phrase, TextBlock
from reports.document.phrases import joined
from reports.document.values import Estimate, Floor
from reports.figures.agreement.coefficient_table import agreement_notes, agreement_table
from reports.figures.agreement.rows import AgreementResult, ItemAgreement, MeanAgreement, SourceAgreement
from reports.figures.agreement.sentences import scale_statement, scale_words, verdict_statement, verdict_words
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    Highlight,
    Statement,
    chance_floor,
    estimate,
    interval,
    item_fields,
    mean,
    without_value,
)
from reports.figures.coverage import Coverage, coverage_words
from reports.lazy import agreement, agreement_claims, contrasts, intervals, np
from reports.numbers import coefficient
from stats.reasons import Incomputable
from studies.models import Source

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable, StepItem
    from stats.arrays import BoolArray, FloatArray, IntArray
    from stats.intervals import Interval as StatisticInterval


UNKNOWN_PAGES = (1, 1)  # of the seed, for what is taken where the order of the page is not known


class Agreement(Figure[AgreementResult]):
    """Intervals rest on clusters: a group shares its raters."""

    key = "agreement"
    title = gettext_lazy("Inter-rater agreement")
    position = 50
    section = "agreement"
    tables = ("agreement",)
    edition = 9

    def compute(self, dataset: Dataset) -> AgreementResult:
        asked_of_stories = [item for item in dataset.items if item.level != "none" and item.step.scope != "once"]
        # Where judges alone have answered, every line would say that nobody did.
        asked_of_stories = asked_of_stories if dataset.raters or not len(dataset.judges) else []
        floors = _verdict_floors(dataset)
        scores = [table for table in dataset.outcomes if table.outcome.kind == "score"]
        items = _with_holm(
            [
                *(_of_score(dataset, table) for table in scores),
                *(_of_item(dataset, item, floors) for item in asked_of_stories),
            ]
        )
        keys = {item.key for item in dataset.verdict_items}
        verdicts = [row for row in items if (row.step, row.item) in keys]
        return AgreementResult(
            items=items,
            mean=_mean(dataset, verdicts, floors) if len(verdicts) > 1 else None,
            n_resamples=N_RESAMPLES,
            seed=dataset.study.seed,
        )

    def describe(self, result: AgreementResult, head: Head) -> Iterator[DocumentSection]:
        words = _("With agreement within every source") if not head.is_sealed else _("Item by item")
        yield DocumentSection(
            heading=_("Inter-rater agreement"),
            body=[agreement_table(result, head), Files(words=words, table="agreement")],
            margin=agreement_notes(result),
        )

    def is_empty(self, result: AgreementResult) -> bool:
        return not result.items

    def gauges(self, result: AgreementResult) -> Iterator[Gauge]:
        mean = result.mean
        if mean is not None and mean.coefficient.value is not None:
            words = ngettext("Mean kappa, %(n)s test", "Mean kappa, %(n)s tests", mean.coefficient.n or 0)
            title = words % {"n": mean.coefficient.n}
            yield Gauge(name=title, value=mean.coefficient.value, ends=mean.interval, upper=mean.floor.upper)
        rows = [row for row in result.items if row.coefficient.value is not None and row.title]
        for row in sorted(rows, key=lambda row: row.type != "score"):
            if mean is None or row.level != "nominal":
                value = row.coefficient.value or 0.0
                yield Gauge(name=row.title, value=value, ends=row.interval, upper=row.floor.upper)

    def gauge_words(self, result: AgreementResult) -> Iterator[str]:
        mean = result.mean
        if mean is not None and mean.coefficient.value is not None and mean.floor.upper is not None:
            yield verdict_words(mean.coefficient.value, mean.floor.upper, mean.interval)
        if scales := _scales(result):
            yield scale_words(sum(row.is_beyond_chance for row in scales), len(scales))

    def statements(self, result: AgreementResult, head: Head) -> Iterator[Statement]:
        mean = result.mean
        if mean is not None and mean.coefficient.value is not None and mean.floor.upper is not None:
            yield verdict_statement(
                mean.coefficient,
                mean.floor.upper,
                mean.interval,
                coverage_words(mean.coverage),
                among_models=mean.among_models.value if mean.among_models else None,
                rests_on_sources=mean.rests_on_sources,
            )
        if scales := _scales(result):
            values = [(row.coefficient.value or 0.0, row.is_beyond_chance) for row in scales]
            yield scale_statement(values, coverage_words([row.coverage for row in scales]))

    def head_notes(self, result: AgreementResult) -> list[TextBlock]:
        mean = result.mean
        if mean is None or mean.coefficient.value is None:
            return []
        return [_head_note(mean, coefficient(mean.coefficient.value))]

    def highlights(self, result: AgreementResult) -> list[Highlight]:
        if not result.mean or result.mean.coefficient.value is None:
            return []
        words = ngettext("mean kappa, %(n)s test", "mean kappa, %(n)s tests", result.mean.coefficient.n or 0)
        number = coefficient(result.mean.coefficient.value)
        return [Highlight(words % {"n": result.mean.coefficient.n}, number, position=50)]


def _scales(result: AgreementResult) -> list[ItemAgreement]:
    return [row for row in result.items if row.is_on_a_scale and row.floor.upper is not None]


def _head_note(mean: MeanAgreement, kappa: str) -> TextBlock:
    """How far raters agree on the whole, and whether that is about more than which stories people wrote."""
    sentences: list[Phrase] = []
    if mean.rests_on_sources:
        sentences.append(format_html("<strong>{}</strong>", _("Read this first.")))
    agree = _("Raters agree at a mean kappa of %(kappa)s %(coverage)s, where 1 is full agreement and 0 that of chance.")
    sentences.append(agree % {"kappa": kappa, "coverage": coverage_words(mean.coverage)})
    if mean.among_models and mean.among_models.value is not None:
        of_models = coefficient(mean.among_models.value)
        sentences.append(_("Among the stories of models alone it is %(kappa)s.") % {"kappa": of_models})
    if mean.rests_on_sources:
        sentences.append(
            _("So at least a part of the agreement is on which stories people wrote, not on which are better.")
        )
    return TextBlock(words=joined(*sentences))


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

    def p_above(upper: float) -> float:
        bound, clusters = max(upper, 0.0), dataset.clusters(cube)
        return agreement_claims.p_of_alpha_above(ratings, "ordinal", clusters, bound, rng=dataset.resampling())

    is_tested = level == "ordinal" and ends.low is not None and floor.upper is not None
    return ItemAgreement(
        **item_fields(item),
        level=level,
        coverage=Coverage.of_ratings(ratings, are_stories=item.is_about_a_story),
        p_above_chance=estimate(p_above, floor.upper).value if is_tested else None,
        coefficient=_coefficient(ratings, level, raters),
        percent_agreement=estimate(agreement.percent_agreement, ratings),
        yes_percent=_yes_percent(ratings) if is_verdict else None,
        alpha=estimate(agreement.krippendorff_alpha, ratings, level, raters) if is_nominal else None,
        interval=ends,
        floor=floor,
        within_source=_within_source(dataset, cube, of_units) if is_by_source else None,
        among_models=_among_models(dataset, cube, of_units) if is_by_source else None,
    )


def _with_holm(rows: list[ItemAgreement]) -> tuple[ItemAgreement, ...]:
    """The rows with p adjusted over all scales that have an alpha; one that cannot be tested counts as not shown."""
    scales = [n for n, row in enumerate(rows) if row.is_on_a_scale]
    tested = [rows[n].p_above_chance for n in scales]
    adjusted = contrasts.adjust([1.0 if p is None else p for p in tested], "holm")
    p_by_row = {n: own for n, p, own in zip(scales, tested, adjusted, strict=True) if p is not None}
    return tuple(replace(row, p_holm=p_by_row.get(n)) for n, row in enumerate(rows))


def _of_score(dataset: Dataset, table: OutcomeTable) -> ItemAgreement:
    """A declared score, on which all are told apart by how far: each rater's own is one rating on an interval scale."""
    step, item = table.outcome.key.split("/", 1)
    cube = Cube(((step, item),), tuple(dataset.raters), table.units, table.ratings[np.newaxis])
    ratings, raters = cube.readings.values[0], cube.readings.raters
    is_by_source = not dataset.is_sealed

    def of_units(units: BoolArray) -> Estimate:
        return _coefficient(ratings[:, units], "interval", raters[:, units])

    return ItemAgreement(
        step=step,
        item=item,
        title=table.outcome.title,
        dimension="",
        type="score",
        level="interval",
        coverage=Coverage.of_ratings(ratings, are_stories=True),
        coefficient=_coefficient(ratings, "interval", raters),
        percent_agreement=estimate(agreement.percent_agreement, ratings),
        yes_percent=None,
        alpha=None,
        interval=interval(intervals.alpha_interval, ratings, "interval", table.clusters, rng=dataset.resampling()),
        floor=chance_floor(agreement.alpha_chance_floor, table.ratings, "interval", rng=dataset.shuffling()),
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
    Of an answer that was brought in no page is known: there they take any of the stories.
    """
    choices = choices_of(dataset, item)
    groups = sorted({choice.group for choice in choices})
    table = choice_table(choices, groups)
    clusters = dataset.clusters_of(groups)
    n_stories = {choice.group: len(choice.order) for choice in choices}
    n_values = np.array([n_stories[group] + ("no_difference" in item.item.settings) for group in groups])

    def kappa(ratings: FloatArray, units: Any = slice(None)) -> agreement.Coefficient:
        return agreement.brennan_prediger(ratings[:, units], n_values[units])

    anywhere = dataset.rng(*UNKNOWN_PAGES)

    def floor() -> agreement.Floor:
        return agreement.chance_floor(
            table.positions, lambda positions: kappa(table.at_positions(positions, anywhere)), rng=dataset.shuffling()
        )

    return ItemAgreement(
        **item_fields(item),
        level=item.level,
        coverage=Coverage.of_ratings(table.chosen, are_stories=False),
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
    clusters = dataset.clusters(cube)
    has_kappa = np.array([row.coefficient.value is not None for row in rows], dtype=np.bool_)
    items = cube.readings.values[has_kappa]

    def ends() -> StatisticInterval:
        _refuse_none(items)
        return intervals.mean_fleiss_kappa_interval(items, clusters, rng=dataset.resampling())

    def above_models() -> StatisticInterval:
        has_both = has_kappa & [row.among_models is not None and row.among_models.value is not None for row in rows]
        _refuse_none(items_of_both := cube.readings.values[has_both])
        is_by_model = dataset.is_of_kind(cube, Source.Kind.MODEL)
        return agreement_claims.interval_above_part(items_of_both, is_by_model, clusters, rng=dataset.resampling())

    among_models = [row.among_models for row in rows if row.among_models]
    return MeanAgreement(
        coefficient=mean(row.coefficient for row in rows),
        interval=interval(ends),
        floor=floors.mean,
        percent_agreement=mean(row.percent_agreement for row in rows),
        yes_percent=mean(row.yes_percent for row in rows if row.yes_percent),
        coverage=tuple(row.coverage for row in rows if row.coefficient.value is not None),
        among_models=mean(among_models) if among_models else None,
        above_models=interval(above_models) if among_models else None,
    )


def _refuse_none(items: FloatArray) -> None:
    if not len(items):
        raise Incomputable("no_kappa_to_average")
