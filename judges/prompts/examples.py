"""Which answers of experts a model is shown before it judges: never about what it is about to judge."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from judges.prompts.messages import Example
from studies.typography.prompts import fold_prompt


@dataclass(frozen=True)
class Candidate:
    """An answer that could be an example, with the keys of what it is about.

    story, group : their codes; prompt : the premise that was given for the writing, "" if there was none
    is_expert : a person gave it, and no model
    text_sha256 : of the story's text, since one text can stand in two groups under two codes
    """

    item: str
    story: str
    group: str
    prompt: str
    value: str
    rationale: str = ""
    text: str = ""
    text_sha256: str = ""
    is_expert: bool = True

    @property
    def example(self) -> Example:
        return Example(self.value, self.rationale, self.text)


@dataclass(frozen=True)
class JudgedStory:
    """What is about to be judged, by the same keys."""

    item: str
    story: str
    group: str
    prompt: str = ""
    text_sha256: str = ""


def choose_examples(candidates: Sequence[Candidate], judged: JudgedStory, *, n: int, seed: int) -> list[Candidate]:
    """At most n answers of experts to the same item, about nothing that shares story, text, group or prompt with it.

    The values that were given take turns, so that an example of each stands before a second of any; no story stands
    twice. The same candidates, seed and story give the same examples, in whatever order the candidates come.
    """
    usable = [c for c in candidates if c.is_expert and c.item == judged.item and not _is_related(c, judged)]
    by_value: dict[str, list[Candidate]] = {}
    for candidate in sorted(usable, key=lambda c: _draw(c, judged, seed)):
        by_value.setdefault(candidate.value, []).append(candidate)
    values = sorted(by_value, key=lambda value: _draw(by_value[value][0], judged, seed))
    chosen: list[Candidate] = []
    while len(chosen) < n and any(by_value.values()):
        for value in values:
            stories = {candidate.story for candidate in chosen}
            by_value[value] = [c for c in by_value[value] if c.story not in stories]
            if by_value[value] and len(chosen) < n:
                chosen.append(by_value[value].pop(0))
    return chosen


def _is_related(candidate: Candidate, judged: JudgedStory) -> bool:
    """Whether the answer is about the story judged, its text, its group or its prompt. An empty key relates nothing."""
    pairs = (
        (candidate.story, judged.story),
        (candidate.group, judged.group),
        (fold_prompt(candidate.prompt), fold_prompt(judged.prompt)),
        (candidate.text_sha256, judged.text_sha256),
    )
    return any(theirs and theirs == ours for theirs, ours in pairs)


def _draw(candidate: Candidate, judged: JudgedStory, seed: int) -> str:
    """A place in a shuffled order that depends on nothing but what is drawn from, what is judged and the seed."""
    parts = (str(seed), judged.item, judged.story, candidate.story, candidate.group, candidate.value)
    return hashlib.sha256("\0".join((*parts, candidate.rationale)).encode()).hexdigest()
