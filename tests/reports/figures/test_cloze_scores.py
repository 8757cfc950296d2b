"""QUIET's score from fills to totals: a run of stand-ins, every number computed by hand."""

import numpy as np
import pytest

from reports.figures import all_figures
from reports.dataset import Dataset
from judges.embeddings import find_embedding
from studies.models import Study
from tests.reports import quiet_run

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def compute(study: Study, key: str):
    return all_figures()[f"cloze_{key}"].compute(Dataset.of(study))


def test_x():
    study = quiet_run.judged_study(quiet_run.filled_study(with_person=True))
    quiet_run.judge(study, denied=[("qwen-judge", "gemini-c")])
    for key in ("scores", "variants", "surprise", "constraints", "edges", "judges"):
        r = compute(study, key)
        fig = all_figures()[f"cloze_{key}"]
        print("\n".join(fig.lines(r)))
        fig.context(r)
        {k: list(v) for k, v in fig.rows(r).items()}
