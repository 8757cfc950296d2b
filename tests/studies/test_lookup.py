import pytest

from studies.lookup import NoSuchStudy, find_study
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_study_is_found_by_its_slug() -> None:
    plums, _ = factories.study("plums"), factories.study("pears")

    assert find_study("plums") == plums


def test_an_unknown_slug_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(NoSuchStudy, match=r"study “figs”.*: none$"):
        find_study("figs")

    factories.study("plums"), factories.study("pears")
    with pytest.raises(NoSuchStudy, match=r"study “figs”.*: pears, plums$"):
        find_study("figs")
