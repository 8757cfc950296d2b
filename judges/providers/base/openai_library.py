"""What OpenAI's protocols share: its library without retries, and batches as files."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

from judges import reasons
from judges.providers.base.batches import (
    MAX_BATCH_BYTES,
    BatchRefused,
    BatchResult,
    BatchState,
    number_of,
    result_lines,
)
from judges.providers.base.clients import LibraryClient
from judges.providers.base.completions import Completion, Request, document_of, outcome_of
from judges.providers.base.failures import CallFailed, FailureKind, failure_of
from judges.providers.base.limits import Limits, read_limits

if TYPE_CHECKING:
    from judges.providers.base import Connection

# Of a batch: as many tokens wait at the provider already as it lets wait.
_QUEUE_FULL = re.compile(r'"code"\s*:\s*"token_limit_exceeded"')
LONGEST_REFUSAL = 600  # letters that are kept of why a batch was not taken on


class OpenAILibraryClient(LibraryClient):
    """Requests at a base URL, by the `openai` library without its retries. route : where they go"""

    request_id_header = "x-request-id"
    route: ClassVar[str]

    def __init__(self, connection: Connection) -> None:
        # Imported here: it takes half a second that pages and commands without a judge need not wait.
        import httpx2
        import openai

        super().__init__(connection)
        self._openai = openai
        self._response_class = httpx2.Response
        headers = {"Authorization": f"Bearer {connection.key}"} if connection.key else {}
        self.sdk = openai.AsyncOpenAI(
            base_url=connection.base_url,
            api_key="none",  # where it is given none it takes the environment's; ours is set where requests leave
            max_retries=0,
            timeout=None,  # `call` bounds the whole
            http_client=self._network.http_client(connection, headers),
        )

    async def complete(self, request: Request) -> Completion:
        # Not by `chat.completions.create`: it looks up the type of every part of a message, a third of the whole cost.
        post = self.sdk.post(self.route, cast_to=self._response_class, body=self.body_of(request))
        response = await self.send(post)
        body, request_id = self.without_key(response.text), self._request_id(response)
        try:
            self.check_success(response)
            return self.completion_of(body, request_id=request_id, limits=read_limits(response.headers))
        except CallFailed as failure:
            return self.completion_instead(failure)

    def body_of(self, request: Request) -> dict[str, Any]:
        """What is sent for a request."""
        raise NotImplementedError

    def completion_of(self, body: str, *, request_id: str = "", limits: Limits | None = None) -> Completion:
        """The completion that a response's body holds. Raises CallFailed if it holds none."""
        raise NotImplementedError

    async def send(self, sending: Awaitable[Any]) -> Any:
        """The HTTP response to what the library sends, whatever its status. Raises CallFailed."""
        async with self._network.call(self._connection):
            try:
                response = await sending
            except self._openai.APIStatusError as error:
                return error.response
        return response if isinstance(response, self._response_class) else response.http_response

    async def close(self) -> None:
        await self.sdk.close()


class FileBatches:
    """Batches of a protocol of OpenAI's: a file of requests goes in, a file of replies and one of errors come out."""

    # One that expired or was cancelled may have got some of its replies.
    STATES = {
        "completed": BatchState.ENDED,
        "expired": BatchState.ENDED,
        "cancelled": BatchState.ENDED,
    }
    client_class: ClassVar[type[OpenAILibraryClient]]

    def __init__(self, connection: Connection) -> None:
        self._client = self.client_class(replace(connection, max_body_bytes=MAX_BATCH_BYTES))

    async def create(self, name: str, request_by_key: Mapping[str, Request]) -> str:
        url = f"/v1{self._client.route}"
        lines = [
            json.dumps({"custom_id": key, "method": "POST", "url": url, "body": self._client.body_of(request)})
            for key, request in request_by_key.items()
        ]
        sdk = self._client.sdk
        content = "\n".join(lines).encode()
        file = await self._ask(sdk.files.with_raw_response.create(file=("calls.jsonl", content), purpose="batch"))
        batch = await self._ask(
            sdk.batches.with_raw_response.create(
                input_file_id=number_of(file),
                endpoint=cast("Any", url),  # the library lists those that it knows
                completion_window="24h",
                metadata={"name": name},
            )
        )
        return number_of(batch)

    async def find(self, name: str) -> str | None:
        page = await self._ask(self._client.sdk.batches.with_raw_response.list(limit=100))
        return next(
            (str(b["id"]) for b in page.get("data") or [] if (b.get("metadata") or {}).get("name") == name), None
        )

    async def poll(self, batch: str) -> BatchState:
        document = await self._retrieve(batch)
        if document.get("status") == "failed":
            raise refusal_of(document)
        return self.STATES.get(str(document.get("status")), BatchState.WORKING)

    async def results(self, batch: str) -> list[BatchResult]:
        document = await self._retrieve(batch)
        results: list[BatchResult] = []
        for file in filter(None, (document.get("output_file_id"), document.get("error_file_id"))):
            response = await self._client.send(self._client.sdk.files.with_raw_response.content(file))
            self._client.check_success(response)
            results += [result_of(line, self._client.completion_of) for line in result_lines(response.text)]
        return results

    async def close(self) -> None:
        await self._client.close()

    async def _retrieve(self, batch: str) -> dict[str, Any]:
        return await self._ask(self._client.sdk.batches.with_raw_response.retrieve(batch))

    async def _ask(self, sending: Awaitable[Any]) -> dict[str, Any]:
        response = await self._client.send(sending)
        self._client.check_success(response)
        return document_of(self._client.without_key(response.text))


def refusal_of(batch: Mapping[str, Any]) -> BatchRefused:
    """Why a batch was not taken on, in OpenAI's words: errors.data has them, for each line that is at fault."""
    errors = batch.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    messages = [str(e.get("message") or e.get("code") or "") for e in listed or [] if isinstance(e, dict)]
    words = " ".join(" ".join(filter(None, dict.fromkeys(messages))).split())[:LONGEST_REFUSAL]
    body = json.dumps(errors, ensure_ascii=False)
    kind = FailureKind.OVERLOAD if _QUEUE_FULL.search(body) else failure_of(400, body, {}).kind
    reason = reasons.BATCH_NOT_TAKEN % {"words": words} if words else reasons.BATCH_NOT_TAKEN_UNSAID
    return BatchRefused(reason, kind=kind, body=body)


def result_of(line: dict[str, Any], read: Callable[..., Completion]) -> BatchResult:
    """What a line of a batch's files says of its call. read : the completion in a body of its protocol"""
    key, response = line["custom_id"], line.get("response")
    if not response:
        reason = reasons.NOT_ANSWERED_IN_BATCH % {"words": json.dumps(line.get("error"))[:300]}
        return BatchResult(key, CallFailed(reason, kind=FailureKind.TIMEOUT, body=json.dumps(line), is_unserved=True))
    body, request_id = json.dumps(response.get("body"), ensure_ascii=False), str(response.get("request_id") or "")
    status = int(response.get("status_code") or 500)
    try:
        if status != 200:
            raise failure_of(status, body, {}, request_id=request_id)
        return BatchResult(key, read(body, request_id=request_id))
    except CallFailed as failure:
        return BatchResult(key, outcome_of(failure))
