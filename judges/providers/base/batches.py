"""Many calls handed in at once, answered within a day at a lower price.

A batch is created under a name of ours. Whoever writes the name down before it is created can look after a crash
whether it was, and does not hand it in twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from judges import reasons
from judges.providers.base.completions import Completion, Request
from judges.providers.base.failures import CallFailed, FailureKind

# All replies of a batch come at once, so a batch is not for more calls than fit.
MAX_BATCH_BYTES = 100_000_000


class BatchState(StrEnum):
    WORKING = "working"
    ENDED = "ended"  # there are results, if not for every call


class BatchRefused(CallFailed):
    """A batch that was handed in was not taken on: there are no results, and nothing is paid."""


@dataclass(frozen=True)
class BatchResult:
    """What became of one call of a batch: a completion, or why there is none."""

    key: str
    outcome: Completion | CallFailed


class BatchClient(Protocol):
    """Something that hands in batches. All of its methods raise CallFailed."""

    async def create(self, name: str, request_by_key: Mapping[str, Request]) -> str:
        """The provider's number of a batch of those requests; keys have at most 64 letters, digits, - and _."""
        ...

    async def find(self, name: str) -> str | None:
        """The number of the newest batch of that name; None if there is none, or if the provider keeps no names."""
        ...

    async def poll(self, batch: str) -> BatchState:
        """How it is getting on. Raises BatchRefused if the provider did not take it on, with why."""
        ...

    async def results(self, batch: str) -> list[BatchResult]:
        """What became of each call, in any order. Calls that are missing were not answered."""
        ...

    async def close(self) -> None: ...


def number_of(document: Mapping[str, Any]) -> str:
    """The provider's number of what was just made. Raises CallFailed if it names none."""
    if number := document.get("id"):
        return str(number)
    raise CallFailed(reasons.NO_NUMBER, kind=FailureKind.MALFORMED, status=200, body=json.dumps(document))


def result_lines(text: str) -> Iterator[dict[str, Any]]:
    """The lines of a batch's results, each about the call that it names; what cannot be read answers none."""
    for line in text.splitlines():
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict) and isinstance(document.get("custom_id"), str):
            yield document
