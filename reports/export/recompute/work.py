"""How a study went: its stories and seats, how people worked and explained, what judges cost, what was read twice."""

import hashlib
import json
import tomllib
from collections import Counter, defaultdict
from statistics import median

import numpy as np
import pandas as pd
from recompute.readings import is_about
from recompute.values import NO_LENGTHS, NOT_TAKEN, Left, floor_of, mean_interval, share_of

from stats import cloze as cloze_statistics
from stats import repeats as second_answers

EXPLANATIONS, REPEATS = 62, 55  # of the seed
OF_NO_TEXT = hashlib.sha256(b"").hexdigest()
READING = ["rater", "group", "seat", "story"]
ENDED = ("dropped_out", "submitted", "shortlisted")


def sources(package):
    """How many stories each source has."""
    of_source = package.stories.drop_duplicates("story").get("source", pd.Series(dtype=str))
    return [
        {"source": row["source"], "n_stories": (of_source == row["source"]).sum()} for row in package.report["sources"]
    ]


def study(package):
    """The seed and the version as they were frozen."""
    version = {"version": package.versions[-1]["version"]} if package.report["study"]["protocol"] else None
    return {"seed": package.document.get("seed"), "protocol": version}


def progress(package):
    """How far it has come; how many seats there are, and who withdrew, stands in no package."""
    people, seats = package.people, package.table("assignments")
    seats = seats[(seats["rater_kind"] == "person") & (seats["seat"] != "") & (seats["is_second_reading"] != "True")]
    n_by_status = Counter(zip(seats["group"], seats["status"], strict=True))
    names = {"n_submitted": "submitted", "n_open": "open"} if package.is_whole else {}
    groups = []
    for stored in package.report["progress"]["groups"]:
        counts = {name: n_by_status[stored["group"], status] for name, status in names.items()}
        free = {"n_free": stored["n_seats"] - sum(counts.values())} if counts else {}
        n_stories = sum(group == stored["group"] for group, _story in package.units)
        groups.append({"group": stored["group"], "n_stories": n_stories} | counts | free)
    left_out = package.everybody[package.everybody["outcome"] == "answered"]["status"].value_counts()
    kind_by_judge = dict(zip(package.judges["rater"], package.judges["rater_kind"], strict=True))
    answered = package.judges.loc[package.judges["outcome"] == "answered", "rater"].value_counts()
    middle = timed(package)["minutes"].median() if package.has("timings") else Left(NOT_TAKEN)
    return {
        "n_groups": len(package.groups),
        "n_stories": len({story for _group, story in package.units}),
        "n_raters": people["rater"].nunique(),
        "n_answers": ((people["outcome"] == "answered") & (people["group"] != "")).sum(),
        "n_seats": sum(row["n_seats"] for row in package.report["progress"]["groups"]),
        **{name: sum(group[name] for group in groups) for name in names},
        "groups": groups,
        "left_out": {
            status: left_out.get(status, 0)
            for status in ("open", "given_up", "simulated", *(["withdrawn"] if package.is_whole else []))
        },
        "judges": [
            {"judge": name, "kind": kind, "n_answered": answered.get(name, 0)}
            for name, kind in sorted(kind_by_judge.items())
        ],
        "median_minutes_per_story": middle,
    }


def judge_costs(package):
    """Of all requests to a judge what they cost, in dollars; by story."""
    path, calls_by_judge = package.folder / "judge_calls.jsonl", defaultdict(list)
    if not path.exists():
        return Left(NOT_TAKEN)
    with path.open(encoding="utf-8") as lines:
        for call in map(json.loads, lines):
            call["attempts"] = [attempt for attempt in call["attempts"] if attempt["outcome"] != "reused"]
            if not call["intervention"]:
                calls_by_judge[call["judge"]].append(call)
    return [costs_of(row["judge"], calls_by_judge[row["judge"]]) for row in package.report["judge_costs"]]


def costs_of(judge, calls):
    attempts = [attempt for call in calls for attempt in call["attempts"]]
    costs = [float(attempt["cost"]) for attempt in attempts if attempt["cost"] is not None]
    n_stories, cost = len({call["story"] for call in calls} - {""}), sum(costs) if costs else None
    states = Counter(call["state"] for call in calls)
    return {
        "judge": judge,
        "cost": cost,
        "per_story": cost / n_stories if costs and n_stories else None,
        "n_stories": n_stories,
        "n_calls": len(calls),
        "n_requests": len(attempts),
        "n_without_cost": sum(a["cost"] is None and a["outcome"] != "" for a in attempts),
        "n_paid_again": sum(sum(float(a["cost"] or 0) > 0 for a in call["attempts"]) > 1 for call in calls),
        **{name: sum(a[name] or 0 for a in attempts) for name in ("n_tokens_in", "n_tokens_out")},
        "n_without_reply": states["provider_error"],
        "n_not_asked": states["not_asked"] + states["budget_stopped"],
    }


# ── words and minutes ──────────────────────────────────────────────────────────────────────────────────────────────


def count_words(texts):
    return texts.map(lambda text: float(len(text.split())))


def explanations(package):
    """Of all answers, and of those of each value, how many have an explanation, and its words."""
    rows = []
    for salt, item in enumerate(package.items):
        answers = package.answers_to(item)
        answers = answers.assign(words=count_words(answers["rationale"]))
        if not (answers["words"] > 0).any():
            continue
        values = ["yes", "no"] if item.is_verdict else list(item.position_by_value)
        parts = [("", answers), *((value, answers[answers["value"] == value]) for value in values)]
        of_parts = [explained(package, value, part, (salt, n)) for n, (value, part) in enumerate(parts)]
        rows.append(item.fields | {"overall": of_parts[0], "by_value": of_parts[1:]})
    return rows


def explained(package, value, answers, salt):
    own = answers[answers["words"] > 0]
    words, row = own["words"].to_numpy(), {"value": value, "n": len(answers), "n_explained": len(own)}
    if not words.size:
        return row | {"median_words": None, "mean_words": None}
    clusters = list(own["rater"])  # what is asked once stands in no group
    if (own["group"] != "").all():
        clusters = package.clusters(zip(own["group"], own["story"], strict=True))
    ends = mean_interval(words, clusters, package.rng(EXPLANATIONS, *salt), (0, np.inf))
    return row | {"median_words": median(words), "mean_words": words.mean(), "interval": ends}


def read_timings(package):
    """Of what people were asked about one story at a time minutes, words of the story, words written, and its place."""
    steps, people = package.steps("story"), package.people.astype({"seat": str})
    table = package.table("timings")
    table = table[table["step"].isin(steps) & (table["story"] != "")]
    table = table.merge(people[READING[:3]].drop_duplicates(), on=READING[:3])
    seconds = table.assign(n=pd.to_numeric(table["active_seconds"])).groupby(READING)["n"].sum()
    answers = people[people["step"].isin(steps)]
    answered = answers[answers["step"].isin({item.step for item in package.items})]
    readings = pd.concat([seconds.reset_index()[READING], answered[READING]]).drop_duplicates()
    n_written = answers.assign(n=count_words(answers["rationale"])).groupby(READING)["n"].sum()
    index, places = pd.MultiIndex.from_frame(readings), place_by_reading(package)
    return readings.assign(
        minutes=seconds.reindex(index, fill_value=0).to_numpy() / 60,
        n_written=n_written.reindex(index, fill_value=0).to_numpy(),
        n_words=readings["story"].map(package.n_words),
        place=[places.get(key, np.nan) for key in index],
    )


def timed(package):
    readings = read_timings(package)
    return readings[readings["minutes"] > 0]


def place_by_reading(package):
    """Which of all stories that the rater was given each is; groups given back unread are not counted."""
    seats, places, n_read = package.table("assignments"), {}, Counter()
    seats = seats[(seats["rater_kind"] == "person") & (seats["seat"] != "") & (seats["position"] != "")]
    seats = seats.assign(position=pd.to_numeric(seats["position"])).sort_values("position", kind="stable")
    for row in seats.itertuples():
        stories = json.loads(row.stories or "[]")
        for n, story in enumerate(stories, start=1):
            places[row.rater, row.group, row.seat, story] = n_read[row.rater] + n
        n_read[row.rater] += 0 if row.read_before == "True" else len(stories)
    return places


def pace(package):
    """Minutes a story, of all, by rater and by place in the rater's order; words read and written in a minute."""
    if not package.has("timings"):
        return Left(NOT_TAKEN)
    readings = read_timings(package)
    with_time = readings[readings["minutes"] > 0]
    middle, raters = with_time.groupby("rater")["minutes"].median(), []
    for rater, own in readings.groupby("rater"):
        part = own[own["minutes"] > 0]
        fields = {"rater": rater, "n_stories": len(own), "n_untimed": len(own) - len(part)}
        fields["words_read"] = per_minute(part[part["n_words"] > 0], "n_words")
        if not package.has_lengths:
            fields["words_read"] = Left(NO_LENGTHS)
        raters.append(fields | {"median_minutes": middle.get(rater), "words_written": per_minute(part, "n_written")})
    with_time = with_time.assign(percent=100 * with_time["minutes"] / with_time["rater"].map(middle))
    places = [
        {
            "place": place,
            "n": len(part),
            "median_minutes": part["minutes"].median(),
            "percent_of_own": part["percent"].median(),
        }
        for place, part in with_time.groupby("place")
    ]
    return {"median_minutes": with_time["minutes"].median(), "raters": raters, "places": places}


def per_minute(readings, name):
    return readings[name].sum() / readings["minutes"].sum() if len(readings) else None


# ── what was read twice ────────────────────────────────────────────────────────────────────────────────────────────


def repeats(package):
    """How often two answers of a rater about one text are the same, and how far apart they are on a scale."""
    if not package.has_lengths:  # nor what tells which texts are the same
        return Left(NO_LENGTHS)
    rows, items = [], [item for item in package.items if item.is_verdict or item.is_scale]
    for salt, item in enumerate(items):
        pairs = pairs_of(package, item) if item.is_about_a_story else []
        raters = sorted({rater for rater, *_pair in pairs})
        for n, rater in enumerate(["", *raters] if pairs else []):
            own = [pair for pair in pairs if rater in ("", pair[0])]
            rows.append(item.fields | {"rater": rater} | answered_twice(package, item, own, (salt, n)))
    return rows


def pairs_of(package, item):
    """Of each rater and text that have two answers: rater, text, and the first two."""
    answers = pd.concat([package.answers_to(item), package.read_again[is_about(package.read_again, [item])]])
    answers = answers.sort_values(["rater", "group", "story"], kind="stable")
    texts = dict(zip(package.stories["story"], package.stories["sha256"], strict=True))
    numbers = defaultdict(list)
    for rater, story, number in zip(answers["rater"], answers["story"], answers["number"], strict=True):
        text = texts[story] if texts[story] not in ("", OF_NO_TEXT) else story
        numbers[rater, text].append(number)
    return [(*key, *values[:2]) for key, values in numbers.items() if len(values) > 1]


def answered_twice(package, item, pairs, salt):
    raters, texts, *both = zip(*pairs, strict=True)
    first, second = map(np.array, both)
    floor = second_answers.same_share_floor(first, second, raters, rng=package.rng(REPEATS, *salt, 1))
    return {
        "n": len(pairs),
        "n_raters": len(set(raters)),
        "n_stories": len(set(texts)),
        "percent_same": second_answers.same_share(first, second),
        "interval": mean_interval(100.0 * (first == second), texts, package.resampling(), (0, 100)),
        "floor": floor_of(floor),
        "mean_change": second_answers.mean_change(first, second) if item.is_scale else None,
    }


# ── who filled the blanks ──────────────────────────────────────────────────────────────────────────────────────────


def cloze(package):
    """The groups of writers and how far they came. What became of each, and where one stopped, is the report's."""
    stored = package.report["cloze"]
    if not (package.has("events") and package.has("cloze")):
        return Left(NOT_TAKEN)
    section_by_blank = sections_of(package, stored["slug"])
    blanks = Counter(section_by_blank.values())
    people, models = ([row for row in stored["writers"] if row["kind"] == kind] for kind in ("person", "model"))
    return {
        "n_blanks": len(section_by_blank),
        "people": groups_of(people),
        "models": groups_of(models),
        "writers": [writer(package, row, section_by_blank) for row in stored["writers"]],
        "completion": [*completion("person", people, blanks), *completion("model", models, blanks)],
        "sections": [section_row(people, number, n) for number, n in sorted(blanks.items())],
    }


def sections_of(package, slug):
    """The section of each blank, as the protocol has it."""
    texts = [row["cloze"]["document"] for row in package.document["instruments"].values() if row.get("cloze")]
    document = next(text for text in map(tomllib.loads, texts) if text["slug"] == slug)
    return {blank["number"]: blank["section"] for blank in document["blanks"]}


def writer(package, stored, section_by_blank):
    events, texts = (rows[rows["rater"] == stored["rater"]] for rows in (package.saves, package.table("cloze")))
    saves = [
        (int(item.removeprefix("blank-")), words["value"] if isinstance(words["value"], str) else "")
        for item, words in zip(events["item"], map(json.loads, events["words"]), strict=True)
    ]
    changes, by_section = cloze_statistics.count_changes(saves), Counter()
    for blank, n in changes.items():
        by_section[str(section_by_blank[blank])] += n
    return {
        "n_filled": (texts["text"].str.strip() != "").sum(),
        "n_changes": sum(changes.values()),
        "order": cloze_statistics.filling_order(saves),
        "changes_by_section": by_section,
        "active_seconds": sum(stored["seconds_by_section"].values()),
    }


def groups_of(writers):
    n_by_outcome = Counter(row["outcome"] for row in writers)
    n = sum(n_by_outcome[group] for group in ENDED)
    groups = [{"group": group, "n": n_by_outcome[group]} | part_of(n_by_outcome[group], n) for group in ENDED]
    return {"n": n, "groups": groups} | {
        f"n_{outcome}": n_by_outcome[outcome] for outcome in ("at_work", "never_begun", "unreadable")
    }


def completion(kind, writers, blanks):
    """How many got through each section, of those who have ended."""
    ends = [row["stopped_at"] for row in writers if row["outcome"] in ENDED]
    for section in sorted(blanks) if ends else ():
        n = sum(end is None or end > section for end in ends)
        yield {"kind": kind, "section": section, "n": len(ends), "n_through": n} | part_of(n, len(ends))


def part_of(n, n_of):
    """So many of so many writers, of which nothing is drawn anew."""
    fields = share_of(n, n_of)
    return fields | {"interval": {name: fields["interval"][name] for name in ("low", "high")}}


def section_row(people, number, n_blanks):
    minutes = [seconds / 60 for row in people if (seconds := row["seconds_by_section"].get(str(number)))]
    return {
        "section": number,
        "n_blanks": n_blanks,
        "n_stopped": sum(row["stopped_at"] == number for row in people),
        "n_changes": sum(row["changes_by_section"].get(str(number), 0) for row in people),
        "median_minutes": median(minutes) if minutes else None,
        "n_timed": len(minutes),
    }
