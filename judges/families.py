"""Who makes a model, by its name: providers that must differ are compared by it, not by who serves the model."""

import re

# Beginnings of names; a maker may serve others' models, so that the address says less than the name.
_BEGINNINGS = {
    "OpenAI": ("gpt", "o1", "o3", "o4", "chatgpt", "davinci", "text-davinci"),
    "Anthropic": ("claude",),
    "Google": ("gemini", "gemma", "palm"),
    "Meta": ("llama", "meta-llama"),
    "Mistral": ("mistral", "mixtral", "ministral", "magistral"),
    "Alibaba": ("qwen", "qwq"),
    "DeepSeek": ("deepseek",),
    "Cohere": ("command", "aya"),
    "xAI": ("grok",),
    "Microsoft": ("phi", "wizardlm"),
    "LMSYS": ("vicuna",),
}
_MAKER_BY_PREFIX = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "google": "Google",
    "meta": "Meta",
    "mistralai": "Mistral",
    "cohere": "Cohere",
    "x-ai": "xAI",
    "microsoft": "Microsoft",
}


def find_family(model: str, endpoint: str) -> str:
    """Who makes the model, as far as its name says; else the name of the endpoint that serves it.

    >>> find_family("openai/gpt-4o", "router"), find_family("Llama-2-7b-chat", "local"), find_family("m1", "local")
    ('OpenAI', 'Meta', 'local')
    """
    prefix, _slash, _rest = model.lower().rpartition("/")
    if (maker := _MAKER_BY_PREFIX.get(prefix.rpartition("/")[2])) is not None:
        return maker
    name = re.sub(r"^.*/", "", model.lower())
    return next((maker for maker, starts in _BEGINNINGS.items() if name.startswith(starts)), endpoint)
