"""Who filled the blanks of a text, in which order, and how far writers came."""

import json
import tomllib
from itertools import groupby
from statistics import median

import pandas as pd

from tests.independent import intervals

STATES = ("dropped_out", "submitted", "shortlisted")


def cloze(package, result, check):
    """Which group a writer belongs to, and where one stopped, is taken from the report's own rows of writers."""
    if not all((package.folder / f"{name}.csv").exists() for name in ("events", "cloze")):
        return
    sections = sections_of(package, result["slug"])
    check.number("cloze/n_blanks", result["n_blanks"], sum(map(len, sections.values())))
    events = package.table("events")
    saves = events.assign(seat=pd.to_numeric(events["seat"]), revision=pd.to_numeric(events["revision"]))
    saves = saves[(saves["words"] != "") & saves["item"].str.startswith("blank-")]
    texts = package.table("cloze")
    for row in result["writers"]:
        writer(row, saves[saves["rater"] == row["rater"]], texts[texts["rater"] == row["rater"]], sections, check)
    for kind, groups in (("person", result["people"]), ("model", result["models"])):
        rows = [row for row in result["writers"] if row["kind"] == kind]
        writers(f"cloze/{kind}", rows, groups, check)
        curve(
            [row for row in rows if row["outcome"] in STATES],
            [p for p in result["completion"] if p["kind"] == kind],
            check,
        )
    people = [row for row in result["writers"] if row["kind"] == "person"]
    for stored in result["sections"]:
        number, label = stored["section"], f"cloze/section {stored['section']}"
        seconds = [row["seconds_by_section"].get(str(number)) for row in people]
        minutes = [n / 60 for n in seconds if n]
        n_changes = sum(row["changes_by_section"].get(str(number), 0) for row in people)
        n_stopped = sum(row["stopped_at"] == number for row in people)
        check.numbers(label, stored, section=number, n_blanks=len(sections[number]), n_stopped=n_stopped)
        check.numbers(label, stored, n_changes=n_changes, n_timed=len(minutes))
        check.number(f"{label}/minutes", stored["median_minutes"], median(minutes) if minutes else None)


def sections_of(package, slug):
    """The blanks of each section, as the protocol has them: a line "## n" of the text opens one, {{k}} is a blank."""
    versions = json.loads((package.folder / "protocol.json").read_text(encoding="utf-8"))["versions"]
    instruments = versions[-1]["document"]["instruments"].values()
    texts = [i["cloze"]["document"] for i in instruments if i.get("cloze")]
    document = next(text for text in map(tomllib.loads, texts) if text["slug"] == slug)
    sections = {section["number"]: set() for section in document["sections"]}
    for blank in document["blanks"]:
        sections[blank["section"]].add(blank["number"])
    return sections


def writer(row, saves, texts, sections, check):
    """How many blanks are filled, the order in which they first were, and how often one was filled otherwise later."""
    place = f"cloze/{row['rater']}"
    check.number(f"{place}/filled", row["n_filled"], (texts["text"].str.strip() != "").sum())
    history = [
        (int(item.removeprefix("blank-")), text_of(words))
        for item, words in zip(saves["item"], saves["words"], strict=True)
    ]
    check.list(f"{place}/order", row["order"], list(dict.fromkeys(blank for blank, text in history if text.strip())))
    latest, n_by_blank = {}, {}
    for blank, of_blank in groupby(history, key=lambda save: save[0]):
        before, now = latest.get(blank, ""), list(of_blank)[-1][1]
        latest[blank] = now
        if now.strip():
            n_by_blank.setdefault(blank, 0)
        if before.strip() and before != now:
            n_by_blank[blank] += 1
    check.number(f"{place}/changes", row["n_changes"], sum(n_by_blank.values()))
    for number, stored in row["changes_by_section"].items():
        n = sum(n_by_blank.get(blank, 0) for blank in sections[int(number)])
        check.number(f"{place}/changes/{number}", stored, n)
    check.number(f"{place}/seconds", row["active_seconds"], sum(row["seconds_by_section"].values()))


def text_of(words):
    value = json.loads(words)["value"]
    return value if isinstance(value, str) else ""


def writers(place, rows, stored, check):
    """How many writers belong to each group, of those who have ended."""
    n = {
        state: sum(row["outcome"] == state for row in rows)
        for state in (*STATES, "at_work", "never_begun", "unreadable")
    }
    n_ended = sum(n[state] for state in STATES)
    others = {f"n_{state}": n[state] for state in ("at_work", "never_begun", "unreadable")}
    check.numbers(place, stored, n=n_ended, **others)
    for group in stored["groups"]:
        of_group = n[group["group"]]
        share(f"{place}/{group['group']}", group, of_group, n_ended, check)
        check.number(f"{place}/{group['group']}/n", group["n"], of_group)


def curve(rows, points, check):
    """How many got through each section."""
    for point in points:
        n_through = sum(row["stopped_at"] is None or row["stopped_at"] > point["section"] for row in rows)
        place = f"cloze/{point['kind']}/through {point['section']}"
        check.numbers(place, point, section=point["section"], n=len(rows), n_through=n_through)
        share(place, point, n_through, len(rows), check)


def share(place, stored, n, n_of, check):
    check.number(place, stored["value"], 100 * n / n_of if n_of else None)
    if n_of:
        low, high = intervals.wilson(n / n_of, n_of)
        check.numbers(place, stored["interval"], low=low, high=high)
