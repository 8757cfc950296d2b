"""docs/architecture.md names the files that an answer passes: those, in that order, and no other."""

import re
import sys
from pathlib import Path
from types import FrameType

import pytest
from django.test import Client

from tests import factories
from tests.annotation.walk import begin, give

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

ROOT = Path(__file__).parents[2]
APPS = {"config", "studies", "annotation", "judges", "reports", "stats"}


def files_passed(client: Client) -> list[str]:
    """The files of the apps whose functions a second save calls, in the order in which each is first entered."""
    assignment = begin(client, factories.study())
    give(client, assignment, "yes", "", htmx=True, key="k1")
    files: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in APPS:
            files.setdefault(path.relative_to(ROOT).as_posix())

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        saved = give(client, assignment, "yes", "It is so.", base=1, htmx=True, key="k2")
    finally:
        sys.setprofile(before)
    assert saved.status_code == 200
    return list(files)


def test_the_way_of_an_answer_is_that_of_the_code(client: Client) -> None:
    section = (ROOT / "docs" / "architecture.md").read_text().split("## The way of one answer")[1]
    walk = section.split("1. **The request.**")[1].split("A page of several questions")[0]

    named = re.findall(r"`((?:\w+/)+\w+\.py)`", walk)

    assert list(dict.fromkeys(named)) == files_passed(client)
