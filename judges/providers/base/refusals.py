"""How providers say that one text is at fault: a filter stopped it, or it is too long. Other texts may still be sent.

No protocol has a code for either that all keep to, so it is told by codes and by words, as providers were seen to write
them. What is in none of these words is still no endpoint's fault before several texts met it.
"""

import re

# Codes of OpenAI, Azure, Moonshot, DashScope, Volcengine and Gemini; words of OpenRouter, OpenAI, Azure, Anthropic,
# DeepSeek, Moonshot, DashScope, xAI and Zhipu.
_BLOCKED = re.compile(
    r'"(?:code|type|status|reason|block_?reason)"\s*:\s*"(?:content_filter|\w*policy_violation|bio_policy'
    r"|moderation_blocked|ResponsibleAIPolicyViolation|data_?inspection_?failed|prohibited_content|safety|blocklist|spii"
    r'|\w*SensitiveContentDetected[\w.]*)"|"(?:flagged_input|contentFilter)"\s*:|\bDataInspectionFailed\b'
    r"|\binput was flagged\b|\bflagged as potentially violating\b|\bcontent exists risk\b|\bconsidered high risk\b"
    r"|\bviolat\w+ (?:[\w']+ ){0,4}(?:usage|content|safety)[ _](?:polic|guideline)"
    r"|\bcontent (?:management|filtering) policy\b|\bsafety system\b|不安全或敏感"
    r"|\b(?:inappropriate|prohibited|sensitive|unsafe) content\b",
    re.IGNORECASE,
)
# The account or its key is barred for what was sent before, and so is every text.
_OF_ACCOUNT = re.compile(
    r"\b(?:account|organi[sz]ation|project|key|access)\b[^.{}]{0,60}"
    r"\b(?:suspended|disabled|deactivated|banned|terminated|blocked|flagged|restricted|revoked)\b",
    re.IGNORECASE,
)
_BLOCKING = (400, 403, 422, 451)
# Words of OpenAI, vLLM, SGLang, TGI, llama.cpp, LM Studio, Ollama, Gemini, Anthropic, Bedrock, Mistral, xAI, Moonshot,
# MiniMax, Cohere and DashScope.
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|request_too_large|token_limit_exceeded|string_above_max_length"
    r"|string_too_long|\bcontext[ _](?:length|window|size|limit)\b|\b(?:prompt|input|text)\b[^{}]{0,40}\btoo long\b"
    r"|too many (?:input )?tokens|exceeds? the maximum number of tokens|exceeded model token limit"
    r"|\bmaximum (?:prompt|input|model) length\b|\bmax(?:imum)? length of the prompt\b|\bprompt exceeds\b"
    r"|\btoo large (?:to process|for model with)\b|\brange of input length\b"
    r"|\breduce the length of the (?:input|messages|prompt)\b|\binputs`? (?:tokens|must have less)\b",
    re.IGNORECASE,
)
# With HTTP 429: more than fits into any minute, however long one waits.
_TOO_LONG_FOR_A_MINUTE = re.compile(r"\brequest too large for\b", re.IGNORECASE)
_TOO_LONG_STATUSES = (400, 422, 500)


def is_blocked(status: int, body: str) -> bool:
    """Whether a filter stopped the text. A page says nothing of it: it is a proxy's, which would block every text."""
    is_json = body.lstrip().startswith(("{", "["))
    return is_json and status in _BLOCKING and _BLOCKED.search(body) is not None and not _OF_ACCOUNT.search(body)


def is_too_long(status: int, body: str) -> bool:
    """Whether the text is too long for the model."""
    if status == 429:
        return _TOO_LONG_FOR_A_MINUTE.search(body) is not None
    return status == 413 or (status in _TOO_LONG_STATUSES and _TOO_LONG.search(body) is not None)
