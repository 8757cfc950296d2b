"""The answers of raters together by the model of Dawid and Skene, in one long table of votes and answers."""

import numpy as np
import pandas as pd

from tests.independent.agreement import numbered_answers
from tests.independent.material import place_of

FEWEST, CLOSE = 10, 1e-6


def dawid_skene(package, result, check):
    """The share of each answer beside the majority's, and how often each rater gives it where it is probable."""
    fits = {}
    for row in result["answers"]:
        about = row["step"], row["item"]
        items = package.verdicts if row["item"] == "all" else [package.item(row)]
        options = ["no", "yes"] if items[0]["is_verdict"] else [option["value"] for option in items[0]["options"]]
        if about not in fits:
            votes = pd.concat([numbered_answers(package, item).assign(key=n) for n, item in enumerate(items)])
            fits[about] = options, votes, *fit(votes, len(options))
        _options, votes, shares, reason, _tables = fits[about]
        code, place = options.index(row["option"]), f"{place_of('dawid_skene', row)}/{row['option']}"
        counts = votes.groupby(["key", "group", "story", "number"]).size().unstack(fill_value=0)
        counts = counts.reindex(columns=range(len(options)), fill_value=0)
        leads = counts.eq(counts.max(axis=1), axis=0)
        decided = leads[leads.sum(axis=1) == 1]
        check.numbers(place, row, n=len(counts), n_raters=votes["rater"].nunique(), n_majority=len(decided))
        check.number(f"{place}/majority", row["majority_percent"], 100 * decided[code].mean() if len(decided) else None)
        if reason:
            for name, number in reason.items():
                check.number(f"{place}/{name}", row["why"]["values"].get(name), number)
            check.numbers(place, row, value=None)
            continue
        check.numbers(place, row, value=100 * shares[code].mean())
        best = shares.ge(shares.max(axis=1) - CLOSE, axis=0)
        other = (best.loc[decided.index] != decided).any(axis=1)
        check.numbers(place, row, n_differ=other.sum())
    for row in result["raters"]:
        options, _votes, _shares, reason, tables = fits[row["step"], row["item"]]
        code, place = options.index(row["option"]), f"{place_of('dawid_skene', row)}/{row['rater']}"
        if reason:
            for name, number in reason.items():
                check.number(f"{place}/{name}", row["why"]["values"].get(name), number)
            continue
        table = tables.loc[row["rater"]]
        n = table[code].sum()
        value = 100 * (table.loc[code, code] + 1) / (n + len(options)) if n >= FEWEST else None
        check.numbers(place, row, n=n, value=value)
        if n < FEWEST:
            check.number(f"{place}/least", row["why"]["values"]["least"], FEWEST)


def fit(votes, n_values):
    """The probability of each answer of each unit, or what the reason for none names, and of each rater the table of
    given and right answers."""
    votes = votes[["rater", "key", "group", "story", "number"]].astype({"number": int})
    unit = ["key", "group", "story"]
    n = votes.groupby(unit).size()
    if not len(votes) or n.max() < 2:
        return None, {"units": None}, None
    if (n >= 3).sum() < len(n) / 2:
        return None, {"least": 3}, None
    if len(votes) < n_values * FEWEST * votes["rater"].nunique():
        return None, {"least": FEWEST}, None
    dummies = pd.get_dummies(votes["number"]).reindex(columns=range(n_values), fill_value=0).astype(float)
    index = pd.MultiIndex.from_frame(votes[unit])
    shares = dummies.groupby(index).mean()
    for _step in range(2000):
        probable = shares.loc[index].set_axis(votes.index)
        tables = probable.groupby([votes["rater"], votes["number"]]).sum()
        every = pd.MultiIndex.from_product([sorted(votes["rater"].unique()), range(n_values)])
        tables = tables.reindex(every, fill_value=0.0)
        rates = (tables + 1) / (tables + 1).groupby(level=0).transform("sum")
        given = rates.loc[pd.MultiIndex.from_frame(votes[["rater", "number"]])].to_numpy()
        odds = np.log(shares.mean()) + pd.DataFrame(np.log(given)).groupby(index).sum()
        fresh = np.exp(odds.sub(odds.max(axis=1), axis=0))
        fresh = fresh.div(fresh.sum(axis=1), axis=0)
        change, shares = (fresh - shares).abs().max().max(), fresh
        if change <= CLOSE:
            break
    else:
        return None, {"n": 2000}, None
    if tables.groupby(level=0).sum().mean().min() < FEWEST:
        return None, {"least": FEWEST}, None
    of_all = rates.groupby(level=1).mean()
    if any(of_all.loc[given].idxmax() != given for given in range(n_values)):
        return None, {"exchanged": None}, None
    return shares, None, tables
