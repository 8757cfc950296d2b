"""How near a judge's answers are to those of people: one number, from a table with the columns judge and people."""

import pandas as pd


def confusion(answers):
    """How often the judge (rows) and people (columns) gave each two values; the same values on both sides."""
    values = sorted({*answers["judge"], *answers["people"]})
    table = pd.crosstab(answers["judge"], answers["people"])
    return table.reindex(index=values, columns=values, fill_value=0)


def kappa(answers):
    """Cohen's kappa; None where chance alone would agree always."""
    table, n = confusion(answers), len(answers)
    observed = sum(table.loc[value, value] for value in table.index) / n
    chance = (table.sum(axis=1) * table.sum(axis=0)).sum() / n**2
    return (observed - chance) / (1 - chance) if chance < 1 else None


def balanced_accuracy(answers):
    """The mean over people's values of how often the judge gives the same, 0 to 1; None where there is one value."""
    recalls = (answers["judge"] == answers["people"]).groupby(answers["people"]).mean()
    return recalls.mean() if len(recalls) > 1 else None


def percent_agreement(answers):
    """How often both are the same, 0 to 100."""
    return contributions("percent_agreement", answers).mean()


def spearman(answers):
    """The correlation of ranks; None where one side does not vary."""
    ranks = answers[["judge", "people"]].rank()
    return ranks["judge"].corr(ranks["people"]) if (ranks.nunique() > 1).all() else None


def kendall_tau(answers):
    """Tau-b, by going through all pairs."""
    judge, people = answers["judge"].to_numpy(), answers["people"].to_numpy()
    alike = n_judge = n_people = 0
    for j, p in zip(judge, people, strict=True):
        of_judge, of_people = (judge > j) * 1 - (judge < j) * 1, (people > p) * 1 - (people < p) * 1
        alike += (of_judge * of_people).sum()
        n_judge += (of_judge != 0).sum()
        n_people += (of_people != 0).sum()
    return alike / (float(n_judge) * n_people) ** 0.5 if n_judge and n_people else None


def contributions(statistic, answers):
    """What each answer adds to a statistic that is a mean."""
    if statistic == "percent_agreement":
        return 100.0 * (answers["judge"] == answers["people"])
    if statistic == "modal_share":
        return 100.0 * (answers["judge"] == answers["judge"].mode().min())
    distance = answers["judge"] - answers["people"]
    return distance.abs() if statistic == "mean_absolute_error" else distance


def mean_absolute_error(answers):
    """How far the judge is from people, in points of the scale."""
    return contributions("mean_absolute_error", answers).mean()


def mean_difference(answers):
    """How far the judge is above people, in points of the scale."""
    return contributions("mean_difference", answers).mean()


def modal_share(answers):
    """How often the judge gives the value that it gives most often, 0 to 100."""
    return contributions("modal_share", answers).mean()


STATISTICS = {
    "kappa": kappa,
    "mean_kappa": kappa,
    "balanced_accuracy": balanced_accuracy,
    "percent_agreement": percent_agreement,
    "spearman": spearman,
    "kendall_tau": kendall_tau,
    "mean_absolute_error": mean_absolute_error,
    "mean_difference": mean_difference,
    "modal_share": modal_share,
}
MEANS = ("percent_agreement", "mean_absolute_error", "mean_difference", "modal_share")


def score(statistic, answers, is_pooled):
    """The statistic over all items together, or the mean of the items' values; None if there is none."""
    if is_pooled:
        return STATISTICS[statistic](answers) if len(answers) else None
    values = items_with_value(statistic, answers)
    return values.mean() if len(values) else None


def items_with_value(statistic, answers):
    """The value of each item that has one, by the item's key."""
    values = {key: STATISTICS[statistic](part) for key, part in answers.groupby("key")}
    return pd.Series({key: value for key, value in values.items() if value is not None}, dtype=float)
