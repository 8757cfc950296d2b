"""How much raters, stories and the rest vary, and the intervals that follow for other raters and other stories.

A rating is the mean, what its rater adds, what its story adds, and the rest. Estimates are those of the analysis of
variance (Henderson's first method; Searle, Casella & McCulloch 1992, chapters 4 and 5); degrees of freedom are
Satterthwaite's, here with matrices over all ratings.
"""

import pandas as pd

from tests.independent import crossed, intervals
from tests.independent.contrasts import bounds_of, kind_of, rater_numbers, story_means, within_width
from tests.independent.material import by_source, place_of
from tests.independent.mixed_model import p_of, p_within, t_interval

PARTS = ("rater", "story", "residual")
ROUNDING = 1e-9  # of the ratings' mean square, below which a variance is 0
MOST_CELLS = 4000  # raters times clusters, up to which matrices over all ratings are made


def variance_components(package, result, check):
    """Variances of raters, stories and the rest for each outcome, and means of sources with intervals of both kinds."""
    for row in result:
        place = f"variance_components/{row['key']}"
        ratings = rater_numbers(package, row["key"], row["kind"])
        means = story_means(package, row["key"], row["kind"])
        wide = ratings.pivot_table(index="rater", columns=["group", "story"], values="number")
        estimates = components(wide.stack(["group", "story"]))
        if estimates is None:
            check.numbers(place, row, rater=None, story=None, residual=None)
        else:
            n = {"n_raters": len(wide), "n_stories": wide.shape[1], "n_ratings": wide.notna().sum().sum()}
            check.numbers(place, row, **dict(zip(PARTS, estimates[0], strict=True)), **n)
        for stored in row["sources"]:
            part, label = by_source(means, stored["source"]).dropna(subset=["number"]), f"{place}/{stored['source']}"
            check.numbers(label, stored, value=part["number"].mean(), n_stories=part["story"].nunique())
            bounds = bounds_of(package, row, row["kind"])
            of_outcome = part, package.draws, bounds, row["is_percent"]
            check.interval(label, stored["interval"], "of_outcome", *of_outcome)
            check_wide(package, label, stored, ratings, part, bounds, check, is_percent=row["is_percent"])


def check_wide(package, place, stored, ratings, part, bounds, check, *, is_percent=False):
    """The interval of a mean for other raters, too. ratings : of each rater; part : what is averaged"""
    narrow = intervals.of_outcome(part, package.draws, bounds, is_percent)
    cells = cell_means(ratings, part)
    if cells.size > MOST_CELLS:
        return
    sizes = part.groupby("cluster").size().reindex(cells.columns, fill_value=0)
    ends = intervals.clip(for_other_raters(cells, part["number"].mean(), narrow, sizes), bounds)
    check.ends(f"{place}/wide", stored["wide"], ends, cells.notna().any().sum())


def wide_ratings(package, result, check):
    """The same of mean ratings, in which each rating counts once."""
    for row in result:
        answers, bounds = package.answers(row["step"], row["item"]), (row["lowest"], row["highest"])
        for stored in [row["overall"], *row["by_source"]]:
            source = stored.get("source", "")
            part = by_source(answers, source)
            if stored.get("wide"):
                check_wide(package, place_of("ratings", row, source), stored, part, part, bounds, check)


def wide_factors(package, result, check):
    """The same of means by a property of the stories, and of what they differ by."""
    for row in result:
        kind, place = kind_of(package, row["key"]), f"factors/{row['factor']}/{row['key']}"
        ratings, means = rater_numbers(package, row["key"], kind), story_means(package, row["key"], kind)
        level_by_story = package.factor(row["factor"])
        bounds, of_level = bounds_of(package, row, kind), means["story"].map(level_by_story)
        for stored in row["means"]:
            part, label = by_source(means[of_level == stored["level"]], stored["source"]), f"{place}/{stored['level']}"
            label = f"{label}/{stored['source']}"
            check_wide(package, label, stored, ratings, part, bounds, check, is_percent=row["is_percent"])
        if row.get("parts"):
            continue
        parts = {stored["level"]: means[of_level == stored["level"]] for stored in row["means"]}
        within = within_width(package, row, kind)
        check_wide_differences(place, ratings, means, parts, row["contrasts"], within, check)


def cell_means(ratings, part):
    """The mean of each rater's ratings of these stories in each cluster: one row a rater, one column a cluster."""
    # A part of single ratings names a story once for each: joined as it is, stories of more raters would weigh more.
    of_part = ratings.merge(part[["group", "story"]].drop_duplicates(), on=["group", "story"])
    return of_part.pivot_table(index="rater", columns="cluster", values="number")


def components(ratings):
    """Variances of raters, stories and the rest, and what the estimates are made of; None if they cannot be told.

    A variance that does not come out above 0 by more than rounding is 0, and the others are estimated without it.

    ratings : a series by rater and story (or cluster), one entry a rating
    """
    ratings = ratings.dropna()
    raters, stories = (pd.factorize(pd.Index(level))[0] for level in levels(ratings))
    n, n_raters, n_stories = len(ratings), len(set(raters)), len(set(stories))
    if n_stories < 2 or n_raters < 2 or n == n_raters:
        return None
    y = ratings.to_numpy() - ratings.mean()
    by = {"rater": raters, "story": stories}
    sizes = {name: pd.Series(labels).value_counts() for name, labels in by.items()}
    squares = {name: (pd.Series(y).groupby(labels).sum() ** 2 / sizes[name]).sum() for name, labels in by.items()}
    whole = (y**2).sum()
    if whole < 1e-12:
        return None
    parts = PARTS if n > n_stories else ("rater", "residual")
    least = ROUNDING * whole / n
    while True:
        factors = parts[:-1]
        # What is expected of each sum of squares about the mean: y'(P - J/n)y, with P the projection on the factor.
        about_mean = {part: (sizes[part] ** 2).sum() / n if part in by else 1.0 for part in parts}
        rows = [[(n if part == f else len(sizes[f])) - about_mean[part] for part in parts] for f in factors]
        rows.append([n - about_mean[part] - sum(row[at] for row in rows) for at, part in enumerate(parts)])
        sums = [squares[f] for f in factors]
        solution = crossed.inverse(rows, n)
        if solution is None:
            return None
        estimates = dict(zip(parts, solution @ [*sums, whole - sum(sums)], strict=True))
        lowest = min(parts, key=estimates.get)
        if lowest == "residual" or estimates[lowest] >= least:
            break
        parts = tuple(part for part in parts if part != lowest)
    variances = [estimates.get(part, 0.0) for part in PARTS]
    return [v if v >= least else 0.0 for v in variances], parts, solution, raters, stories


def levels(ratings):
    """The rater of each rating, and the story or cluster."""
    index = ratings.index
    others = [name for name in index.names if name != "rater"]
    return index.get_level_values("rater"), index.droplevel("rater") if len(others) > 1 else index.get_level_values(
        others[0]
    )


def variance_of_mean(cells, sizes=None):
    """The variance of the mean of clusters' means for other raters and clusters, and its degrees of freedom."""
    ratings = cells.stack().dropna()
    fit = components(ratings)
    if fit is None:
        return None
    estimates, parts, solution, raters, stories = fit
    n_rated = cells.notna().sum()
    sizes = n_rated.clip(upper=1) if sizes is None else sizes.where(n_rated > 0, 0)
    weight = cells.notna() / n_rated * sizes / sizes.sum()
    shares = weight.stack()[ratings.index].to_numpy()
    return crossed.satterthwaite(shares, estimates, parts, solution, raters, stories)


def for_other_raters(cells, centre, narrow, sizes=None):
    """The interval of a mean for other raters, too, at least as far as that for these raters; None if there is none."""
    variance = variance_of_mean(cells, sizes)
    if variance is None or narrow is None or variance[0] < 1e-12:
        return None
    return crossed.widened(centre, *variance, narrow)


def wide_contrasts(package, result, check):
    """What differences of cluster means between sources are for other raters, too."""
    whole = package
    for outcome in result["outcomes"]:
        if outcome.get("parts"):
            continue
        package = whole.as_planned(outcome["key"])
        ratings = rater_numbers(package, outcome["key"], outcome["kind"])
        means = story_means(package, outcome["key"], outcome["kind"])
        parts = {row["source"]: by_source(means, row["source"]) for row in outcome["sources"]}
        within, place = within_width(package, outcome, outcome["kind"]), f"comparisons/{outcome['key']}"
        check_wide_differences(
            place, ratings, means, parts, outcome["contrasts"], within, check, margin=outcome.get("margin")
        )


def check_wide_differences(place, ratings, means, parts, contrasts, within, check, *, margin=None):
    """Every two parts of the means, by their names."""
    raters, clusters = ratings["rater"].unique(), sorted(set(means["cluster"]))
    cells = {name: cell_means(ratings, part).reindex(index=raters, columns=clusters) for name, part in parts.items()}
    for row in contrasts:
        label = f"{place}/{row['first']} less {row['second']}"
        if row.get("value") is None or cells[row["first"]].size > MOST_CELLS:
            continue
        sides = [cells[row[side]] for side in ("first", "second")]
        n_raters = (sides[0].notna().any(axis=1) | sides[1].notna().any(axis=1)).sum()
        check.number(f"{label}/n_raters", row["n_raters"], n_raters)
        narrow, n = (row["interval"]["low"], row["interval"]["high"]), row["interval"]["n_resampled"]
        of_clusters = [parts[row[side]].groupby("cluster")["number"].mean() for side in ("first", "second")]
        found, same = wide_difference(*sides, row), same_difference(*of_clusters, row)
        others = [(each[0] ** 0.5, each[1]) for each in (found, found and of_raters(*sides, row)) if each]
        wide = [t_interval(row["value"], *each, 0.95) for each in others]
        ends = (min(low for low, _high in [*wide, narrow]), max(high for _low, high in [*wide, narrow]))
        check.ends(f"{label}/wide", row["wide"], intervals.clip(ends if found else None, within), n)
        p = max(*(p_of(row["value"], *each) for each in others), row["p_same_raters"]) if found else None
        check.number(f"{label}/p", row.get("p"), p)
        used = [*others, (same[0] ** 0.5, same[1])]
        ends_90 = max((t_interval(row["value"], *each, 0.9) for each in used), key=lambda each: each[1] - each[0])
        low, high = intervals.clip(ends_90, within)
        check.numbers(label, row, low_90=low, high_90=high)
        if row.get("p_within") is not None:
            p = max(p_within(row["value"], *each, margin) for each in used)
            check.number(f"{label}/p_within", row["p_within"], p)


def wide_difference(first, second, row):
    """Its variance for other raters, and degrees of freedom; None if there is none.

    Paired: of the differences of each rater within each cluster; else of both means, less what they share.
    """
    if row.get("is_paired"):
        found = variance_of_mean(first - second)
    else:
        one, other = (variance_of_mean(part) for part in (first, second))
        if one is None or other is None:
            return None
        whole = one[0] + other[0]
        of_stories = sum(part.mean().var() / part.notna().any().sum() for part in (first, second))
        variance = max(whole - 2 * shared_variance(first, second), of_stories)
        found = variance, whole**2 / (one[0] ** 2 / one[1] + other[0] ** 2 / other[1])
    return None if found is None or found[0] < 1e-12 else (found[0], max(found[1], 1.0))


def of_raters(first, second, row):
    """Its variance as raters differ in it, by the means of each, and degrees of freedom; None where they do not."""
    raters = pd.DataFrame(0.0, index=first.index, columns=["adds", "weight"])
    for cells, sign in [(first - second, 1)] if row.get("is_paired") else [(first, 1), (second, -1)]:
        cells = cells.dropna(axis=1, how="all")
        of_cluster = cells.mean().mean()
        share = cells.notna().div(cells.notna().sum(), axis=1).mean(axis=1)
        weighted = (cells - of_cluster).div(cells.notna().sum(), axis=1).sum(axis=1) / cells.shape[1]
        raters["adds"] += sign * weighted
        raters["weight"] += share**2
    n = raters["weight"].sum() ** 2 / (raters["weight"] ** 2).sum()
    variance = (raters["adds"] ** 2).sum()
    return (variance * n / (n - 1), max(n - 1, 1.0)) if n > 1 + 1e-6 and variance > 0 else None


def same_difference(first, second, row):
    """The variance of the difference of cluster means, and degrees of freedom, as of t."""
    if row.get("is_paired"):
        changes = (first - second).dropna()
        return changes.var() / len(changes), len(changes) - 1
    one, other = (part.dropna().var() / part.notna().sum() for part in (first, second))
    n, m = first.notna().sum(), second.notna().sum()
    return one + other, (one + other) ** 2 / (one**2 / (n - 1) + other**2 / (m - 1))


def shared_variance(first, second):
    """What two means share by the raters of both: the covariance of what these add, times how much they weigh."""
    both = first.notna().any(axis=1) & second.notna().any(axis=1)
    if both.sum() < 2:
        return 0.0
    added = [(part - part.mean())[both].mean(axis=1) for part in (first, second)]
    variances = [components(part.stack().dropna())[0][0] for part in (first, second)]
    covariance = min(max(added[0].cov(added[1]), 0.0), (variances[0] * variances[1]) ** 0.5)
    weights = [(part.notna() / part.notna().sum()).sum(axis=1) / part.notna().any().sum() for part in (first, second)]
    return covariance * (weights[0] * weights[1]).sum()
