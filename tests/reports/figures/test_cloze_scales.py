"""QUIET's control: the same models from 0 to 5 and in three steps, as two judges each, computed by hand."""

from typing import Any

import numpy as np
import pytest
from django.test import Client

from judges.models import Judge
from reports import results
from reports.dataset import Dataset
from reports.figures import all_figures
from stats import agreement
from studies.models import Study
from tests import factories
from tests.replay import replayed
from tests.reports import quiet_run
from tests.reports.figures.test_cloze_factorial import judges_of
from tests.reports.quiet_run import RATINGS

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
FINE, COARSE = ("p-stub-a", "p-stub-b"), ("p-stub-a-coarse", "p-stub-b-coarse")
STEPS = {
    "gpt-a": (("1", "1", "0.5", "1"), ("1", "0.5", "0.5", "1")),
    "claude-b": (("1", "1", "1", "0.5"), ("0.5", "0.5", "0", "1")),
    "gemini-c": (("0", "0.5", "0", "0"), ("0", "0.5", "0.5", "0")),
}


@pytest.fixture
@replayed
def study() -> Study:
    """Two models judged three texts on both scales, each as a judge for either."""
    made = quiet_run.judged_study(quiet_run.filled_study(), has_coarse=True)
    judges_of(made, FINE, "quiet-judge")
    judges_of(made, COARSE, "quiet-judge-coarse")
    quiet_run.judge(made, names=FINE)
    quiet_run.judge_coarsely(made, STEPS, names=COARSE)
    return made


def compute(study: Study, key: str = "cloze_scales") -> Any:
    return all_figures()[key].compute(Dataset.of(study))


def values_of(judge: int, given: Any) -> list[float]:
    return [float(value) for of_text in given.values() for value in of_text[judge][:4]]


def test_both_alphas_their_difference_and_each_model_by_hand(study: Study) -> None:
    result = compute(study)

    fine = np.array([values_of(n, {name: RATINGS[name] for name in STEPS}) for n in (0, 1)]) / 5
    coarse = np.array([values_of(n, STEPS) for n in (0, 1)])
    alphas = [float(agreement.krippendorff_alpha(of, "interval")) for of in (fine, coarse)]
    assert (result.n_texts, result.n_constraints) == (3, 4)
    assert [row.coefficient.value for row in result.scales] == pytest.approx(alphas)
    assert [row.mean for row in result.scales] == pytest.approx([fine.mean(), coarse.mean()])
    assert result.difference.value == pytest.approx(alphas[1] - alphas[0])
    assert [(row.model, row.fine_judge, row.coarse_judge, row.n) for row in result.models] == [
        ("p-stub-a", *("p-stub-a", "p-stub-a-coarse"), 12),
        ("p-stub-b", *("p-stub-b", "p-stub-b-coarse"), 12),
    ]
    assert [row.coarse_mean for row in result.models] == pytest.approx(list(coarse.mean(axis=1)))


def test_a_judge_of_the_control_alone_enters_no_total(study: Study) -> None:
    assert compute(study, "cloze_scores").judges == FINE
    assert [row.of for row in compute(study, "cloze_judges").alphas] == ["judges"] * 2 + ["judges in three steps"] * 2


def test_a_model_on_one_scale_alone_is_not_compared(study: Study) -> None:
    Judge.objects.filter(slug=COARSE[1]).update(model="another")

    assert [row.model for row in compute(study).models] == ["p-stub-a"]


def test_page_text_and_tables_say_it(client: Client, study: Study) -> None:
    client.force_login(factories.staff("researcher"))
    figure = all_figures()["cloze_scales"]
    result = results.read_results(results.compute(study)).figures[figure.key]

    page = client.get(f"/reports/{study.slug}/figures/all/").content.decode()

    assert "The same 2 models judged 4 constraints of 3 texts from 0\xa0to\xa05 and in three steps." in page
    assert "The same 2 models judged 4 constraints of 3 texts" in "\n".join(figure.lines(result))
    assert {name: len(list(rows)) for name, rows in figure.rows(result).items()} == {
        "cloze-scales": 2,
        "cloze-scales-by-model": 2,
    }
