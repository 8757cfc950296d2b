"""Every figure about a judge equals what plain code computes from what was planted, at every level of measurement."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score

from reports import results
from tests.reports.planted import EXPERTS, N_GROUPS, OPTIONS, SCALES, VERDICTS, Planted, plant

pytestmark = [pytest.mark.django_db(transaction=False), pytest.mark.embedded]
NOTHING = ("declined", "unreadable", "missing")


@pytest.fixture(scope="module")
def planted_results(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[Planted, dict[str, Any]]]:
    """The planted study and its document, computed once: nothing here changes them."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        planted = plant()
        yield planted, results.compute(planted.study)
        transaction.set_rollback(True)


def of_judge(rows: list[dict[str, Any]], judge: str = "oracle", **more: Any) -> dict[str, Any]:
    (row,) = [row for row in rows if row["judge"] == judge and all(row[name] == value for name, value in more.items())]
    return row


def values(scores: list[dict[str, Any]], part: str = "all") -> dict[str, float | None]:
    """Of each statistic its value over that part."""
    return {s["statistic"]: p["value"] for s in scores for p in s["parts"] if p["part"] == part}


def majority(answers: list[Any]) -> Any:
    answer, n = Counter(answers).most_common(1)[0]
    return answer if 2 * n > len(answers) else None


def is_in(planted: Planted, part: str, story: str, answers: list[Any]) -> bool:
    if part == "models":
        return planted.is_by_model(story)
    if part == "all":
        return True
    return (len(set(answers)) == 1) == (part == "unanimous")


def paired(planted: Planted, kind: str, item: str, part: str) -> tuple[list[Any], list[list[Any]]]:
    """What the oracle and the experts said where the oracle's answer can be read."""
    table = getattr(planted, kind)
    judge, people = [], []
    for story in planted.stories:
        own, others = table["oracle", item, story], [table[rater, item, story] for rater in EXPERTS]
        if own not in NOTHING and is_in(planted, part, story, others):
            judge.append(own)
            people.append(others)
    return judge, people


@pytest.mark.parametrize("part", ["all", "models", "unanimous", "split"])
def test_verdicts(planted_results: tuple[Planted, dict[str, Any]], part: str) -> None:
    planted, document = planted_results
    row = of_judge(document["judges"]["compared"])
    judge, truth, kappas = [], [], []
    for item in VERDICTS:
        own, people = paired(planted, "yes", item, part)
        most = [majority(answers) for answers in people]
        kappas.append(cohen_kappa_score(own, most))
        judge += own
        truth += most

    assert values(row["scores"]["scores"], part) == {
        "kappa": pytest.approx(cohen_kappa_score(judge, truth)),
        "mean_kappa": pytest.approx(np.mean(kappas)),
        "balanced_accuracy": pytest.approx(balanced_accuracy_score(truth, judge)),
        "percent_agreement": pytest.approx(100 * np.mean([a == b for a, b in zip(judge, truth, strict=True)])),
    }


@pytest.mark.parametrize("part", ["all", "models", "split"])
def test_scales(planted_results: tuple[Planted, dict[str, Any]], part: str) -> None:
    planted, document = planted_results
    row = of_judge(document["judges_on_scales"])
    by_item: dict[str, list[float]] = {}
    for item in SCALES:
        own, people = paired(planted, "scale", item, part)
        means = np.mean(people, axis=1)
        by_item.setdefault("spearman", []).append(scipy_stats.spearmanr(own, means).statistic)
        by_item.setdefault("kendall_tau", []).append(scipy_stats.kendalltau(own, means).statistic)
        by_item.setdefault("mean_absolute_error", []).append(float(np.abs(np.array(own) - means).mean()))
        by_item.setdefault("mean_difference", []).append(float((np.array(own) - means).mean()))
        by_item.setdefault("modal_share", []).append(100 * Counter(own).most_common(1)[0][1] / len(own))

    assert values(row["scores"], part) == {name: pytest.approx(np.mean(ns)) for name, ns in by_item.items()}
    if part == "all":
        assert [values(item["scores"])["spearman"] for item in row["items"]] == pytest.approx(by_item["spearman"])


def test_choices(planted_results: tuple[Planted, dict[str, Any]]) -> None:
    planted, document = planted_results
    own, people = paired(planted, "option", "item-1", "all")
    pairs = [(o, most) for o, answers in zip(own, people, strict=True) if (most := majority(answers))]
    judge, truth = zip(*pairs, strict=True)

    assert len(pairs) < len(own)  # some have no majority, and are left out
    assert set(truth) <= set(OPTIONS)
    assert values(of_judge(document["judges_on_choices"])["scores"]) == {
        "mean_kappa": pytest.approx(cohen_kappa_score(judge, truth)),
        "balanced_accuracy": pytest.approx(
            np.mean([np.mean([j == t for j, t in pairs if t == option]) for option in set(truth)])
        ),
        "percent_agreement": pytest.approx(100 * np.mean([j == t for j, t in pairs])),
    }


@pytest.mark.parametrize(
    ("figure", "kind", "items"),
    [("judges", "yes", VERDICTS), ("judges_on_scales", "scale", SCALES), ("judges_on_choices", "option", ("item-1",))],
)
def test_what_is_lost_by_source(
    planted_results: tuple[Planted, dict[str, Any]], figure: str, kind: str, items: tuple[str, ...]
) -> None:
    planted, document = planted_results
    rows = document[figure]["compared"] if figure == "judges" else document[figure]
    outcomes = of_judge(rows)["outcomes"]

    def count(stories: list[str]) -> dict[str, int]:
        counts = Counter(str(getattr(planted, kind)["oracle", item, story]) for item in items for story in stories)
        return {name: counts[name] for name in NOTHING} | {"expected": len(items) * len(stories)}

    stories = planted.stories
    sources = {
        "A person": [s for s in stories if not planted.is_by_model(s)],
        "Model one": [s for s in stories if s.endswith("1") and planted.is_by_model(s)],
        "Model two": [s for s in stories if s.endswith("2")],
    }
    assert {name: outcomes[name] for name in (*NOTHING, "expected")} == count(stories)
    assert sum(count(stories)[name] for name in NOTHING)
    for row in outcomes["by_source"]:
        assert {name: row[name] for name in (*NOTHING, "expected")} == count(sources[row["source"]])


def test_pairs_with_position_bias(planted_results: tuple[Planted, dict[str, Any]]) -> None:
    planted, document = planted_results
    row = of_judge(document["judges_on_pairs"], "turned")
    right, first, changed = [], [], []
    for g in range(1, N_GROUPS + 1):
        group = f"plot{g:02}"
        better = majority([planted.pair[rater, group] for rater in EXPERTS])
        straight, turned = planted.pair["turned", group], planted.pair.get(("turned", f"{group} turned"))
        choices = [straight] if turned is None else [straight, turned]
        right.append(np.mean([choice == better for choice in choices]))
        first.append(np.mean([choice == f"p{g:02}s{n}" for n, choice in enumerate(choices, start=1)]))
        if turned is not None:
            changed.append(straight != turned)

    assert 0 < sum(changed) < len(changed) == 10
    assert (row["n_pairs"], row["n_both"]) == (12, 10)
    assert values(row["scores"]) == {
        "accuracy": pytest.approx(100 * np.mean(right)),
        "flip_rate": pytest.approx(100 * np.mean(changed)),
        "first_rate": pytest.approx(100 * np.mean(first)),
    }
    models = [g % 2 == 0 for g in range(1, N_GROUPS + 1)]
    assert values(row["scores"], "models")["accuracy"] == pytest.approx(100 * np.mean(np.array(right)[models]))


def test_rankings(planted_results: tuple[Planted, dict[str, Any]]) -> None:
    planted, document = planted_results
    taus = []
    for g in range(1, N_GROUPS + 1):
        votes = [planted.order[rater, f"plot{g:02}"] for rater in EXPERTS]
        taus.append(1.0 if planted.order["oracle", f"plot{g:02}"] == majority(votes) else -1.0)

    assert values(of_judge(document["judges_on_rankings"])["scores"]) == {"group_tau": pytest.approx(np.mean(taus))}


def test_the_share_of_yes_by_how_many_experts_say_it(planted_results: tuple[Planted, dict[str, Any]]) -> None:
    planted, document = planted_results
    row = of_judge(document["judges_share_of_yes"], part="all")
    said: dict[int, list[bool]] = {}
    for item in VERDICTS:
        own, people = paired(planted, "yes", item, "all")
        for verdict, answers in zip(own, people, strict=True):
            said.setdefault(answers.count("yes"), []).append(verdict == "yes")
    levels = {"none": 0, "fewer_than_half": 1, "more_than_half": 2, "all": 3}

    assert {level["level"]: (level["value"], level["n"]) for level in row["levels"]} == {
        name: (pytest.approx(100 * np.mean(said[n])), len(said[n])) for name, n in levels.items()
    }
    gaps = [abs(verdict - n / 3) for n, verdicts in said.items() for verdict in verdicts]
    assert row["distance"] == pytest.approx(100 * np.mean(gaps))


def test_an_expert_in_the_same_place(planted_results: tuple[Planted, dict[str, Any]]) -> None:
    planted, document = planted_results
    verdicts = [paired(planted, "yes", item, "all") for item in VERDICTS]
    own = [verdict for judge, _people in verdicts for verdict in judge]
    people = np.array([answers for _judge, rows in verdicts for answers in rows]).T
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]

    row = of_judge(document["human_line"], kind="verdicts", part="all")

    assert row["expert"]["value"] == pytest.approx(np.mean([cohen_kappa_score(people[a], people[b]) for a, b in pairs]))
    assert row["of_judge"]["value"] == pytest.approx(np.mean([cohen_kappa_score(own, people[b]) for _a, b in pairs]))
    assert row["n"] == len(own)
    experts, judges = [], []
    for item in SCALES:
        answers, ratings = paired(planted, "scale", item, "all")
        for n in range(3):
            others = np.delete(np.array(ratings), n, axis=1).mean(axis=1)
            experts.append(scipy_stats.spearmanr(np.array(ratings)[:, n], others).statistic)
            judges.append(scipy_stats.spearmanr(answers, others).statistic)
    row = of_judge(document["human_line"], kind="scales", part="all")
    assert (row["expert"]["value"], row["of_judge"]["value"]) == (
        pytest.approx(np.mean(experts)),
        pytest.approx(np.mean(judges)),
    )


def test_what_the_judge_goes_by(planted_results: tuple[Planted, dict[str, Any]]) -> None:
    planted, document = planted_results
    n_words = dict(planted.study.stories.values_list("code", "n_words"))
    columns: list[list[float]] = []
    for place, item in enumerate(SCALES):
        for story in planted.stories:
            own = planted.scale["oracle", item, story]
            if own not in NOTHING:
                mean = np.mean([planted.scale[rater, item, story] for rater in EXPERTS])
                columns.append([np.log2(n_words[story]), mean, place == 0, place == 1, own])
    table = np.array(columns, dtype=float)
    slope = np.linalg.lstsq(table[:, :4], table[:, 4], rcond=None)[0][0]

    row = of_judge(document["judge_biases"], bias="verbosity", kind="scales")
    assert row["at_equal_ratings"]["value"] == pytest.approx(slope)


def test_every_number_about_a_judge_has_its_interval_and_floor_or_a_reason(
    planted_results: tuple[Planted, dict[str, Any]],
) -> None:
    _planted, document = planted_results
    rows = [row["scores"] for row in document["judges"]["compared"]]
    for key in ("judges_on_scales", "judges_on_choices", "judges_on_pairs", "judges_on_rankings"):
        rows += document[key]
    parts = [part for row in rows for score in row["scores"] for part in score["parts"]]

    assert len(parts) > 40
    for part in parts:
        assert (part["value"] is not None) != ("why" in part)
        assert (part["interval"]["low"] is not None) != ("why" in part["interval"])
        assert (part["floor"]["mean"] is not None) != ("why" in part["floor"])


def test_kappa_were_all_that_is_missing_right_or_wrong(planted_results: tuple[Planted, dict[str, Any]]) -> None:
    planted, document = planted_results
    row = of_judge(document["judges"]["compared"])
    own, opposite, truth = [], [], []
    for item in VERDICTS:
        for story in planted.stories:
            most = majority([planted.yes[rater, item, story] for rater in EXPERTS])
            verdict = planted.yes["oracle", item, story]
            is_lost = verdict in NOTHING
            truth.append(most)
            own.append(most if is_lost else verdict)
            opposite.append({"yes": "no", "no": "yes"}[most] if is_lost else verdict)

    assert truth != own != opposite
    assert row["kappa_if_right"] == pytest.approx(cohen_kappa_score(truth, own))
    assert row["kappa_if_wrong"] == pytest.approx(cohen_kappa_score(truth, opposite))


def test_one_of_the_people_prefers_what_most_of_the_others_do(planted_results: tuple[Planted, dict[str, Any]]) -> None:
    planted, document = planted_results
    right = [
        planted.pair[rater, group] == others[0]
        for rater in EXPERTS
        for group in (f"plot{g:02}" for g in range(1, N_GROUPS + 1))
        if len(set(others := [planted.pair[other, group] for other in EXPERTS if other != rater])) == 1
    ]

    (line,) = of_judge(document["judges_on_pairs"], "turned")["person_lines"]

    assert (line["value"], line["n_units"]) == (pytest.approx(100 * np.mean(right)), len(right))
