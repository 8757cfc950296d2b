"""The grammar of names: how slugs, codes, languages and factors are written in all documents."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count

from studies.documents.errors import InvalidValue, quote


@dataclass(frozen=True)
class Grammar:
    """One kind of name. rule : how to write it, as a request"""

    pattern: re.Pattern[str]
    rule: str

    def check(self, name: str) -> None:
        """Raise InvalidValue unless the name is written by the rule."""
        if not self.pattern.fullmatch(name):
            raise InvalidValue(f"{quote(name)} will not do; {self.rule}")


# Of studies, steps, instruments, items and clozes: they stand in addresses, commands and exports.
SLUG = Grammar(
    re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*"),
    "use small letters, digits, “-” and “_”, beginning and ending with a letter or digit",
)
# Words that stand in addresses where a study's slug could stand.
RESERVED = frozenset({"new", "replications", "schedule", "templates"})
# Of stories, groups and raters: they name rows in data, and often come from elsewhere.
CODE = Grammar(
    re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*"),
    "use letters A–Z, digits, “_”, “.” and “-”, beginning with a letter or digit",
)
LANGUAGE = Grammar(re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*"), "give a language code such as “en” or “pt-BR”")
FACTOR = Grammar(re.compile(r"\w[\w .:/-]*"), "begin with a letter and use letters, digits, blanks and _ . : / -")


def first_free(name: str, taken: Collection[str], *, longest: int) -> str:
    """The name, or with a number at its end the first that is not taken; of at most so many characters."""
    ends = ("" if n == 1 else f"-{n}" for n in count(1))
    candidates = (name[: longest - len(end)].strip("-_") + end for end in ends)
    return next(candidate for candidate in candidates if candidate not in taken)
