"""The study whose texts are embedded."""

import pytest

from studies.models import Study
from tests import factories


@pytest.fixture
def study() -> Study:
    return factories.study(comparative=False)
