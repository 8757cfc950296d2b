"""Words and minutes: how people explain their answers, and how long they take."""

import pandas as pd

from tests.independent.material import NO_LENGTHS, place_of

EXPLANATIONS = 62  # of the seed


def explanations(package, result, check):
    """Of all answers, and of each value, how many have an explanation, and its words."""
    keys = [(item["step"], item["item"]) for item in package.items]
    for row in result:
        item, place = package.item(row), place_of("explanations", row)
        answers = package.answers(row["step"], row["item"])
        answers = answers.assign(number=answers["rationale"].map(lambda text: float(len(text.split()))))
        for n, stored in enumerate([row["overall"], *row["by_value"]]):
            value = stored["value"]
            part = answers if n == 0 else answers[answers["value"] == value]
            explained, label = part[part["number"] > 0], f"{place}/{value}"
            check.numbers(label, stored, n=len(part), n_explained=len(explained))
            words = explained["number"]
            check.numbers(label, stored, mean_words=words.mean(), median_words=words.median())
            if not item["is_about_a_story"] and not (explained["group"] != "").all():
                explained = explained.assign(cluster=explained["rater"])
            seed = (package.seed, EXPLANATIONS, keys.index((row["step"], row["item"])), n)
            check.interval(label, stored["interval"], "of_mean", explained, seed, (0, None))


def readings(package):
    """What people were asked about one story at a time: minutes, words of the story, words written, place."""
    key = ["rater", "group", "seat"]
    steps = package.steps("story")
    people = package.people
    timings = package.table("timings")
    timings = timings[timings["step"].isin(steps) & (timings["story"] != "")]
    timings = timings.merge(people[key].drop_duplicates().astype(str), on=key)
    seconds = timings.assign(n=pd.to_numeric(timings["active_seconds"])).groupby([*key, "story"])["n"].sum()
    answered = people[people["step"].isin({item["step"] for item in package.items}) & people["step"].isin(steps)]
    table = pd.concat([seconds.reset_index()[[*key, "story"]], answered[[*key, "story"]]]).drop_duplicates()
    words = people[people["step"].isin(steps)]
    written = words.assign(n=words["rationale"].map(lambda text: len(text.split()))).groupby([*key, "story"])["n"].sum()
    index = pd.MultiIndex.from_frame(table[[*key, "story"]])
    n_words = dict(zip(package.stories["story"], pd.to_numeric(package.stories["n_words"]), strict=True))
    places = place_by_story(package)
    return table.assign(
        minutes=seconds.reindex(index, fill_value=0).to_numpy() / 60,
        n_written=written.reindex(index, fill_value=0).to_numpy(),
        n_words=table["story"].map(n_words),
        place=[places.get(row) for row in index],
    )


def place_by_story(package):
    """Which of all stories that the rater was given each is; groups given back unread are not counted."""
    seats = package.table("assignments")
    seats = seats[(seats["rater_kind"] == "person") & (seats["seat"] != "") & (seats["position"] != "")]
    seats = seats.assign(position=pd.to_numeric(seats["position"])).sort_values("position", kind="stable")
    places, n_read = {}, {}
    for row in seats.itertuples():
        stories = package.parse(row.stories)
        before = n_read.get(row.rater, 0)
        places |= {(row.rater, row.group, row.seat, story): before + n for n, story in enumerate(stories, start=1)}
        n_read[row.rater] = before + (0 if row.read_before == "True" else len(stories))
    return places


def pace(package, result, check):
    """Minutes a story, of all, by rater and by place in the rater's order; words read and written in a minute."""
    if not (package.folder / "timings.csv").exists():
        return
    table = readings(package)
    timed = table[table["minutes"] > 0]
    middle = timed.groupby("rater")["minutes"].median()
    check.number("pace/median", result["median_minutes"], timed["minutes"].median())
    for row in result["raters"]:
        own, place = table[table["rater"] == row["rater"]], f"pace/{row['rater']}"
        with_time = own[own["minutes"] > 0]
        with_text = with_time[with_time["n_words"] > 0]
        check.numbers(place, row, n_stories=len(own), n_untimed=len(own) - len(with_time))
        check.number(f"{place}/median", row["median_minutes"], middle.get(row["rater"]))
        check.number(f"{place}.words_written", row["words_written"], per_minute(with_time, "n_written"))
        if package.has_lengths:
            check.number(f"{place}.words_read", row["words_read"], per_minute(with_text, "n_words"))
        else:
            check.leave(row["words_read"], NO_LENGTHS)
    shares = timed.assign(percent=100 * timed["minutes"] / timed["rater"].map(middle)).dropna(subset=["place"])
    for n, row in zip(sorted(set(shares["place"])), result["places"], strict=True):
        part = shares[shares["place"] == n]
        medians = {"median_minutes": part["minutes"].median(), "percent_of_own": part["percent"].median()}
        check.numbers(f"pace/place {n}", row, place=n, n=len(part), **medians)


def per_minute(table, name):
    """The sum of a column by the sum of the minutes; None without any rows."""
    return table[name].sum() / table["minutes"].sum() if len(table) else None
