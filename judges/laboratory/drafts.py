"""Texts that are to be written: what is sent for the next step of a draft, and how its texts are stored."""

from collections.abc import Mapping
from typing import Any

from judges import prompts
from judges.laboratory.recipes import Ask, Brief
from judges.models import Draft, Judge
from judges.prompts import InvalidPrompt
from judges.providers import Request
from judges.requests.texts import Shelf
from studies.models import Story

# Of a prompt, by its name: what a run's document keeps of it, so that nothing that is changed later is sent.
PromptWords = Mapping[str, Mapping[str, Any]]


def make_brief(draft: Draft, *, n_rounds: int, reference: str) -> Brief:
    """What the recipe is told of the draft. Reads its story or question."""
    return Brief(
        premise=draft.premise,
        original=draft.original.text if draft.original else "",
        question=draft.item.question if draft.item else "",
        reference=reference,
        n_words=draft.n_words,
        n_rounds=n_rounds,
    )


def build_request(judge: Judge, ask: Ask, words: PromptWords, *, mark: str, draft: Draft) -> Request:
    """What is sent for the ask. Raises InvalidPrompt. Keep the mark: by it a text is found in the messages again."""
    if (prompt := words.get(ask.prompt)) is None:
        raise InvalidPrompt(f"{ask.prompt}: is no prompt of this run")
    rendered = prompts.render_writing(
        prompt["system"], prompt["template"], texts=ask.texts, values=ask.values, mark=mark
    )
    parameters = dict(judge.parameters)
    if draft.temperature is not None:
        parameters["temperature"] = draft.temperature
    return {
        "model": judge.model,
        "messages": prompts.join(rendered),
        "parameters": parameters,
        "schema": {"type": "string", "n_words": draft.n_words or 500},
    }


def store_request(
    shelf: Shelf, request: Request, ask: Ask, *, mark: str, draft: Draft, reference: Story | None
) -> dict[str, Any]:
    """The request as its call keeps it, its texts on the shelf; words of stories stand apart, so that they can be
    erased."""
    owners = {"original": draft.original, "reference": reference}
    story_by_block = {
        prompts.fence_written(name, text, mark): story
        for name, text in ask.texts.items()
        if text and (story := owners.get(name)) is not None
    }
    return shelf.put_request(request, story_by_block)
