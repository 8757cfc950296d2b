"""What a log of another tool holds: samples, each a reply with what was asked; and the file that it is read from."""

from __future__ import annotations

import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from judges import parsing
from judges.models.judges import Judge
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.tables import IncomingTable

# All that is unpacked of a file, in how many parts, and of one of them.
MOST_UNPACKED, MOST_ENTRIES, LARGEST_ENTRY = 200_000_000, 100_000, 10_000_000
MOST_VALUES = 3_000_000  # in one JSON: each takes far more memory than its letters
HEADER, LARGEST_HEADER = "header.json", 1_000_000  # of an archive
# What a broken or hostile archive raises; ValueError of a name that is no text.
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, EOFError, OSError, RuntimeError),
    ValueError,
)
LONGEST_KEY = 300  # letters of what a log says of a sample that may name a story or an item
MOST_KEYS = 40
FIXED = (
    *("sample", "model", "answered_by", "messages", "reply", "ended", "failure"),
    *("n_tokens_in", "n_tokens_out", "n_tokens_cached", "n_tokens_cache_written", "n_tokens_reasoning", "cost"),
)
LONGEST_MODEL = Judge._meta.get_field("model").max_length or 200


@dataclass(frozen=True)
class LogSample:
    """A reply. sample : how the log calls it

    model, answered_by : which was asked; which answered, as it says
    messages : what was asked: role and words of each message
    ended : why it ended, by OpenAI's names where the tool's mean the same
    failure : what the log says in place of a reply
    keys : what else it says of the sample in a few letters, by name; some of it may name a story or an item
    cost : in US dollars, as the log has it; "" if it says nothing
    """

    sample: str
    model: str
    messages: tuple[tuple[str, str], ...]
    reply: str
    ended: str = "stop"
    failure: str = ""
    answered_by: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    n_tokens_in: int | None = None
    n_tokens_out: int | None = None
    n_tokens_cached: int | None = None
    n_tokens_cache_written: int | None = None
    n_tokens_reasoning: int | None = None
    cost: str = ""

    @property
    def words(self) -> str:
        """All that was asked."""
        return "\n".join(words for _role, words in self.messages)


@dataclass(frozen=True)
class ForeignLog:
    """A log as it was read. format : its slug"""

    name: str
    format: str
    samples: tuple[LogSample, ...]

    @property
    def models(self) -> list[str]:
        """The models that were asked, in their order."""
        return list(dict.fromkeys(sample.model for sample in self.samples))

    @property
    def keys(self) -> list[str]:
        """What the log says of its samples, by name, in alphabetical order."""
        return sorted({key for sample in self.samples for key in sample.keys})

    def as_table(self) -> IncomingTable:
        """The same as rows of words, as it is kept until somebody confirms it."""
        rows = []
        for n, sample in enumerate(self.samples, start=1):
            cells = [_as_cell(getattr(sample, name)) for name in FIXED]
            rows.append((n, (*cells, json.dumps(dict(sample.keys)))))
        return IncomingTable(self.name, (*FIXED, self.format), tuple(rows))

    @classmethod
    def of_table(cls, table: IncomingTable) -> ForeignLog:
        """The log that was kept as that table."""
        samples = []
        for _n, cells in table.rows:
            values: dict[str, Any] = dict(zip(FIXED, cells, strict=False))
            for name in FIXED:
                if name.startswith("n_tokens"):
                    values[name] = int(values[name]) if values[name] else None
            values["messages"] = tuple((role, words) for role, words in json.loads(values["messages"]))
            samples.append(LogSample(**values, keys=json.loads(cells[-1])))
        return cls(table.name, table.columns[-1], tuple(samples))


def _as_cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


class LogFile:
    """A file with what it can be read as. All of it raises UnreadableFile where the file is hostile or broken."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name = PurePosixPath(name.replace("\\", "/")).name[-200:] or "file"
        self.content = content

    @cached_property
    def document(self) -> Any:
        """What its JSON says; None if it is none."""
        return None if self.is_archive else self._parse(self.content)

    @cached_property
    def header(self) -> Any:
        """What the JSON says that an archive begins with, or else the whole; None if there is none."""
        if not self.is_archive:
            return self.document
        return next((part for _name, part in self.entries(HEADER, largest=LARGEST_HEADER)), None)

    @cached_property
    def lines(self) -> list[Any]:
        """What each of its lines says in JSON; none of them if one says nothing in JSON."""
        if self.is_archive:
            return []
        self._check_size(self.content)
        if self.document is not None:
            return [self.document]
        documents = [self._parse(line) for line in self.content.splitlines() if line.strip()]
        return [] if None in documents else documents

    @property
    def is_archive(self) -> bool:
        return self.content.startswith(b"PK\x03\x04")

    def entries(self, prefix: str, *, largest: int = LARGEST_ENTRY) -> Iterator[tuple[str, Any]]:
        """The JSON of each entry of an archive whose name begins so, by its name. largest : in bytes"""
        try:
            with zipfile.ZipFile(io.BytesIO(self.content)) as archive:
                infos = [i for i in archive.infolist() if i.filename.startswith(prefix) and not i.is_dir()]
                if len(infos) > MOST_ENTRIES or sum(info.file_size for info in infos) > MOST_UNPACKED:
                    raise UnreadableFile(_("The archive holds too much once it is unpacked. Split it."))
                if any(info.file_size > largest for info in infos):
                    message = _("A part of %(name)s is larger than %(n)d MB. Save the log as JSON, and bring that.")
                    raise UnreadableFile(message % {"name": self.name, "n": largest // 1_000_000})
                for info in infos:
                    with archive.open(info) as entry:
                        # No more than it says, whatever it holds.
                        yield info.filename, self._parse(entry.read(info.file_size + 1))
        except UnreadableFile:
            raise
        except BROKEN:
            message = _("%(name)s cannot be unpacked. Save the log as JSON, and bring that.")
            raise UnreadableFile(message % {"name": self.name}) from None

    def _check_size(self, content: bytes) -> None:
        if sum(content.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES:
            message = _("%(name)s holds too many values to be read at once. Split it.")
            raise UnreadableFile(message % {"name": self.name})

    def _parse(self, content: bytes) -> Any:
        self._check_size(content)
        try:
            return json.loads(content)
        except RecursionError:
            message = _("%(name)s holds objects within one another beyond any log. Bring the log as its tool wrote it.")
            raise UnreadableFile(message % {"name": self.name}) from None
        except ValueError:  # also of bytes that are no text
            return None


class LogFormat:
    """How one tool writes its logs. Subclasses are discovered."""

    slug: ClassVar[str]
    title: ClassVar[str | Promise]

    def recognises(self, file: LogFile) -> bool:
        """Whether the file is a log of this tool."""
        raise NotImplementedError

    def read(self, file: LogFile) -> Iterator[LogSample]:
        """Its samples in their order. Raises UnreadableFile."""
        raise NotImplementedError


def words_of(content: Any) -> str:
    """The words of a message, whose content is a string or a list of parts; what was reasoned in parts of its own is
    no part of it."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") in TEXTS]
        return "".join(text for text in texts if isinstance(text, str))
    if isinstance(content, str):
        return content
    return "" if content is None else json.dumps(content, ensure_ascii=False)


TEXTS = ("text", "output_text", "input_text")


def messages_of(asked: Any) -> tuple[tuple[str, str], ...]:
    """Role and words of each message that was asked: of a string, of one message, or of a list of them."""
    if isinstance(asked, list):
        parts: Sequence[Any] = asked
    else:
        parts = [asked] if asked is not None else []
    messages = []
    for part in parts:
        role, content = (part.get("role"), part.get("content")) if isinstance(part, dict) else ("user", part)
        messages.append((clean(role or "user")[:40], clean(words_of(content))))
    return tuple(messages)


def clean(value: Any) -> str:
    """The words, without what no database keeps."""
    return parsing.strip_unstorable(value if isinstance(value, str) else "" if value is None else str(value))


def model_of(value: Any) -> str:
    """The name of a model, as far as it can be kept."""
    return clean(value).strip()[:LONGEST_MODEL]


def keys_of(*parts: Any) -> dict[str, str]:
    """What is said in a few letters in these objects, by name. The first of a name holds."""
    pairs: Iterable[tuple[Any, Any]] = (pair for part in parts if isinstance(part, dict) for pair in part.items())
    keys: dict[str, str] = {}
    for name, value in pairs:
        words = clean(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
        if words and len(words) <= LONGEST_KEY and len(keys) < MOST_KEYS:
            keys.setdefault(clean(name)[:80], words)
    return keys


def is_cost(value: Any) -> bool:
    """Whether that is an amount of US dollars that can be kept."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 100_000
