"""docs/imports.md has a row for every tool whose exports are recognised."""

import re
from pathlib import Path

from studies.incoming_tables.formats.tools import all_tools

DOC = (Path(__file__).parents[2] / "docs" / "imports.md").read_text()


def test_every_tool_is_documented_and_no_other() -> None:
    part = DOC.split("\n## Other tools\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| [^|]+ \|$", part, re.MULTILINE)

    assert rows[0] == "tool"
    assert rows[1:] == sorted((tool.title for tool in all_tools().values()), key=str.casefold)
