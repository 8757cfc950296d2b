"""NSV of a study whose novelty, surprise and value are planted: weights, ablations, hypotheses, and what cannot be."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.responses import Answer, imports
from annotation.responses.imports import Row
from judges.models import ReferenceSet
from reports import results
from reports.dataset import Dataset
from reports.dataset.ideas import Ideas
from reports.dataset.scored_ideas import ScoredIdeas
from reports.figures import all_figures
from reports.figures.codec import encode
from reports.reasons import to_english
from studies import protocol
from studies.models import Story, StoryGroup, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports.planted_ideas import N_REFERENCES, PLAN, Planted, plant

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def compute(study: Study, *keys: str) -> list[Any]:
    data = Dataset.of(study)
    return [all_figures()[key].compute(data) for key in keys]


def test_planted_weights_signs_of_ablations_and_feedback_are_recovered(monkeypatch: pytest.MonkeyPatch) -> None:
    study = plant(monkeypatch, n_rounds=2, effect=0.15).study

    result, feedback = compute(study, "nsv", "nsv_feedback")

    scores = result.scores
    assert {row.component: row.weight for row in scores.weights} == pytest.approx(
        {"novelty": 0.6, "surprise": 0.0, "value": 0.4}, abs=0.15
    )
    rho = {row.method: row.within.value for row in scores.methods}
    assert rho["nsv"] > max(rho["novelty"], rho["value"]) > 0.4 > rho["distinct-2"]
    assert (scores.verdict, scores.confirmatory, 0.8 < scores.ceiling <= 1) == ("met", "within", True)
    ablations = {(row.component, row.by): row for row in scores.ablations}
    assert len(ablations) == 6
    for (component, by), row in ablations.items():
        if component == "surprise":
            assert row.value == pytest.approx(0, abs=0.05), by
        else:
            assert 0 < row.interval.low < row.value < row.interval.high, (component, by)
    assert scores.preferences.auc > 0.65
    stability = {(row.what, row.setting): row for row in scores.stability}
    assert (stability["splits", "5"].n, stability["all_weights", "0–1"].n) == (5, 231)
    assert stability["k", "25"].why.code == "too_few_neighbours"
    # Of 16 prompts eight are learnt from, in both parts none is.
    setting = scores.setting
    assert (len(setting.development), len(setting.held_out), setting.n_held_out) == (8, 8, 80)
    assert not set(setting.development) & set(setting.held_out)
    assert [(row.round, row.is_last, row.n_with, row.n_without) for row in feedback.rounds] == [
        (1, False, 24, 24),
        (2, True, 24, 24),
    ]
    assert feedback.confirmatory.p < 0.05
    assert feedback.rounds[1].gain.value > feedback.rounds[0].gain.value > 0
    assert feedback.n_people == 8 * 12
    for key, part in (("nsv", result), ("nsv_feedback", feedback)):
        figure: Any = all_figures()[key]
        tables = {name: list(rows) for name, rows in figure.rows(part).items()}
        assert tuple(tables) == figure.tables
        assert all(tables.values())
        assert all(tuple(row) == tuple(rows[0]) for rows in tables.values() for row in rows)
        assert json.dumps(encode(part), allow_nan=False)


def test_ideas_of_which_nobody_says_that_they_are_coherent_are_counted_and_never_creative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = plant(monkeypatch, n_rounds=1, effect=0.3, n_prompts=12, is_judged=False).study

    (feedback,) = compute(study, "nsv_feedback")

    (row,) = feedback.rounds
    assert (feedback.n_without_coherence, row.share_with, row.share_without, row.p) == (72, 0, 0, 1)
    assert row.gain.value > 0


def test_factors_of_ideas_are_read_once_however_many_ideas_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    scored = Dataset.of(plant(monkeypatch, n_prompts=12).study).scored_ideas
    assert isinstance(scored, ScoredIdeas)
    names: list[str] = []
    read = Ideas.factor
    monkeypatch.setattr(Ideas, "factor", lambda ideas, name: names.append(name) or read(ideas, name))

    factors = scored.factors

    assert [len(values) for values in factors.values()] == [120, 120, 120]
    assert names == list(factors)


def test_page_files_and_command_say_it_and_nothing_while_sealed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = plant(monkeypatch, n_prompts=12).study
    client.force_login(factories.staff("researcher"))

    page = " ".join(client.get("/reports/ideas/figures/all/").content.decode().split())

    for words in (
        "The panel, on Item 1, over 120 ideas:",
        "nearest of the prompt and of the set “Winners”",
        "MAUVE is left out",
        "drawn by the seed 7",
    ):
        assert words in page
    file = b"".join(client.get("/reports/ideas/nsv-prompts.csv").streaming_content).decode()  # type: ignore[attr-defined]
    assert file.count(",development,7") == 7
    assert file.count(",hold-out,7") == 5
    assert "novelty, surprise and value" in client.get("/reports/ideas/methods/").content.decode()
    out = io.StringIO()
    call_command("nsv", "ideas", "--json", stdout=out)
    assert json.loads(out.getvalue())["nsv"] == results.compute(study)["nsv"]
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(state="live", closed_at=None)
    study.refresh_from_db()
    assert results.compute(study)["nsv"] is None
    with pytest.raises(CommandError, match="sealed until it is closed"):
        call_command("nsv", "ideas")


def test_what_cannot_be_is_said_with_the_way_out_and_nothing_but_the_panel_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = plant(monkeypatch, n_prompts=8).study

    (few,) = compute(study, "nsv")
    ReferenceSet.objects.update(name="Others")
    (unnamed,) = compute(study, "nsv")
    ReferenceSet.objects.update(name="Winners", version="2")
    (changed,) = compute(study, "nsv")
    Story.objects.filter(study__slug="winners", code__gte="r0050").delete()
    ReferenceSet.objects.update(version="3")
    (no_neighbours,) = compute(study, "nsv")

    cases = {"too_few_rated_prompts": few, "no_reference_set": unnamed, "no_vectors": changed}
    for code, result in cases.items():
        assert (result.why.code, result.scores) == (code, None)
        assert result.panel.value > 0.5
    assert few.why.values == {"n": 8, "least": 12}
    assert no_neighbours.why.code == "too_few_rated_prompts"
    assert "Have ideas on more prompts rated." in " ".join(" ".join(all_figures()["nsv"].lines(few)).split())
    out = io.StringIO()
    with pytest.raises(CommandError, match="the reason stands above"):
        call_command("nsv", "ideas", stdout=out)
    assert "prompts can be used" in out.getvalue()


def test_without_a_target_in_the_plan_there_is_no_section_and_the_command_says_where_it_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = plant(monkeypatch, n_prompts=2, plan={key: PLAN[key] for key in ("outcome", "contrasts")}).study

    assert compute(study, "nsv", "nsv_feedback") == [None, None]
    with pytest.raises(CommandError, match="does not say what stands for creativity"):
        call_command("nsv", "ideas")


def test_a_reference_that_copies_an_idea_is_left_out_and_two_writings_of_a_prompt_are_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted = plant(monkeypatch, n_prompts=12)
    study, corpus = planted.study, Study.objects.get(slug="winners")
    idea = study.stories.order_by("code")[0]
    with triggers.lifted():
        # One idea of the set is the judged one but for a word.
        copy = corpus.stories.order_by("code")[0]
        copy.text = idea.text.rpartition(" ")[0] + " end"
        planted.vectors[copy.text] = planted.vectors[idea.text]
        copy.save()
    stored = ReferenceSet.objects.get()
    stored.stories = [list(row) for row in corpus.stories.order_by("code").values_list("code", "sha256")]
    stored.save()

    reference = Dataset.of(study).scored_ideas.ideas.reference

    assert (reference.n_near_copies, len(reference.texts)) == (1, 12 * 12 - 1)
    assert copy.text not in reference.texts
    with triggers.lifted():
        study.groups.filter(code="i1").update(premise="PREMISE  0")
    reason = Dataset.of(study).scored_ideas
    assert (reason.code, reason.values) == ("too_few_rated_prompts", {"n": 11, "least": 12})


def test_an_idea_in_several_groups_of_one_prompt_is_read_from_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    study = plant(monkeypatch, n_prompts=12).study
    idea = study.stories.get(code="i0000")
    with triggers.lifted():
        again = StoryGroup.objects.create(study=study, code="z0", premise=" premise 0")
        again.stories.set([idea])
    before = Dataset.of(study).scored_ideas.ideas
    at = before.codes.index("i0000")
    first = before.ratings[:, at]
    answers = {("E01", "panel"): 9, ("E04", "panel"): 3, ("E04", "sense"): "no"}
    rows = [
        Row("test", r, "z0", "i0000", step, "item-1", Answer(value=v), "person") for (r, step), v in answers.items()
    ]

    imports.import_rows(study, rows, version=protocol.current(study), at=NOON)

    after = Dataset.of(study)
    ideas = after.scored_ideas.ideas
    ratings = dict(zip(after.raters, ideas.ratings[:, at], strict=True))
    assert ratings == {"E01": (first[0] + 9) / 2, "E02": first[1], "E03": first[2], "E04": 3}
    assert ideas.codes == before.codes
    assert ideas.n_on_several_prompts == 0
    assert (bool(ideas.has_coherence[at]), bool(ideas.is_coherent[at])) == (True, False)


def test_references_in_another_language_give_no_surprise_and_the_way_out_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n_texts = iter(range(10**6))
    english = Planted.text

    def write(planted: Planted) -> str:
        """The first texts are the references."""
        text = english(planted)
        is_reference = next(n_texts) < planted.n_prompts * N_REFERENCES
        return text.replace("word", "palavra").replace("of", "de") if is_reference else text

    monkeypatch.setattr(Planted, "text", write)

    (result,) = compute(plant(monkeypatch).study, "nsv")

    assert (result.why.code, result.scores) == ("no_surprise", None)
    assert "needs references on several prompts in the ideas’ language" in to_english(result.why)
