"""A study for another tool, in one ZIP file."""

import io
import zipfile
from collections.abc import Iterator

from studies.models import Study
from studies.tool_exports.base import AskedStories, ToolExport, read_asked_stories

# Of every file in the ZIP, so that a study that is the same is the same file, byte by byte.
DATE = (1980, 1, 1, 0, 0, 0)


def write_for_tool(study: Study, tool: type[ToolExport]) -> bytes:
    """The tool's files, and what they leave out. A few queries."""
    asked = read_asked_stories(study)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**tool.files(asked), "README.md": "\n".join(_readme(asked, tool)) + "\n"}.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, text)
    return content.getvalue()


def _readme(asked: AskedStories, tool: type[ToolExport]) -> Iterator[str]:
    yield from (f"# {asked.title}, for {tool.title}", "")
    n_stories = len({story["story"] for story in asked.stories})
    yield f"{len(asked.questions)} questions about each of {n_stories} stories. Who wrote a story is not said."
    yield "Questions are named step.item, so that answers find their way back."
    if asked.left_out:
        yield from ("", "Left out:", "", *(f"- {words}" for words in asked.left_out))
