"""Which story of a group people chose, how they ordered stories, and who they thought wrote them."""

import json
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from recompute.values import (
    N_RESAMPLES,
    ends_of,
    estimate,
    interval,
    mean,
    mean_interval,
    or_none,
    rate_interval,
    share,
)

from stats import agreement, comparisons, contrasts, guessed_kinds, intervals
from stats import rankings as ranking_statistics
from stats.reasons import Incomputable, value_or_reason

NEITHER, UNKNOWN = -1, -2


@dataclass(frozen=True)
class Choice:
    """One rater's choice in a group. order : the stories as they were shown; story : "" for neither"""

    rater: str
    group: str
    order: tuple
    story: str
    is_order_known: bool


def read_choices(package, item):
    """People's choices of one of the stories of a group."""
    rows = package.counted("pairs")
    if not len(rows):
        return []
    rows = rows[(rows["step"] == item.step) & (rows["item"] == item.item)].sort_values(["group", "rater"])
    columns = (rows[name] for name in ("rater", "group", "stories", "chosen", "order_is_known"))
    return [
        Choice(rater, group, tuple(json.loads(stories)), chosen, is_known == "True")
        for rater, group, stories, chosen, is_known in zip(*columns, strict=True)
    ]


def choice_table(choices, groups):
    """Which story, by its code's rank, and at which position, shape (R, G); which stood where, shape (R, G, S); and
    where the position is unknown, shape (R, G)."""
    raters = sorted({choice.rater for choice in choices})
    chosen = np.full((len(raters), len(groups)), np.nan)
    most = max((len(choice.order) for choice in choices), default=0)
    positions, stories = chosen.copy(), np.full((*chosen.shape, most), np.nan)
    is_unknown = np.zeros(chosen.shape, dtype=bool)
    for choice in choices:
        at, codes = (raters.index(choice.rater), groups.index(choice.group)), sorted(choice.order)
        chosen[at] = codes.index(choice.story) if choice.story else NEITHER
        at_place = choice.order.index(choice.story) if choice.story and choice.is_order_known else UNKNOWN
        positions[at] = at_place if choice.story else NEITHER
        is_unknown[at] = not choice.is_order_known
        stories[at][: len(codes)] = [codes.index(story) for story in choice.order]
    return chosen, positions, stories, is_unknown


def at_positions(positions, stories, is_unknown, rng):
    """What would have been chosen, had raters taken these positions of their pages; where these are not known, any."""
    is_none = np.isnan(positions) | (positions == NEITHER)
    is_anywhere = ~is_none & (is_unknown | (positions == UNKNOWN))
    indices = np.where(is_none | is_anywhere, 0, positions).astype(int)
    taken = np.take_along_axis(stories, indices[..., None], axis=-1)[..., 0]
    if is_anywhere.any():
        taken = np.where(is_anywhere, rng.integers(np.maximum(np.isfinite(stories).sum(axis=-1), 1)), taken)
    return np.where(is_none, positions, taken)


def n_possible(item, choices, groups):
    """How many answers are possible in each of these groups."""
    n_stories = {choice.group: len(choice.order) for choice in choices}
    return np.array([n_stories[group] + ("no_difference" in item.settings) for group in groups])


def preferences(package):
    rows = []
    for item in package.preferences:
        chosen = package.choices_of(item)
        decided = [choice for choice in chosen if choice.story]
        in_known_order = [choice for choice in decided if choice.is_order_known]
        is_first = [choice.story == choice.order[0] for choice in in_known_order]
        by_source = []
        for source in package.sources:
            stories = {story for story, name in package.source_by_story.items() if name == source}
            beside = [c for c in chosen if stories & set(c.order) and not stories >= set(c.order)]
            won, clusters = [c.story in stories for c in beside], package.clusters_of(c.group for c in beside)
            by_source.append({"source": source} | choice_share(package, won, clusters))
        rows.append(
            item.fields
            | {
                "n": len(chosen),
                "n_neither": len(chosen) - len(decided),
                "first": choice_share(package, is_first, [choice.rater for choice in in_known_order]),
                "by_source": by_source,
                "groups": [choices_in(package, chosen, group) for group in dict.fromkeys(c.group for c in chosen)],
                "n_resamples": N_RESAMPLES,
            }
        )
    return rows


def choice_share(package, is_so, clusters):
    counts = {"n_so": sum(is_so), "n": len(is_so), "n_clusters": len(set(clusters))}
    return counts | (share(is_so, clusters, package.resampling()) if is_so else {"value": None})


def choices_in(package, chosen, group):
    own = [choice for choice in chosen if choice.group == group]
    in_known_order = [choice for choice in own if choice.is_order_known]
    stories = sorted({story for choice in own for story in choice.order}) if not package.report["is_sealed"] else []
    return {
        "group": group,
        "n": len(own),
        "percent_agreement": estimate(agreement.percent_agreement, choice_table(own, [group])[0]),
        "stories": [
            {
                "story": story,
                "n": sum(choice.story == story for choice in own),
                "n_shown_first": sum(choice.order[0] == story for choice in in_known_order) if in_known_order else None,
            }
            for story in stories
        ],
    }


def rankings(package):
    rows = []
    for item in package.items:
        orders, groups, _raters = package.orders(item) if item.is_ranking else ([], [], [])
        if not orders:
            continue
        ranks = [package.ranks_of(order) for order in orders]
        by_source = [
            [[rank for story, rank in own.items() if package.source_of(story) == name] for name in package.sources]
            for own in ranks
        ]
        means = np.array([[np.mean(part) if part else np.nan for part in row] for row in by_source])
        best = np.array([[min(part) if part else np.nan for part in row] for row in by_source])
        firsts = ranking_statistics.first_places(best) if np.isfinite(best).any() else np.full(best.shape[1], np.nan)
        clusters, bounds = package.clusters_of(groups), (1, max(map(len, ranks)))
        sources = [
            {
                "source": name,
                "mean_rank": {"value": or_none(ranking_statistics.mean_ranks(means)[n])},
                "interval": mean_interval(means[:, n], clusters, package.resampling(), bounds),
                "first_percent": or_none(100 * firsts[n]),
            }
            for n, name in enumerate(package.sources)
        ]
        fields = {"n_rankings": len(orders), "n_groups": len(set(groups)), "by_source": sources}
        rows.append(item.fields | fields | {"concordance": concordance(package, ranks, groups)})
    return rows


def concordance(package, ranks, groups):
    """Kendall's W, the mean over groups."""
    ranks_by_group = defaultdict(list)
    for own, group in zip(ranks, groups, strict=True):
        ranks_by_group[group].append(own)
    rows = []
    for group, of_group in ranks_by_group.items():
        table = np.array([[own.get(story, np.nan) for story in sorted(of_group[0])] for own in of_group])
        rows.append({"group": group} | estimate(ranking_statistics.kendall_w, table))
    counted = [(row["group"], row["value"], row["n_raters"]) for row in rows if row["value"] is not None]
    clusters, values = package.clusters_of(group for group, _w, _m in counted), np.array([w for _g, w, _m in counted])
    fields = mean(rows) | {"groups": rows, "interval": mean_interval(values, clusters, package.resampling(), (0, 1))}
    if counted:
        fields["chance"] = np.mean([1 / m for _group, _w, m in counted])
        fields["mean_spearman"] = np.mean([ranking_statistics.mean_spearman(w, m) for _group, w, m in counted])
    return fields


def places(package):
    rows = []
    for item in package.items:
        orders, groups, _raters = package.orders(item) if item.is_ranking else ([], [], [])
        if not orders:
            continue
        n_places, placed = max(sum(map(len, order)) for order in orders), defaultdict(list)
        for order, group in zip(orders, groups, strict=True):
            n_before = 0
            for shared in order:
                parts = np.zeros(n_places)
                parts[n_before : n_before + len(shared)] = 1 / len(shared)
                for story in shared:
                    placed[package.source_of(story)].append((group, parts))
                n_before += len(shared)
        by_source = []
        for source in filter(placed.get, package.sources):
            clusters = package.clusters_of(group for group, _parts in placed[source])
            columns = np.array([parts for _group, parts in placed[source]]).T
            places_of = [
                {"place": n, "value": 100 * column.mean(), "interval": rate_interval(column, clusters, package.rng())}
                for n, column in enumerate(columns, start=1)
            ]
            fields = {"n": len(placed[source]), "n_clusters": len(set(clusters)), "shares": places_of}
            by_source.append({"source": source} | fields)
        rows.append(item.fields | {"n_rankings": len(orders), "n_places": n_places, "by_source": by_source})
    return rows


def balanced_of(sums):
    """Balanced accuracy of how many guesses are right and how many there are, of either kind."""
    right, n = sums[:, :2], sums[:, 2:]
    return (right / np.where(n > 0, n, np.nan)).mean(axis=1)


def authorship(package):
    rows = []
    for item in package.items:
        if not item.author_by_option:
            continue
        answers = package.answers_to(item)
        answers = answers[answers["story"].isin(package.source_by_story)]
        sources = answers["story"].map(package.source_of).to_numpy(dtype=object)
        guessed = answers["value"].map(item.author_by_option).to_numpy(dtype=object)
        kinds = np.array([package.kind_by_source.get(source) for source in sources], dtype=object)
        is_model, is_guessed = kinds == "language_model", guessed == "language_model"
        units = list(zip(answers["group"], answers["story"], strict=True))
        clusters, blocks = package.clusters(units), package.blocks_of(units)
        both = np.stack([is_model, ~is_model])
        parts = np.stack([*(both & (is_model == is_guessed)), *both], axis=-1)

        def ends(parts=parts, clusters=clusters):
            rng = package.resampling()
            ends_of_sums = intervals.interval_of_sums(balanced_of, parts, clusters, rng=rng, n_resamples=N_RESAMPLES)
            return ends_of_sums.clipped(0, 1)

        by_source = [
            {
                "source": name,
                "n": (sources == name).sum(),
                "n_by_option": [((answers["value"] == o["value"]) & (sources == name)).sum() for o in item.options],
            }
            for name in package.sources
        ]
        fields = {
            "n": len(answers),
            "by_source": by_source,
            "n_right": (guessed == kinds).sum(),
            "n_right_of_person_or_model": (is_model == is_guessed).sum(),
            "always_model_percent": 100 * is_model.mean() if len(answers) else None,
            "balanced_accuracy": estimate(comparisons.balanced_accuracy, is_model * 1.0, is_guessed * 1.0),
        }
        told = value_or_reason(
            lambda a=answers, m=is_model, g=is_guessed, b=blocks, ends=ends: guessed_kinds.told_kinds(
                *(m, g), block=b, **numbered(a), narrow=ends()
            )
        )
        p = None if isinstance(told, Incomputable) else told.p
        wide = ends_of(told if p is None else told.interval)
        fields |= {"n_raters": answers["rater"].nunique(), "interval": interval(ends), "wide": wide, "p": p}
        rows.append(item.fields | fields)
    adjusted = contrasts.adjust([row["p"] for row in rows], "holm")
    return [row | {"p_adjusted": p} for row, p in zip(rows, adjusted, strict=True)]


def numbered(answers):
    """The raters and the stories of guesses as numbers."""
    return {name: np.unique(answers[name].astype(str), return_inverse=True)[1] for name in ("rater", "story")}
