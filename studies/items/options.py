"""What types with options share: how options are checked, and which one an answer names."""

import re
from typing import Any

from studies.items.base import InvalidDefinition, ItemDefinition

_NUMBER = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?")
Options = list[dict[str, Any]]


def check_options(item: ItemDefinition) -> None:
    """Raise InvalidDefinition unless there are at least two options that no answer could confuse."""
    if len(item.options) < 2:
        raise InvalidDefinition("options", 'needs at least two, each as { value = "…", label = "…" }')
    index_by_word: dict[str, int] = {}
    for i, option in enumerate(item.options):
        if not isinstance(option, dict) or set(option) != {"value", "label"}:
            raise InvalidDefinition(f"options[{i}]", "needs exactly a value and a label")
        for part in ("value", "label"):
            if not isinstance(option[part], str) or not option[part].strip():
                raise InvalidDefinition(f"options[{i}].{part}", f"must be text, not {option[part]!r}")
        # Value and label of the same option may agree ("1", "1"); those of two options may not, not even in case.
        for word in {fold_case(option["value"]), fold_case(option["label"])}:
            if word in index_by_word:
                raise InvalidDefinition(f"options[{i}]", f"“{word}” already stands for option {index_by_word[word]}")
            index_by_word[word] = i


def check_correct(item: ItemDefinition, options: Options) -> None:
    """Raise InvalidDefinition if the setting `correct` names no option."""
    correct = item.settings.get("correct")
    values = [option["value"] for option in options]
    if correct is not None and correct not in values:
        raise InvalidDefinition("settings.correct", f"“{correct}” is not an option; there are {', '.join(values)}")


def match_option(options: Options, raw: Any) -> str | None:
    """The value of the option that `raw` names by value or label, whatever its case; None if it names none.

    A number names the option whose value is spelled so: models write 0.5 for “0.5”.
    """
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return next((str(option["value"]) for option in options if _is_number(option["value"], raw)), None)
    if not isinstance(raw, str):
        return None
    for option in options:
        if fold_case(raw) in (fold_case(option["value"]), fold_case(option["label"])):
            return str(option["value"])
    return None


def _is_number(word: str, number: float) -> bool:
    return bool(_NUMBER.fullmatch(word)) and float(word) == number


def label_of(options: Options, value: Any) -> str:
    """The label of the option with that value."""
    return next((str(option["label"]) for option in options if option["value"] == value), str(value))


def fold_case(word: str) -> str:
    """The word without surrounding blanks and regardless of case."""
    return word.strip().casefold()
