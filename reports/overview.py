"""What studies amount to beside one another: for each the figures of its latest report, and how they moved by the day.

Read from `KeyFigures` alone, so that no report is opened for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import Coalesce, RowNumber
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Assignment, Rater, Seat
from reports.figures.judges.scores import COEFFICIENTS, NAMES, PERCENTAGES
from reports.key_figures import TESTS
from reports.lazy import outlying_raters
from reports.models import KeyFigures, Report
from studies import lifecycle
from studies.access import Access, list_access
from studies.models import Study

MOST_DAYS = 30  # that are drawn, the latest
COEFFICIENT, PERCENT = "coefficient", "percent"


@dataclass(frozen=True, kw_only=True)
class DailyFigure:
    """One figure of the latest report, and what it was on the days before.

    about : the statistic, after what it is about where that is a single question; "" where there is nothing to add
    form : "coefficient", "percent", or "number", which has no axis that all share
    floor : what shuffled answers reach; None where there is none
    """

    title: str
    about: str = ""
    form: str = COEFFICIENT
    value: float | None
    floor: float | None = None
    points: tuple[tuple[date, float], ...] = ()
    of_a_judge: bool = False

    @property
    def moved(self) -> float | None:
        """How much more it is than on the first of the days; None if there is one day alone."""
        return self.points[-1][1] - self.points[0][1] if len(self.points) > 1 else None

    @property
    def since(self) -> date | None:
        return self.points[0][0] if self.points else None


@dataclass(frozen=True, kw_only=True)
class StudyFigures:
    """What the account may see of the key figures of one study.

    day : of the report that they were taken from; None if there is none
    is_empty : that report was in a form of which nothing was taken
    is_sealed : that report tells nothing by source, and so nothing of judges
    progress : on each day the places submitted, in percent
    n_questioned : raters whom the report asks about; None where it does not say
    has_few_raters : they are known to be too few to ask about any
    """

    study: Study
    day: date | None = None
    is_empty: bool = False
    is_sealed: bool = False
    sees_judges: bool = False
    outcomes: tuple[DailyFigure, ...] = ()
    judges: tuple[DailyFigure, ...] = ()
    progress: tuple[tuple[date, float], ...] = ()
    n_questioned: int | None = None
    has_few_raters: bool = False
    cost: float | None = None
    n_without_cost: int = 0

    @property
    def progress_trend(self) -> DailyFigure:
        """The places submitted by the day, to be drawn as other figures are."""
        latest = self.progress[-1][1] if self.progress else None
        return DailyFigure(title=_("Places submitted"), form=PERCENT, value=latest, points=self.progress)

    @property
    def table(self) -> list[tuple[date, float | None, list[float | None]]]:
        """Each day with its share of places and its value of every outcome, the latest first."""
        columns = [dict(trend.points) for trend in self.outcomes]
        shares = dict(self.progress)
        days = sorted({*shares, *(day for column in columns for day in column)}, reverse=True)
        return [(day, shares.get(day), [column.get(day) for column in columns]) for day in days]


@dataclass(frozen=True)
class _Day:
    pk: int
    day: date
    is_sealed: bool
    trend: Mapping[str, Any] = field(default_factory=dict)


def with_progress(studies: QuerySet[Study]) -> QuerySet[Study]:
    """The studies with `n_places`, `n_submitted` and `has_report`."""
    of_study = Q(study=OuterRef("pk"))
    counted = {
        "n_places": Seat.objects.filter(of_study, rater_kind=Rater.Kind.PERSON),
        "n_submitted": Assignment.objects.first_readings().filter(of_study, status=Assignment.Status.SUBMITTED),
    }
    return studies.annotate(
        has_report=Exists(Report.objects.filter(of_study, kind=Report.Kind.RESULTS)),
        **{
            name: Coalesce(Subquery(rows.order_by().values("study").annotate(n=Count("pk")).values("n")), 0)
            for name, rows in counted.items()
        },
    )


def read_figures(studies: Sequence[Study], user: Any) -> list[StudyFigures]:
    """The key figures of each study as far as the account may see them. Three queries, however many studies there are,
    and those that ask for its roles."""
    sees_by_study = {access.study.pk: _sees_sources(access) for access in list_access(studies, user)}
    return _read(studies, sees_by_study)


def read_days(access: Access) -> StudyFigures:
    """The key figures of one study by the day, as far as the account may see them. Two queries."""
    (figures,) = _read([access.study], {access.study.pk: _sees_sources(access)})
    return figures


def _sees_sources(access: Access) -> bool:
    return not (access.is_blind or lifecycle.is_sealed(access.study))


def _read(studies: Sequence[Study], sees_by_study: Mapping[int, bool]) -> list[StudyFigures]:
    days = _latest_days(sees_by_study)
    chosen = {pk: _choose(days, pk, sees_sources=sees) for pk, sees in sees_by_study.items()}
    latest = [day.pk for by_kind in chosen.values() for day in by_kind[0][-1:]]
    figures_by_row = dict(KeyFigures.objects.filter(pk__in=latest).values_list("pk", "figures"))
    return [_of_study(study, *chosen[study.pk], figures_by_row, sees_by_study[study.pk]) for study in studies]


def _latest_days(study_ids: Iterable[int]) -> dict[tuple[int, bool], list[_Day]]:
    """The latest days of each study and kind of report, the first of them first."""
    rank = Window(RowNumber(), partition_by=[F("study"), F("is_sealed")], order_by=F("day").desc())
    rows = KeyFigures.objects.filter(study__in=list(study_ids)).annotate(rank=rank).filter(rank__lte=MOST_DAYS)
    days: dict[tuple[int, bool], list[_Day]] = defaultdict(list)
    for study, is_sealed, pk, day, trend in rows.order_by("day").values_list(
        "study_id", "is_sealed", "pk", "day", "trend"
    ):
        days[study, is_sealed].append(_Day(pk, day, is_sealed, trend))
    return days


def _choose(
    days: Mapping[tuple[int, bool], list[_Day]], study: int, *, sees_sources: bool
) -> tuple[list[_Day], list[_Day]]:
    """The days of reports of all kinds that the account may see, the last of them that of the report to show; and the
    days of those with sources. Of a day that has both it is the one with sources."""
    sealed, opened = days.get((study, True), []), days.get((study, False), []) if sees_sources else []
    if not opened:
        return sealed, []
    by_day = {row.day: row for row in [*sealed, *opened] if row.day <= opened[-1].day}
    return sorted(by_day.values(), key=lambda row: row.day), opened


def _of_study(
    study: Study, days: list[_Day], opened: list[_Day], figures_by_row: Mapping[int, Any], sees_judges: bool
) -> StudyFigures:
    if not days:
        return StudyFigures(study=study, sees_judges=sees_judges)
    latest = days[-1]
    figures = figures_by_row.get(latest.pk) or {}
    n_raters = figures.get("n_raters")
    return StudyFigures(
        study=study,
        day=latest.day,
        is_empty=not figures,
        is_sealed=latest.is_sealed,
        sees_judges=sees_judges,
        outcomes=tuple(_outcome(row, days) for row in figures.get("outcomes", ())),
        judges=tuple(_judge(row, opened) for row in figures.get("judges", ())),
        progress=tuple(_shares(days)),
        n_questioned=figures.get("n_questioned"),
        has_few_raters=n_raters is not None and n_raters < outlying_raters.FEWEST_RATERS,
        cost=figures.get("cost"),
        n_without_cost=figures.get("n_without_cost", 0),
    )


def _shares(days: Iterable[_Day]) -> Iterator[tuple[date, float]]:
    for row in days:
        n_submitted, n_places = row.trend.get("progress", (0, 0))
        if n_places:
            yield row.day, 100 * n_submitted / n_places


def _outcome(row: Mapping[str, Any], days: Iterable[_Day]) -> DailyFigure:
    title = row["title"]
    if row["key"] == TESTS:
        title = ngettext("Mean of %(n)s test", "Mean of %(n)s tests", row["n_items"]) % {"n": row["n_items"]}
    return DailyFigure(
        title=title,
        about=row["name"],
        value=row["value"],
        floor=row["floor"],
        points=tuple(_points(days, "agreement", row["key"])),
    )


def _judge(row: Mapping[str, Any], days: Iterable[_Day]) -> DailyFigure:
    statistic = row["statistic"]
    form = COEFFICIENT if statistic in COEFFICIENTS else PERCENT if statistic in PERCENTAGES else "number"
    name = _(NAMES[statistic]) if statistic in NAMES else ""
    about = f"{row['about']}: {name}" if row["about"] else name
    points = tuple(_points(days, "judges", row["key"]))
    return DailyFigure(title=row["judge"], about=about, form=form, value=row["value"], points=points, of_a_judge=True)


def _points(days: Iterable[_Day], part: str, key: str) -> Iterator[tuple[date, float]]:
    for row in days:
        value = row.trend.get(part, {}).get(key)
        if value is not None:
            yield row.day, value
