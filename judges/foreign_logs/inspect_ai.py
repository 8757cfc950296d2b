"""Logs of Inspect: `.json`, and `.eval`, which is an archive of the same parts."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

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
from judges.providers.base import fit_count, token_count
from studies.incoming_tables.errors import UnreadableFile

SAMPLES = "samples/"
_ENDINGS = {"max_tokens": "length", "model_length": "length", "end_turn": "stop"}


class InspectLog(LogFormat):
    slug = "inspect"
    title = "Inspect (inspect_ai)"

    def recognises(self, file: LogFile) -> bool:
        return isinstance(_read_header(file), dict)

    def read(self, file: LogFile) -> Iterator[LogSample]:
        # “openai/gpt-4o”: by which of its clients, and which model.
        model_name = model_of((_read_header(file) or {}).get("model"))
        model = model_name.partition("/")[2] or model_name
        samples = (part for _name, part in file.entries(SAMPLES)) if file.is_archive else _list_samples(file)
        for sample in samples:
            if isinstance(sample, dict):
                yield _read_sample(sample, model=model)


def _list_samples(file: LogFile) -> list[Any]:
    samples = file.document.get("samples") if isinstance(file.document, dict) else None
    return samples if isinstance(samples, list) else []


def _read_header(file: LogFile) -> dict[str, Any] | None:
    """What a log says of its evaluation; None if the file is no log. Raises UnreadableFile for one without samples."""
    header = file.header.get("eval") if isinstance(file.header, dict) else None
    if not isinstance(header, dict) or "model" not in header:
        return None
    if not file.is_archive and not _list_samples(file):
        message = _("%(name)s is a log without its samples. Save it with them, as “inspect log dump” does.")
        raise UnreadableFile(message % {"name": file.name})
    return header


def _read_sample(sample: dict[str, Any], *, model: str) -> LogSample:
    output = sample.get("output")
    output = output if isinstance(output, dict) else {}
    choices = output.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    usage = output.get("usage")
    error = sample.get("error") or output.get("error")
    error = error.get("message") if isinstance(error, dict) else error
    # Whether tokens of the cache are among those sent differs between its providers; in the total they always are.
    n_out, n_total = token_count(usage, "output_tokens"), token_count(usage, "total_tokens")
    n_in = (
        token_count(usage, "input_tokens") if n_total is None or n_out is None else fit_count(max(n_total - n_out, 0))
    )
    cost = usage.get("total_cost") if isinstance(usage, dict) else None
    ended = clean(choice.get("stop_reason") or "stop")[:80]
    epoch = sample.get("epoch")
    return LogSample(
        clean(sample.get("id"))[:200] + (f" ({epoch})" if isinstance(epoch, int) and epoch > 1 else ""),
        model,
        messages_of(sample.get("input")),
        clean(words_of(message.get("content"))) if isinstance(message, dict) else "",
        ended=_ENDINGS.get(ended, ended),
        failure=clean(error)[:300] if error or not isinstance(message, dict) else "",
        answered_by=model_of(output.get("model")),
        keys=keys_of({"id": sample.get("id")}, sample.get("metadata")),
        n_tokens_in=n_in,
        n_tokens_out=n_out,
        n_tokens_cached=token_count(usage, "input_tokens_cache_read"),
        n_tokens_cache_written=token_count(usage, "input_tokens_cache_write"),
        n_tokens_reasoning=token_count(usage, "reasoning_tokens"),
        cost=str(cost) if is_cost(cost) else "",
    )
