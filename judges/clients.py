"""How a model is reached: one small protocol, an OpenAI-compatible client, and a stub that reaches nothing.

A request is a plain document: model, messages, parameters, and the JSON schema of the value that is asked for. A client
gives back a completion or raises CallFailed; retries are the run's affair, over rows, and never a client's. No Django
models here: whoever connects says what is needed.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from judges import addresses
from judges.prompts import unmarked

Request = dict[str, Any]

# What a provider may be asked again about: overload, conflict, and what happens on the way.
TRANSIENT = (408, 409, 425, 429)
# What will not get better by asking about another story: the key, the right to the model, its name.
FATAL = (401, 403, 404)
# How Azure and others say, with HTTP 400, that their filter stopped the prompt before any model saw it.
_BLOCKED = re.compile(r'"code"\s*:\s*"(?:content_filter|content_policy_violation)"')
OWN_FIELDS = ("model", "messages", "stream", "n")


class CannotConnect(Exception):
    """The endpoint cannot be used as it stands; the message says why. Nothing was sent."""


class CallFailed(Exception):
    """A request got no completion. The message is safe to keep: it never holds the key.

    is_transient : the same request may succeed later
    is_fatal : no request to this endpoint will succeed before somebody mends something
    retry_after : seconds that the provider asked to wait, if it did
    """

    def __init__(
        self, reason: str, *, is_transient: bool = False, is_fatal: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(reason)
        self.is_transient = is_transient
        self.is_fatal = is_fatal
        self.retry_after = retry_after


@dataclass(frozen=True)
class Completion:
    """A model's reply.

    finish_reason : "stop", "length", "content_filter", or as the provider says; "refusal" if it marked the text as one
    raw : the body of the response, to keep; the key is taken out should the server have echoed it
    """

    text: str
    finish_reason: str
    n_tokens_in: int | None
    n_tokens_out: int | None
    raw: str


class Client(Protocol):
    """Something that completes requests, from several threads at once."""

    def complete(self, request: Request) -> Completion: ...

    def close(self) -> None: ...


class OpenAICompatible:
    """Chat completions at a base URL, by the `openai` library without its retries.

    may_be_private : the operator has named this address; otherwise every call goes to a number checked for it
    """

    def __init__(self, base_url: str, *, key: str, timeout_seconds: float, may_be_private: bool = False) -> None:
        # Imported here: it takes half a second that pages and commands without a judge need not wait.
        import openai

        self._key = key
        self._openai = openai
        # Redirects could lead to an address that the guard has not seen; so could a proxy from the environment.
        http_client = openai.DefaultHttpxClient(
            follow_redirects=False,
            trust_env=False,
            timeout=timeout_seconds,
            event_hooks={"request": [] if may_be_private else [pin]},
        )
        self._client = openai.OpenAI(
            base_url=base_url,
            # The library takes the environment's key where it is given none, and would send it here.
            api_key=key or "none",
            max_retries=0,
            timeout=timeout_seconds,
            http_client=http_client,
        )
        # These too it takes from the environment, for another host than this one.
        self._client.organization = self._client.project = None

    def complete(self, request: Request) -> Completion:
        openai = self._openai
        try:
            response = self._client.chat.completions.with_raw_response.create(
                model=request["model"], messages=request["messages"], extra_body=request.get("parameters") or None
            )
            body = self._without_key(response.http_response.text)
        except openai.APIStatusError as error:
            body = self._without_key(error.response.text)
            if error.status_code == 400 and _BLOCKED.search(body):
                return Completion("", "content_filter", n_tokens_in=None, n_tokens_out=None, raw=body)
            raise failure_of(error.status_code, body, error.response.headers.get("retry-after", "")) from None
        except openai.APITimeoutError:
            raise CallFailed("the provider did not answer in time", is_transient=True) from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, CallFailed):  # older versions of the library wrap what `pin` raises
                raise error.__cause__ from None
            cause = type(error.__cause__ or error).__name__
            raise CallFailed(f"the provider could not be reached ({cause})", is_transient=True) from None
        except openai.OpenAIError as error:
            raise CallFailed(f"the request could not be made ({type(error).__name__})") from None
        return completion_of(body)

    def close(self) -> None:
        self._client.close()

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


class Stub:
    """No model at all: answers drawn from a hash of the request, so that everything can be tried without a key.

    parameters : seed (default 0); yes_rate, how often it says yes where that is an answer (default 0.5)
    Every reply says that it is a stub's. The same request gets the same reply, whatever the number of its fence.
    """

    def complete(self, request: Request) -> Completion:
        parameters = request.get("parameters", {})
        if "skeleton" in request["schema"]:
            return _stub_story(request["schema"])
        said = unmarked(json.dumps([request["model"], request["messages"]], sort_keys=True))
        digest = hashlib.sha256(said.encode()).digest()
        rng = np.random.default_rng([int(parameters.get("seed", 0)), *digest])
        answer = drawn(request["schema"], rng, yes_rate=float(parameters.get("yes_rate", 0.5)))
        rationale = "This is a stub and not a model: it has read nothing, and its answer was drawn by chance."
        # In this order the reply suits both protocols: it is a JSON object from beginning to end.
        text = json.dumps({"rationale": rationale, "answer": answer}, ensure_ascii=False)
        raw = json.dumps({"stub": True, "reply": text}, ensure_ascii=False)
        return Completion(text, "stop", n_tokens_in=None, n_tokens_out=None, raw=raw)

    def close(self) -> None:
        pass


def connect(
    adapter: str, *, base_url: str, key_variable: str, timeout_seconds: float, allowed: Collection[str] = ()
) -> Client:
    """A client for an endpoint. Raises CannotConnect. Asks the name service for the host's address.

    key_variable : the name of the environment variable that holds the key; "" for an endpoint without one
    allowed : private endpoints that the operator runs, as "host:port"
    """
    if adapter == "stub":
        return Stub()
    try:
        addresses.check_reach(base_url, allowed=allowed)
    except addresses.InvalidAddress as error:
        raise CannotConnect(str(error)) from None
    key = os.environ.get(key_variable, "").strip() if key_variable else ""
    if key_variable and not key:
        raise CannotConnect(f"the environment variable {key_variable} is not set where judges run")
    if not key.isascii() or not key.isprintable():
        raise CannotConnect(f"the environment variable {key_variable} holds what is no key")
    is_named = addresses.is_allowed(base_url, allowed)
    return OpenAICompatible(base_url, key=key, timeout_seconds=timeout_seconds, may_be_private=is_named)


def pin(request: Any) -> None:
    """Have an httpx request sent to a number that has just been checked. Raises CallFailed.

    Between a check of the name and the connection the name could come to stand for another address.
    """
    host = request.url.raw_host.decode("ascii")
    port = request.url.port or (443 if request.url.scheme == "https" else 80)
    try:
        number = addresses.public_number(host, port)
    except addresses.InvalidAddress as error:
        raise CallFailed(str(error), is_fatal=True) from None
    except OSError as error:
        raise CallFailed(f"the provider could not be reached ({type(error).__name__})", is_transient=True) from None
    request.url = request.url.copy_with(host=number)
    # The header Host was written before; the certificate too is asked for and checked by name.
    request.extensions = {**request.extensions, "sni_hostname": host}


def failure_of(status: int, body: str, retry_after: str) -> CallFailed:
    """What an HTTP status other than success means for this call and the next."""
    if 300 <= status < 400:
        return CallFailed(f"the provider redirects (HTTP {status}); redirects are not followed", is_fatal=True)
    return CallFailed(
        f"HTTP {status}: {' '.join(body.split())[:300]}",
        is_transient=status in TRANSIENT or status >= 500,
        is_fatal=status in FATAL,
        retry_after=_seconds(retry_after),
    )


def completion_of(body: str) -> Completion:
    """The completion that a chat response's body holds. Raises CallFailed if it holds none."""
    try:
        document = json.loads(body)
        choice = document["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # A proxy's error page, half a body: the next try may get a whole one.
        raise CallFailed("the provider's reply is not a chat completion", is_transient=True) from None
    if isinstance(text, list):  # some servers send the text in parts
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    finish_reason = "refusal" if refusal else str(choice.get("finish_reason") or "stop")
    usage = document.get("usage")
    n_in, n_out = (
        _count(usage.get(name)) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")
    )
    return Completion(str(refusal or text or ""), finish_reason, n_tokens_in=n_in, n_tokens_out=n_out, raw=body)


def drawn(schema: dict[str, Any], rng: np.random.Generator, *, yes_rate: float) -> Any:
    """A value that the schema allows, drawn by chance; of a yes and a no, yes at the given rate."""
    if options := schema.get("enum"):
        if set(options) == {"yes", "no"}:
            return "yes" if rng.random() < yes_rate else "no"
        return options[int(rng.integers(len(options)))]
    if schema["type"] in ("integer", "number"):
        # A whole number is allowed wherever a number is, between limits that are whole; wide ones are not made use of.
        low, high = max(schema["minimum"], -1000), min(schema["maximum"], 1000)
        return int(rng.integers(math.ceil(low), math.floor(high) + 1)) if math.ceil(low) <= high else low
    if schema["type"] == "array":
        return _drawn_list(schema, rng, yes_rate=yes_rate)
    if schema["type"] == "object":
        return {name: drawn(part, rng, yes_rate=yes_rate) for name, part in schema["properties"].items()}
    return "This text comes from a stub and not from a model. It says nothing about the story."


def _stub_story(schema: dict[str, Any]) -> Completion:
    """A whole story with words of the hint in every blank, each of them said to be a stub's."""
    story = schema["skeleton"]
    for number, hint in schema["hints"].items():
        words = " ".join(re.findall(r"\w+", hint)[:6]) or f"blank {number}"
        story = story.replace(f"{{{{{number}}}}}", f"[stub] {words}")
    raw = json.dumps({"stub": True, "reply": story}, ensure_ascii=False)
    return Completion(story, "stop", n_tokens_in=None, n_tokens_out=None, raw=raw)


def _drawn_list(schema: dict[str, Any], rng: np.random.Generator, *, yes_rate: float) -> list[Any]:
    inner = schema["items"]
    if inner.get("type") == "array":  # ranks that may be shared: each story on one of its own
        return [[name] for name in rng.permutation(inner["items"]["enum"]).tolist()]
    least = schema.get("minItems", 1)
    if "enum" in inner and schema.get("uniqueItems"):
        n = int(rng.integers(least, schema.get("maxItems", len(inner["enum"])) + 1))
        return list(rng.permutation(inner["enum"])[:n].tolist())
    return [drawn(inner, rng, yes_rate=yes_rate) for _ in range(least)]


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def _seconds(header: str) -> float | None:
    """How long Retry-After asks to wait, at most ten minutes. Dates are left to our own backoff."""
    return min(float(header), 600.0) if re.fullmatch(r"\d{1,6}(\.\d+)?", header.strip()) else None
