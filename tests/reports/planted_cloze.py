"""A filled cloze whose judges are oracles with faults: they know how well each text does, and err and refuse."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.utils import timezone

from annotation.models import Rater
from annotation.responses import Answer, imports, submission
from annotation.responses.imports import Row
from stats.arrays import FloatArray
from studies import protocol
from studies.models import Provenance, Source, Study
from tests.annotation import clozes
from tests.factories import NOON
from tests.reports import quiet_run
from tests.reports.quiet_run import CONSTRAINTS, EDGES

JUDGES, EXPERTS = ("oracle-1", "oracle-2", "oracle-3"), ("E01", "E02")
NOTHING = ("declined", "unreadable", "missing")
CHECK = "s1-c1-k1"  # without which the first constraint is not met
WRITERS = ("alpha", "beta", "beta", "gamma", "delta", "epsilon")  # one of them fills the text twice
N_PEOPLE, N_BLANKS = 2, 5


@dataclass
class PlantedCloze:
    """said : by (rater, item, story) a rating from 0 to 5, "yes" or "no" of the check, or one of NOTHING
    participant, is_by_model : by story
    fills : by story what stands in its blanks, by which its vectors are known
    """

    study: Study
    participant: dict[str, str]
    is_by_model: dict[str, bool]
    fills: dict[str, list[str]]
    said: dict[tuple[str, str, str], Any] = field(default_factory=dict)

    @property
    def stories(self) -> list[str]:
        """In an order that is always the same; their codes are drawn."""
        return sorted(self.fills, key=self.fills.__getitem__)


class DrawnEmbedding:
    """A vector for each fill that depends on nothing but its words."""

    name, version = "drawn", "1"

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        return np.array([np.random.default_rng(zlib.crc32(text.encode())).normal(1.0, 1.0, 3) for text in texts])


def plant(*, seed: int = 8) -> PlantedCloze:
    """Texts of a known worth, experts who differ by one at most, and oracles who err, refuse and leave out."""
    rng = np.random.default_rng(seed)
    study = quiet_run.judged_study(_filled_study())
    planted = _read(study)
    for story in planted.stories:
        for item in (*CONSTRAINTS, *EDGES):
            worth = int(rng.integers(0, 6))
            for rater in EXPERTS:
                planted.said[rater, item, story] = int(np.clip(worth + rng.integers(-1, 2), 0, 5))
            for rater in JUDGES:
                given = int(np.clip(worth + rng.integers(-1, 3), 0, 5))
                planted.said[rater, item, story] = str(rng.choice(NOTHING)) if rng.random() < 0.12 else given
        for rater in (*EXPERTS, *JUDGES):
            planted.said[rater, CHECK, story] = "no" if rng.random() < 0.4 else "yes"
    (unrated,) = [story for story in planted.stories if planted.participant[story] == "delta"]
    for rater in JUDGES:
        planted.said[rater, "s2-c1", unrated] = "declined"
    imports.import_rows(study, list(_rows(planted.said)), version=protocol.current(study), at=NOON)
    return planted


def _filled_study() -> Study:
    study = clozes.study()
    for n, name in enumerate(WRITERS):
        quiet_run.model_fills(study, name, _words(f"{name} {n}"))
    for n in range(N_PEOPLE):
        work = clozes.assignment(study)
        clozes.fill(work, dict(enumerate(_words(f"somebody {n}"), start=1)))
        submission.submit(work, at=timezone.now())
    return study


def _words(of: str) -> list[str]:
    return [f"words of {of} in blank {blank}" for blank in range(1, N_BLANKS + 1)]


def _read(study: Study) -> PlantedCloze:
    """Who filled each text of the judged study, and with what, found again in the text itself."""
    rows = Provenance.objects.filter(story__study=study).select_related("story", "source")
    names = {*(f"{name} {n}" for n, name in enumerate(WRITERS)), *(f"somebody {n}" for n in range(N_PEOPLE))}
    fills = {row.story.code: next(_words(n) for n in names if f"words of {n} in" in row.story.text) for row in rows}
    return PlantedCloze(
        study,
        {row.story.code: row.source.name for row in rows},
        {row.story.code: row.source.kind == Source.Kind.MODEL for row in rows},
        fills,
    )


def _rows(said: Mapping[tuple[str, str, str], Any]) -> list[Row]:
    return [
        Row(
            "test",
            rater,
            story,
            story,
            "judge",
            item,
            Answer(outcome=value) if value in NOTHING else Answer(value=value),
            Rater.Kind.PERSON if rater in EXPERTS else Rater.Kind.MODEL,
        )
        for (rater, item, story), value in said.items()
        if value != "missing"
    ]
