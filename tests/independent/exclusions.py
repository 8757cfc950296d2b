"""What exclusion rules leave out, and other choices change: counts and means from the answers, and what is planned
beside the comparisons' own."""

from tests.independent.contrasts import kind_of, rater_numbers, story_means

OF_FITS = "what other fits of the mixed model say, whose formula is held against the planned contrasts"


def exclusions(package, result, check):
    """Of each contrast how many ratings, raters and stories are left out; those as planned are the comparisons'."""
    planned = {
        (outcome["key"], row["first"], row["second"]): row
        for outcome in package.report["comparisons"]["outcomes"]
        for row in outcome["contrasts"]
    }
    for row in result:
        place, kind = f"exclusions/{row['outcome']}/{row['rule']}", kind_of(package, row["outcome"])
        kept = (
            package if row["rule"] == "none" else package.without_excluded("" if row["rule"] == "all" else row["rule"])
        )
        before, after = (rater_numbers(each, row["outcome"], kind) for each in (package, kept))
        check.numbers(
            place,
            row,
            n=len(after),
            n_left_out=len(before) - len(after),
            n_raters_left_out=before["rater"].nunique() - after["rater"].nunique(),
            n_stories_left_out=before["story"].nunique() - after["story"].nunique(),
        )
        names = ("value", "first_value", "second_value", "p")
        if row["rule"] != "all":
            check.leave([row.get("interval"), *(row.get(name) for name in names)], OF_FITS)
            continue
        same = planned[row["outcome"], row["first"], row["second"]]
        check.numbers(place, row, **{name: same[name] for name in names if row.get(name) is not None})
        wide = same.get("wide") or {}
        ends = wide if wide.get("low") is not None else same.get("interval")
        if row.get("interval"):
            check.numbers(f"{place}/interval", row["interval"], **{n: ends[n] for n in ("low", "high", "n_resampled")})


def specifications(package, result, check):
    """Of each specification how many ratings it has; means of stories by groups that all hold both sources; and what is
    planned."""
    planned = {
        (outcome["key"], row["first"], row["second"]): row
        for outcome in package.report["comparisons"]["outcomes"]
        for row in outcome["contrasts"]
    }
    for row in result:
        place = f"specifications/{row['first']} less {row['second']}/{row['rule']}"
        if row["is_planned"]:
            same = planned[row["outcome"], row["first"], row["second"]]
            ends = same["wide"] if row["raters"] == "drawn" else same["interval"]
            check.numbers(place, row, value=same["value"])
            check.numbers(f"{place}/interval", row["interval"], **{n: ends[n] for n in ("low", "high", "n_resampled")})
        else:
            check.leave([row["interval"]], OF_FITS)
        may_count = row["measure"] == "outcome" and row["stories"] == "all"
        if not may_count:
            check.leave([row["n"], row["value"]], OF_FITS)
            continue
        remaining = package.without_rule(row["rule"])
        kind = kind_of(package, row["outcome"])
        check.number(f"{place}/n", row["n"], len(rater_numbers(remaining, row["outcome"], kind)))
        value = difference_of_means(story_means(remaining, row["outcome"], kind), row)
        if row["is_planned"]:
            continue
        if row["analysis"] == "model" or value is None:
            check.leave([row["value"]], OF_FITS)
        else:
            check.number(f"{place}/value", row["value"], value)


def difference_of_means(means, row):
    """Over clusters, each as its mean of stories by either source; None unless all of them hold both."""
    by_cluster = means.groupby(["cluster", "source"])["number"].mean().unstack()[[row["first"], row["second"]]]
    by_cluster = by_cluster.dropna(how="all")
    if by_cluster.isna().any(axis=None):
        return None
    return (by_cluster[row["first"]] - by_cluster[row["second"]]).mean()
