"""No model at all: answers drawn by chance, so that everything can be tried without a key."""

import hashlib
import json
import re
from typing import Any

from django.utils.translation import gettext_lazy as _

from judges.prompts import strip_marks
from judges.providers.base import Client, Completion, Connection, Provider, Request, document_of, text_of
from studies.items.chance import Chance, draw_value

TEXT = "This text comes from a stub and not from a model. It says nothing about the story."

SENTENCE = "No model wrote this: a stub fills the page."


class Stub(Provider):
    slug = "stub"
    title = _("stub: no model, answers drawn by chance")
    is_stub = True

    def connect(self, connection: Connection) -> Client:
        return StubClient()

    def read(self, body: str) -> Completion:
        return Completion(str(document_of(body).get("reply", "")), "stop", body)


class StubClient:
    """Answers drawn from a hash of the request.

    parameters : seed (default 0); yes_rate, how often it says yes where that is an answer (default 0.5)
    Every reply says that it is a stub's. The same request gets the same reply, whatever the number of its fence.
    """

    async def complete(self, request: Request) -> Completion:
        parameters = request.get("parameters", {})
        if "skeleton" in request["schema"]:
            return _stub_story(request["schema"])
        if "n_words" in request["schema"]:
            return _stub_text(request["schema"]["n_words"])
        messages = [message | {"content": text_of(message["content"])} for message in request["messages"]]
        text = strip_marks(json.dumps([request["model"], messages], sort_keys=True))
        digest = hashlib.sha256(text.encode()).digest()
        import numpy as np  # here, so that web processes come without it

        rng = np.random.default_rng([int(parameters.get("seed", 0)), *digest])
        answer = draw_value(request["schema"], Chance(rng, text=TEXT, yes_rate=float(parameters.get("yes_rate", 0.5))))
        rationale = "This is a stub and not a model: it has read nothing, and its answer was drawn by chance."
        # In this order the reply suits both protocols: it is a JSON object from beginning to end.
        # The schema of an object is that of the whole reply.
        reply = answer if "properties" in request["schema"] else {"rationale": rationale, "answer": answer}
        text = json.dumps(reply, ensure_ascii=False)
        raw = json.dumps({"stub": True, "reply": text}, ensure_ascii=False)
        return Completion(text, "stop", raw)

    async def close(self) -> None:
        pass


def _stub_story(schema: dict[str, Any]) -> Completion:
    """A whole story with words of the hint in every blank, each of them said to be a stub's."""
    story = schema["skeleton"]
    for number, hint in schema["hints"].items():
        words = " ".join(re.findall(r"\w+", hint)[:6]) or f"blank {number}"
        story = story.replace(f"{{{{{number}}}}}", f"[stub] {words}")
    raw = json.dumps({"stub": True, "reply": story}, ensure_ascii=False)
    return Completion(story, "stop", raw)


def _stub_text(n_words: int) -> Completion:
    """A text of so many words that says throughout that it is a stub's."""
    words = (SENTENCE.split() * (n_words // len(SENTENCE.split()) + 1))[:n_words]
    text = " ".join(words)
    return Completion(text, "stop", json.dumps({"stub": True, "reply": text}, ensure_ascii=False))
