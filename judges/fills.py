"""A model fills a cloze: it is asked once for the whole story, and its answer is taken apart into the blanks.

What people see on the page, the model is told: kinds and hints of the blanks, and constraints if the step shows them.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from judges import parsing
from judges.parsing import Failure
from studies.cloze.alignment import Unalignable, align
from studies.cloze.compiling import SUGGESTED
from studies.documents.cloze import ClozeDocument
from studies.layouts.cloze import Switches


@dataclass(frozen=True)
class FillPrompt:
    """What a model is told before the story; a run's document keeps it."""

    name: str
    version: str
    citation: str
    task: str
    blanks: str
    constraints: str


PROMPT = FillPrompt(
    name="quiet-fill",
    version="1",
    citation=(
        "The first sentence of the task is that of Zou & Xu, 2026, QUIET, section 5.1, where the story is called a "
        "mystery story; the rest is ours."
    ),
    task=(
        "Please read the following story, replace all blanks with your filled-in content, and output a complete, "
        "directly readable story.\n\n"
        "A blank is a number in double braces. Put your words in its place and leave every other word as it stands, "
        "in the same order and in the same paragraphs. Output the story and nothing else: no title, no comment, no "
        "list of what you filled in."
    ),
    blanks="What belongs into each blank:",
    constraints="What the blanks of each section have to achieve together. A Must leaves no way round it:",
)


def build_request(document: ClozeDocument, switches: Switches) -> dict[str, Any]:
    """The messages that ask for the whole story, and the schema of the answer.

    The schema carries the skeleton and the hints too: whoever answers without reading needs them to answer at all.
    """
    skeleton = document.marked_text
    hints = {str(blank.number): blank.hint for blank in document.blanks}
    parts = [PROMPT.task, "\n".join(_blanks(document))]
    if switches.constraints:
        parts.append("\n".join(_constraints(document)))
    parts.append(f"The story:\n\n{skeleton}")
    return {
        "messages": [{"role": "user", "content": "\n\n".join(parts)}],
        "schema": {"type": "string", "skeleton": skeleton, "hints": hints},
    }


def prompt_document() -> dict[str, str]:
    """All that a request holds beyond the cloze, for the document of a run."""
    return asdict(PROMPT)


def parse_fills(reply: str, *, finish_reason: str, document: ClozeDocument) -> dict[int, str] | Failure:
    """The fill of each blank by number, or the failure that the reply is. Nothing is guessed."""
    story = parsing.clean_reply(reply, finish_reason=finish_reason)
    if isinstance(story, Failure):
        return story
    try:
        return align(document, parsing.unfenced(story))
    except Unalignable as error:
        return parsing.find_refusal(story) or Failure("unreadable", str(error))


def _blanks(document: ClozeDocument) -> Iterator[str]:
    yield PROMPT.blanks
    for blank in document.blanks:
        yield f"{blank.number} ({SUGGESTED[blank.kind]})" + (f": {blank.hint}" if blank.hint else "")


def _constraints(document: ClozeDocument) -> Iterator[str]:
    yield PROMPT.constraints
    for section in document.sections:
        yield f"Section {section.number}, {section.title}"
        yield from (
            f"- {'Must' if constraint.must else 'Should'}: {constraint.text}" for constraint in section.constraints
        )
