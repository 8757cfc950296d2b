"""Names in braces that a text of a study may use in place of what the study says of itself, such as {organiser}: facts.

A draft keeps the braces, so that its text follows the study; they are filled where the protocol is written down.
"""

import re
from collections.abc import Mapping
from typing import Any

from studies.facts import FACTS

# Facts of a study, with what they are called wherever a designer meets them.
LABELS = {fact.key: fact.label for fact in FACTS if fact.in_texts}
NAMES = tuple(LABELS)
_BRACES = re.compile(r"\{([^{}\s]+ [^{}]{1,300})\}")


def fill(text: str, values: Mapping[str, Any]) -> str:
    """The text with every name replaced by its value; one without a value stays as it is, in its braces."""
    for name in NAMES:
        if value := values.get(name):
            text = text.replace(f"{{{name}}}", str(value))
    return text


def find_unfilled(text: str, values: Mapping[str, Any]) -> list[str]:
    """The names in the text for which there is no value."""
    return [name for name in NAMES if f"{{{name}}}" in text and not values.get(name)]


def find_templates_words(text: str) -> list[str]:
    """What stands in braces in the text, several words: those of a template that nobody has replaced."""
    return _BRACES.findall(text)
