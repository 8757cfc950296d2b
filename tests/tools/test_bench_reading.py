import pytest

from tools.bench import reading

pytestmark = pytest.mark.usefixtures("committed")


def test_the_reading_page_is_light_and_can_be_read_before_any_script() -> None:
    found = reading.run(2)

    assert found["together kB, without fonts"] <= 150
    assert found["words of the story in the page itself"] >= 2000
    assert found["scripts that hold up the page"] == 0
