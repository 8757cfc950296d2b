"""A study of every kind that a report can be of, to be packed and computed again by the script of its package."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation import simulation
from annotation.models import Response, Timing
from annotation.responses import Answer
from annotation.simulation import Tendency
from judges.laboratory import reference_sets
from judges.models import Judge
from reports.dataset import scored_clozes
from reports.management.commands import demo as seeding
from reports.rationales import codings
from studies import hashing, lifecycle
from studies.models import Item, Provenance, Source, Story, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import (
    batched,
    composed,
    excluded,
    given,
    judge_readings,
    pds_generated,
    planted,
    planted_cloze,
    planted_ideas,
    quiet_run,
)
from tests.reports.figures import (
    test_alignment,
    test_cloze_factorial,
    test_cloze_scales,
    test_judge_biases,
    test_measures,
    test_novelty,
    test_personas,
    test_prediction_powered,
    test_repeats,
)
from tests.reports.given import Row
from tests.reports.labelled import plan_anew, study_of_published, study_with_properties
from tests.reports.test_pages import full_study
from tests.reports.test_preferences import CHOSEN, FIRST, choices, paired

N_READ = 10  # groups of which experts read any story, where a judge read all
Make = Callable[[pytest.MonkeyPatch, Path], Study]


# ── the studies of the demo ────────────────────────────────────────────────────────────────────────────────────────


def demo_study(slug: str) -> Study:
    """The demo's study of that name, closed, with simulated answers and the stub's."""
    at = timezone.now()
    if slug == seeding.CLOSED:
        study = seeding.seed_closed(slug, at=at)
    elif slug == seeding.SCORED:
        study = seeding.seed_scored(at=at)
    else:
        study = seeding.seed_live(slug, at=at)
        simulation.simulate(study, tendencies(study), seed=7, begins=at - timedelta(days=9))
        lifecycle.close(study, at=at)
    seeding.ensure_stub_run(study)
    return study


def tendencies(study: Study) -> dict[str, Tendency]:
    """A quality for each source, so that the report has something to find."""
    source_by_story = dict(Provenance.objects.filter(story__study=study).values_list("story__code", "source__name"))
    names = sorted(set(source_by_story.values()))
    quality_by_story = {story: 1.2 - 0.8 * names.index(name) for story, name in source_by_story.items()}
    codes = study.stories.values_list("code", flat=True)
    return {code: Tendency(quality_by_story.get(code, 0.0), {}) for code in codes}


# ── what no study of the demo has ──────────────────────────────────────────────────────────────────────────────────


def twice_read_study() -> Study:
    """Two stories that stand in two groups, which two raters read both."""
    study = given.closed_study(n_groups=2)
    with triggers.lifted():
        study.groups.get(code="plot2").stories.add(study.stories.get(code="p1s1"), study.stories.get(code="p1s2"))
    places = [("plot1", "p1s1"), ("plot1", "p1s2"), ("plot2", "p1s1"), ("plot2", "p1s2")]
    given.bring(
        study,
        [
            Row("test", rater, group, story, "tests", "item-1", given.ANSWERS[letter])
            for rater, letters in {"E1": "ynyy", "E2": "nnnn"}.items()
            for (group, story), letter in zip(places, letters, strict=True)
        ],
    )
    return study


def study_read_again() -> Study:
    """Two people read three groups of two stories, and then one of these groups a second time without being told."""
    study = factories.study(n_groups=3, n_stories=2, k=2, n_items=1, comparative=False, planned=False)
    Study.objects.filter(pk=study.pk).update(n_repeats=1, groups_per_sitting=4)
    factories.plan(Study.objects.get(pk=study.pk))
    raters = [factories.rater(Study.objects.get(pk=study.pk), code) for code in ("E01", "E02")]
    for rater, verdicts in zip(raters, ("yn yy nn yy", "yn ny ny yn"), strict=True):
        for of_group in verdicts.split():
            test_repeats.read(rater, of_group)
    Study.objects.update(state="closed", closed_at=NOON, launched_at=NOON)
    return Study.objects.get()


def study_agreed_upon() -> Study:
    """All say Yes to one of two tests, and take all stories of every group but one as equally good.

    There is a plan, and one group holds stories of one source only.
    """
    study = given.closed_study(n_groups=3, n_items=2)
    plan = {"outcome": "verdicts", "reference": "Source 1", "margin": 12.5}
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug="plums-ranking").update(settings={"ties": True})
        Study.objects.filter(pk=study.pk).update(analysis_plan=plan)
        Provenance.objects.filter(story__code="p3s2").update(source=Source.objects.get(name="Source 1"))
        factories.freeze_anew(Study.objects.get())
    study = Study.objects.get()
    given.verdicts(study, {"E1": "yyyyynynyyyn", "E2": "ynyyynynyyyn"})
    equal = {f"plot{g}": f"p{g}s1 = p{g}s2" for g in (1, 2)}
    order_by_rater = {rater: equal | {"plot3": "p3s1 > p3s2"} for rater in ("R1", "R2")}
    given.bring(study, given.orders(study, order_by_rater))
    return study


def study_of_explanations() -> Study:
    """A judge that explains its verdicts, of a family that wrote some of the stories."""
    study = planted.empty_study()
    test_judge_biases.name_families(one="beta", two="alpha")
    test_judge_biases.plant(study, ("alpha-9",))
    return study


def study_of_judges() -> Study:
    """The oracle and its like, a metric that chooses in pairs, and a model that refuses all pairs and rankings."""
    study = planted.plant().study
    for group in study.groups.order_by("code").values_list("code", flat=True):
        first = Answer(value=f"p{group[4:]}s1")
        refused = Answer(outcome="declined")
        given.bring(
            study,
            [
                Row("test", "taste", group, "", "better", "item-1", first, "metric"),
                Row("test", "mute", group, "", "better", "item-1", refused, "model"),
                Row("test", "mute", group, "", "ranking", "item-1", refused, "model"),
            ],
        )
    return study


def study_asked_again() -> Study:
    """A judge that one run asked three times about the first five groups and once about the others, and once more about
    all stories changed in two ways."""
    study = planted.empty_study()
    test_judge_biases.plant(study, ("alpha-9",))
    again = judge_readings.start_run(study, "steady")
    rng = np.random.default_rng(3)
    for g in range(1, planted.N_GROUPS + 1):
        stories = [story for story in test_judge_biases.STORIES if story.startswith(f"p{g:02}")]
        for repeat in (1, 2, 3) if g <= 5 else (1,):
            said = {("tests", "item-1", story): str(rng.choice(["yes", "no"])) for story in stories}
            said |= {("scales", "item-1", story): int(rng.integers(1, 6)) for story in stories}
            judge_readings.read(again, f"plot{g:02}", said, repeat=repeat)
    for name, share in (("request-1", 0.9), ("title-1", 0.5)):
        for g in range(1, planted.N_GROUPS + 1):
            stories = [story for story in test_judge_biases.STORIES if story.startswith(f"p{g:02}")]
            said = {("tests", "item-1", story): "yes" if rng.random() < share else "no" for story in stories}
            said |= {("scales", "item-1", story): int(rng.integers(1, 6)) for story in stories}
            judge_readings.read(again, f"plot{g:02}", said, intervention=name)
    return study


def study_of_probabilities() -> Study:
    """A judge whose server gives probabilities of most of its answers, which three experts follow at times, in minutes
    that are known; it was asked twice about the last groups, without them, of which experts read the first alone."""
    study, rng = planted.empty_study(), np.random.default_rng(11)
    run = judge_readings.start_run(study, "sure")
    Judge.objects.filter(slug="sure").update(parameters={"logprobs": True, "top_logprobs": 20})
    rows = []
    for g in range(1, planted.N_GROUPS + 1):
        yes = {f"p{g:02}s{n}": float(rng.choice([0.0, 0.03, 0.2, 0.5, 0.6, 0.9, 0.999])) for n in (1, 2)}
        rows += [
            Row("test", expert, f"plot{g:02}", story, "tests", "item-1", Answer(value="yes" if is_yes else "no"))
            for story, share in (yes.items() if g <= N_READ else ())
            for expert, is_yes in zip(planted.EXPERTS, rng.random(3) < 0.2 + 0.6 * share, strict=True)
        ]
        points = {story: rng.dirichlet(np.ones(5)) for story in yes}
        rows += [
            Row(
                "test", expert, f"plot{g:02}", story, "scales", "item-1", Answer(value=int(rng.choice(5, p=shares)) + 1)
            )
            for story, shares in (points.items() if g <= N_READ else ())
            for expert in planted.EXPERTS
        ]
        for repeat in (1, 2) if g > planted.N_GROUPS - 3 else (1,):
            said: dict[judge_readings.Place, object] = {
                ("tests", "item-1", story): "yes" if share >= 0.5 else "no" for story, share in yes.items()
            }
            said |= {("scales", "item-1", story): int(shares.argmax()) + 1 for story, shares in points.items()}
            work = judge_readings.read(run, f"plot{g:02}", said, repeat=repeat)
            if g <= planted.N_GROUPS - 3:
                known = {("tests", "item-1", story): {"yes": p, "no": 1 - p} for story, p in yes.items()}
                known |= {
                    ("scales", "item-1", story): {str(n): float(p) for n, p in enumerate(shares, 1)}
                    for story, shares in points.items()
                }
                judge_readings.grade(run, work, known)
    given.bring(study, rows)
    answers = Response.objects.filter(assignment__rater_kind="person")
    for n, answer in enumerate(answers.order_by("assignment__rater__code", "story__code", "step__key")):
        about = {"assignment": answer.assignment, "step": answer.step, "story": answer.story}
        Timing.objects.create(**about, active_seconds=240 + 60 * (n % 3))
    with triggers.lifted():
        for provenance in Provenance.objects.all().select_related("story"):
            is_read = int(provenance.story.code[1:3]) <= N_READ
            Provenance.objects.filter(pk=provenance.pk).update(factors={"drawn": "yes" if is_read else "no"})
    return study


def study_of_jury() -> Study:
    """Three judges whom the plan reads as one, the first with twice the weight; each left out some answers."""
    study, judges, rng = planted.empty_study(), ("alpha", "beta", "gamma"), np.random.default_rng(5)
    rows = []
    for story in test_judge_biases.STORIES:
        worth = int(rng.integers(1, 6))
        for who in (*planted.EXPERTS, *judges):
            rating = int(np.clip(worth + rng.integers(-1, 2), 1, 5))
            said = {
                "tests": "yes" if (worth >= 3) ^ (rng.random() < 0.25) else "no",
                "scales": rating,
                "author": str(rng.choice(planted.OPTIONS)),
            }
            kind = "model" if who in judges else "person"
            rows += [
                Row("test", who, f"plot{story[1:3]}", story, step, "item-1", Answer(value=value), kind)
                for step, value in said.items()
                if rng.random() < 0.9
            ]
    given.bring(study, rows)
    return plan_anew(study, jury=list(judges), jury_weights=[2, 1, 1])


def study_of_wordings() -> Study:
    """One model asked with three prompts, another with one, and the first as two personas."""
    study = planted.empty_study()
    judges = [judge.slug for judge in test_judge_biases.start_wordings(study)]
    test_judge_biases.plant(study, (*judges, "another", "masked"))
    return study


def study_with_scores(folder: Path) -> Study:
    """A reward of stories, of which more is better, a distance of which less is, and a score of pairs."""
    study = paired()
    choices(study, CHOSEN, FIRST)
    given.verdicts(study, {"V1": "ynynyn", "V2": "ynnnyy"})
    scores = "story,value\np1s1,3\np1s2,1\np2s1,2\np2s2,1\np3s1,2.5\np3s2,0.5\n"
    of_pairs = "first,second,value\np1s2,p1s1,-2\np2s1,p2s2,1\np3s1,p3s2,0\n"
    for metric, content, options in (
        ("reward", scores, {}),
        ("distance", scores, {"better": "lower"}),
        ("of-pairs", of_pairs, {}),
    ):
        (folder / "scores.csv").write_text(content)
        call_command("import_scores", study.slug, folder / "scores.csv", metric=metric, scored_by="Us", **options)
    return study


def code_reasons(study: Study) -> codings.ThemeSample:
    """Eight reasons of two people on four stories, of which the coders find another theme in three."""
    for name in ("Ending", "Voice"):
        codings.add_theme(study, name=name, definition=f"About the {name.lower()}.")
    sample = codings.draw_sample(study, item="tests.item-1", kind="person", n=100, by="tests")
    ending = study.themes.get(name="Ending").pk
    for role, found in (("researcher", {1, 2, 3}), ("coordinator", {2, 3, 4, 5})):
        coder = factories.staff(role)
        for number in range(1, sample.reasons.count() + 1):
            codings.record_coding(sample, number, user=coder, themes={ending} if number in found else ())
    return sample


def suggest_nothing(sample: codings.ThemeSample) -> Study:
    """A judge then finds no theme in any of the reasons."""
    rows = ["number,themes", *(f"{number}," for number in range(1, sample.reasons.count() + 1))]
    codings.record_suggestion(sample, judge="stub", data="\n".join(rows).encode())
    return sample.study


def study_beside_references() -> Study:
    """Stories beside each other, and beside the stories of another study."""
    study, other = given.closed_study(n_groups=8), given.closed_study("others", n_groups=7)
    with triggers.lifted():
        for code, text in test_novelty.TEXTS.items():
            Story.objects.filter(study=study, code=code).update(text=text, sha256=hashing.sha256(text))
    reference_sets.store(study, "The study’s own stories", by="tests", at=NOON)
    reference_sets.store(study, "Others", corpus=other, by="tests", at=NOON)
    return study


def study_of_97(folder: Path) -> Study:
    """Stories of eight authors in the shape of the PDS release, of which the open models say their size."""
    n_by_author = {author: n for author, (n, _sums) in pds_generated.SUMS_97.items()}
    pds_generated.at_random(folder / "human_annotations.csv", n_by_author=n_by_author)
    with suppress(CommandError):  # random ratings are not as published
        call_command("replicate", "pds", data=folder, stdout=StringIO(), stderr=StringIO())
    with triggers.lifted():
        for provenance in Provenance.objects.filter(source__name__startswith="Llama").select_related("source"):
            provenance.factors["size"] = provenance.source.name.rpartition("-")[2]
            provenance.save()
    return Study.objects.get()


def judged_cloze(monkeypatch: pytest.MonkeyPatch) -> Study:
    """Filled texts that three judges who err and refuse and two experts have rated."""
    monkeypatch.setattr(scored_clozes, "find_embedding", lambda name, **_: planted_cloze.DrawnEmbedding())
    return planted_cloze.plant().study


def factorial_cloze() -> Study:
    """Two models judged three texts with and without samples that people scored."""
    made = quiet_run.judged_study(quiet_run.filled_study())
    test_cloze_factorial.judges_of(made, test_cloze_factorial.PLAIN, "quiet-judge")
    test_cloze_factorial.judges_of(made, test_cloze_factorial.ANCHORED, "quiet-judge-anchored")
    quiet_run.judge(made, names=test_cloze_factorial.PLAIN, denied=[(test_cloze_factorial.PLAIN[0], "gemini-c")])
    anchored = {
        name: [(rating, *quiet_run.RATINGS[name][0][1:]) for rating in ratings]
        for name, ratings in test_cloze_factorial.WITH_SAMPLES.items()
    }
    quiet_run.judge(made, anchored, names=test_cloze_factorial.ANCHORED)
    return made


def coarse_cloze() -> Study:
    """Two models judged three texts from 0 to 5 and in three steps."""
    made = quiet_run.judged_study(quiet_run.filled_study(), has_coarse=True)
    test_cloze_factorial.judges_of(made, test_cloze_scales.FINE, "quiet-judge")
    test_cloze_factorial.judges_of(made, test_cloze_scales.COARSE, "quiet-judge-coarse")
    quiet_run.judge(made, names=test_cloze_scales.FINE)
    quiet_run.judge_coarsely(made, test_cloze_scales.STEPS, names=test_cloze_scales.COARSE)
    return made


DEMO = ("harbour", "orchard", "pairs", "depth", "ideas", "measures", "mystery", "workshop")
MAKERS: dict[str, Make] = {
    **{slug: lambda _patch, _folder, slug=slug: demo_study(slug) for slug in DEMO},  # type: ignore[misc]
    "judges": lambda _patch, _folder: study_of_judges(),
    "drawn": lambda _patch, _folder: test_prediction_powered.planted(missing=True)[0],
    "text measures": lambda _patch, _folder: test_measures.measured_study(),
    "read twice": lambda _patch, _folder: twice_read_study(),
    "read again": lambda _patch, _folder: study_read_again(),
    "agreed upon": lambda _patch, _folder: study_agreed_upon(),
    "explanations": lambda _patch, _folder: study_of_explanations(),
    "aligned": lambda _patch, _folder: test_alignment.aligned_study(),
    "asked again": lambda _patch, _folder: study_asked_again(),
    "probabilities": lambda _patch, _folder: study_of_probabilities(),
    "jury": lambda _patch, _folder: study_of_jury(),
    "properties": lambda _patch, folder: study_with_properties(folder),
    "published": lambda _patch, _folder: study_of_published(),
    "personas": lambda _patch, _folder: test_personas.Said(nobody="judge-bare").study,
    "wordings": lambda _patch, _folder: study_of_wordings(),
    "scores": lambda _patch, folder: study_with_scores(folder),
    "themes": lambda _patch, _folder: suggest_nothing(code_reasons(full_study())),
    "references": lambda _patch, _folder: study_beside_references(),
    "97 stories": lambda _patch, folder: study_of_97(folder),
    "composed": lambda _patch, _folder: composed.plant(missing=0, with_judge=True).study,
    "batches": lambda _patch, _folder: batched.plant(with_judge=True),
    "excluded": lambda _patch, _folder: excluded.study(),
    "cloze": lambda patch, _folder: judged_cloze(patch),
    "factorial": lambda _patch, _folder: factorial_cloze(),
    "coarse": lambda _patch, _folder: coarse_cloze(),
    "nsv": lambda patch, _folder: planted_ideas.plant(patch, n_rounds=2, effect=0.15).study,
}
