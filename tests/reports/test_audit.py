"""Studies that are simulated around a known truth are reported on, and what their findings claim is told."""

import pytest
from scipy.stats import binom

from tools.audit.__main__ import KINDS, claims_of, null_studies, planted_studies
from tools.audit.designs import DESIGNS

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

DESIGN = next(design for design in DESIGNS if design.name == "10 raters read all of 30")


def test_a_planted_effect_is_claimed_with_the_better_source_first() -> None:
    claims = claims_of(DESIGN, effect=1.0, by_source=0.15, has_stories=True, seed=1)

    kinds_and_sources = {(claim.kind, claim.better, claim.worse) for claim in claims}

    assert kinds_and_sources == {("difference", "Source A", "Source B"), ("agreement", "", "")}


def test_noise_is_claimed_to_be_nothing() -> None:
    assert claims_of(DESIGN, effect=0.0, by_source=0.0, has_stories=False, seed=1) == []


@pytest.mark.slow
def test_findings_of_two_studies_of_each_design_are_false_no_oftener_than_may_be() -> None:
    """The short form of `make audit`; a thousand studies stand in docs/audit.md."""
    n = 2 * len(DESIGNS)

    kinds = [kinds for _design, _by_source, kinds in null_studies(list(DESIGNS), n)]
    n_clear, n_wrong = planted_studies(list(DESIGNS), len(DESIGNS))

    for kind in KINDS:
        assert sum(kind in own for own in kinds) <= binom.ppf(0.999, n, 0.05)
    assert sum(map(bool, kinds)) <= binom.ppf(0.999, n, 0.10)
    assert (n_clear > 50, n_wrong) == (True, 0)
