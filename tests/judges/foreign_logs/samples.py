"""Logs as three tools write them, made here after their documents: about whichever stories and items a test has."""

import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

YES = 'It is so, since it ends well.\n{"answer": "yes"}'
MODEL, DATED = "gpt-9", "gpt-9-2026-01-01"


def ask(text: str, question: str) -> str:
    return f"Read this story.\n\n{text}\n\n{question}\nAnswer yes or no."


def inspect_sample(name: str, asked: str, reply: str = YES, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply, "source": "generate"}
    usage = {"input_tokens": 400, "output_tokens": 30, "total_tokens": 460, "input_tokens_cache_read": 30}
    return {
        "id": name,
        "epoch": 1,
        "input": [{"role": "system", "content": "You judge."}, {"role": "user", "content": asked}],
        "target": "yes",
        "messages": [],
        "output": {"model": DATED, "choices": [{"message": message, "stop_reason": "stop"}], "usage": usage},
        "scores": {"match": {"value": "C"}},
        "metadata": {},
    } | more


def inspect_log(samples: Sequence[dict[str, Any]]) -> bytes:
    header = {"run_id": "r", "created": "2026-01-01T00:00:00+00:00", "task": "craft", "model": f"openai/{MODEL}"}
    log = {"version": 2, "status": "success", "eval": header, "plan": {}, "stats": {}, "samples": list(samples)}
    return json.dumps(log).encode()


def inspect_archive(samples: Sequence[dict[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "header.json", json.dumps({"version": 2, "status": "success", "eval": {"model": f"openai/{MODEL}"}})
        )
        archive.writestr("_journal/start.json", "{}")
        for n, sample in enumerate(samples):
            archive.writestr(f"samples/{n}_epoch_1.json", json.dumps(sample))
    return buffer.getvalue()


def promptfoo_result(asked: str, reply: Any = YES, **more: Any) -> dict[str, Any]:
    response = {"output": reply, "tokenUsage": {"total": 430, "prompt": 400, "completion": 30}, "cached": False}
    result = {"provider": {"id": "openai:gpt-9", "label": ""}, "prompt": {"raw": asked, "label": "one"}, "vars": {}}
    return result | {"response": response, "success": True, "cost": 0.0021, "testIdx": 0} | more


def promptfoo_log(results: Sequence[dict[str, Any]]) -> bytes:
    inner = {"version": 3, "timestamp": "2026-01-01T00:00:00.000Z", "prompts": [], "results": list(results)}
    return json.dumps({"evalId": "eval-1", "results": inner, "config": {}, "shareableUrl": None}).encode()


def evals_event(name: str, asked: Any, sampled: Any = YES) -> dict[str, Any]:
    data = {"prompt": [{"role": "user", "content": asked}], "sampled": sampled, "usage": {"prompt_tokens": 400}}
    return {"run_id": "r", "event_id": 0, "sample_id": name, "type": "sampling", "data": data, "created_by": ""}


def evals_log(events: Sequence[dict[str, Any]]) -> bytes:
    spec = {"spec": {"completion_fns": ["gpt-9"], "eval_name": "craft.dev.v0", "run_id": "r"}}
    match = {"run_id": "r", "event_id": 9, "sample_id": "craft.dev.0", "type": "match", "data": {"correct": True}}
    report = {"final_report": {"accuracy": 1.0}}
    return "\n".join(json.dumps(line) for line in [spec, *events, match, report]).encode()
