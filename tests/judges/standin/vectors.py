"""Vectors and log-probabilities that depend on the text alone."""

import base64
import hashlib
import json
import struct
from typing import Any

N_DIMENSIONS = 8


def embeddings_body(request: dict[str, Any]) -> str:
    """An embedding of each text, in base64 if that was asked for, as the SDK does."""
    texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
    data = [
        {"object": "embedding", "index": n, "embedding": _encode(vector(text), request.get("encoding_format"))}
        for n, text in enumerate(texts)
    ]
    n_tokens = sum(len(text.split()) for text in texts)
    usage = {"prompt_tokens": n_tokens, "total_tokens": n_tokens}
    return json.dumps({"object": "list", "model": request["model"], "data": data, "usage": usage})


def vector(text: str) -> list[float]:
    digest = hashlib.sha256(text.encode()).digest()
    return [digest[n] / 255 - 0.5 for n in range(N_DIMENSIONS)]


def echo_body(request: dict[str, Any]) -> str:
    """A completion that repeats its prompt with the log-probability of each word but the first."""
    tokens = request["prompt"].split(" ")
    logprobs = [None if n == 0 else -float(len(token)) for n, token in enumerate(tokens)]
    starts = [sum(len(token) + 1 for token in tokens[:n]) for n in range(len(tokens))]
    choice = {
        "index": 0,
        "text": request["prompt"],
        "finish_reason": "length",
        "logprobs": {"tokens": tokens, "token_logprobs": logprobs, "text_offset": starts},
    }
    return json.dumps({"object": "text_completion", "model": request["model"], "choices": [choice]})


def _encode(numbers: list[float], encoding: str | None) -> list[float] | str:
    if encoding != "base64":
        return numbers
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
