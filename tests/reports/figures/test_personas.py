"""What personas gain equals what plain code computes from what was planted, and stands on the page."""

from typing import Any

import krippendorff
import numpy as np
import pytest
from django.test import Client
from scipy import stats as scipy_stats

from annotation.responses import Answer
from reports.dataset import Dataset
from reports.figures.judges.personas import JudgePersonas, Personas
from studies.models import Study
from tests import factories
from tests.reports import given, planted
from tests.reports.judge_readings import read, start_run

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

PERSONAS = ("critic", "reader", "editor", "teacher", "child")
EXPERTS = ("E01", "E02")


class Said:
    """Ratings by (who, item, story), of people, of a judge as each persona, and as nobody; one is unreadable."""

    def __init__(self, *, nobody: str) -> None:
        self.study: Study = planted.empty_study()
        self.codes = list(self.study.stories.order_by("code").values_list("code", flat=True))
        rng = np.random.default_rng(3)
        self.ratings: dict[tuple[str, str, str], Any] = {}
        for story in self.codes:
            for item in planted.SCALES:
                worth = int(rng.integers(1, 6))
                for who in (*EXPERTS, *PERSONAS, "nobody"):
                    self.ratings[who, item, story] = int(np.clip(worth + rng.integers(-2, 3), 1, 5))
        self.ratings["teacher", "item-1", "p03s1"] = "unreadable"
        rows = [
            given.Row("test", who, f"plot{story[1:3]}", story, "scales", item, Answer(value=value))
            for (who, item, story), value in self.ratings.items()
            if who in EXPERTS
        ]
        given.bring(self.study, rows)
        masked = start_run(self.study, "judge", personas=PERSONAS)
        runs = dict.fromkeys(PERSONAS, masked)
        if nobody:
            runs["nobody"] = start_run(self.study, nobody, like=masked.judge)
        for who, run in runs.items():
            for n in range(1, planted.N_GROUPS + 1):
                answers = {
                    ("scales", item, story): self.ratings[who, item, story]
                    for item in planted.SCALES
                    for story in (f"p{n:02}s1", f"p{n:02}s2")
                }
                read(run, f"plot{n:02}", answers, persona="" if who == "nobody" else who)

    def compute(self) -> JudgePersonas:
        (row,) = Personas().compute(Dataset.of(self.study)).rows
        return row

    def table(self, who: str, item: str) -> list[float]:
        """The ratings of an item about the stories that everybody rated."""
        codes = [code for code in self.codes if all(self.ratings[p, item, code] != "unreadable" for p in PERSONAS)]
        return [float(self.ratings[who, item, code]) for code in codes]

    def rho(self, who: list[str], item: str) -> float:
        people = np.mean([self.table(expert, item) for expert in EXPERTS], axis=0)
        return float(scipy_stats.spearmanr(np.mean([self.table(name, item) for name in who], axis=0), people).statistic)


@pytest.mark.parametrize("nobody", ["judge", "judge-bare"], ids=["the same judge", "another judge, asked the same"])
def test_gain_and_alpha_are_what_was_planted(nobody: str) -> None:
    said = Said(nobody=nobody)

    row = said.compute()

    assert (row.judge, row.personas, row.nobody) == ("judge", PERSONAS, nobody)
    gains = []
    for item in row.items:
        together, bare = said.rho(list(PERSONAS), item.item), said.rho(["nobody"], item.item)
        gains.append(together - bare)
        assert item.gain.together == pytest.approx(together)
        assert item.gain.alone == pytest.approx(np.mean([said.rho([name], item.item) for name in PERSONAS]))
        assert item.gain.nobody == pytest.approx(bare)
        assert item.gain.value == pytest.approx(together - bare)
        assert item.gain.n == len(said.codes) - (item.item == "item-1")
        ratings = [[said.ratings[name, item.item, code] for code in said.codes] for name in PERSONAS]
        numbers = [[np.nan if value == "unreadable" else value for value in own] for own in ratings]
        level = "ordinal"
        assert item.alpha.value == pytest.approx(krippendorff.alpha(numbers, level_of_measurement=level))
        assert item.floor.upper is not None
        assert item.floor.upper < (item.alpha.value or 0)
        assert item.interval.low is not None
    assert row.over_items.value == pytest.approx(np.mean(gains))


def test_a_judge_that_never_read_without_a_persona_has_no_gain_but_a_reason() -> None:
    row = Said(nobody="").compute()

    assert row.over_items.value is None
    assert row.over_items.why is not None
    assert row.over_items.why.code == "not_read_as_nobody"
    assert row.over_items.together is not None


def test_the_page_names_the_personas_and_whom_they_are_compared_with(client: Client) -> None:
    Said(nobody="judge-bare")
    client.force_login(factories.staff("researcher"))

    page = " ".join(client.get("/reports/plums/figures/all/").content.decode().split())
    lines = client.get("/reports/plums/personas.csv").getvalue().decode().splitlines()

    assert "the personas of judge: critic, reader, editor, teacher, child" in page
    assert "Without a persona judge is judge-bare" in page
    assert [line.split(",")[4] for line in lines[1:]] == ["all", *planted.SCALES]
