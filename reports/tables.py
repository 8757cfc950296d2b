"""The tables of a report as rows for a CSV file, unrounded: what a plot or a table of the page shows."""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Results = dict[str, Any]
Rows = Iterator[dict[str, Any]]
# Where a formula could begin: at the start, or after a sign at which some spreadsheet begins a new cell or row.
FORMULA = re.compile(r"""\A(?=[=+\-@\t\r\n])|(?<=[;\t\r\n])(?="*[=+\-@])""")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
BYTE_ORDER_MARK = "\ufeff"
# A stored report comes back from PostgreSQL with its keys in another order, so every table names its columns.
OF_ITEM = ("step", "item", "title", "dimension")
OF_GROUP = ("group", "n_stories", "n_seats", "n_submitted", "n_open", "n_free")
OF_WRITER = (
    *("rater", "kind", "assignment", "outcome", "stopped_at", "n_filled", "n_changes", "active_seconds"),
    *("order", "seconds_by_section", "changes_by_section"),
)
OF_SECTION = ("section", "title", "n_blanks", "n_stopped", "n_changes", "median_minutes", "n_timed")
OF_OUTCOMES = ("source", "answered", "declined", "unreadable", "missing", "expected", "lost_percent")


def progress(found: Results) -> Rows:
    yield from (_named(row, OF_GROUP) for row in found["progress"]["groups"])


def pass_rates(found: Results) -> Rows:
    rates = found["pass_rates"] or {"items": []}
    rows = [*rates["items"], {"item": "mean"} | rates["mean"]] if rates["items"] else []
    for row in rows:
        for cell in [{"source": "all"} | row["overall"], *row["by_source"]]:
            yield _item(row) | {"source": cell["source"], "n_yes": cell["n_yes"]} | _estimate(cell, "pass_rate_percent")


def ratings(found: Results) -> Rows:
    for row in found["ratings"]:
        for cell in [{"source": "all"} | row["overall"], *row["by_source"]]:
            yield _item(row) | {"source": cell["source"], "sd": cell.get("sd")} | _estimate(cell, "mean")


def shares(found: Results) -> Rows:
    for row in found["shares"]:
        for option in row["options"]:
            for cell in [{"source": "all", "n": option["n"], "of": row["n"]}, *option["by_source"]]:
                yield _item(row) | {"option": option["value"]} | _named(cell, ("source", "n", "of"))


def agreement(found: Results) -> Rows:
    for row in found["agreement"]["items"]:
        told = row["coefficient"]
        yield _item(row) | {
            "coefficient": told.get("name", ""),
            "value": told["value"],
            "low": row["interval"]["low"],
            "high": row["interval"]["high"],
            "chance_mean": row["floor"]["mean"],
            "chance_upper": row["floor"]["upper"],
            "n_units": told.get("n_units"),
            "n_raters": told.get("n_raters"),
            "percent_agreement": row["percent_agreement"]["value"],
            "yes_percent": (row["yes_percent"] or {}).get("value"),
            "alpha": (row["alpha"] or told)["value"],
            "among_models": (row.get("among_models") or {}).get("value"),
            **{f"within {each['source']}": each["value"] for each in row.get("within_source", [])},
            "note": told.get("why") or told["note"],
        }


def tests_passed(found: Results) -> Rows:
    for story in (found["tests_passed"] or {"stories": []})["stories"]:
        yield {name: story[name] for name in ("group", "story", "source", "value", "n_raters")}


def preferences(found: Results) -> Rows:
    for row in found["preferences"]:
        first = {"what": "shown first", "source": "all"} | row["first"]
        for cell in [first, *({"what": "chosen"} | each for each in row["by_source"])]:
            told = {"what": cell["what"], "source": cell["source"], "n_so": cell["n_so"]}
            yield _item(row) | told | _estimate(cell, "percent")


def pairs(found: Results) -> Rows:
    for row in found["preferences"]:
        for group in row["groups"]:
            told = {"group": group["group"], "n": group["n"]}
            told["percent_agreement"] = group["percent_agreement"]["value"]
            for story in group["stories"] or [{}]:
                named = {"story": story.get("story"), "source": story.get("source")}
                counts = {"n_chosen": story.get("n"), "n_shown_first": story.get("n_shown_first")}
                yield _item(row) | told | named | counts


def rankings(found: Results) -> Rows:
    for row in found["rankings"]:
        for cell in row["by_source"]:
            yield _item(row) | {
                "source": cell["source"],
                "mean_rank": cell["mean_rank"]["value"],
                "low": cell["interval"]["low"],
                "high": cell["interval"]["high"],
                "first_percent": cell["first_percent"],
                "n_rankings": row["n_rankings"],
            }


def authorship(found: Results) -> Rows:
    for row in found["authorship"]:
        for cell in row["by_source"]:
            for option, n in zip(row["options"], cell["n_by_option"], strict=True):
                told = {"source": cell["source"], "source_kind": cell["source_kind"]}
                yield _item(row) | told | {"guess": option["value"], "n": n, "of": cell["n"]}


def checks(found: Results) -> Rows:
    for row in found["checks"]:
        told = {"question": row["question"], "correct": row["correct"], "n_right": row["n_right"]}
        yield _item(row) | told | _estimate(row, "percent_right") | {"n_failed": row["n_failed"]}


def surveys(found: Results) -> Rows:
    for row in found["surveys"]:
        told = {"question": row["question"], "n": row["n"], "mean": row["mean"], "sd": row["sd"]}
        for option in row["options"] or [{}]:
            yield _item(row) | told | {"option": option.get("value"), "n_option": option.get("n")}


def cloze(found: Results) -> Rows:
    yield from (_named(row, OF_WRITER) for row in (found["cloze"] or {"writers": []})["writers"])


def cloze_sections(found: Results) -> Rows:
    yield from (_named(row, OF_SECTION) for row in (found["cloze"] or {"sections": []})["sections"])


def judges(found: Results) -> Rows:
    for judge in found["judges"]:
        for row in [*judge["items"], {"item": "pooled"} | judge["pooled"]]:
            yield (
                {"judge": judge["judge"]}
                | _item(row)
                | {
                    "kappa": row["kappa"]["value"],
                    "balanced_accuracy": row["balanced_accuracy"]["value"],
                    "yes_percent": row["yes_percent"],
                    "majority_yes_percent": row["majority_yes_percent"],
                    "n": row["n"],
                    "note": row["kappa"].get("why") or row["kappa"].get("note", ""),
                }
            )


def lost_verdicts(found: Results) -> Rows:
    for judge in found["judges"]:
        for cell in [{"source": "all"} | judge["outcomes"], *judge["outcomes"]["by_source"]]:
            yield {"judge": judge["judge"]} | _named(cell, OF_OUTCOMES)


TABLES: dict[str, Callable[[Results], Rows]] = {
    each.__name__.replace("_", "-"): each
    for each in (
        progress,
        pass_rates,
        ratings,
        shares,
        agreement,
        tests_passed,
        preferences,
        pairs,
        rankings,
        authorship,
        checks,
        surveys,
        cloze,
        cloze_sections,
        judges,
        lost_verdicts,
    )
}


def _item(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row.get(name, "") for name in OF_ITEM}


def _named(row: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _estimate(cell: dict[str, Any], name: str) -> dict[str, Any]:
    ends = cell.get("interval", {})
    note = cell.get("why") or ends.get("why") or ends.get("note", "")
    return {"n": cell["n"], name: cell["value"], "low": ends.get("low"), "high": ends.get("high"), "note": note}


def csv_lines(header: Iterable[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The lines of a CSV file, one at a time; lists and tables in a cell as JSON, what is missing as nothing."""
    names = list(header)
    writer = csv.writer(_Echo())
    yield writer.writerow(names)
    for row in rows:
        yield writer.writerow([_cell(row.get(name)) for name in names])


def spreadsheet_lines(header: Iterable[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The same as a spreadsheet can open it: marked as UTF-8, and no cell can be run as a formula.

    Raters write what they like, and a cell that begins like a formula would be computed on the machine of whoever opens
    the file. An apostrophe before it makes it text. Where lists are separated by semicolons, as in Brazil, spreadsheets
    open the file as if it were so too: a cell then begins inside a value.
    """
    yield BYTE_ORDER_MARK
    names = list(header)
    yield from csv_lines(names, ({name: _harmless(_cell(row.get(name))) for name in names} for row in rows))


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _harmless(value: Any) -> Any:
    return FORMULA.sub("'", value) if isinstance(value, str) and not NUMBER.fullmatch(value) else value


class _Echo:
    """What the writer writes to: it hands each line back instead of keeping it."""

    def write(self, line: str) -> str:
        return line
