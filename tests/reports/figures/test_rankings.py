"""How far raters agree on an order, on rankings done by hand, and what the page says chance would be."""

import pytest
from django.test import Client

from reports import results
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def test_beside_kendalls_w_stand_what_chance_gives_for_so_many_raters_and_the_mean_spearman(
    admin_client: Client,
) -> None:
    study = given.closed_study(n_groups=2, n_stories=3)
    orders = {
        "E01": {"plot1": "p1s1 > p1s2 > p1s3", "plot2": "p2s1 > p2s2 > p2s3"},
        "E02": {"plot1": "p1s1 > p1s2 > p1s3", "plot2": "p2s3 > p2s2 > p2s1"},
        "E03": {"plot1": "p1s1 > p1s3 > p1s2"},
    }
    given.bring(study, given.orders(study, orders))

    found = results.compute(study)["rankings"][0]["concordance"]
    page = " ".join(admin_client.get("/reports/plums/figures/all/").content.decode().split())

    # Of the first group the sums of ranks are 3, 7 and 8: 12 · 14 / (3² · 24). Its raters correlate at 1, ½ and ½;
    # the two of the second put everything the other way round.
    assert found["value"] == pytest.approx((7 / 9 + 0) / 2)
    assert found["chance"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert found["mean_spearman"] == pytest.approx((2 / 3 - 1) / 2)
    # t of two groups, which differ by 7/9, is wider than W can be.
    assert (found["interval"]["low"], found["interval"]["high"]) == (0, 1)
    assert "Kendall’s W of <strong>.39</strong>, the mean over 2 groups; by chance it is .42, and 1 is" in page
    assert "95 % interval .00 to 1.00. The mean of Spearman’s" in page
    assert "The mean of Spearman’s correlations among raters is <strong>−.17</strong>; by chance it is 0." in page
    section = page[page.index('id="rankings"') :]
    assert "is no agreement" not in section[: section.index("</section>")]
