"""How providers say that a text is at fault, as they were seen to write it: a filter's refusals, and texts too long."""

import json
from typing import Any

from tests.judges.standin.replies import Reply, error


def _reply(status: int, document: dict[str, Any]) -> Reply:
    return Reply(json.dumps(document), status=status)


_FLAGGED = {
    "code": 403,
    "message": "Your chosen model requires moderation and your input was flagged",
    "metadata": {"reasons": ["violence"], "flagged_input": "The knife was not found", "provider_name": "OpenAI"},
}
_POLICY = "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again."
_INSPECTED = "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content."
# A filter stopped the text.
BLOCKS: dict[str, Reply] = {
    "openai": error(400, _POLICY, type="invalid_request_error", code="invalid_prompt"),
    "azure": error(400, "The response was filtered due to Azure's content management policy.", code="content_filter"),
    "openrouter": _reply(403, {"error": _FLAGGED}),
    "openrouter with success": _reply(200, {"error": _FLAGGED}),
    "openrouter half-way": _reply(
        200, {"choices": [{"finish_reason": "error", "message": {"content": "Th"}, "error": _FLAGGED}]}
    ),
    "xai": _reply(
        403,
        {
            "code": "The caller does not have permission to execute the specified operation",
            "error": "Content violates usage guidelines. Team: t, API key ID: k, Model: m, Failed check: BIO",
        },
    ),
    "deepseek": error(400, "Content Exists Risk", type="invalid_request_error", code="invalid_request_error"),
    "moonshot": error(400, "The request was rejected because it was considered high risk", type="content_filter"),
    "dashscope": error(400, _INSPECTED, code="data_inspection_failed"),
    "anthropic": error(400, "Output blocked by content filtering policy", type="invalid_request_error"),
    "gemini": _reply(200, {"choices": None, "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
    "gemini without a message": _reply(200, {"choices": [{"finish_reason": "PROHIBITED_CONTENT", "message": None}]}),
}

_TPM = "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 30601."
_LLAMA = "the request exceeds the available context size. try increasing the context size or enable context shift"
# The text is too long for the model.
LONG: dict[str, Reply] = {
    "openai": error(400, "Please reduce the length of the messages.", code="context_length_exceeded"),
    "openai by the minute": error(429, _TPM, type="tokens", code="rate_limit_exceeded"),
    "anthropic": error(400, "prompt is too long: 210000 tokens > 200000 maximum", type="invalid_request_error"),
    "anthropic with its reply": error(
        400, "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000"
    ),
    "vllm": error(400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."),
    "vllm of late": error(400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
    "llama.cpp": _reply(400, {"error": {"code": 400, "message": _LLAMA, "type": "exceed_context_size_error"}}),
    "llama.cpp at first": _reply(500, {"error": {"code": 500, "message": _LLAMA, "type": "exceed_context_size_error"}}),
    "llama.cpp with success": _reply(200, {"error": {"code": 400, "message": _LLAMA}}),
    "sglang": error(400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
    "tgi": error(422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 5000"),
    "gemini": error(400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    "xai": _reply(400, {"code": "invalid", "error": "This model's maximum prompt length is 131072 but it has 537812."}),
    "mistral": error(400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
    "moonshot": error(400, "Invalid request: Your request exceeded model token limit: 8192"),
    "bedrock": error(400, "Input is too long for requested model."),
    "dashscope": error(400, "Range of input length should be [1, 30720]"),
}
