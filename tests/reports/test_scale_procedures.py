"""Replications on scales: the data file that lists their figures, and their procedures by hand."""

import pytest

from reports import replications
from reports.replications import comparison, scale_procedures
from studies.documents import instrument


def test_holm_of_a_case_by_hand() -> None:
    # Smallest first: 4 * .005, 3 * .01, 2 * .03; then 1 * .04 may not fall below the .06 before it.
    assert scale_procedures.holm_adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_never_exceeds_one() -> None:
    assert scale_procedures.holm_adjusted([0.9, 0.8]) == [1.0, 1.0]


def test_a_family_without_tests_has_nothing_to_adjust() -> None:
    assert scale_procedures.holm_adjusted([]) == []


def test_the_data_file_names_items_of_the_instrument_and_lists_nothing_without_a_reason() -> None:
    said = replications.load_spec("pds")

    items = {item.key for item in instrument.read_instrument(instrument.discover()["pds"]).items}
    assert set(said["columns"].values()) <= items
    for each in said["figures"]:
        assert each["of"] in comparison.PROCEDURES
        assert set(each.get("items", [])) <= items
        published, listed = (dict(replications.flatten(each.get(name))) for name in ("published", "listed"))
        assert not listed or each["reason"]
        assert all(published[at] != value for at, value in listed.items())
