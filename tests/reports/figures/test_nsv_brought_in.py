"""NSV of what comes from elsewhere: a reward model's scores, votes, people's pairs, paraphrases, several systems."""

from typing import Any

import numpy as np
import pytest

from judges import score_import
from judges.score_import import CardText
from reports.dataset import Dataset
from reports.document.model import TextBlock
from reports.figures import all_figures
from reports.figures.base import NO_HEAD
from reports.reasons import to_english
from studies import hashing
from studies.models import Provenance, Source, Story, Study
from tests import triggers
from tests.factories import NOON
from tests.reports.planted_ideas import PLAN, Planted, plant

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def compute(study: Study, key: str = "nsv") -> Any:
    return all_figures()[key].compute(Dataset.of(study))


def bring(planted: Planted, metric: str, values: dict[str, float], *, better: str = "higher") -> None:
    content = "story,value\n" + "".join(f"{code},{value}\n" for code, value in values.items())
    table = score_import.read_scores("scores.csv", content.encode())
    card = CardText(metric=metric, better=better, scored_by="Them")
    score_import.import_scores(
        planted.study, table, card, may_be_missing=True, sha256=hashing.sha256(content), by="tests", at=NOON
    )


def test_a_reward_models_scores_are_the_value_as_they_are_and_shuffling_them_loses_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted = plant(monkeypatch, n_prompts=12, plan={**PLAN, "nsv_value": "reward-1"})
    _missing, *others = planted.values
    bring(planted, "reward", {code: -3 * planted.values[code] for code in others}, better="lower")

    scores = compute(planted.study).scores

    assert (scores.setting.value, scores.setting.n_without_value, scores.preferences.n_pairs) == ("reward-1", 1, 0)
    assert scores.preferences.auc > 0.65
    value = next(row for row in scores.weights if row.component == "value")
    group_by_code = dict(planted.study.stories.values_list("code", "groups__code"))
    learnt_from = [3 * planted.values[code] for code in others if group_by_code[code] in scores.setting.development]
    assert value.median == pytest.approx(np.median(learnt_from))
    assert value.weight == pytest.approx(0.4, abs=0.15)
    ablations = {(row.component, row.by): row for row in scores.ablations}
    assert ("value", "shuffled_preferences") not in ablations
    assert ablations["value", "shuffled_values"].value > 0.05
    (section,) = all_figures()["nsv"].describe(compute(planted.study), NO_HEAD)
    margin = " ".join(str(note.words) for note in section.margin if isinstance(note, TextBlock))
    assert "Value: the scores reward-1. On " in margin


@pytest.mark.parametrize(("named", "least", "most"), [("votes-1", 7 * 40, 7 * 45), ("pairs/item-1", 7 * 5, 7 * 5)])
def test_value_is_learnt_from_votes_or_from_peoples_pairs_when_the_plan_says_so(
    monkeypatch: pytest.MonkeyPatch, named: str, least: int, most: int
) -> None:
    planted = plant(monkeypatch, n_prompts=14, in_pairs=True, plan={**PLAN, "nsv_pairs": named})
    if named == "votes-1":
        bring(planted, "votes", {code: round(100 * value) for code, value in planted.values.items()})

    scores = compute(planted.study).scores

    # Votes order all ten ideas of a prompt, people chose in five pairs of it; seven prompts are learnt from.
    assert scores.setting.pairs == named
    assert least <= scores.preferences.n_pairs <= most
    assert least <= scores.preferences.n_held_out <= most
    assert scores.preferences.auc > 0.8


def test_scores_that_nobody_brought_and_a_component_without_spread_are_said_in_place_of_the_score(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted = plant(monkeypatch, n_prompts=12, plan={**PLAN, "nsv_value": "reward-1"})

    nothing = compute(planted.study)
    bring(planted, "reward", {code: float(n % 3 == 0) for n, code in enumerate(planted.values)})
    flat = compute(planted.study)

    assert "no scores “reward-1”" in to_english(nothing.why)
    assert (nothing.scores, flat.scores) == (None, None)
    assert "the same value, so that its median absolute deviation is 0" in to_english(flat.why)
    text = " ".join(" ".join(all_figures()["nsv"].lines(flat)).split())
    assert "Use a measure of it that distinguishes more of them." in text


def test_an_idea_and_its_paraphrase_score_alike_and_a_paraphrase_is_neither_learnt_from_nor_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted = plant(monkeypatch, n_prompts=12)
    before = compute(planted.study).scores
    originals = list(planted.study.stories.prefetch_related("groups").filter(code__in=planted.values))[::2]
    for story in originals:
        text = planted.text()
        planted.vectors[text] = planted.vectors[story.text]
        with triggers.lifted():
            said_otherwise = Story.objects.create(
                study=planted.study, code=f"p{story.code}", text=text, sha256=hashing.sha256(text), n_words=25
            )
            source = Source.objects.get(name="System")
            Provenance.objects.create(story=said_otherwise, source=source, factors={"paraphrase of": story.code})
            story.groups.get().stories.add(said_otherwise)

    scores = compute(planted.study).scores

    (paraphrases,) = (row for row in scores.stability if row.what == "paraphrases")
    # Their vectors are alike and only their words differ, which weigh nothing here.
    held_out = [s for s in originals if s.groups.get().code in scores.setting.held_out]
    assert (paraphrases.n, paraphrases.setting) == (len(held_out), str(len(held_out)))
    assert paraphrases.value > 0.8
    assert (scores.setting.n_held_out, scores.preferences) == (before.setting.n_held_out, before.preferences)


def test_of_several_systems_each_stands_alone_and_all_of_them_together_are_confirmatory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = plant(monkeypatch, n_prompts=16, n_rounds=1, effect=0.3, systems=("Learner", "Mule")).study

    feedback = compute(study, "nsv_feedback")

    row_by_source = {row.source: row for row in feedback.rounds}
    assert list(row_by_source) == ["", "Learner", "Mule"]
    learner, mule = row_by_source["Learner"], row_by_source["Mule"]
    assert feedback.confirmatory is row_by_source[""]
    assert (row_by_source[""].n_with, learner.n_with, mule.n_without) == (48, 24, 24)
    assert learner.p < 0.05 < mule.p
    assert learner.gain.interval.low > 0 > mule.gain.interval.low
