"""Chance floors, for recompute.py, with numpy: a number computed again on answers that were shuffled.

Every function gives the number's value in each shuffle, nan where it has none. The report prints their mean, and the
end that one in forty of them passes. Shuffles come from the seed of the study.
"""

import numpy as np

from tests.independent.intervals import ALIKE, alphas_of, generator, kappas_of
from tests.independent.resampled import correlations_of_pairs, one_icc

N_SHUFFLES, AT_ONCE = 1000, 100
N_SHUFFLES_OF_RELIABILITY = 200


def mean_and_end(values, better=1):
    """better : 1 if more is better, -1 if less is: then the end is the lower one"""
    values = values[np.isfinite(values)]
    if not values.size:
        return None, None
    return values.mean(), np.quantile(values, 0.975 if better > 0 else 0.025)


# ── people: each rater's answers change places among the stories that the rater judged ───────────────────────────────


def cube_of(package, items, answers_of, units, raters=None):
    """Ratings of shape (items, raters, units), nan where there is none. answers_of : gives the answers to an item"""
    at_rater = {rater: n for n, rater in enumerate(package.raters if raters is None else raters)}
    at_unit = {unit: n for n, unit in enumerate(units)}
    cube = np.full((len(items), len(at_rater), len(units)), np.nan)
    for n, item in enumerate(items):
        answers = answers_of(item)
        for rater, group, story, number in zip(
            *(answers[name] for name in ("rater", "group", "story", "number")), strict=True
        ):
            cube[n, at_rater[rater], at_unit[group, story]] = number
    return cube


def shuffled_within_raters(cube, seed, n_shuffles=N_SHUFFLES):
    """Batches of shuffled ratings, shape (batch, items, raters, units).

    What a rater said of one unit in all items moves together. Everybody keeps their own answers and their own gaps.
    """
    rng = generator(seed)
    has_judged = ~np.isnan(cube).all(axis=0)
    for _ in range(n_shuffles // AT_ONCE):
        batch = np.full((AT_ONCE, *cube.shape), np.nan)
        for rater, units in enumerate(has_judged):
            order = rng.permuted(np.tile(np.flatnonzero(units), (AT_ONCE, 1)), axis=1)
            for item, ratings in enumerate(cube[:, rater]):
                present = ~np.isnan(ratings)
                batch[:, item, rater, present] = ratings[order[present[order]].reshape(AT_ONCE, -1)]
        yield batch


def counted(batch, values):
    """How many raters gave each unit each value, shape (batch, raters, units) to (batch, units, values)."""
    return np.stack([(batch == value).sum(axis=1) for value in values], axis=-1).astype(float)


def of_items(cube, seed, compute, values=None, n_shuffles=N_SHUFFLES):
    """The values of each item in all shuffles, shape (items, n_shuffles). compute : of counts and what is counted"""
    values = np.unique(cube[~np.isnan(cube)]) if values is None else values
    batches = []
    for batch in shuffled_within_raters(cube, seed, n_shuffles):
        batches.append([compute(counted(batch[:, item], values), values) for item in range(len(cube))])
    return np.concatenate(batches, axis=1)


def kappas_of_counts(counts, _values):
    """Fleiss' kappa: agreement over the units with two ratings or more, chance over all that are rated."""
    n = counts[0].sum(axis=1)
    shares = (counts[:, n >= 1] / n[n >= 1, None]).mean(axis=1)
    pairs, n = counts[:, n >= 2], n[n >= 2]
    return kappas_of(shares, (((pairs**2).sum(axis=2) - n) / (n * (n - 1))).mean(axis=1))


def alphas_of_counts(level):
    def compute(counts, values):
        n = counts.sum(axis=2, keepdims=True)
        scaled = np.where(n >= 2, counts / np.maximum(n - 1, 1), 0.0)
        coincidence = scaled.transpose(0, 2, 1) @ counts
        coincidence -= np.eye(len(values)) * scaled.sum(axis=1)[:, None, :]
        return alphas_of(coincidence, values, level)

    return compute


def gwets_of_counts(is_ordinal):
    """Gwet's AC1, or AC2 with ordinal weights; see raters.py."""

    def compute(counts, values):
        n, q = counts[0].sum(axis=1), len(values)
        distance = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
        alike = 1 - distance * (distance + 1) / (q * (q - 1)) if is_ordinal else np.eye(q)
        pairs, rated = counts[:, n >= 2], counts[:, n >= 1]
        n_pairs = (n * (n - 1))[n >= 2]
        observed = (((pairs * (pairs @ alike)).sum(axis=2) - n[n >= 2]) / n_pairs).mean(axis=1)
        shares = (rated / n[n >= 1][:, None]).mean(axis=1)
        chance = alike.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=1)
        return (observed - chance) / (1 - chance)

    return compute


def of_preferences(positions, orders, is_known, chances, seed):
    """Of Brennan and Prediger's kappa, of raters who keep their habits as to the position on the page, and take any
    story where the page is unknown.

    positions : where the story stood that a rater chose of a group, shape (raters, groups), -1 for neither, -2 where
        it is unknown
    orders : the number of the story at each place, shape (raters, groups, places); is_known : whether anybody does
    chances : of each group one by how many could be chosen
    """
    values, anywhere = [], generator((*seed, 1))
    n_stories = np.maximum((~np.isnan(orders)).sum(axis=2), 1)
    for batch in shuffled_within_raters(positions[None], seed):
        for moved in batch[:, 0]:
            places = np.where(moved >= 0, moved, 0).astype(int)
            stories = np.take_along_axis(orders, places[..., None], axis=2)[..., 0]
            is_anywhere = (moved >= 0) & ~is_known | (moved == -2)
            if is_anywhere.any():
                stories = np.where(is_anywhere, anywhere.integers(n_stories), stories)
            values.append(preference_kappa(np.where((moved >= 0) | is_anywhere, stories, moved), chances))
    return np.array(values)


def preference_kappa(chosen, chances):
    n_by_story = np.stack([(chosen == value).sum(axis=0) for value in np.unique(chosen[~np.isnan(chosen)])])
    n = n_by_story.sum(axis=0)
    is_pair = n >= 2
    observed = (((n_by_story**2).sum(axis=0) - n)[is_pair] / (n * (n - 1))[is_pair]).mean()
    return (observed - chances[is_pair].mean()) / (1 - chances[is_pair].mean())


def of_intraclass(ratings, is_crossed, form, seed):
    """Of an intraclass correlation. ratings : shape (units, raters)"""
    ratings = ratings - np.nanmean(ratings)
    weights = np.ones(len(ratings))
    batches = shuffled_within_raters(ratings.T[None], seed, N_SHUFFLES_OF_RELIABILITY)
    return np.array([one_icc(shuffle[0].T, weights, is_crossed, form) for batch in batches for shuffle in batch])


def of_totals(totals, seed):
    """Of Pearson's r over the ordered pairs of raters of each unit. totals : shape (raters, units)"""
    batches = shuffled_within_raters(totals[None], seed)
    return np.concatenate([correlations_of_pairs(batch[:, 0]) for batch in batches])


# ── a judge: its answers change places among the units that it answered, those to all items together ─────────────────


def moved_units(has_answer, strata, seed):
    """Of each shuffle from which unit the answers come, shape (1000, n), and at which they then stand, shape (n,).

    has_answer : shape (items, units); strata : of each unit, what it only changes places within, or None
    """
    answered = np.flatnonzero(has_answer.any(axis=0))
    labels = np.zeros(has_answer.shape[1])
    if strata is not None:
        labels += np.unique(np.asarray(strata), return_inverse=True)[1]
    places = answered[np.argsort(labels[answered], kind="stable")]
    names, n_units = np.unique(labels[answered], return_counts=True)
    ends, origins = np.cumsum(n_units), np.tile(places, (N_SHUFFLES, 1))
    for rng, start, end in zip(generator(seed).spawn(len(names)), ends - n_units, ends, strict=True):
        rng.permuted(origins[:, start:end], axis=1, out=origins[:, start:end])
    return origins, places


def shuffled_judge(judge, people, strata, seed):
    """Of each item what the judge then says beside people, shape (1000, n), and what people say, shape (n,).

    judge, people : shape (items, units), nan where there is no answer
    """
    origins, places = moved_units(~np.isnan(judge), strata, seed)
    for answers, reference in zip(judge, people, strict=True):
        present = ~np.isnan(answers)
        shuffled = answers[origins[present[origins]].reshape(len(origins), -1)]
        reference = reference[places[present[places]]]
        is_beside = ~np.isnan(reference)
        yield shuffled[:, is_beside], reference[is_beside]


def confusions(judge, people, values):
    """How often the judge gives one value where people give another, shape (1000, values, values)."""
    of_people = (people[:, None] == values) * 1.0
    return np.stack([(judge == value) @ of_people for value in values], axis=1)


def spearmans(judge, people):
    """Of each row."""
    first, second = (ranks(side) for side in (judge, people[None]))
    first, second = (side - side.mean(axis=1, keepdims=True) for side in (first, second))
    room = (first**2).sum(axis=1) * (second**2).sum(axis=1)
    return (first * second).sum(axis=1) / np.sqrt(np.where(room > ALIKE, room, np.nan))


def ranks(values):
    """Ranks along each row, ties at the middle of theirs."""
    low = np.array([np.searchsorted(row, of, side="left") for row, of in zip(np.sort(values), values, strict=True)])
    high = np.array([np.searchsorted(row, of, side="right") for row, of in zip(np.sort(values), values, strict=True)])
    return (low + high + 1) / 2


def kendall_taus(judge, people):
    """Tau-b of each row."""
    of_people = np.sign(people[:, None] - people)
    taus = []
    for row in judge:
        of_judge = np.sign(row[:, None] - row)
        room = (of_judge**2).sum() * (of_people**2).sum()
        taus.append((of_judge * of_people).sum() / room**0.5 if room else np.nan)
    return np.array(taus)


def mean_absolute_errors(judge, people):
    return np.abs(judge - people).mean(axis=1)


def of_flips(shares, of_the_other, seed):
    """Of a share of pairs, had a coin chosen in each, both orders together. Both of shape (pairs,)"""
    is_flipped = generator(seed).random((N_SHUFFLES, len(shares))) < 0.5
    return 100 * np.where(is_flipped, of_the_other, shares).mean(axis=1)


def of_groups(ranks_by_group, seed):
    """Of the mean tau over groups, each (judge, people), had the ranks stood at other stories of their group."""
    rng = generator(seed)
    orders = [(rng.permuted(np.tile(judge, (N_SHUFFLES, 1)), axis=1), people) for judge, people in ranks_by_group]
    return np.mean([kendall_taus(judge, people) for judge, people in orders], axis=0)


def same_again(first, second, raters, seed):
    """In how many of 100 the second answer is the first, where each rater's second ones are put to other texts."""
    rng, first = np.random.default_rng(list(seed)), first.to_numpy(dtype=float)
    moved = np.repeat(second.to_numpy(dtype=float)[None], N_SHUFFLES, axis=0)
    labels = np.unique(raters.to_numpy(dtype=str), return_inverse=True)[1]
    for rater in range(labels.max() + 1):
        own = np.flatnonzero(labels == rater)
        moved[:, own] = rng.permuted(moved[:, own], axis=1)
    return 100 * (moved == first).mean(axis=1)


def of_coins(n, n_ties, seed):
    """Of what percent of n pairs is right, where a coin says which side is the better-scored one; ties stay half."""
    heads = generator(seed).binomial(n - n_ties, 0.5, size=N_SHUFFLES)
    return 100 * (heads + 0.5 * n_ties) / n
