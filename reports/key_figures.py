"""The few figures of a report by which studies are compared, over days and with one another: taken when it is stored.

A report of a live study goes when the next is stored, and may be megabytes of JSON; these stay, and are small. Whatever
is taken here is over all sources together, so that nobody learns from it what a source amounts to.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

from django.db import transaction

from reports.models import KeyFigures, Report
from studies.models import Step

log = logging.getLogger(__name__)

TESTS = "tests"  # the key of the mean over items answered Yes or No
MOST_FILLED = 50  # at once: each has its report read
JUDGED = (
    "judges",
    "judges_on_scores",
    "judges_on_scales",
    "judges_on_choices",
    "judges_on_rankings",
    "judges_on_pairs",
)

Document = Mapping[str, Any]


def record(report: Report) -> None:
    """Write down the figures of a report that was just stored, in place of those of an earlier one of the same day.

    A report in a form that cannot be read, such as another version stored, leaves a row without figures.
    """
    document = report.result
    instrument_by_step = _instrument_by_step(report.study_id)
    try:
        trend, figures = summarise_trend(document), summarise(document, instrument_by_step)
    except (LookupError, TypeError, AttributeError):
        # Raised on, it would cost whoever asked the report itself.
        log.warning("no key figures of report %s", report.pk, exc_info=True)
        trend, figures = {}, {}
    KeyFigures.objects.update_or_create(
        study_id=report.study_id,
        day=report.made_at.astimezone(UTC).date(),
        is_sealed=report.is_sealed,
        defaults={"fingerprint": report.fingerprint, "trend": trend, "figures": figures},
    )


def record_missing() -> int:
    """Write down the figures of the latest report of studies that have reports and no figures, such as those stored
    before figures were; of how many."""
    recorded = set(KeyFigures.objects.order_by().values_list("study_id", "is_sealed").distinct())
    stored = Report.objects.filter(kind=Report.Kind.RESULTS).order_by("made_at", "pk")
    latest: dict[tuple[int, bool], int] = {}
    for pk, study, is_sealed in stored.values_list("pk", "study_id", "is_sealed"):
        latest[study, is_sealed] = pk
    n_recorded = 0
    for pk in (pk for key, pk in latest.items() if key not in recorded):
        if n_recorded == MOST_FILLED:
            break
        n_recorded += _record_stored(pk)
    return n_recorded


def _record_stored(pk: int) -> bool:
    """Whether the figures of that stored report could be written down; if not, the log says why."""
    try:
        with transaction.atomic():
            record(Report.objects.get(pk=pk))
    except Exception:
        # One report that fails must not cost the others their figures, tonight and every night.
        log.exception("key figures of report %s could not be written down", pk)
        return False
    return True


def _instrument_by_step(study_id: int) -> dict[str, tuple[str, str]]:
    """Slug and version of the instrument that each step asks, by the step's key; of an amended step its last."""
    steps = Step.objects.filter(version__study=study_id, instrument__isnull=False).order_by("version__number")
    rows = steps.values_list("key", "instrument__slug", "instrument__version")
    return {key: (slug, version) for key, slug, version in rows}


def summarise_trend(document: Document) -> dict[str, Any]:
    """What is drawn over the days."""
    progress = document.get("progress") or {}
    return {
        "progress": [progress.get("n_submitted", 0), progress.get("n_seats", 0)],
        "agreement": {row["key"]: row["value"] for row in _outcomes(document) if row["value"] is not None},
        "judges": {row["key"]: row["value"] for row in _judges(document) if row["value"] is not None},
    }


def summarise(document: Document, instrument_by_step: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """What is shown of a report beside others."""
    progress = document.get("progress") or {}
    questions = document.get("rater_questions")
    costs = document.get("judge_costs") or []
    known = [row["cost"] for row in costs if row["cost"] is not None]
    return {
        "raters": progress.get("raters", "none"),
        "n_raters": progress.get("n_raters"),
        "outcomes": list(_outcomes(document)),
        "items": list(_items(document, instrument_by_step)),
        "n_questioned": None if questions is None else len({row["rater"] for row in questions["rows"]}),
        "judges": list(_judges(document)),
        "cost": sum(known) if known else None,
        "n_without_cost": sum(row["n_without_cost"] for row in costs),
    }


def _outcomes(document: Document) -> Iterator[dict[str, Any]]:
    """Agreement on the mean of what is answered Yes or No, and on every other item."""
    agreement = document.get("agreement", {}) or {"items": [], "mean": None}
    mean = agreement["mean"]
    if mean is not None:
        n_items = mean["coefficient"].get("n") or sum(row["type"] == "binary" for row in agreement["items"])
        yield {"key": TESTS, "title": "", "n_items": n_items, **_coefficient(mean)}
    for row in agreement["items"]:
        if mean is None or row["yes_percent"] is None:
            yield {"key": f"{row['step']}/{row['item']}", "title": row["title"], **_coefficient(row)}


def _coefficient(row: Document) -> dict[str, Any]:
    return {
        "name": row["coefficient"].get("name", ""),
        "value": row["coefficient"]["value"],
        "floor": row["floor"]["upper"],
    }


def _items(document: Document, instrument_by_step: Mapping[str, tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Every item with its instrument, how far raters agree on it, and its share of Yes or its mean."""
    agreement, level = document.get("agreement") or {"items": []}, _level_by_item(document)
    for row in agreement["items"]:
        slug, version = instrument_by_step.get(row["step"], ("", ""))
        if slug:
            yield {
                "instrument": slug,
                "version": version,
                "item": row["item"],
                "title": row["title"],
                "name": row["coefficient"].get("name", ""),
                "agreement": row["coefficient"]["value"],
                "is_percent": row["yes_percent"] is not None,
                "level": level.get((row["step"], row["item"])),
            }


def _level_by_item(document: Document) -> dict[tuple[str, str], float | None]:
    """The share of Yes of an item, or the mean of a scale, over all sources."""
    passes = (document.get("pass_rates") or {"items": []})["items"]
    ratings = document.get("ratings") or []
    return {(row["step"], row["item"]): row["overall"]["value"] for row in [*passes, *ratings]}


def _judges(document: Document) -> Iterator[dict[str, Any]]:
    """How far each judge agrees with people, by the first statistic of each section that compares them."""
    for section in JUDGED:
        for row in _compared(document, section):
            if section == "judges":
                statistic, value = "kappa", row["pooled"]["kappa"]["value"]
            elif row.get("scores"):
                score = row["scores"][0]
                statistic, value = score["statistic"], score["parts"][0]["value"]
            else:
                continue
            about = f"{row['step']}/{row['item']}" if "item" in row else ""
            yield {
                "key": f"{section}:{about}:{row['judge']}",
                "judge": row["judge"],
                "about": row.get("title", ""),
                "statistic": statistic,
                "value": value,
            }


def _compared(document: Document, section: str) -> list[dict[str, Any]]:
    result = document.get(section) or []
    return list(result["compared"] if isinstance(result, dict) else result)
