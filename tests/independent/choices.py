"""Which stories people preferred, how they ordered them, and who they thought wrote them."""

import json

import pandas as pd

from tests.independent import guessed_kinds, intervals
from tests.independent.contrasts import holm
from tests.independent.material import by_source, counts, percent_agreement, place_of


def preferences(package, result, check):
    """How often the story shown first, and each source, was chosen of a pair, in percent."""
    pairs = package.people_of("pairs")
    for row in result:
        chosen = pairs[(pairs["step"] == row["step"]) & (pairs["item"] == row["item"])].copy()
        chosen["stories"] = chosen["stories"].map(json.loads)
        chosen["cluster"] = chosen["group"].map(package.cluster_by_group)
        decided, place = chosen[chosen["chosen"] != ""], place_of("preferences", row)
        check.numbers(place, row, n=len(chosen), n_neither=len(chosen) - len(decided))
        known = decided[decided["order_is_known"] == "True"]
        first = known.assign(number=(known["chosen_position"] == "1") * 1.0, cluster=known["rater"], key=0)
        share(place + "/first", row["first"], first, package.draws, check)
        for stored in row["by_source"]:
            is_of = {story for story, source in package.source_by_story.items() if source == stored["source"]}
            stands = chosen["stories"].map(lambda order, is_of=is_of: 0 < len(is_of & set(order)) < len(order))
            won = chosen[stands.astype(bool)].assign(number=chosen["chosen"].isin(is_of) * 1.0, key=0)
            share(f"{place}/{stored['source']}", stored, won, package.draws, check)
        for stored in row["groups"]:
            of_group = chosen[chosen["group"] == stored["group"]]
            numbered = of_group.assign(number=of_group["chosen"], story="")
            agree = percent_agreement(counts(numbered, [(stored["group"], "")]))
            check.number(f"{place}/{stored['group']}", stored["percent_agreement"]["value"], agree)
            check.number(f"{place}/{stored['group']}/n", stored["n"], len(of_group))
            for story in stored["stories"]:
                n, label = (of_group["chosen"] == story["story"]).sum(), f"{place}/{stored['group']}/{story['story']}"
                check.number(label, story["n"], n)
                shown = of_group[of_group["order_is_known"] == "True"]["stories"]
                if len(shown):
                    check.number(f"{label}/first", story["n_shown_first"], (shown.str[0] == story["story"]).sum())


def share(place, stored, answers, seed, check):
    """A share in percent. answers : number 1 or 0, cluster, key"""
    value = 100 * answers["number"].mean() if len(answers) else None
    n_clusters = answers["cluster"].nunique()
    check.numbers(place, stored, value=value, n_so=answers["number"].sum(), n=len(answers), n_clusters=n_clusters)
    if len(answers):
        check.interval(place, stored["interval"], "of_rate", answers, seed)


def rankings(package, result, check):
    """Mean rank and first places of each source, and Kendall's W of each group."""
    ranks = package.people_of("rankings")
    for row in result:
        ranked = ranks[(ranks["step"] == row["step"]) & (ranks["item"] == row["item"])].copy()
        ranked["rank"], ranked["source"] = pd.to_numeric(ranked["rank"]), ranked["story"].map(package.source_by_story)
        readings = ranked.groupby(["rater", "group"])
        check.numbers(place_of("rankings", row), row, n_rankings=readings.ngroups, n_groups=ranked["group"].nunique())
        best = ranked.groupby(["rater", "group", "source"])["rank"].min().unstack("source")
        leads = best.eq(best.min(axis=1), axis=0)
        firsts = (100 * leads.div(leads.sum(axis=1), axis=0)).mean()
        means = ranked.groupby(["rater", "group", "source"])["rank"].mean().reset_index()
        means = means.rename(columns={"rank": "number"})
        means["cluster"] = means["group"].map(package.cluster_by_group)
        for stored in row["by_source"]:
            of_source, place = by_source(means, stored["source"]), place_of("rankings", row, stored["source"])
            check.number(place, stored["mean_rank"]["value"], of_source["number"].mean())
            check.number(f"{place}/first", stored["first_percent"], firsts.get(stored["source"]))
            bounds = (1, readings.size().max())
            check.interval(place, stored["interval"], "of_mean", of_source, package.draws, bounds)
        concordance(package, place_of("rankings", row, "W"), row["concordance"], ranked, check)


def concordance(package, place, stored, ranked, check):
    """Kendall's W with ties, of the raters who ranked every story of the group; None of fewer than two."""
    values, groups = [], []
    for part in stored["groups"]:
        table = ranked[ranked["group"] == part["group"]].pivot(index="rater", columns="story", values="rank")
        m, n = table.dropna().shape
        table = table.dropna().rank(axis=1)
        sums = table.sum()
        ties = sum((size**3 - size) for _, line in table.iterrows() for size in line.value_counts())
        widest = (m**2 * (n**3 - n) - m * ties) / 12
        w = ((sums - sums.mean()) ** 2).sum() / widest if m >= 2 and widest else None
        check.number(f"{place}/{part['group']}", part["value"], w)
        if w is not None:
            check.numbers(f"{place}/{part['group']}", part, n_raters=m, n_units=n)
            values.append((w, m))
            groups.append(part["group"])
    if values:
        table = pd.DataFrame({"number": [w for w, _ in values], "cluster": groups})
        table["cluster"] = table["cluster"].map(package.cluster_by_group)
        check.interval(place, stored["interval"], "of_mean", table, package.draws, (0, 1))
        check.number(place, stored["value"], sum(w for w, _ in values) / len(values))
        check.numbers(place, stored, n=len(values), n_left_out=len(stored["groups"]) - len(values))
        check.number(f"{place}/chance", stored.get("chance"), sum(1 / m for _, m in values) / len(values))
        spearman = [(m * w - 1) / (m - 1) for w, m in values]
        check.number(f"{place}/spearman", stored.get("mean_spearman"), sum(spearman) / len(spearman))


def authorship(package, result, check):
    """Guesses of who wrote a story: how many are right, and the mean of both recalls."""
    for row in result:
        options = package.item(row)["author_by_option"]
        guesses = package.answers(row["step"], row["item"]).dropna(subset=["source"])
        guessed, place = guesses["value"].map(options), place_of("authorship", row)
        kind = guesses["source"].map(package.kind_by_source)
        is_model, says_model = kind == "language_model", guessed == "language_model"
        recalls = [(says_model[is_model]).mean(), (~says_model[~is_model]).mean()]
        check.numbers(
            place,
            row,
            n=len(guesses),
            n_right=(kind == guessed).sum(),
            n_right_of_person_or_model=(is_model == says_model).sum(),
            always_model_percent=100 * is_model.mean() if len(guesses) else None,
        )
        is_mixed = is_model.any() and not is_model.all()
        check.number(f"{place}/balanced", row["balanced_accuracy"]["value"], sum(recalls) / 2 if is_mixed else None)
        if is_mixed and row["interval"]:
            clusters = package.clusters(guesses)
            sides = guesses.assign(is_human=~is_model * 1, right=(is_model == says_model) * 1, cluster=clusters)
            ends = intervals.of_recalls(sides, clusters, package.draws)
            ends = ends and [end / 100 for end in ends]
            check.ends(place, row["interval"], ends, clusters.nunique())
            labels = {"is_model": is_model, "says_model": says_model, "block": package.blocks(guesses)}
            others_too(place, row, guesses.assign(**labels), ends, check)
        check.number(f"{place}/raters", row["n_raters"], guesses["rater"].nunique())
    ps = pd.Series([row.get("p") for row in result], dtype=float)
    for row, p in zip(result, holm(ps.dropna()).reindex(ps.index), strict=True):
        check.number(f"{place_of('authorship', row)}/adjusted", row.get("p_adjusted"), None if pd.isna(p) else p)
    for row in result:
        place = place_of("authorship", row)
        guesses = package.answers(row["step"], row["item"]).dropna(subset=["source"])
        for stored in row["by_source"]:
            of_source = by_source(guesses, stored["source"])
            check.number(f"{place}/{stored['source']}/n", stored["n"], len(of_source))
            for option, n in zip(row["options"], stored["n_by_option"], strict=True):
                check.number(f"{place}/{stored['source']}", n, (of_source["value"] == option["value"]).sum())


def others_too(place, row, guesses, ends, check):
    """The interval for other raters and its p, to what a general method of maximising a likelihood gives."""
    said = {"low": row["wide"].get("low"), "high": row["wide"].get("high"), "p": row.get("p")}
    computed = guessed_kinds.of_other_raters(guesses, dict(zip(("low", "high"), ends, strict=True))) if ends else {}
    for name, stored in said.items():
        value = computed.get(name)
        is_near = None not in (stored, value) and abs(stored - value) <= guessed_kinds.TOLERANCE
        check.number(f"{place}/wide.{name}", stored, stored if is_near else value)
    n = row["interval"]["n_resampled"] if row["wide"].get("low") is not None else None
    check.number(f"{place}/wide.n", row["wide"].get("n_resampled"), n)
