"""What judges go by equals what plain code computes from what was planted: explanations, habit, wordings."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.test import Client
from scipy import stats as scipy_stats
from sklearn.metrics import cohen_kappa_score

from annotation.responses import Answer
from judges.models import Judge, Prompt
from reports.dataset import Dataset, StepItem
from reports.dataset.families import FamilySources, split_sources
from reports.figures.judges.biases import JudgeBiases
from reports.figures.judges.on_pairs import JudgesOnPairs
from reports.figures.judges.wordings import ModelWordings, Wordings
from reports.templatetags.report import kept_together
from studies.models import Provenance, Study
from tests import factories, triggers
from tests.replay import replayed
from tests.reports import given, planted
from tests.reports.judge_readings import read, start_run

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

EXPERTS = ("E01", "E02", "E03")
STORIES = [f"p{g:02}s{n}" for g in range(1, planted.N_GROUPS + 1) for n in (1, 2)]


@pytest.fixture
@replayed
def study() -> Study:
    """Model two wrote every second story, Model one every fourth first."""
    return planted.empty_study()


def plant(study: Study, judges: tuple[str, ...]) -> dict[tuple[str, str, str], Any]:
    """Verdicts, ratings and words of explanation by (who, kind, story), of experts and of judges who leave some out."""
    rng = np.random.default_rng(11)
    answers: dict[tuple[str, str, str], Any] = {}
    rows = []
    for story in STORIES:
        worth = int(rng.integers(1, 6))
        for who in (*EXPERTS, *judges):
            kind = "model" if who in judges else "person"
            lean = story.endswith("2") if who in judges else 0
            rating = int(np.clip(worth + rng.integers(-1, 2) + lean, 1, 5))
            verdict = "yes" if (worth >= 3) ^ (rng.random() < 0.25) else "no"
            words = int(rng.integers(1, 40))
            answers[who, "words", story] = words
            answers[who, "scale", story] = rating
            answers[who, "yes", story] = verdict
            scored: list[tuple[str, Answer]] = [
                ("tests", Answer(value=verdict, rationale="word " * words)),
                ("scales", Answer(value=rating)),
            ]
            if kind == "model" and rng.random() < 0.1:
                answers[who, "scale", story] = "unreadable"
                scored[1] = ("scales", Answer(outcome="unreadable"))
            for step, answer in scored:
                rows.append(given.Row("test", who, f"plot{story[1:3]}", story, step, "item-1", answer, kind))
    given.bring(study, rows)
    return answers


def mean_of_people(answers: dict[tuple[str, str, str], Any], story: str) -> float:
    return float(np.mean([answers[who, "scale", story] for who in EXPERTS]))


def biases(study: Study) -> dict[tuple[str, str], Any]:
    return {(row.bias, row.kind): row for row in JudgeBiases().compute(Dataset.of(study)).rows}


FAMILY = ["own_family", "own_family_yes", "own_family_no"]


def name_families(**families: str) -> None:
    """Write the families of the models' sources into their stories' factors."""
    with triggers.lifted():
        for name, family in families.items():
            Provenance.objects.filter(source__name=f"Model {name}").update(factors={"family": family})


def test_a_judge_that_always_says_the_same_has_exactly_nothing_for_its_family_and_for_length(study: Study) -> None:
    name_families(one="beta", two="alpha")
    plant(study, ())
    for who, answer, rating in (("alpha-yes", "yes", 5), ("alpha-no", "no", 1)):
        rows = [
            given.Row("test", who, f"plot{story[1:3]}", story, step, "item-1", Answer(value=value), "model")
            for story in STORIES
            for step, value in (("tests", answer), ("scales", rating))
        ]
        given.bring(study, rows)

    rows = [row for row in JudgeBiases().compute(Dataset.of(study)).rows if row.bias in (*FAMILY, "verbosity")]

    assert len(rows) == 2 * (4 + 2)
    assert {(row.value, row.interval.why and row.interval.why.code, row.p) for row in rows} == {
        (0.0, "judge_constant", None)
    }


def test_a_judges_family_is_that_of_the_factor_or_of_the_maker_and_nothing_where_neither_is_known(
    study: Study,
) -> None:
    plant(study, ("alpha-9", "gpt-4o"))
    dataset = Dataset.of(study)
    assert split_sources(dataset, "alpha-9") is None

    name_families(one="openai", two="alpha")

    dataset = Dataset.of(study)
    assert split_sources(dataset, "alpha-9") == FamilySources(own=("Model two",), others=("Model one",))
    assert split_sources(dataset, "gpt-4o") == FamilySources(own=("Model one",), others=("Model two",))
    assert split_sources(dataset, "unheard-of") is None


def test_a_judges_own_name_tells_its_family_only_where_its_model_is_not_known(study: Study) -> None:
    judge = start_run(study, "gemini-style-critic").judge
    Judge.objects.filter(pk=judge.pk).update(model="gpt-4o")
    plant(study, ())
    name_families(one="openai", two="gemini")

    assert split_sources(Dataset.of(study), judge.slug) == FamilySources(("Model one",), ("Model two",))


def test_a_family_is_not_the_beginning_of_a_longer_word(study: Study) -> None:
    plant(study, ())
    name_families(one="mini", two="openai")

    assert split_sources(Dataset.of(study), "minimax-m2") is None
    assert split_sources(Dataset.of(study), "mini-2") == FamilySources(("Model one",), ("Model two",))


def test_scales_with_other_ends_are_not_taken_together(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    name_families(one="beta", two="alpha")
    plant(study, ("alpha-9",))
    ends = property(lambda item: (1.0, 5.0 if item.item.key == "item-1" else 100.0))
    monkeypatch.setattr(StepItem, "bounds", ends)
    rows = [
        given.Row("test", "alpha-2", "plot01", STORIES[0], "scales", item, Answer(value=value), "model")
        for item, value in (("item-1", 3), ("item-2", 4))
    ]
    given.bring(study, rows)

    scales = [row for row in JudgeBiases().compute(Dataset.of(study)).rows if row.kind == "scales"]
    audited = [row for row in scales if row.bias in ("own_family", "verbosity")]
    codes = [(row.judge, row.why and row.why.code, row.p is None) for row in audited]
    assert sorted(codes, key=str) == [("alpha-2", "scales_differ", True)] * 2 + [("alpha-9", None, False)] * 2


def test_words_of_explanation_where_the_judge_is_right_less_where_it_is_wrong(study: Study) -> None:
    answers = plant(study, ("judge",))

    row = biases(study)["explanations", "verdicts"]

    words: dict[bool, list[int]] = {True: [], False: []}
    for story in STORIES:
        most = Counter(answers[who, "yes", story] for who in EXPERTS).most_common(1)[0][0]
        words[answers["judge", "yes", story] == most].append(answers["judge", "words", story])
    assert (row.n, row.n_beside) == (len(words[True]), len(words[False]))
    assert min(row.n, row.n_beside) > 3
    assert row.value == pytest.approx(np.mean(words[True]) - np.mean(words[False]))


def test_the_explanation_is_that_of_the_reading_that_counts(study: Study) -> None:
    run = start_run(study, "judge")
    plant(study, ())
    for g in range(1, planted.N_GROUPS + 1):
        verdicts = {("tests", "item-1", f"p{g:02}s{n}"): "yes" for n in (1, 2)}
        for repeat in (1, 2):
            work = read(run, f"plot{g:02}", verdicts, repeat=repeat)
            with triggers.lifted():
                work.responses.update(rationale="word " * (5 if repeat == 1 else 50))

    row = biases(study)["explanations", "verdicts"]

    assert row.value == 0  # five words everywhere; fifty in no reading that counts


def test_the_share_of_the_commonest_answer_beside_that_of_people(study: Study) -> None:
    answers = plant(study, ("judge",))

    row = biases(study)["modal_share", "scales"]

    def share(who: str) -> float:
        ratings = [rating for s in STORIES if (rating := answers[who, "scale", s]) != "unreadable"]
        return 100 * Counter(ratings).most_common(1)[0][1] / len(ratings)

    assert row.value == pytest.approx(share("judge"))
    assert row.people == pytest.approx(np.mean([share(who) for who in EXPERTS]))


def test_lost_pairs_are_counted_by_source(study: Study) -> None:
    plant(study, ())
    run = start_run(study, "judge")
    # Of twelve pairs one is declined, one unreadable, one never came; each counts for both sources that stand in it.
    for g, answer in enumerate(["declined", "unreadable", *"ABABABABA"], start=1):
        read(run, f"plot{g:02}", {("better", "item-1", ""): answer})

    (row,) = JudgesOnPairs().compute(Dataset.of(study)).rows

    def counts(of: Any) -> tuple[int, ...]:
        return of.answered, of.declined, of.unreadable, of.missing, of.expected

    assert counts(row.outcomes) == (9, 1, 1, 1, 12)
    assert {of.source: counts(of) for of in row.outcomes.by_source} == {
        "A person": (5, 1, 0, 0, 6),
        "Model one": (4, 0, 1, 1, 6),
        "Model two": (9, 1, 1, 1, 12),
    }


def start_wordings(study: Study) -> Iterator[Judge]:
    """Three judges of one model and parameters, each with a prompt of its own, and one of another model."""
    first = start_run(study, "wording-1").judge
    yield first
    for n in (2, 3):
        prompt = Prompt.objects.exclude(pk=first.required_prompt.pk).order_by("pk")[n]
        other = Judge.objects.create(
            slug=f"wording-{n}", endpoint=first.endpoint, model=first.model, prompt=prompt, parameters=first.parameters
        )
        start_run(study, other.slug)
        yield other
    start_run(study, "another")
    start_run(study, "masked", personas=("critic", "reader"), like=first)  # another persona is no other wording


def test_three_wordings_stand_side_by_side_over_what_all_of_them_answered(study: Study, client: Client) -> None:
    judges = list(start_wordings(study))
    names = tuple(judge.slug for judge in judges)
    answers = plant(study, (*names, "another", "masked"))

    by_kind = {row.kind: row for row in Wordings().compute(Dataset.of(study)).rows}

    assert {row.model for row in by_kind.values()} == {judges[0].model}
    assert [(wording.judge, wording.prompt) for wording in by_kind["scales"].wordings] == [
        (judge.slug, str(judge.prompt)) for judge in judges
    ]
    check(by_kind["scales"], [[answers[who, "scale", s] for s in STORIES] for who in names], answers)
    check(by_kind["verdicts"], [[answers[who, "yes", s] for s in STORIES] for who in names], answers)
    client.force_login(factories.staff("researcher"))
    page = " ".join(client.get("/reports/plums/figures/all/").content.decode().split())
    for judge in judges:
        row = f'<th scope="row" class="kept-whole">{judge.prompt}</th> <td class="kept-whole">{judge.slug}</td>'
        assert kept_together(row) in page


def check(row: ModelWordings, said: list[list[Any]], answers: dict[tuple[str, str, str], Any]) -> None:
    """Level, score, spread and what changes are those of the answers that can be read in all wordings."""
    kept = [n for n in range(len(STORIES)) if all(own[n] != "unreadable" for own in said)]
    columns = [[own[n] for n in kept] for own in said]
    if row.kind == "scales":
        people = [mean_of_people(answers, STORIES[n]) for n in kept]
        scores = [float(scipy_stats.spearmanr(own, people).statistic) for own in columns]
        levels = [float(np.mean(own)) for own in columns]
    else:
        most = [Counter(answers[who, "yes", STORIES[n]] for who in EXPERTS).most_common(1)[0][0] for n in kept]
        scores = [float(cohen_kappa_score(own, most)) for own in columns]
        levels = [100 * float(np.mean([verdict == "yes" for verdict in own])) for own in columns]

    assert row.n == len(kept)
    assert [wording.level for wording in row.wordings] == pytest.approx(levels)
    assert [wording.score.whole.value for wording in row.wordings] == pytest.approx(scores)
    assert row.level_spread == pytest.approx(max(levels) - min(levels))
    assert row.score_spread == pytest.approx(max(scores) - min(scores))
    changed = 100 * float(np.mean([len(set(triple)) > 1 for triple in zip(*columns, strict=True)]))
    assert 0 < changed < 100
    assert row.changed_percent == pytest.approx(changed)
