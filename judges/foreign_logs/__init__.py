"""Finished logs of other tools: one file a format, discovered, never listed; each knows its own by what stands in it.

Their replies come in as those of a judge: they are read as a run's own are, and nothing is sent.
"""

from functools import cache

from django.utils.translation import gettext as _

from judges.foreign_logs.base import ForeignLog, LogFile, LogFormat, LogSample
from studies.discovery import find_classes
from studies.documents.reader import LARGEST_FILE
from studies.incoming_tables.errors import UnreadableFile

__all__ = ["ForeignLog", "LogFile", "LogFormat", "LogSample", "all_formats", "read_log"]

MOST_SAMPLES = 20_000


@cache
def all_formats() -> dict[str, LogFormat]:
    """Every format by its slug, in alphabetical order."""
    return {slug: kind() for slug, kind in find_classes(__name__, LogFormat, key="slug").items()}


def read_log(name: str, content: bytes) -> ForeignLog:
    """The replies in a log of another tool. Raises UnreadableFile with a sentence and a way out."""
    if len(content) > LARGEST_FILE:
        raise UnreadableFile(_("The file is larger than 50 MB. Split it."))
    file = LogFile(name, content)
    log_format = next((row for row in all_formats().values() if row.recognises(file)), None)
    if log_format is None:
        titles = ", ".join(str(row.title) for row in all_formats().values())
        message = _("%(name)s is no log that Quire knows. It reads logs of: %(titles)s.")
        raise UnreadableFile(message % {"name": file.name, "titles": titles})
    samples = []
    for sample in log_format.read(file):
        samples.append(sample)
        if len(samples) > MOST_SAMPLES:
            raise UnreadableFile(_("There are more than %(n)d replies. Split the file.") % {"n": MOST_SAMPLES})
    if not samples:
        raise UnreadableFile(_("The log holds no reply. Bring one of an evaluation that has finished."))
    return ForeignLog(file.name, log_format.slug, tuple(samples))
