"""Results of promptfoo, as `promptfoo eval -o results.json` writes them."""

import json
import re
from collections.abc import Iterator
from typing import Any

from judges.foreign_logs.base import (
    LogFile,
    LogFormat,
    LogSample,
    clean,
    is_cost,
    keys_of,
    messages_of,
    model_of,
    words_of,
)
from judges.providers.base import token_count

# “openai:chat:gpt-4o”: by which of its clients, and in which way; then which model.
_CLIENT = re.compile(r"^[a-z][\w-]*:(?:(?:chat|completions?|messages|responses):)?(?=[^/])")


class PromptfooLog(LogFormat):
    slug = "promptfoo"
    title = "promptfoo"

    def recognises(self, file: LogFile) -> bool:
        return _list_results(file) is not None

    def read(self, file: LogFile) -> Iterator[LogSample]:
        for n, result in enumerate(_list_results(file) or [], start=1):
            if isinstance(result, dict):
                yield _read_result(result, n)


def _list_results(file: LogFile) -> list[Any] | None:
    outer = file.document.get("results") if isinstance(file.document, dict) else None
    results = outer.get("results") if isinstance(outer, dict) else None
    return results if isinstance(results, list) else None


def _read_result(result: dict[str, Any], n: int) -> LogSample:
    response, provider, prompt = result.get("response"), result.get("provider"), result.get("prompt")
    response = response if isinstance(response, dict) else {}
    model = (provider.get("id") or provider.get("label")) if isinstance(provider, dict) else provider
    usage = response.get("tokenUsage")
    is_cached = response.get("cached") is True
    cost = response.get("cost", result.get("cost"))
    has_reply = response.get("output") is not None
    error = result.get("error") if not has_reply else response.get("error")
    return LogSample(
        clean(result.get("description") or f"#{n}")[:200],
        _CLIENT.sub("", model_of(model)),
        _read_prompt(prompt.get("raw") if isinstance(prompt, dict) else prompt),
        clean(words_of(response.get("output"))) if has_reply else "",
        ended=clean(response.get("finishReason") or "stop")[:80],
        failure="" if has_reply and not error else clean(error)[:300],
        keys=keys_of(result.get("vars"), result.get("metadata"), response.get("metadata")),
        n_tokens_in=token_count(usage, "prompt"),
        n_tokens_out=token_count(usage, "completion"),
        n_tokens_reasoning=token_count(usage, "completionDetails", "reasoning"),
        # It writes 0 also where it knows no price.
        cost=str(cost) if is_cost(cost) and (cost or is_cached) else "",
    )


def _read_prompt(raw: Any) -> tuple[tuple[str, str], ...]:
    """What was asked: words, or messages written as JSON."""
    if isinstance(raw, str) and raw.lstrip().startswith("["):
        try:
            messages = json.loads(raw)
        except (ValueError, RecursionError):
            return messages_of(raw)
        if isinstance(messages, list) and all(isinstance(m, dict) and "content" in m for m in messages):
            return messages_of(messages)
    return messages_of(raw)
