"""What other numbers rest on, and where a study stands: progress, answers that judges did not give, what they cost."""

import json
from collections import Counter, defaultdict
from functools import partial

import pandas as pd

from tests.independent import jury
from tests.independent.composites import find_score, items_of
from tests.independent.material import Decimal, Whole, is_among
from tests.independent.words import readings


def sources(package, result, check):
    """How many stories each source has."""
    of_source = (
        package.stories.drop_duplicates("story")["source"] if "source" in package.stories else pd.Series(dtype=str)
    )
    for row in result:
        check.number(f"sources/{row['source']}", row["n_stories"], (of_source == row["source"]).sum())


def study(package, result, check):
    """The seed is taken from here, and checked with what was frozen."""
    versions = json.loads((package.folder / "protocol.json").read_text(encoding="utf-8"))["versions"]
    check.number("study/seed", result["seed"], versions[-1]["document"].get("seed"))
    if result["protocol"]:
        check.number("study/version", result["protocol"]["version"], versions[-1]["version"])


def same_seeds(package, report, check):
    """Seed and number of resamples, which figures repeat."""
    for name in ("agreement", "pass_rates", "preferences"):
        for row in report[name] if isinstance(report[name], list) else [report[name]]:
            if row and "n_resamples" in row:
                check.number(f"{name}/n_resamples", row["n_resamples"], 1000)
            if row and "seed" in row:
                check.number(f"{name}/seed", row["seed"], report["study"]["seed"])


def progress(package, result, check):
    """Seats and invitations, and answers that are not taken along, are in no package: they are not computed."""
    people, seats = package.people, package.table("assignments")
    answered = people[(people["outcome"] == "answered") & (people["group"] != "")]
    in_groups = package.stories[package.stories["group"] != ""]
    check.numbers("progress", result, n_groups=in_groups["group"].nunique(), n_stories=in_groups["story"].nunique())
    check.numbers("progress", result, n_raters=people["rater"].nunique(), n_answers=len(answered))
    of_people = seats[(seats["rater_kind"] == "person") & (seats["group"] != "") & (seats["seat"] != "")]
    of_people = of_people[of_people["is_second_reading"] != "True"]
    n_by_status = Counter(zip(of_people["group"], of_people["status"], strict=True))
    is_whole = not package.n_withdrawn
    for row in result["groups"]:
        group = row["group"]
        counts = {"n_submitted": n_by_status[group, "submitted"], "n_open": n_by_status[group, "open"]}
        n_stories = (in_groups["group"] == group).sum()
        check.numbers(f"progress/{group}", row, n_stories=n_stories, **(counts if is_whole else {}))
        if is_whole:
            check.number(f"progress/{group}/free", row["n_free"], row["n_seats"] - sum(counts.values()))
    if is_whole:
        n = {
            status: sum(n_by_status[row["group"], status] for row in result["groups"])
            for status in ("submitted", "open")
        }
        check.numbers("progress", result, n_submitted=n["submitted"], n_open=n["open"])
        check.number("progress/seats", result["n_seats"], sum(row["n_seats"] for row in result["groups"]))
    by_status = package.all_people
    by_status = by_status[by_status["outcome"] == "answered"]["status"].value_counts()
    names = ("open", "given_up", "simulated", "withdrawn") if is_whole else ("open", "given_up", "simulated")
    check.numbers("progress/left_out", result["left_out"], **{name: by_status.get(name, 0) for name in names})
    for row in result["judges"]:
        own = package.one_value[package.one_value["rater"] == row["judge"]]
        check.number(f"progress/{row['judge']}", row["n_answered"], (own["outcome"] == "answered").sum())
    if result["median_minutes_per_story"] is not None and (package.folder / "timings.csv").exists():
        table = readings(package)
        minutes = table.loc[table["minutes"] > 0, "minutes"].median()
        check.number("progress/minutes", result["median_minutes_per_story"], minutes)


def outcomes(package, report, check):
    """What became of the answers that each judge was expected to give to the items of a figure, by source."""
    sides = {
        "judges": (report["judges"] or {}).get("compared") or [],
        **{name: report[name] or [] for name in ("judges_on_scores", "judges_on_scales", "judges_on_choices")},
        **{name: report[name] or [] for name in ("judges_on_pairs", "judges_on_rankings")},
        "judges_on_standard": of_standard(report["judges_on_standard"]),
    }
    for name, rows in sides.items():
        for row in rows:
            is_alone = "item" in row
            asked = [row] if is_alone else row["items"]
            keys = keys_of(package, asked)
            own = package.one_value[package.one_value["rater"] == row["judge"]]
            if jury.is_made(row["judge"]):
                about = [item for item in package.items if item["is_about_a_story"]]
                own = pd.concat([jury.answers_of(package, row["judge"], item) for item in about])
            own = own[[key in keys for key in zip(own["step"], own["item"], strict=True)]]
            units = [unit for unit in package.units if package.is_asked(row["judge"], unit[0])]
            units = package.group_units if is_alone else units
            tables = [row["outcomes"]] + ([row["scores"]["outcomes"]] if name == "judges" else [])
            for stored in (part for table in tables for part in [table, *table["by_source"]]):
                source = stored.get("source", "")
                is_of_source = partial(is_of, package, source, is_alone)
                n_units = sum(is_of_source(*unit) for unit in units)
                part = own[[is_of_source(*unit) for unit in zip(own["group"], own["story"], strict=True)]]
                count_outcomes(f"{name}/{row['judge']}/{source}", stored, part, len(keys) * n_units, check)


def of_standard(result):
    """Every judge that is held against the labels of a standard."""
    if not result:
        return []
    of_pairs = [judge for row in result["pairs"] for judge in row["judges"]]
    return [*result["verdicts"], *result["choices"], *result["scales"], *of_pairs]


def keys_of(package, rows):
    """Which items the rows are about; of scores those that these are made of."""
    scores = [find_score(package, f"{row['step']}/{row['item']}") for row in rows]
    items = [item for score in scores if score for item in items_of(package, score)] or rows
    return {(item["step"], item["item"]) for item in items}


def is_of(package, source, is_alone, group, story):
    """Whether a story, or one of the group if the answer is about all of it, is of that source; "" is every source."""
    stories = [of_group for name, of_group in package.units if name == group] if is_alone else [story]
    return source == "" or any(package.source_by_story.get(code) == source for code in stories)


def count_outcomes(place, stored, rows, n_expected, check):
    """How many of the answers that were expected came, and what became of the others."""
    n = {name: (rows["outcome"] == name).sum() for name in ("answered", "declined", "unreadable")}
    n_lost = n_expected - n["answered"]
    lost = 100 * n_lost / n_expected if n_expected else None
    check.numbers(place, stored, **n, expected=n_expected, lost_percent=lost)
    check.number(f"{place}.missing", stored["missing"], n_lost - n["declined"] - n["unreadable"])


def judge_costs(package, result, check):
    """Of all requests to a judge what they cost, in dollars; by story."""
    path = package.folder / "judge_calls.jsonl"
    if not path.exists():
        return
    calls = defaultdict(list)
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            call = json.loads(line)
            if not call["intervention"]:
                calls[call["judge"]].append(call)
    for row in result:
        own, place = calls[row["judge"]], f"judge_costs/{row['judge']}"
        attempts = [a for call in own for a in call["attempts"] if a["outcome"] != "reused"]
        costs = [float(a["cost"]) for a in attempts if a["cost"] is not None]
        n_stories, cost = len({call["story"] for call in own} - {""}), sum(costs) if costs else None
        check.numbers(place, row, n_calls=len(own), n_requests=len(attempts), n_stories=n_stories, cost=cost)
        check.number(f"{place}/story", row["per_story"], cost / n_stories if costs and n_stories else None)
        n_unknown = sum(a["cost"] is None and a["outcome"] != "" for a in attempts)
        paid = [sum(float(a["cost"] or 0) > 0 for a in call["attempts"] if a["outcome"] != "reused") for call in own]
        check.numbers(place, row, n_without_cost=n_unknown, n_paid_again=sum(n > 1 for n in paid))
        tokens = {name: sum(a[name] or 0 for a in attempts) for name in ("n_tokens_in", "n_tokens_out")}
        check.numbers(place, row, **tokens)
        states = Counter(call["state"] for call in own)
        for name, of in {
            "n_without_reply": ("provider_error",),
            "n_not_asked": ("not_asked", "budget_stopped"),
        }.items():
            if name in row:
                check.number(f"{place}.{name}", row[name], sum(states[state] for state in of))


def what_parts_rest_on(package, report, check):
    """Of a judge's statistics how many stories and how many people they rest on, and of how many they are the mean."""
    for name in ("judges", "judges_on_scores", "judges_on_scales", "judges_on_choices"):
        rows = report[name]["compared"] if name == "judges" and report[name] else report[name] or []
        for row in rows:
            scores = row["scores"] if name == "judges" else row
            answers = package.people
            keys = keys_of(package, scores["items"])
            n_people = answers.loc[is_among(answers, keys), "rater"].nunique()
            check.number(f"{name}/{row['judge']}/people", scores["n_people"], n_people)
            of_items = [score for item in scores["items"] for score in item["scores"]]
            for part in (part for score in [*scores["scores"], *of_items] for part in score["parts"]):
                if isinstance(part.get("n_raters"), Decimal | Whole):
                    check.number(f"{name}/{row['judge']}/n_raters", part["n_raters"], n_people)
