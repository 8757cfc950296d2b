"""The grammar of names: how slugs, codes, languages and factors are written in all documents."""

import re
from dataclasses import dataclass

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
# Of stories, groups and raters: they name rows in data, and often come from elsewhere.
CODE = Grammar(
    re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*"),
    "use letters A–Z, digits, “_”, “.” and “-”, beginning with a letter or digit",
)
LANGUAGE = Grammar(re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*"), "give a language code such as “en” or “pt-BR”")
FACTOR = Grammar(re.compile(r"\w[\w .:/-]*"), "begin with a letter and use letters, digits, blanks and _ . : / -")
