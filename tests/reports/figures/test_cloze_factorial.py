"""QUIET's factorial: conditions and effects from planted answers, computed by hand."""

from typing import Any

import numpy as np
import pytest
from django.test import Client

from judges import catalogue
from judges.models import Judge, Prompt
from reports import results
from reports.dataset import Dataset
from reports.figures import all_figures
from stats import agreement
from studies.models import Study
from tests import factories
from tests.replay import replayed
from tests.reports import judge_readings, quiet_run
from tests.reports.quiet_run import RATINGS

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
PLAIN = ("p-stub-a-plain", "p-stub-b-plain")
ANCHORED = ("p-stub-a-anchored", "p-stub-b-anchored")
# Ratings of s1-c1, the one constraint with checks, by participant: of the models a and b.
WITH_SAMPLES = {"gpt-a": (5, 5), "claude-b": (3, 3), "gemini-c": (1, 2)}


def judges_of(study: Study, names: tuple[str, ...], prompt: str) -> None:
    row = next(row for row in catalogue.load_prompts() if row.name == prompt)
    for name in names:
        model = Judge(endpoint=catalogue.make_stub_judge().endpoint, model=name[:8], prompt=row)
        judge_readings.start_run(study, name, like=model)


@pytest.fixture
@replayed
def study() -> Study:
    """Two models judged three texts in both ways; without samples, the first denies gemini-c the required check."""
    made = quiet_run.judged_study(quiet_run.filled_study())
    judges_of(made, PLAIN, "quiet-judge")
    judges_of(made, ANCHORED, "quiet-judge-anchored")
    quiet_run.judge(made, names=PLAIN, denied=[(PLAIN[0], "gemini-c")])
    anchored = {name: [(rating, *RATINGS[name][0][1:]) for rating in ratings] for name, ratings in WITH_SAMPLES.items()}
    quiet_run.judge(made, anchored, names=ANCHORED)
    return made


def compute(study: Study, key: str = "cloze_factorial") -> Any:
    return all_figures()[key].compute(Dataset.of(study))


def alpha(*rows: tuple[float, ...]) -> float:
    return float(agreement.krippendorff_alpha(np.array(rows, dtype=float), "interval"))


def test_four_conditions_have_alpha_and_means_by_hand(study: Study) -> None:
    result = compute(study)

    assert (result.n_models, result.n_constraints, result.n_texts) == (2, 1, 3)
    whole, checks, anchored, both = result.conditions
    assert [(row.is_anchored, row.is_atomic) for row in result.conditions] == [
        (False, False),
        (False, True),
        (True, False),
        (True, True),
    ]
    assert (whole.judges, both.judges) == (PLAIN, ANCHORED)
    assert whole.coefficient.value == pytest.approx(alpha((5, 5, 1), (4, 3, 0)))
    assert checks.coefficient.value == pytest.approx(alpha((5, 5, 1), (5, 5, 5)))
    assert anchored.coefficient.value == pytest.approx(alpha((5, 3, 1), (5, 3, 2)))
    assert both.coefficient.why.code == "all_ratings_alike"
    assert [row.mean for row in result.conditions] == pytest.approx([18 / 30, 26 / 30, 19 / 30, 1])
    assert [row.span for row in result.conditions] == pytest.approx([0.8, 0.4, 0.7, 0])


def test_effects_are_differences_over_the_other_factor(study: Study) -> None:
    effects = {row.effect: row for row in compute(study).effects}

    assert effects["anchoring"].mean == pytest.approx((19 + 30 - 18 - 26) / 60)
    assert effects["checks"].mean == pytest.approx((26 + 30 - 18 - 19) / 60)
    assert effects["interaction"].mean == pytest.approx((30 - 19 - 26 + 18) / 30)
    assert effects["anchoring"].alpha.why.code == "all_ratings_alike"  # one condition has no alpha


def test_anchored_judges_enter_neither_panel_nor_totals(study: Study) -> None:
    assert [row.judge for row in compute(study, "cloze_judges").judges] == list(PLAIN)
    assert compute(study, "cloze_scores").judges == PLAIN


def test_without_a_second_model_in_both_ways_nothing_is_compared(study: Study) -> None:
    Judge.objects.filter(slug=ANCHORED[1]).update(model="another")

    assert compute(study) is None


def test_page_text_and_tables_say_it(client: Client, study: Study) -> None:
    client.force_login(factories.staff("researcher"))
    figure = all_figures()["cloze_factorial"]
    result = results.read_results(results.compute(study)).figures[figure.key]

    page = client.get(f"/reports/{study.slug}/figures/all/").content.decode()

    assert "With samples, by checks" in page
    assert "The same 2 models judged 1 constraint of 3 texts" in page
    assert "Without samples, by checks" in "\n".join(figure.lines(result))
    assert {name: len(list(rows)) for name, rows in figure.rows(result).items()} == {
        "cloze-conditions": 4,
        "cloze-effects": 3,
    }


def test_both_prompts_differ_in_nothing_but_the_samples() -> None:
    catalogue.load_prompts()
    plain, anchored = (
        Prompt.objects.filter(name=name).latest("pk").template for name in ("quiet-judge", "quiet-judge-anchored")
    )

    lines = [line for line in anchored.splitlines() if line not in plain.splitlines()]

    assert lines == [
        "Other texts were scored by people on the same question. Score the text above by the same measure as they did.",
        "{{ examples }}",
    ]
