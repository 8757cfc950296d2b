"""The demo's studies as packages: a script that knows nothing else finds the numbers of their reports again."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotation import simulation
from annotation.simulation import Tendency
from reports.management.commands import demo as seeding
from studies import lifecycle
from studies.models import Provenance, Study
from tests.reports.test_packages import issued, recomputed

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.embedded]


def answered(slug: str) -> Study:
    """The demo's study of that name, closed, with simulated answers and the stub's."""
    at = timezone.now()
    if slug == seeding.CLOSED:
        study = seeding.seed_closed(at=at)
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


# Of each study how many figures it has, how many of them were computed again to the last number, and how many numbers.
COVERED = {
    "harbour": (28, 27, 6760),
    "pairs": (15, 13, 338),
    "depth": (24, 23, 2151),
    "ideas": (25, 24, 2365),
    "measures": (8, 7, 82),
    "mystery": (7, 6, 1318),
}


@pytest.mark.parametrize("slug", COVERED)
def test_the_script_finds_the_numbers_of_a_demo_study(slug: str, tmp_path: Path) -> None:
    _package, archive = issued(answered(slug), with_sources=True, reason="To compute them anew.")

    result = recomputed(archive, tmp_path)

    assert result["differences"] == []
    figures = [figure for figure in result["figures"].values() if figure["n"]]
    n_whole = sum(figure["n_computed"] == figure["n"] for figure in figures)
    assert (len(figures), n_whole, result["n_computed"]) == COVERED[slug]
