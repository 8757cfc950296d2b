"""Ideas whose novelty, surprise and value are planted, with ideas of reference and a panel that goes by them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from annotation.responses import Answer, imports
from annotation.responses.imports import Row
from judges.laboratory import embeddings, reference_sets
from stats.arrays import FloatArray
from studies import hashing, protocol
from studies.models import ProtocolVersion, Provenance, Source, Step, Story, StoryGroup, Study
from tests import factories
from tests.factories import NOON

N_RATED, N_REFERENCES, N_NOISE = 10, 12, 6
RATERS = ("E01", "E02", "E03")
WEIGHTS = {"novelty": 0.6, "value": 0.4}  # of what people go by
FREQUENT, RARE = [f"of{n}" for n in range(15)], [f"word{n}" for n in range(200)]
PLAN: Mapping[str, Any] = {
    "outcome": "panel/item-1",
    "contrasts": "every_pair",
    "nsv_target": ["panel/item-1"],
    "nsv_references": "Winners",
    "nsv_coherence": "sense/item-1",
}


@dataclass
class Planted:
    """vectors : of each text; study : closed, and rated; values : of each rated idea what people value, by its code"""

    n_prompts: int
    rng: np.random.Generator
    vectors: dict[str, FloatArray] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    study: Study = field(init=False)

    def text(self) -> str:
        """Twenty-five words, of which more or fewer are rare, so that surprise varies with nothing else."""
        share = self.rng.uniform(0.1, 0.9)
        return " ".join(str(self.rng.choice(RARE if self.rng.random() < share else FREQUENT)) for _word in range(25))

    def add(self, prompt: int, *, novelty: float, value: float) -> str:
        """The text of an idea as far from its prompt's references, and as far along what people value."""
        vector = np.zeros(1 + self.n_prompts + N_NOISE)
        vector[0], vector[1 + prompt] = value, 1 - novelty
        noise = self.rng.normal(size=N_NOISE)
        vector[-N_NOISE:] = noise / np.linalg.norm(noise) * np.sqrt(max(1 - vector @ vector, 0))
        text = self.text()
        self.vectors[text] = vector
        return text


def plant(
    monkeypatch: pytest.MonkeyPatch,
    *,
    n_prompts: int = 16,
    effect: float = 0.0,
    n_rounds: int = 0,
    plan: Mapping[str, Any] | None = None,
    is_judged: bool = True,
    in_pairs: bool = False,
    systems: Sequence[str] = ("System",),
    seed: int = 1,
) -> Planted:
    """A study of rated ideas; with rounds, three chains of feedback on each prompt and as many ideas without.

    effect : by how much the novelty of ideas grows with each round; is_judged : a judge calls all of them coherent
    in_pairs : rated ideas stand in groups of two, and people choose the one of the higher value
    systems : who generates ideas; of several only the first takes feedback to heart
    """
    planted = Planted(n_prompts, np.random.default_rng(seed))
    kind = embeddings.all_kinds()["tfidf-svd"]
    monkeypatch.setattr(kind, "embed", lambda _self, texts: np.array([planted.vectors[text] for text in texts]))
    corpus, study = (
        Study.objects.create(slug=slug, title=slug, state="closed", seats_per_group=1, seed=7, closed_at=NOON)
        for slug in ("winners", "ideas")
    )
    planted.study = study
    references = [
        (prompt, planted.add(prompt, novelty=float(novelty), value=0.0), {})
        for prompt in range(n_prompts)
        for novelty in planted.rng.uniform(0.0, 0.1, N_REFERENCES)
    ]
    _write(corpus, "r", "Winner", "expert_writer", references)
    drawn = [(p, *planted.rng.uniform([0.2, -0.5], [0.6, 0.5])) for p in range(n_prompts) for _n in range(N_RATED)]
    rated = [(p, planted.add(p, novelty=novelty, value=value), {}) for p, novelty, value in drawn]
    codes = _write(study, "i", "System", "language_model", rated, at_once=2 if in_pairs else 0)
    planted.values = {code: float(row[2]) for code, row in zip(codes, drawn, strict=True)}
    for n, system in enumerate(systems if n_rounds else ()):
        generated = list(_generate(planted, 0.0 if n else effect, n_rounds))
        _write(study, "mnop"[n], system, "language_model", generated)
    Provenance.objects.filter(story__code=codes[0]).update(source=Source.objects.get(name="Winner"))
    _ask(study, dict(PLAN) if plan is None else dict(plan), in_pairs=in_pairs)
    _rate(study, planted, codes, np.array(drawn), is_judged=is_judged)
    if in_pairs:
        _choose(study, planted)
    reference_sets.store(study, "Winners", corpus=corpus, by="tests", at=NOON)
    return planted


def _generate(planted: Planted, effect: float, n_rounds: int) -> Any:
    for prompt in range(planted.n_prompts):
        for _chain in range(3):
            novelty, value = planted.rng.uniform([0.0, -0.3], [0.3, 0.3])
            yield prompt, planted.add(prompt, novelty=novelty, value=value), {"recipe": "nsv-generation"}
            for number in range(1, n_rounds + 1):
                novelty, value = planted.rng.uniform([0.0, -0.3], [0.3, 0.3])
                factors = {"recipe": "nsv-feedback", "round": number}
                yield prompt, planted.add(prompt, novelty=novelty + effect * number, value=value), factors


def _write(
    study: Study, letter: str, source: str, kind: str, rows: list[tuple[int, str, dict[str, Any]]], *, at_once: int = 0
) -> list[str]:
    """The codes of the stories, in groups of their own on the premise of their prompt, or of so many at once."""
    author, _is_new = Source.objects.get_or_create(name=source, defaults={"kind": kind})
    codes = [f"{letter}{n:04}" for n in range(len(rows))]
    stories = Story.objects.bulk_create(
        Story(study=study, code=code, text=text, sha256=hashing.sha256(text), n_words=25)
        for code, (_prompt, text, _factors) in zip(codes, rows, strict=True)
    )
    Provenance.objects.bulk_create(
        Provenance(story=story, source=author, factors=row[2]) for story, row in zip(stories, rows, strict=True)
    )
    for prompt in sorted({row[0] for row in rows}):
        members = [story for story, row in zip(stories, rows, strict=True) if row[0] == prompt]
        for start in range(0, len(members), at_once or len(members)):
            code = f"{letter}{prompt}" + (f"-{start}" if at_once else "")
            group = StoryGroup.objects.create(study=study, code=code, premise=f"Premise {prompt}")
            group.stories.set(members[start : start + (at_once or len(members))])
    return codes


def _ask(study: Study, plan: dict[str, Any], *, in_pairs: bool) -> None:
    version = ProtocolVersion.objects.create(study=study, number=1)
    plain = {"rationale": "none", "rationale_least": 0}
    scale = {"type": "scale", "settings": {"low": 1, "high": 9, "anchors": {"1": "Low", "9": "High"}}}
    instruments = [
        ("panel", factories.instrument("panel", n_items=1, **scale, **plain)),
        ("sense", factories.instrument("sense", n_items=1, **plain)),
    ]
    for position, (key, instrument) in enumerate(instruments, start=1):
        Step.objects.create(
            version=version, position=position, key=key, kind="rating", title=key, instrument=instrument, scope="story"
        )
    if in_pairs:
        pair = factories.instrument("pairs", n_items=1, type="pair", **plain)
        Step.objects.create(
            version=version, position=3, key="pairs", kind="rating", title="Pairs", instrument=pair, scope="group"
        )
    Study.objects.filter(pk=study.pk).update(analysis_plan=plan, organiser="Us", contact="us@example.org")
    study.refresh_from_db()
    factories.plan(study)
    study.seats.all().delete()


def _rate(study: Study, planted: Planted, codes: list[str], drawn: FloatArray, *, is_judged: bool) -> None:
    """Three people go by novelty and value, each with an error; a judge calls every generated idea coherent."""
    z = (drawn[:, 1:] - np.median(drawn[:, 1:], axis=0)) / np.median(
        np.abs(drawn[:, 1:] - np.median(drawn[:, 1:], axis=0)), axis=0
    )
    liking = z @ list(WEIGHTS.values())
    group_by_story = dict(study.stories.values_list("code", "groups__code"))
    version = protocol.current(study)
    rows = [
        Row("test", rater, group_by_story[code], code, "panel", "item-1", Answer(value=value), "person")
        for rater in RATERS
        for code, value in zip(codes, _to_scale(liking + planted.rng.normal(0, 0.4, len(liking))), strict=True)
    ]
    rows += [
        Row("test", "gpt", group, code, "sense", "item-1", Answer(value="yes"), "model")
        for code, group in group_by_story.items()
        if is_judged and code not in codes
    ]
    imports.import_rows(study, rows, version=version, at=NOON)


def _choose(study: Study, planted: Planted) -> None:
    rows = [
        Row("test", rater, group.code, "", "pairs", "item-1", Answer(value=best), "person")
        for group in study.groups.prefetch_related("stories")
        for best in [max((story.code for story in group.stories.all()), key=planted.values.__getitem__)]
        for rater in ("V01", "V02", "V03")
    ]
    imports.import_rows(study, rows, version=protocol.current(study), at=NOON)


def _to_scale(liking: FloatArray) -> list[int]:
    return [int(value) for value in np.clip(np.round(5 + 1.6 * liking), 1, 9)]
