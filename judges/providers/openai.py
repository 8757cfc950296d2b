"""OpenAI's chat completions, which most servers of models speak: vLLM, Ollama, and most vendors besides."""

import json
import re
from functools import partial
from typing import Any

from django.utils.translation import gettext_lazy as _

from judges.providers.base import (
    CallFailed,
    Client,
    Completion,
    Connection,
    Provider,
    Request,
    bound,
    failure_of,
    pin_address,
)

# How Azure and others say, with HTTP 400, that their filter stopped the prompt before any model saw it.
_BLOCKED = re.compile(r'"code"\s*:\s*"(?:content_filter|content_policy_violation)"')


class OpenAI(Provider):
    slug = "openai"
    title = _("OpenAI-compatible")

    def connect(self, connection: Connection) -> Client:
        return OpenAIClient(connection)


class OpenAIClient:
    """Chat completions at a base URL, by the `openai` library without its retries."""

    def __init__(self, connection: Connection) -> None:
        # Imported here: it takes half a second that pages and commands without a judge need not wait.
        import openai

        self._key = connection.key
        self._openai = openai
        # Redirects could lead to an address that the guard has not seen; so could a proxy from the environment.
        http_client = openai.DefaultHttpxClient(
            follow_redirects=False,
            trust_env=False,
            timeout=connection.timeout_seconds,
            event_hooks={
                "request": [] if connection.may_be_private else [pin_address],
                "response": [partial(bound, seconds=connection.timeout_seconds)],
            },
            headers={"Accept-Encoding": "identity"},  # what is counted is what arrives
        )
        self._client = openai.OpenAI(
            base_url=connection.base_url,
            # The library takes the environment's key where it is given none, and would send it here.
            api_key=connection.key or "none",
            max_retries=0,
            timeout=connection.timeout_seconds,
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
            if isinstance(error.__cause__, CallFailed):  # the library wraps what `pin_address` and `bound` raise
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


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None
