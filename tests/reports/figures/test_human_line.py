"""Of several judges the best stands in a sentence, with their number and beside an expert."""

import pytest
from django.test import Client

from annotation.models import Rater
from reports.document.values import Interval, IntervalEstimate
from reports.figures.base import NO_HEAD, Listing
from reports.figures.judges.human_line import HumanLine, JudgeLine
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


def test_a_jury_and_expected_scores_are_no_judges_of_which_one_is_the_best() -> None:
    def line(judge: str, value: float) -> JudgeLine:
        side = IntervalEstimate(value=value, interval=Interval(low=None, high=None))
        sides = {"expert": side, "of_judge": side, "difference": side}
        return JudgeLine(judge=judge, kind="scales", part="all", n_people=3, n=24, **sides)

    lines = (line("a", 0.2), line("b", 0.1), line("jury of a, b", 0.9), line("a, expected score", 0.8))

    words = " ".join(" ".join(HumanLine().lines(Listing(lines), NO_HEAD)).split())

    assert "On scales the best of 2 judges, a, has" in words
    assert "jury of a, b" in words
