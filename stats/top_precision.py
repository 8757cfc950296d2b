"""How many of the ideas that a score ranks first people rank first, too, prompt by prompt.

Source: Brito da Silva & Marcacini, Caracterização da Capacidade Criativa em Sistemas de IA Generativa, section 3.2,
names the precision of the top k beside Spearman's correlation and gives no form for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats.arrays import FloatArray


@dataclass(frozen=True)
class TopShares:
    """Of each prompt with more than k units, shape (P,): the share of the top k that both have, and k / n, which any
    order of its n units gives on average."""

    shares: FloatArray
    by_chance: FloatArray


def find_top_shares(score: FloatArray, ratings: FloatArray, prompts: npt.ArrayLike, k: int) -> TopShares:
    """Of the k units of a prompt with the greatest score, the share among the k with the greatest ratings.

    Units that are level for the last places share them. score, ratings, prompts : shape (U,)
    """
    labels = np.asarray(prompts)
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    members = [own for own in members if len(own) > k]
    common = [(_places_in_top(score[own], k) * _places_in_top(ratings[own], k)).sum() / k for own in members]
    return TopShares(
        shares=np.array(common, dtype=np.float64),
        by_chance=np.array([k / len(own) for own in members], dtype=np.float64),
    )


def _places_in_top(values: FloatArray, k: int) -> FloatArray:
    """How much of a place among the k greatest each value has, shape (U,); they sum to k."""
    least = np.sort(values)[-k]
    is_above, is_level = values > least, values == least
    return np.asarray(is_above + is_level * (k - is_above.sum()) / is_level.sum(), dtype=np.float64)
