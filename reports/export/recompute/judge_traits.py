"""What judges give for their own family and for length at equal worth to people."""

import numpy as np
from recompute.values import ends_of

from stats import trait_effects
from stats.reasons import Incomputable, value_or_reason

NOTHING = {"value": None, "n": 0}


def of_traits(package, material, judge, answers, kind):
    """What a judge gives its own family, of which models the report says it is, and what a story twice as long."""

    stories = [story for _group, story in material.units]
    answered = [item for item, own in zip(material.items, answers, strict=True) if np.isfinite(own).any()]
    scales = {(item.level, item.bounds) for item in answered}
    share_a_scale = len(answered) < 2 or (len(scales) == 1 and answered[0].level != "interval")

    def effect_of(trait, **options):
        if not share_a_scale:
            return Incomputable("scales_differ")
        options["stories"] = stories
        compute = trait_effects.trait_effect
        return value_or_reason(lambda: compute(answers, material.people, trait, material.clusters, **options))

    stored = package.report["judge_biases"]
    for row in [r for r in stored if (r["judge"], r["kind"], r["bias"]) == (judge, kind, "own_family")]:
        sides = [np.isin(material.sources, row[name]) for name in ("own", "others")]
        of_family = np.where(sides[0], 1.0, np.where(sides[1], 0.0, np.nan))
        effect = effect_of(of_family, are_verdicts=kind == "verdicts")
        yield {"bias": "own_family"} | of_trait(effect)
        if kind == "verdicts" and not isinstance(effect, Incomputable):
            for bias, part in (("own_family_yes", effect.among_yes), ("own_family_no", effect.among_no)):
                counts = {"n": 0} if isinstance(part, Incomputable) else {"n": part.n_with, "n_beside": part.n_without}
                yield {"bias": bias} | of_part(part) | counts
    words = np.array([package.n_words[story] for _group, story in material.units], dtype=float)
    yield {"bias": "verbosity"} | of_trait(effect_of(np.log2(np.where(words > 0, words, np.nan))), is_length=True)


def of_trait(effect, *, is_length=False):
    if isinstance(effect, Incomputable):
        return NOTHING
    fields = {"n": effect.n_with, "n_raters": effect.n_raters, "people": effect.people}
    fields |= {} if is_length else {"n_beside": effect.n_stories - effect.n_with}
    fields |= {} if effect.p is None else {"p": effect.p}
    return of_part(effect.effect) | {"at_equal_ratings": of_part(effect.at_equal_ratings)} | fields


def of_part(part):
    if isinstance(part, Incomputable):
        return {"value": None}
    return {"value": part.value, "interval": ends_of(part.interval)}
