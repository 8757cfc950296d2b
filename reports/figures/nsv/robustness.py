"""How far NSV depends on each of its parts and on how it was computed: ablations, and stability.

Source: Brito da Silva & Marcacini, Caracterização da Capacidade Criativa em Sistemas de IA Generativa, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from reports.dataset.ideas import PARAPHRASE_OF
from reports.dataset.scored_ideas import SALT
from reports.document.values import Interval, IntervalEstimate, Reason
from reports.figures.base import N_RESAMPLES, estimate, without_value
from reports.figures.nsv.results import Ablation, Stability
from reports.lazy import comparisons, np, nsv, nsv_procedure, spreads
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.scored_ideas import ScoredIdeas
    from stats.arrays import FloatArray
    from stats.nsv import HeldOutDifference, HeldOutValue

OTHER_K, OTHER_ALPHAS = 25, (0.0, 0.25, 0.75, 1.0)


def held_out(value: HeldOutValue | Incomputable) -> IntervalEstimate:
    """A number of hold-out with its interval, or why there is none."""
    if isinstance(value, Incomputable):
        reason = Reason.of(value)
        return IntervalEstimate(value=None, why=reason, interval=Interval(low=None, high=None, why=reason))
    return IntervalEstimate(value=value.value, interval=Interval.of(value.interval))


def list_ablations(dataset: Dataset, scored: ScoredIdeas) -> Iterator[Ablation]:
    """Each component removed, then each replaced by what is worse."""
    chosen, fitted, material = scored.is_held_out, scored.fitted, scored.material
    target, prompts = material.target[chosen], material.prompts[chosen]
    removed = nsv.ablate(
        fitted.composite, fitted.components[chosen], target, prompts, rng=dataset.rng(SALT, 4), n_resamples=N_RESAMPLES
    )
    for component, difference in removed.items():
        yield _ablation(component, "removed", difference)
    worse: list[tuple[str, str, Callable[[], FloatArray]]] = [
        ("novelty", "weaker_embedding", lambda: scored.novelty(vectors=scored.weak_vectors())),
        ("surprise", "n_grams" if scored.plan.nsv_surprise else "single_words", partial(_worse_surprise, scored)),
        (
            "value",
            "shuffled_values" if scored.plan.nsv_value else "shuffled_preferences",
            partial(_shuffled_value, dataset, scored),
        ),
    ]
    for component, by, compute in worse:
        try:
            column = compute()
            is_known = np.isfinite(column)
            scores = nsv_procedure.degraded_scores(fitted, component, column, scored.learnt_from & is_known)
            both = chosen & is_known
            difference = nsv.compare(
                fitted.scores[both],
                scores[both],
                material.target[both],
                material.prompts[both],
                rng=dataset.rng(SALT, 4),
                n_resamples=N_RESAMPLES,
            )
        except Incomputable as error:
            yield _ablation(component, by, error)
        else:
            yield _ablation(component, by, difference)


def _worse_surprise(scored: ScoredIdeas) -> FloatArray:
    """Of scores from elsewhere the trigram model; of the trigram model how often words stand anywhere."""
    return scored.surprise("trigrams" if scored.plan.nsv_surprise else "words")


def _shuffled_value(dataset: Dataset, scored: ScoredIdeas) -> FloatArray:
    shuffled = nsv_procedure.fit(scored.material, scored.development, rng=dataset.rng(SALT, 5), is_shuffled=True)
    return np.asarray(shuffled.components[:, 2])


def _ablation(component: str, by: str, difference: HeldOutDifference | Incomputable) -> Ablation:
    p = None if isinstance(difference, Incomputable) else difference.p
    return Ablation(component=component, by=by, p=p, **vars(held_out(difference)))


def list_stability(dataset: Dataset, scored: ScoredIdeas, *, is_within: bool) -> Iterator[Stability]:
    material, fitted = scored.material, scored.fitted
    splits = nsv_procedure.rhos_of_splits(material, rng=dataset.rng(SALT, 6), is_within=is_within)
    yield _of_several("splits", str(len(splits)), splits)
    rhos, is_near = nsv_procedure.rhos_of_weights(fitted, material, is_within=is_within)
    yield _of_several("near_weights", "±.1", rhos[is_near])
    yield _of_several("all_weights", "0–1", rhos)
    otherwise = [("k", f"{OTHER_K}", partial(scored.novelty, k=OTHER_K))]
    otherwise += [("alpha", f"{alpha:g}", partial(scored.novelty, alpha=alpha)) for alpha in OTHER_ALPHAS]
    for what, setting, compute in otherwise:
        yield _refitted(scored, what, setting, compute, is_within=is_within)
    yield from _paraphrases(scored)


def _refitted(
    scored: ScoredIdeas, what: str, setting: str, compute: Callable[[], FloatArray], *, is_within: bool
) -> Stability:
    """Fitted again with another novelty, on the same split."""
    try:
        fitted = nsv_procedure.refit(scored.fitted, scored.material, "novelty", compute())
    except Incomputable as error:
        return Stability(what=what, setting=setting, value=None, why=Reason.of(error))
    rho = nsv_procedure.held_out_rho(fitted, scored.material, is_within=is_within)
    return _of_several(what, setting, np.array([rho]))


def _of_several(what: str, setting: str, rhos: FloatArray) -> Stability:
    values = rhos[np.isfinite(rhos)]
    if not len(values):
        return Stability(what=what, setting=setting, value=None, why=without_value("no_resample_with_value"), n=0)
    summary = spreads.summarise(values)
    lowest, highest = (None, None) if summary.n == 1 else (summary.lowest, summary.highest)
    return Stability(
        what=what, setting=setting, value=summary.mean, n=summary.n, sd=summary.sd, lowest=lowest, highest=highest
    )


def _paraphrases(scored: ScoredIdeas) -> Iterator[Stability]:
    """Spearman's correlation of the scores of ideas with those of their paraphrases; nothing if there are none."""
    place_by_code = {code: n for n, code in enumerate(scored.codes)}
    pairs = [
        (place_by_code[of], n)
        for n, of in enumerate(scored.factors[PARAPHRASE_OF])
        if of in place_by_code and not scored.fitted.is_development[n]
    ]
    if not pairs:
        return
    originals, paraphrases = (scored.fitted.scores[list(places)] for places in zip(*pairs, strict=True))
    rho = estimate(comparisons.spearman, originals, paraphrases)
    yield Stability(what="paraphrases", setting=str(len(pairs)), value=rho.value, why=rho.why, n=len(pairs))
