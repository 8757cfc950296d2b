"""In about 95 of 100 simulated studies the report's interval holds the effect that was planted."""

from statistics import fmean, stdev

import pytest
from django.utils import timezone

from reports.simulated_studies import Trial, run_trial
from studies.models import Step, Study
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

SCALE = {"type": "scale", "settings": {"low": 1, "high": 5, "anchors": {"1": "Low", "5": "High"}}}
PLAIN = {"rationale": "none", "rationale_least": 0}


def scales_and_tests(*, n_groups: int = 12) -> Study:
    """Groups of two stories by two sources; a scale, two tests and an order."""
    study = factories.study(n_groups=n_groups, n_stories=2, k=4, planned=False, state=Study.State.DRAFT)
    version = study.versions.get()
    Step.objects.filter(version=version, key="guess").delete()
    tests = version.steps.get(key="tests")
    tests.instrument = factories.instrument("two-tests", n_items=2, **PLAIN)
    tests.save()
    Step.objects.create(
        version=version,
        position=9,
        key="scale",
        kind="rating",
        title="A scale",
        instrument=factories.instrument("one-scale", n_items=1, **SCALE, **PLAIN),
        scope="story",
    )
    return study


def test_what_is_found_is_what_was_planted_and_intervals_hold_it() -> None:
    """Of 80 such studies, seeds 0 to 79, intervals held it in 78 (tests), 75 (scale) and 79 (places), and the mean of
    found less planted was −.7 ± .9 points of percent, .03 ± .04 points and −.02 ± .02 places."""
    study, n = scales_and_tests(), 12
    summaries = [
        run_trial(study, Trial(n=24, seed=seed), by=None, sees_sources=seed % 2 == 0, at=timezone.now())
        for seed in range(n)
    ]

    for outcomes in zip(*(summary.outcomes for summary in summaries), strict=True):
        key = outcomes[0].key
        errors = [outcome.found - outcome.planted for outcome in outcomes if outcome.found is not None]
        assert len(errors) == n, key
        assert abs(fmean(errors)) < 3 * stdev(errors) / n**0.5, key
        # Of 12 with a chance of .95 fewer than 9 hold it in one study of 440.
        assert sum(bool(outcome.holds) for outcome in outcomes) >= 9, key
