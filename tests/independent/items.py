"""How the items of one scale go together: Pearson's r of every two, of each with the rest, and what chance gives."""

import numpy as np
from scipy.optimize import minimize

from tests.independent import resampled
from tests.independent.composites import ends_of, items_of
from tests.independent.raters import blocks

UPPER = 1.959963984540054  # standard normal, 97.5th percentile
N_SHUFFLES, STEPS, LEAST = 200, 400, 0.005  # of omega: shuffles, steps of EM, of an item's variance its own at least
READING = ["rater", "group", "story"]


def item_analysis(package, result, check):
    """Of the items of one scale, over complete readings, the correlations of `correlations`, with their intervals."""
    scores = [score for score in package.scores if score["is_declared"]]
    several = [(items_of(package, score), score) for score in scores]
    in_scores = {(score["step"], key) for score in scores for key in score["items"]}
    several += [(items, None) for _kind, items in blocks(package) if len(items) > 1]
    for (items, score), stored in zip(several, result, strict=True):
        answers = package.answers_to_all(items)
        if score:
            pairs = zip(answers["key"], answers["number"], strict=True)
            answers = answers.assign(number=[counted(score, items[n], number) for n, number in pairs])
        wide = answers.pivot_table(index=READING, columns="key", values="number", aggfunc="first")
        complete = wide.reindex(columns=range(len(items))).dropna()
        place = f"item_analysis/{stored['kind']} {stored['title']}"
        n_raters = complete.index.get_level_values("rater").nunique()
        if len(complete) < 3:
            check.numbers(place, stored, n=0, n_left_out=0, n_raters=0)
            continue
        check.numbers(place, stored, n=len(complete), n_left_out=len(wide) - len(complete), n_raters=n_raters)
        values = correlations(complete, items, stored, place, check)
        clusters = package.clusters(complete.index.to_frame()).to_list()
        if score or not any((item["step"], item["item"]) in in_scores for item in items):
            check_alpha(place, stored["alpha"], complete, clusters, package.draws, check)
        if score:
            check_omega(place, stored["omega"], complete, package.shuffles, check)
        ends = intervals_of(complete, clusters, package.draws)
        for name, form in values.items():
            if form["coefficient"]["value"] is not None:
                check.ends(f"{place}/{name}", form["interval"], ends[name], len(set(clusters)))


def counted(score, item, number):
    """What an answer counts in the score: turned by the ends of its scale where it is reversed, times its weight."""
    turned = sum(ends_of(item)) - number if item["item"] in score["reversed"] else number
    return turned * score["weights"].get(item["item"], 1)


def check_alpha(place, stored, complete, clusters, seed, check):
    """Cronbach's alpha by the variances of the items and of their sum; shuffled, by the products of every two items."""
    n = complete.shape[1]
    whole = complete.sum(axis=1).var()
    if not whole:
        check.number(f"{place}/alpha", stored["coefficient"]["value"], None)
        return
    check.number(f"{place}/alpha", stored["coefficient"]["value"], n / (n - 1) * (1 - complete.var().sum() / whole))
    ends = resampled.of_alpha(complete.to_numpy(), clusters, seed)
    check.ends(f"{place}/alpha", stored["interval"], ends, len(set(clusters)))
    centred = complete - complete.mean()
    mean = variance = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            low, high = floor(centred[i], centred[j], 1.0)
            mean, variance = mean + low, variance + ((high - low) / UPPER) ** 2
    products = [mean, mean + UPPER * variance**0.5]
    own = (centred**2).to_numpy().sum()
    floors = [n / (n - 1) * 2 * product / (own + 2 * product) for product in products]
    check.numbers(f"{place}/alpha/floor", stored["floor"], mean=floors[0], upper=floors[1])


def check_omega(place, stored, complete, seed, check):
    """McDonald's omega by the loadings and unique variances that make the likelihood of the covariances highest."""
    value = stored["coefficient"]["value"]
    if value is None:
        return
    observed = np.cov(complete.to_numpy().T)
    n = len(observed)

    def lost(parameters):
        loadings, unique = parameters[:n], np.exp(parameters[n:])
        expected = np.outer(loadings, loadings) + np.diag(unique)
        return np.linalg.slogdet(expected)[1] + np.trace(np.linalg.solve(expected, observed))

    own = np.log(np.diag(observed) / 2)
    signs = np.sign(observed.sum(axis=0))
    best = minimize(lost, np.concatenate([signs * np.exp(own / 2), own]), method="BFGS", options={"gtol": 1e-8})
    common = best.x[:n].sum() ** 2
    check.near(f"{place}/omega", value, common / (common + np.exp(best.x[n:]).sum()), 1e-5)
    shuffled = shuffled_omegas(complete - complete.mean(), np.random.default_rng(seed))
    check.near(f"{place}/omega/floor", stored["floor"]["mean"], np.mean(shuffled), 1e-6)
    check.near(f"{place}/omega/floor", stored["floor"]["upper"], np.quantile(shuffled, 0.975), 1e-6)


def shuffled_omegas(centred, rng):
    """Omega where each item's answers change places within each rater; so many steps of EM from halves (Rubin & Thayer
    1982), with the whole covariance that the factor gives turned round."""
    answers, values = centred.to_numpy(), []
    by_rater = list(centred.groupby("rater").indices.values())
    for keys in rng.random((N_SHUFFLES, answers.shape[1], len(answers))):
        moved = np.empty_like(answers)
        for item, of_item in enumerate(keys):
            for rows in by_rater:
                moved[rows, item] = answers[rows[np.argsort(of_item[rows])], item]
        observed = moved.T @ moved
        loadings, unique = np.sqrt(np.diag(observed) / 2), np.diag(observed) / 2
        for _step in range(STEPS):
            weights = np.linalg.solve(np.outer(loadings, loadings) + np.diag(unique), loadings)
            with_factor = observed @ weights
            loadings = with_factor / (1 - weights @ loadings + weights @ with_factor)
            unique = np.maximum(np.diag(observed) - loadings * with_factor, LEAST * np.diag(observed))
        values.append(loadings.sum() ** 2 / (loadings.sum() ** 2 + unique.sum()))
    return values


def correlations(complete, items, stored, place, check):
    """Check the values and their floors; give each stored number with its name."""
    matrix, forms = complete.corr(), {}
    varies = [key for key in complete if complete[key].std() > 0]
    standard = (complete - complete.mean()) / (complete.std() * (len(complete) - 1) ** 0.5)
    for key, row in enumerate(stored["items"]):
        rest = complete.drop(columns=key).sum(axis=1)
        others = [other for other in varies if other != key]
        mean_of_others = standard[others].sum(axis=1) / max(1, len(others))
        own = standard[key].fillna(0)
        values = {"with_rest": complete[key].corr(rest), "with_others": matrix.loc[key, others].mean()}
        floors = {"with_rest": floor(complete[key], rest), "with_others": floor(own, mean_of_others, 1.0)}
        for name, value in values.items():
            forms[name, key] = row[name]
            check_form(f"{place}/{row['item']}/{name}", row[name], value, floors[name], check)
    keys = [item["item"] for item in items]
    for pair in stored["pairs"]:
        i, j = keys.index(pair["first"]), keys.index(pair["second"])
        forms[i, j] = pair["correlation"]
        chance = floor(complete[i], complete[j])
        check_form(f"{place}/{pair['first']} {pair['second']}", forms[i, j], matrix.loc[i, j], chance, check)
    return forms


def check_form(place, stored, value, chance, check):
    """A correlation, and the mean and end of its chance floor."""
    check.number(place, stored["coefficient"]["value"], value)
    if stored["coefficient"]["value"] is not None:
        check.numbers(f"{place}/floor", stored["floor"], mean=chance[0], upper=chance[1])


def floor(own, other, length=None):
    """Mean and end of r where the own answers are shuffled within raters: the moments of a sum over permutations.

    Mean Σ (Σx Σy / n), variance Σ (SSx SSy / (n - 1)) over raters (Hoeffding, 1951). length : of the two, if known
    None of answers that are all alike, which have no correlation.
    """
    own, other = own - own.mean(), other - other.mean()
    length = length or ((own**2).sum() * (other**2).sum()) ** 0.5
    if not length:
        return None, None
    mean = variance = 0.0
    for _rater, x in own.groupby(level="rater"):
        y = other.loc[x.index]
        mean += x.sum() * y.sum() / len(x)
        variance += ((x - x.mean()) ** 2).sum() * ((y - y.mean()) ** 2).sum() / max(1, len(x) - 1)
    return mean / length, (mean + UPPER * variance**0.5) / length


def intervals_of(complete, clusters, seed):
    """By the names of `correlations` the ends of each interval; all from the same resamples."""
    return resampled.of_items(complete.to_numpy(), clusters, seed)
