"""What exclusion rules leave out: counts from the answers, and the planned rows beside the comparisons' own."""

from tests.independent.contrasts import kind_of, rater_numbers

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
