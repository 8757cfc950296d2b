"""How answers go with the length of a story where people's ratings are held equal; with numpy and scipy."""

import numpy as np

from tests.independent.intervals import of_values
from tests.independent.lines import mean_of


def of_length(judge, people, words, clusters, seed):
    """Of a judge, shape (items, units), beside people, shape (items, raters, units).

    Per doubling of the words. Of people the same is the mean of each one's own, given the mean of the others.
    """
    words = np.array(words, dtype=float)
    lengths = np.log2(np.where(words > 0, words, np.nan))  # of a text that is withheld nothing is known
    means, ones = mean_of(people), np.ones((1, lengths.size))
    own = [
        slopes(people[:, at], mean_of(np.delete(people, at, axis=1)), lengths, ones)[0] for at in range(people.shape[1])
    ]
    own = [slope for slope in own if not np.isnan(slope)]
    if np.isnan(lengths).all() or np.isnan(judge).all() or np.isnan(means).all():
        return {"value": np.nan}
    is_used = (~np.isnan(judge) & ~np.isnan(means)).any(axis=0)
    judge, means, lengths = judge[:, is_used], means[:, is_used], lengths[is_used]
    places = np.unique(clusters[is_used], return_inverse=True)[1]
    return {
        "value": slopes(judge, means, lengths, np.ones((1, lengths.size)))[0],
        "people": np.mean(own) if own else None,
        "n": is_used.sum(),
        "n_raters": len(own),
        "ends": of_values(lambda weights: slopes(judge, means, lengths, weights), places, seed, (None, None)),
        "n_clusters": places.max() + 1,
    }


def slopes(answers, means, lengths, weights):
    """The coefficient of the length beside that of people's means, items' own levels taken off: (B, units) to (B,)."""
    sums = np.zeros((len(weights), 5))
    for own, of_people in zip(answers, means, strict=True):
        present = ~np.isnan(own) & ~np.isnan(of_people) & ~np.isnan(lengths)
        w = weights[:, present]
        n = np.where(w.sum(axis=1) > 0, w.sum(axis=1), np.nan)
        x, z, y = lengths[present], of_people[present], own[present]
        products = [(x, x), (z, z), (x, z), (x, y), (z, y)]
        sums += np.nan_to_num(np.stack([w @ (a * b) - (w @ a) * (w @ b) / n for a, b in products], axis=1))
    xx, zz, xz, xy, zy = sums.T
    varies = zz > 1e-9  # else there is nothing to hold equal
    room = np.where(varies, xx * zz - xz**2, xx)
    above = np.where(varies, xy * zz - zy * xz, xy)
    return above / np.where(room > 1e-9 * np.maximum(xx * np.maximum(zz, 1), 1e-9), room, np.nan)
