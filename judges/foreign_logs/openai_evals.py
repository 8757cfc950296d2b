"""Logs of OpenAI's evals: a line of JSON for what is evaluated, then one for each event."""

from collections.abc import Iterator
from typing import Any

from judges.foreign_logs.base import LogFile, LogFormat, LogSample, clean, keys_of, messages_of, model_of, words_of
from judges.providers.base import token_count


class OpenAIEvalsLog(LogFormat):
    slug = "openai-evals"
    title = "OpenAI evals"

    def recognises(self, file: LogFile) -> bool:
        return any(isinstance(line, dict) and isinstance(line.get("spec"), dict) for line in file.lines[:1])

    def read(self, file: LogFile) -> Iterator[LogSample]:
        model = _read_model(file.lines[0]["spec"])
        for event in file.lines[1:]:
            if isinstance(event, dict) and event.get("type") == "sampling" and isinstance(event.get("data"), dict):
                yield from _read_event(event, event["data"], model=model)


def _read_model(spec: dict[str, Any]) -> str:
    functions = spec.get("completion_fns")
    first = functions[0] if isinstance(functions, list) and functions else spec.get("model_name")
    return model_of(first.get("name") if isinstance(first, dict) else first)


def _read_event(event: dict[str, Any], data: dict[str, Any], *, model: str) -> Iterator[LogSample]:
    """A sample for each reply: several may have been asked for at once."""
    sampled, usage = data.get("sampled"), data.get("usage")
    replies = sampled if isinstance(sampled, list) else [sampled]
    for n, reply in enumerate(replies):
        is_first = n == 0  # to which the tokens of all are counted
        yield LogSample(
            clean(event.get("sample_id"))[:200] + (f" ({n + 1})" if n else ""),
            model,
            messages_of(data.get("prompt")),
            clean(words_of(reply)),
            failure="" if reply is not None else clean(data.get("error"))[:300],
            answered_by=model_of(data.get("model")),
            keys=keys_of({"sample_id": event.get("sample_id")}, data.get("metadata")),
            n_tokens_in=token_count(usage, "prompt_tokens") if is_first else 0,
            n_tokens_out=token_count(usage, "completion_tokens") if is_first else 0,
            n_tokens_reasoning=token_count(usage, "completion_tokens_details", "reasoning_tokens") if is_first else 0,
        )
