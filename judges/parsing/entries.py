"""What an object says of an item: its answer, under whichever name, and the reasons beside it."""

from collections.abc import Iterable, Mapping
from typing import Any

from judges import reasons
from judges.parsing.outcomes import Contradiction, freest
from judges.parsing.values import Allowed, fold

ANSWERS = ("answer", "score", "rating", "verdict", "value")
REASONS = ("rationale", "explanation", "reasoning", "reasons", "reason", "comment", "comments", "justification")
_FREE_ANSWERS = (*ANSWERS, "decision", "choice", "preferred", "preference", "judgment", "judgement")
_OWN = ("final", "my", "overall", "revised")
ANSWER_NAMES = frozenset([*_FREE_ANSWERS, *(f"{own} {name}" for own in _OWN for name in _FREE_ANSWERS)])


def find_answer(content: Mapping[str, Any], allowed: Allowed) -> tuple[Any, str] | None:
    """What the object gives as the answer of the one item that was asked, and the form; None if it gives none.

    Raises Contradiction if two names give two answers.
    """
    values = [content[name] for name in find_names(content, ANSWER_NAMES)]
    by_item = [content[name] for name in find_names(content, allowed.names)]
    values += [value for value in by_item if allowed.allows(spell(value, allowed)[0])]
    if "answer" in content:
        values.insert(0, content["answer"])
    if not values:
        return None
    if other := next((value for value in values if not agree(values[0], value, allowed)), None):
        raise Contradiction(reasons.TWO_VERDICTS % {"one": values[0], "other": other})
    value, form = spell(values[0], allowed)
    return value, form if "answer" in content else freest(["names", form])


def find_reasons(content: Mapping[str, Any]) -> str:
    """The reasons in the object, each a paragraph; "" if there are none."""
    texts = [value for name, value in content.items() if fold(name) in REASONS]
    return "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


def find_names(content: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """The names in the object that are one of these, however they are spelled."""
    folded = set(names)
    return [name for name in content if fold(name) in folded]


def spell(value: Any, allowed: Allowed) -> tuple[Any, str]:
    """The value as the item takes it, and the form: true is a yes where the item asks for yes or no."""
    if isinstance(value, bool) and allowed.takes_yes_or_no:
        return ("yes" if value else "no"), "boolean"
    return value, ""


def agree(value: Any, other: Any, allowed: Allowed) -> bool:
    """Whether both are the same answer, or the same thing that is none."""
    value, other = spell(value, allowed)[0], spell(other, allowed)[0]
    return allowed.same(other, value) if allowed.allows(value) else bool(other == value)
