"""What is sent: stored in parts, each text once, and put together again when it is sent or read.

A call's request names its texts by hash. The words of a story are a part of their own, which all that is asked about
the story shares, so that a run's requests take hardly more room than its stories, and erasing a story reaches it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judges import prompts
from judges.models import Call, Text
from judges.prompts import Message
from judges.providers import Request
from studies import hashing
from studies.models import Story

# So many values in one statement are taken by every database.
N_AT_ONCE = 500


@dataclass
class Shelf:
    """Texts of many requests on their way to the database, each once."""

    text_by_hash: dict[str, Text] = field(default_factory=dict)
    _hash_by_content: dict[tuple[str, str], str] = field(default_factory=dict)

    def put(self, content: str, story: Story | None = None, *, salt: str = "") -> str:
        """The hash of the text, which is kept until `store`.

        salt : hashed with it, so that no other shares its row; of a story's words that stand in no fence
        """
        sha256 = self._hash_by_content.get((salt, content))
        if sha256 is None:
            sha256 = self._hash_by_content[salt, content] = hashing.sha256(salt + content)
            self.text_by_hash[sha256] = Text(sha256=sha256, content=content, story=story)
        return sha256

    def put_request(self, request: Request, story_by_block: Mapping[str, Story]) -> dict[str, Any]:
        """The request with the hashes of its texts in place of them.

        story_by_block : the story whose words each stretch of the messages holds, by that stretch
        """
        messages = [
            {
                "role": message["role"],
                "texts": [self.put(text, story_by_block.get(text)) for text in _parts(message, story_by_block)],
            }
            for message in request["messages"]
        ]
        return {**request, "messages": messages}

    def render(self, request: dict[str, Any]) -> Request:
        """What is sent for a request of `put_request`."""
        return render_with(request, {sha: self.text_by_hash[sha].content for sha in hashes_of(request)})

    def store(self) -> None:
        """Write the texts that are not there yet. One query, or several if they are very many."""
        Text.objects.bulk_create(self.text_by_hash.values(), batch_size=N_AT_ONCE, ignore_conflicts=True)


def render(request: dict[str, Any]) -> Request:
    """What is sent for a stored request. One query."""
    return render_with(request, load_texts([request]))


def render_with(request: dict[str, Any], content_by_hash: Mapping[str, str]) -> Request:
    """The same with texts that were loaded before; one that was erased is empty."""
    if "messages" not in request:
        return request
    return {**request, "messages": prompts.join(_in_parts(request, content_by_hash))}


def mark_shared(request: dict[str, Any], content_by_hash: Mapping[str, str]) -> Request:
    """The same in parts, with how many of the last message's begin other requests, too: those up to the story."""
    messages = _in_parts(request, content_by_hash)
    parts = messages[-1]["content"]
    ends = [n for n, part in enumerate(parts, start=1) if prompts.is_fenced_story(part)]
    return {**request, "messages": messages, "n_shared_parts": ends[-1] if ends else 0}


def load_texts(requests: Iterable[dict[str, Any]], *, besides: Iterable[str] = ()) -> dict[str, str]:
    """The texts that stored requests name, by hash. One query, or several if they are very many.

    besides : hashes that are not needed again
    """
    needed_hashes = list({sha for request in requests for sha in hashes_of(request)} - set(besides))
    content_by_hash: dict[str, str] = {}
    for start in range(0, len(needed_hashes), N_AT_ONCE):
        rows = Text.objects.filter(pk__in=needed_hashes[start : start + N_AT_ONCE])
        content_by_hash.update(rows.values_list("sha256", "content"))
    return content_by_hash


def hashes_of(request: dict[str, Any]) -> list[str]:
    """The hashes of the texts of a stored request."""
    return [sha for message in request.get("messages", []) for sha in message["texts"]]


def fingerprint(request: Request, **reading: object) -> str:
    """SHA-256 over all that makes two requests ask the same: every word, parameter and schema, and the reading.

    The numbers of fences are left out: they are drawn again for every run.
    """
    messages = [[message["role"], prompts.strip_marks(message["content"])] for message in request["messages"]]
    return hashing.sha256(hashing.canonical_json({**request, "messages": messages, "reading": reading}))


def is_about(call: Call, story: Story) -> bool:
    """Whether the story's words are in what is sent for the call: it is about the story, or about its group."""
    seat = call.assignment.seat if call.assignment else None
    return call.story_id == story.pk or (call.story_id is None and seat is not None and story.code in seat.order)


def _in_parts(request: dict[str, Any], content_by_hash: Mapping[str, str]) -> list[Message]:
    """The messages of a stored request, each in the parts in which it is stored."""
    return [
        Message(role=message["role"], content=[content_by_hash.get(sha, "") for sha in message["texts"]])
        for message in request["messages"]
    ]


def _parts(message: Mapping[str, str], blocks: Iterable[str]) -> Sequence[str]:
    """The message's text cut before and after each block."""
    parts = [message["content"]]
    for block in blocks:
        parts = [piece for part in parts for piece in _cut(part, block)]
    return parts


def _cut(part: str, block: str) -> Iterable[str]:
    before, match, after = part.partition(block)
    return [piece for piece in (before, match, after) if piece]
