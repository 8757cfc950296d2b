"""Batches of calls as OpenAI (files and batches), Anthropic (message batches) and Gemini have them."""

import json
import re
from collections.abc import Awaitable, Callable
from email.parser import BytesParser
from itertools import count
from typing import Any

from tests.judges.standin.replies import Reply

Complete = Callable[[str, dict[str, Any]], Awaitable[Reply]]


class Batches:
    """All that was handed in. A batch has ended once it was asked after so many times.

    n_polls : how often it says that it is still at work
    end : how it ends by OpenAI's word: completed, expired, or cancelled
    refusals : why OpenAI's do not take it on, as errors.data has it; taken on if there are none
    n_answered : how many of its calls are answered if it expires or is cancelled
    """

    def __init__(self) -> None:
        self.n_polls = 1
        self.end = "completed"
        self.refusals: list[dict[str, Any]] = []
        self.n_answered = 0
        self.files: dict[str, str] = {}
        self.openai: dict[str, dict[str, Any]] = {}
        self.anthropic: dict[str, dict[str, Any]] = {}
        self.gemini: dict[str, dict[str, Any]] = {}
        self._results: dict[str, str] = {}
        self._errors: dict[str, str] = {}
        self._polls: dict[str, int] = {}
        self._numbers = count(1)

    async def answer(
        self, method: str, route: str, content: bytes, headers: dict[str, str], complete: Complete
    ) -> Reply | None:
        """The reply of a route of batches; None if it is none of them."""
        if method == "POST" and route == "/files":
            return _document(self._keep_file(content, headers["content-type"]))
        if method == "GET" and (match := re.fullmatch(r"/files/(file-\d+)/content", route)):
            return Reply(self.files[match[1]])
        if method == "POST" and route == "/batches":
            return _document(await self._create_openai(json.loads(content), complete))
        if method == "GET" and route == "/batches":
            listed = {"operations": [*reversed(self.gemini.values())]} if self.gemini else {"object": "list"}
            return _document(listed | {"data": [*reversed(self.openai.values())], "has_more": False})
        if method == "GET" and (match := re.fullmatch(r"/batches/(batch-\d+)", route)):
            batch = self.openai.get(match[1], {})
            if not batch:
                return None
            if self._has_ended(match[1]):
                batch |= {"status": self.end, "output_file_id": self._results[match[1]]}
                batch |= {"error_file_id": self._errors.get(match[1])}
            if self.refusals:
                batch |= {"status": "failed", "errors": {"object": "list", "data": self.refusals}}
            return _document(batch)
        if method == "POST" and (match := re.fullmatch(r"/batches/(batch-\d+)/cancel", route)):
            self.openai[match[1]]["status"] = "cancelling"
            return _document(self.openai[match[1]])
        if method == "POST" and route == "/messages/batches":
            return _document(await self._create_anthropic(json.loads(content), complete))
        if method == "GET" and (match := re.fullmatch(r"/messages/batches/(msgbatch_\d+)", route)):
            batch = self.anthropic.get(match[1], {})
            if not batch:
                return None
            if self._has_ended(match[1]):
                batch |= {"processing_status": "ended", "results_url": f"/v1/messages/batches/{match[1]}/results"}
            return _document(batch)
        if method == "GET" and (match := re.fullmatch(r"/messages/batches/(msgbatch_\d+)/results", route)):
            return Reply(self._results[match[1]], headers={"Content-Type": "application/x-jsonl"})
        if method == "POST" and (match := re.fullmatch(r"/(models/[^/]+):batchGenerateContent", route)):
            return _document(await self._create_gemini(match[1], json.loads(content)["batch"], complete))
        if method == "GET" and re.fullmatch(r"/batches/g\d+", route):
            return self._poll_gemini(route[1:])
        return None

    def _has_ended(self, batch: str) -> bool:
        self._polls[batch] = self._polls.get(batch, 0) + 1
        return self._polls[batch] > self.n_polls

    def _leaves(self, n: int) -> bool:
        """Whether the n-th call of a batch gets no answer."""
        return self.end != "completed" and n >= self.n_answered

    def _keep_file(self, content: bytes, content_type: str) -> dict[str, Any]:
        message = BytesParser().parsebytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + content)
        fields = {part.get_param("name", header="content-disposition"): part for part in message.get_payload()}  # type: ignore[union-attr]
        return self._file(fields["file"].get_payload(decode=True).decode())  # type: ignore[union-attr]

    def _file(self, text: str) -> dict[str, Any]:
        name = f"file-{next(self._numbers)}"
        self.files[name] = text
        return {
            "id": name,
            "object": "file",
            "bytes": len(text),
            "created_at": 0,
            "filename": "f",
            "purpose": "batch",
            "status": "processed",
        }

    async def _create_openai(self, request: dict[str, Any], complete: Complete) -> dict[str, Any]:
        name, lines, errors = f"batch-{next(self._numbers)}", [], []
        for n, line in enumerate(self.files[request["input_file_id"]].splitlines()):
            order = json.loads(line)
            if self._leaves(n):
                error = {"code": f"batch_{self.end}", "message": "This request could not be executed in time."}
                errors.append(
                    json.dumps({"id": "r", "custom_id": order["custom_id"], "response": None, "error": error})
                )
                continue
            reply = await complete(order["url"], order["body"])
            response = {"status_code": reply.status, "request_id": "req-1", "body": _parsed(reply.body)}
            lines.append(json.dumps({"id": "r", "custom_id": order["custom_id"], "response": response, "error": None}))
        self._results[name] = self._file("\n".join(lines) + "\n")["id"]
        if errors:
            self._errors[name] = self._file("\n".join(errors) + "\n")["id"]
        self.openai[name] = {
            "id": name,
            "object": "batch",
            "endpoint": request["endpoint"],
            "input_file_id": request["input_file_id"],
            "completion_window": request["completion_window"],
            "created_at": 0,
            "status": "in_progress",
            "metadata": request.get("metadata"),
        }
        return self.openai[name]

    async def _create_anthropic(self, request: dict[str, Any], complete: Complete) -> dict[str, Any]:
        name, lines = f"msgbatch_{next(self._numbers)}", []
        for n, order in enumerate(request["requests"]):
            if self._leaves(n):
                result = {"type": self.end.replace("cancelled", "canceled")}
                lines.append(json.dumps({"custom_id": order["custom_id"], "result": result}))
                continue
            reply = await complete("/v1/messages", order["params"])
            body = _parsed(reply.body)
            result = (
                {"type": "succeeded", "message": body} if reply.status == 200 else {"type": "errored", "error": body}
            )
            lines.append(json.dumps({"custom_id": order["custom_id"], "result": result}))
        self._results[name] = "\n".join(lines) + "\n"
        n_requests = len(request["requests"])
        self.anthropic[name] = {
            "id": name,
            "type": "message_batch",
            "processing_status": "in_progress",
            "request_counts": {"processing": n_requests, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": "2026-01-02T00:00:00Z",
            "ended_at": None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": None,
        }
        return self.anthropic[name]

    async def _create_gemini(self, model: str, batch: dict[str, Any], complete: Complete) -> dict[str, Any]:
        name, entries = f"batches/g{next(self._numbers)}", []
        for n, order in enumerate(batch["inputConfig"]["requests"]["requests"]):
            assert order["request"]["model"] == model
            if self._leaves(n):
                continue
            reply = await complete(f"/v1/{model}:generateContent", order["request"])
            body = _parsed(reply.body)
            outcome = {"response": body} if reply.status == 200 else {"error": _rpc(reply.status, body)}
            entries.append(outcome | {"metadata": order["metadata"]})
        self._results[name] = json.dumps({"inlinedResponses": {"inlinedResponses": entries}})
        state = {"model": model, "displayName": batch["displayName"], "state": "BATCH_STATE_PENDING"}
        self.gemini[name] = {"name": name, "metadata": state}
        return self.gemini[name]

    def _poll_gemini(self, name: str) -> Reply | None:
        operation = self.gemini.get(name)
        if operation is None:
            return None
        if self.refusals:
            error = {"code": 3, "message": self.refusals[0]["message"], "status": "INVALID_ARGUMENT"}
            return _document(operation | {"done": True, "error": error})
        if not self._has_ended(name):
            return _document(operation)
        state = {"completed": "SUCCEEDED"}.get(self.end, self.end.upper())
        ended = {"done": True, "metadata": operation["metadata"] | {"state": f"BATCH_STATE_{state}"}}
        return _document(operation | ended | {"response": json.loads(self._results[name])})


# Of HTTP's statuses those of gRPC, in which Gemini's batches write errors.
_RPC_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14, 504: 4}


def _rpc(status: int, body: Any) -> dict[str, Any]:
    error = body.get("error") if isinstance(body, dict) else {"message": str(body)}
    return {**error, "code": _RPC_CODES.get(status, 2)}


def _document(document: dict[str, Any]) -> Reply:
    return Reply(json.dumps(document))


def _parsed(body: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body
