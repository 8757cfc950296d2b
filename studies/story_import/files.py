"""The files and pastes that hold stories."""

from django.utils.translation import gettext_lazy

from studies.documents.stories import MOST_ROWS
from studies.incoming_tables import files
from studies.incoming_tables.tables import TABLES, TEXTS, IncomingTable, TableKind

STORIES = TableKind(
    (*TABLES, ".zip", *TEXTS),
    MOST_ROWS,
    300,
    gettext_lazy("There is a header and no row below it. Add a row for each story."),
    has_stories=True,
)


def read_file(name: str, content: bytes) -> IncomingTable:
    """The table in a file of stories. Raises UnreadableFile with a sentence and a way out."""
    return files.read_file(name, content, STORIES)


def read_pasted(words: str) -> IncomingTable:
    """The table in what was pasted. Raises UnreadableFile."""
    return files.read_pasted(words, STORIES)
