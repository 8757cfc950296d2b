"""Studies that are simulated around a known truth are reported on, and what their findings claim is told."""

import pytest

from tools.audit.__main__ import claims_of
from tools.audit.designs import DESIGNS

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

DESIGN = next(design for design in DESIGNS if design.name == "10 raters read all of 30")


def test_a_planted_effect_is_claimed_with_the_better_source_first() -> None:
    claims = claims_of(DESIGN, effect=1.0, by_source=0.15, has_stories=True, seed=1)

    kinds_and_sources = {(claim.kind, claim.better, claim.worse) for claim in claims}

    assert kinds_and_sources == {("difference", "Source A", "Source B"), ("agreement", "", "")}


def test_noise_is_claimed_to_be_nothing() -> None:
    assert claims_of(DESIGN, effect=0.0, by_source=0.0, has_stories=False, seed=1) == []
