"""Who makes a model, by its name: providers that must differ are compared by it, not by who serves the model."""

import re

# Beginnings of names, up to a letter that goes on: a maker may serve others' models, and routers serve everybody's.
_BEGINNINGS = {
    "OpenAI": ("gpt", "o1", "o3", "o4", "chatgpt", "davinci", "text-davinci", "codex"),
    "Anthropic": ("claude",),
    "Google": ("gemini", "gemma", "palm", "medgemma"),
    "Meta": ("llama", "meta-llama", "codellama"),
    "Mistral": ("mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "pixtral", "open-mistral"),
    "Alibaba": ("qwen", "qwq", "qvq", "tongyi"),
    "DeepSeek": ("deepseek",),
    "Cohere": ("command", "c4ai", "aya", "aya-expanse"),
    "xAI": ("grok",),
    "Microsoft": ("phi", "wizardlm", "mai"),
    "LMSYS": ("vicuna",),
    "Zhipu": ("glm", "chatglm", "codegeex", "zai"),
    "Moonshot": ("kimi", "moonlight", "moonshot"),
    "MiniMax": ("minimax", "abab"),
    "Amazon": ("nova", "titan"),
    "NVIDIA": ("nemotron", "mistral-nemotron"),
    "Ai2": ("olmo", "olmoe", "tulu", "llama-3.1-tulu", "molmo"),
    "Baidu": ("ernie",),
    "AI21": ("jamba", "jurassic", "j2"),
    "IBM": ("granite",),
    "01.AI": ("yi",),
    "Tencent": ("hunyuan", "hy"),
    "ByteDance": ("seed", "seed-oss", "doubao", "skylark"),
    "StepFun": ("step",),
    "Xiaomi": ("mimo",),
    "Shanghai AI Laboratory": ("internlm", "intern-s"),
    "Baichuan": ("baichuan",),
    "LG": ("exaone",),
    "Upstage": ("solar",),
    "TII": ("falcon",),
    "Databricks": ("dbrx", "dolly"),
    "Hugging Face": ("smollm", "zephyr"),
    "EleutherAI": ("gpt-neo", "gpt-neox", "gpt-j", "pythia"),
    "BigScience": ("bloom", "bloomz"),
    "Perplexity": ("sonar",),
    "Nomic": ("gpt4all",),
}
# What stands before the name at routers, in collections of weights and at clouds ("z-ai/glm-4.6").
_PREFIXES = {
    "OpenAI": ("openai",),
    "Anthropic": ("anthropic",),
    "Google": ("google",),
    "Meta": ("meta", "meta-llama"),
    "Mistral": ("mistralai", "mistral"),
    "Alibaba": ("qwen", "alibaba"),
    "DeepSeek": ("deepseek", "deepseek-ai"),
    "Cohere": ("cohere", "coherelabs", "cohereforai"),
    "xAI": ("x-ai", "xai", "xai-org"),
    "Microsoft": ("microsoft",),
    "LMSYS": ("lmsys",),
    "Zhipu": ("z-ai", "zai", "zai-org", "thudm", "zhipu", "zhipuai"),
    "Moonshot": ("moonshot", "moonshotai"),
    "MiniMax": ("minimax", "minimaxai"),
    "Amazon": ("amazon",),
    "NVIDIA": ("nvidia",),
    "Ai2": ("allenai",),
    "Baidu": ("baidu",),
    "AI21": ("ai21", "ai21labs"),
    "IBM": ("ibm", "ibm-granite"),
    "01.AI": ("01-ai",),
    "Tencent": ("tencent",),
    "ByteDance": ("bytedance", "bytedance-seed"),
    "StepFun": ("stepfun", "stepfun-ai"),
    "Xiaomi": ("xiaomi", "xiaomimimo"),
    "Shanghai AI Laboratory": ("internlm",),
    "Baichuan": ("baichuan-inc",),
    "LG": ("lgai-exaone",),
    "Upstage": ("upstage",),
    "TII": ("tiiuae",),
    "Databricks": ("databricks",),
    "Hugging Face": ("huggingfacetb", "huggingfaceh4"),
    "EleutherAI": ("eleutherai",),
    "BigScience": ("bigscience",),
    "Perplexity": ("perplexity",),
    "Nous Research": ("nousresearch",),
}
_MAKER_BY_BEGINNING = {beginning: maker for maker, names in _BEGINNINGS.items() for beginning in names}
_MAKER_BY_PREFIX = {prefix: maker for maker, names in _PREFIXES.items() for prefix in names}
# A maker trains on others' weights and keeps their name before its own.
_MAKER_BY_WORD = {"nemotron": "NVIDIA"}
# The longest first; "o1" is not "o100", and "yi" not "yield".
_BEGINNING = re.compile(
    "|".join(
        re.escape(beginning) + ("(?![0-9a-z])" if beginning[-1].isdigit() else "(?![a-z])")
        for beginning in sorted(_MAKER_BY_BEGINNING, key=len, reverse=True)
    )
)


def find_family(model: str) -> str:
    """Who makes the model, as far as its name says; "" if it says nothing that is known.

    >>> find_family("openai/gpt-4o"), find_family("z-ai/glm-4.6"), find_family("Llama-2-7b-chat"), find_family("m1")
    ('OpenAI', 'Zhipu', 'Meta', '')
    """
    *prefixes, name = model.lower().removeprefix("ft:").split("/")
    while "." in name and (head := name.partition(".")[0]).isalpha():  # of a cloud: "us.amazon.nova-pro-v1:0"
        prefixes.append(head)
        name = name.partition(".")[2]
    if makers := [_MAKER_BY_PREFIX[prefix] for prefix in prefixes if prefix in _MAKER_BY_PREFIX]:
        return makers[-1]
    for word, maker in _MAKER_BY_WORD.items():
        if word in re.split(r"[^a-z]+", name):
            return maker
    match = _BEGINNING.match(name)
    return _MAKER_BY_BEGINNING[match[0]] if match else ""
