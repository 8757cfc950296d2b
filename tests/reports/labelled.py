"""Studies whose plan names a standard: properties of stories with labels, and published verdicts without people."""

from pathlib import Path
from typing import Any

import numpy as np
from django.core.management import call_command

from annotation.responses import Answer
from studies.models import Provenance, Study
from tests import factories, triggers
from tests.reports import given, planted
from tests.reports.given import Row

STORIES = [f"p{g:02}s{n}" for g in range(1, planted.N_GROUPS + 1) for n in (1, 2)]


def plan_anew(study: Study, **fields: Any) -> Study:
    """The study as if it had been frozen with a plan of these fields."""
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(
            analysis_plan={"outcome": "verdicts", "contrasts": "every_pair"} | fields
        )
        factories.freeze_anew(Study.objects.get(pk=study.pk))
    return Study.objects.get(pk=study.pk)


def study_with_properties(folder: Path) -> Study:
    """Properties of stories label items of every kind, with gaps and slips, beside people, judges and a metric."""
    study, rng = planted.plant().study, np.random.default_rng(4)
    with triggers.lifted():
        for n, provenance in enumerate(Provenance.objects.order_by("story__code")):
            provenance.factors = {
                "upvotes": int(rng.integers(1, 6)),
                "gold": ("yes", "no", "Yes", "perhaps")[int(rng.integers(0, 4))],
                "rating": int(rng.integers(1, 6)) if n % 5 else "",
                "writer": str(rng.choice(planted.OPTIONS)),
            }
            provenance.save()
    codes = study.stories.order_by("code").values_list("code", flat=True)
    (folder / "scores.csv").write_text("".join(["story,value\n", *(f"{code},{rng.random():.3f}\n" for code in codes)]))
    call_command("import_scores", study.slug, folder / "scores.csv", metric="reward", scored_by="Us")
    labels = {"better": "upvotes", "tests": "gold", "scales": "rating", "author": "writer"}
    return plan_anew(
        study, standard="the votes", standard_labels=[[f"{step}/item-1", name] for step, name in labels.items()]
    )


def study_of_published() -> Study:
    """Verdicts and choices of pairs that were published stand as the answers of a model; there are no people."""
    study, rng = planted.empty_study(), np.random.default_rng(6)
    rows = []
    for story in STORIES:
        for item in planted.VERDICTS:
            is_yes = rng.random() < 0.6
            said = {"release": is_yes, "alpha": is_yes ^ (rng.random() < 0.2), "beta": rng.random() < 0.5}
            rows += [
                Row("test", who, f"plot{story[1:3]}", story, "tests", item, given.ANSWERS["y" if yes else "n"], "model")
                for who, yes in said.items()
                if rng.random() < 0.9
            ]
    for g in range(1, planted.N_GROUPS + 1):
        for who in ("release", "alpha"):
            chosen = Answer(value=f"p{g:02}s{int(rng.integers(1, 3))}")
            rows.append(Row("test", who, f"plot{g:02}", "", "better", "item-1", chosen, "model"))
    given.bring(study, rows)
    return plan_anew(study, standard="the published verdicts", standard_rater="release")
