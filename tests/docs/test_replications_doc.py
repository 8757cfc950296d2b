"""docs/replications.md has a section for every replication, and names them all where the command is explained."""

import re
from pathlib import Path

from reports import replications

DOC = (Path(__file__).parents[2] / "docs" / "replications.md").read_text()


def test_every_replication_has_a_section_and_no_other() -> None:
    sections = re.findall(r"^## .+: `replicate ([\w-]+)`$", DOC, flags=re.MULTILINE)

    assert sorted(sections) == replications.list_names()
