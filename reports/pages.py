"""What the report page shows beyond the results themselves: its words, its key figures and its plots."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from reports import charts, words
from reports.charts import Mark, Plot
from reports.templatetags.figures import coefficient, decimal, whole
from studies.models import Source

Results = dict[str, Any]
# As results name them, always in English.
COEFFICIENTS = (
    gettext_noop("Fleiss' kappa"),
    gettext_noop("Krippendorff's alpha"),
    gettext_noop("Brennan and Prediger's kappa"),
)


def context(found: Results) -> dict[str, Any]:
    """Everything that the template needs, by name."""
    cells, low, high = charts.cells(found["agreement"]["items"])
    return {
        "found": found,
        "has_answers": _has_answers(found),
        "has_dimensions": any(row["dimension"] for row in found["agreement"]["items"]),
        "headline": words.headline(found),
        "notices": words.notices(found),
        "figures": _figures(found),
        "sources": [source["source"] for source in found["sources"]],
        "rates_plot": _rates_plot(found),
        "rates_note": _first_note(found["pass_rates"]["mean"]["by_source"]) if found["pass_rates"] else "",
        "ratings_plots": _ratings_plots(found),
        "agreement_rows": list(zip(found["agreement"]["items"], cells, strict=True)),
        "agreement_note": _first_note(found["agreement"]["items"]),
        "agreement_low": low,
        "agreement_high": high,
        "has_kappa_among_models": any(row.get("among_models") for row in found["agreement"]["items"]),
        "rests_on": _only([_rests_on(row["coefficient"]) for row in found["agreement"]["items"]]),
        "coefficient_name": _coefficient_name(found),
        "passed_plot": _passed_plot(found),
        "guesses": [_matrix(row) for row in found["authorship"]],
        "extremes": _extremes(found),
        "cloze_groups": _cloze_groups(found),
    }


def _has_answers(found: Results) -> bool:
    progress = found["progress"]
    return bool(progress["n_answers"] or progress["judges"] or any(row["n"] for row in found["surveys"]))


def _cloze_groups(found: Results) -> list[tuple[str, dict[str, Any]]]:
    """The three groups of a cloze, for people and for models if there are some."""
    told = found["cloze"] or {"people": {"n": 0}, "models": {"n": 0}}
    named = [(_("People"), told["people"])]
    return named + ([(_("Models"), told["models"])] if told["models"]["n"] else [])


def _figures(found: Results) -> list[tuple[str, str]]:
    """The key figures: what it is, and how much."""
    progress, mean = found["progress"], found["agreement"]["mean"]
    stories = ngettext("stories in %(n)s group", "stories in %(n)s groups", progress["n_groups"])
    answers = _("answers, %(n)s missing") if progress["n_missing"] else _("answers, none missing")
    figures = [
        (stories % {"n": whole(progress["n_groups"])}, whole(progress["n_stories"])),
        (_("raters"), whole(progress["n_raters"])),
        (_("of %(n)s places submitted") % {"n": whole(progress["n_seats"])}, whole(progress["n_submitted"])),
        (answers % {"n": whole(progress["n_missing"])}, whole(progress["n_answers"])),
    ]
    if mean and mean["coefficient"]["value"] is not None:
        kappa = ngettext("mean kappa, %(n)s test", "mean kappa, %(n)s tests", mean["coefficient"]["n"])
        figures.append((kappa % {"n": mean["coefficient"]["n"]}, coefficient(mean["coefficient"]["value"])))
    if progress["median_minutes_per_story"] is not None:
        figures.append((_("median minutes a story"), decimal(progress["median_minutes_per_story"], 0)))
    return figures


def _marks(row: dict[str, Any]) -> tuple[Mark, ...]:
    cells = row["by_source"] or [row["overall"]]
    return tuple(
        Mark(place, cell["value"], cell.get("interval", {}).get("low"), cell.get("interval", {}).get("high"))
        for place, cell in enumerate(cells)
    )


def _rates_plot(found: Results) -> Plot | None:
    rates = found["pass_rates"]
    if not rates or not rates["mean"]["overall"]["n"]:
        return None
    rows = [charts.Row(row["title"], row["dimension"], _marks(row)) for row in rates["items"]]
    return charts.dots(rows, [source["source"] for source in found["sources"]], charts.PERCENT)


def _ratings_plots(found: Results) -> list[Plot]:
    """A plot for all items of one scale: they share their axis, so they can be read against each other."""
    rated = [row for row in found["ratings"] if row["lowest"] is not None and row["overall"]["n"]]
    sources = [source["source"] for source in found["sources"]]
    plots = []
    for low, high in dict.fromkeys((row["lowest"], row["highest"]) for row in rated):
        alike = [row for row in rated if (row["lowest"], row["highest"]) == (low, high)]
        rows = [charts.Row(row["title"], row["dimension"], _marks(row)) for row in alike]
        plots.append(charts.dots(rows, sources, charts.scale_axis(low, high)))
    return plots


def _passed_plot(found: Results) -> Plot | None:
    passed = found["tests_passed"]
    if not passed or all(story["value"] is None for story in passed["stories"]):
        return None
    rows = [
        (
            source["source"],
            [s["value"] for s in passed["stories"] if s["source"] == source["source"] and s["value"] is not None],
        )
        for source in found["sources"]
    ]
    return charts.strips(rows, charts.scale_axis(0, passed["n_items"]))


def _matrix(row: dict[str, Any]) -> dict[str, Any]:
    """The guesses with the share of each cell in its row and how dark it is shown."""
    rows = []
    for cell in row["by_source"]:
        shares = [100 * n / cell["n"] if cell["n"] else 0 for n in cell["n_by_option"]]
        told = [(n, share, min(4, 1 + int(share // 25))) for n, share in zip(cell["n_by_option"], shares, strict=True)]
        rows.append(cell | {"cells": told, "kind_name": Source.Kind(cell["source_kind"]).label})
    return row | {"rows": rows}


def _first_note(cells: list[dict[str, Any]]) -> str:
    """What the first interval that has a note says of all of them: one without ends has none."""
    return next((note for cell in cells if (note := cell["interval"].get("note"))), "")


def _extremes(found: Results) -> dict[str, Any]:
    """The items on which people agree most and least."""
    known = [row for row in found["agreement"]["items"] if row["coefficient"]["value"] is not None]
    if len(known) < 2:
        return {}
    ordered = sorted(known, key=lambda row: row["coefficient"]["value"])
    return {"least": ordered[0]["title"], "most": ordered[-1]["title"]}


def _rests_on(told: dict[str, Any]) -> tuple[str, ...]:
    """How much a coefficient rests on, in words, and the note that came with it; nothing if it has no value."""
    if told["value"] is None:
        return ()
    counts = _("%(units)d units, %(raters)d raters") % {"units": told["n_units"], "raters": told["n_raters"]}
    return counts, told["note"]


def _coefficient_name(found: Results) -> str:
    """The coefficient that all items share, in the language of whoever reads; nothing if they share none."""
    name = _only([row["coefficient"].get("name") for row in found["agreement"]["items"]])
    return _(name) if name in COEFFICIENTS else name


def _only(names: list[Any]) -> Any:
    """The one that all share, or nothing."""
    return names[0] if len(set(names)) == 1 and names[0] else ""
