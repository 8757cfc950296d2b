"""Of several judges the best stands in a sentence, with their number and beside an expert."""

import pytest
from django.test import Client

from annotation.models import Rater
from tests import factories
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

EXPERTS = {"E01": "ynyynnyynynn", "E02": "ynyynnyynyny", "E03": "ynynnnyynynn"}


@pytest.mark.parametrize(
    ("judges", "words"),
    [
        ({"near": "ynyynnyynynn"}, "On verdicts near has .89, where an expert has .78."),
        (
            {"far": "nnnyynnyyyny", "near": "ynyynnyynynn"},
            "On verdicts the best of 2 judges, near, has .89, where an expert has .78.",
        ),
    ],
    ids=["one", "two"],
)
def test_the_page_says_what_the_best_judge_has_where_an_expert_has_what(
    client: Client, judges: dict[str, str], words: str
) -> None:
    study = given.closed_study(n_groups=6)
    given.verdicts(study, EXPERTS)
    given.verdicts(study, judges, kind=Rater.Kind.MODEL)
    client.force_login(factories.staff("researcher"))

    page = " ".join(client.get("/reports/plums/figures/all/").content.decode().split())

    assert words in page
    assert page.index(words) > page.index('id="human_line"')
