"""Formulas that know nothing but a package find every number of its report again, or say by name why not.

The studies are those of the demo and one of each kind that the demo has none of.
"""

from pathlib import Path
from typing import Any

import pytest

from reports.management.commands import demo as seeding
from tests.independent.comparison import list_others, recomputed
from tests.independent.exclusions import OF_FITS
from tests.independent.model_contrasts import LOG_ODDS, NO_REST
from tests.reports.packaged import DEMO, MAKERS
from tests.reports.packed import Pack

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.embedded]

ENDS = ("low", "high", "n_resampled")
PLACES = "places, invitations and consents, and answers that are not taken along, which stand in no package"
NO_TEXTS = "what rests on texts, on their vectors, or on a reference set, which are not in this package"
# What is not computed, by figure and place, and why. These lists may only become shorter.
OF_ALL = {
    f"progress.{name}": PLACES
    for name in ("n_invited", "n_consented", "n_missing", "n_withheld", "groups.n_seats", "left_out.practice")
}
OF_ALL |= {
    f"comparisons.outcomes.checks.{name}": LOG_ODDS
    for name in ("difference", "value", "p", *(f"interval.{end}" for end in ENDS), "why.values.n", "why.values.most")
}
OF_ALL |= {f"specifications.{name}": OF_FITS for name in ("n", "value", *(f"interval.{end}" for end in ENDS))}
OF_SETS = {f"{figure}.{name}": NO_TEXTS for figure in ("novelty", "near_copies") for name in ("n_references", "n_gone")}
OF_OTHER_TEXTS = OF_SETS | {"near_copies.stories.percent": NO_TEXTS}
# Of NSV what rests on texts and vectors alone: baselines, worse components, other splits and distances.
OF_NSV = {
    f"nsv.scores.{place}": NO_TEXTS
    for place in (
        *(f"ablations.{name}" for name in ("p", "value", *(f"interval.{end}" for end in ENDS))),
        *(f"methods.{name}" for name in ("n", "n_prompts")),
        *(
            f"methods.{of}.{name}"
            for of in ("pooled", "within")
            for name in ("value", *(f"interval.{e}" for e in ENDS))
        ),
        *(f"preferences.{name}" for name in ("accuracy", "auc", "n_held_out", "n_pairs")),
        *(f"setting.{name}" for name in ("n_gone", "n_near_copies", "n_on_several_prompts", "n_references")),
        *(f"setting.n_without_{name}" for name in ("neighbours", "surprise", "value")),
        *(f"stability.{name}" for name in ("highest", "lowest", "n", "sd", "value", "why.values.k", "why.values.n")),
        "ceiling",
    )
}
# What the mixed model says where raters and stories explain all answers.
OF_NO_REST = {
    f"{contrasts}.{name}": NO_REST
    for contrasts in ("comparisons.outcomes.contrasts", "factors.contrasts")
    for name in (
        *(f"{part}.{end}" for part in ("interval", "wide") for end in ENDS),
        *("p", "p_same_raters", "p_within", "low_90", "high_90"),
    )
}
OF_NO_REST |= {f"comparisons.outcomes.of_all.{name}": NO_REST for name in ("p", "f", "numerator", "denominator")}
OF_NO_REST |= {f"comparisons.outcomes.sources.interval.{name}": NO_REST for name in ENDS}
LEFT: dict[str, dict[str, str]] = {
    **dict.fromkeys(("orchard", "agreed upon", "cloze"), OF_NO_REST),
    "excluded": {
        f"exclusions.{name}": OF_FITS
        for name in ("value", "first_value", "second_value", "p", *(f"interval.{end}" for end in ENDS))
    },
    "references": OF_OTHER_TEXTS,
    "nsv": OF_OTHER_TEXTS | OF_NSV,
    "workshop": OF_OTHER_TEXTS | OF_NSV,
}
# How many numbers of each study's report are computed, at least: what is no longer in a report is not found either.
LEAST = {
    "harbour": 6763,
    "orchard": 6821,
    "pairs": 348,
    "depth": 2151,
    "ideas": 2365,
    "measures": 82,
    "mystery": 1314,
    "workshop": 4524,
    "judges": 3766,
    "drawn": 690,
    "text measures": 119,
    "read twice": 195,
    "read again": 191,
    "aligned": 2895,
    "agreed upon": 406,
    "explanations": 1799,
    "asked again": 2720,
    "probabilities": 2455,
    "jury": 5680,
    "properties": 11365,
    "published": 1207,
    "personas": 2114,
    "wordings": 5308,
    "scores": 510,
    "themes": 624,
    "references": 275,
    "97 stories": 11408,
    "composed": 3150,
    "batches": 4222,
    "excluded": 2206,
    "cloze": 7345,
    "factorial": 1562,
    "coarse": 1294,
    "nsv": 2399,
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_number_of_the_report_is_found_again_or_named(name: str, tmp_path: Path, pack: Pack) -> None:
    result: dict[str, Any] = recomputed(pack(name), tmp_path)

    assert result["differences"] == []
    assert result["n_computed"] >= LEAST[name]
    print(f"Figures without a second formula: {', '.join(result['not_covered']) or 'none'}.")
    others = list_others(result)
    assert others == {place: reason for place, reason in (OF_ALL | LEFT.get(name, {})).items() if place in others}


def test_no_study_of_the_demo_is_left_out() -> None:
    assert {seeding.CLOSED, seeding.SCORED, *seeding.live_slugs()} == set(DEMO)
    assert set(LEAST) == set(MAKERS)
