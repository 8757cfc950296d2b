"""Names that are nearly another: all but one letter alike, whatever their capitals, blanks and signs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

LONGEST = 80  # letters of a name that is compared; what is longer is a sentence, and slips of it are not looked for
_FEWEST = 4  # letters of a name of which one may differ


class NearNames:
    """Looks up names among others. The time grows with the number of names, not with that of their pairs."""

    def __init__(self, names: Iterable[str]) -> None:
        self._name_by_spelling: dict[str, str] = {}
        for name in names:
            for spelling in _spellings(name):
                self._name_by_spelling.setdefault(spelling, name)

    def find(self, name: str) -> str:
        """The first of the names that is nearly this one; "" if none is."""
        return next(
            (self._name_by_spelling[spelling] for spelling in _spellings(name) if spelling in self._name_by_spelling),
            "",
        )


def _spellings(name: str) -> Iterator[str]:
    """The name's letters, and those without each one of them. Names of which one letter differs, is missing or has
    changed places with its neighbour have one of these in common."""
    letters = re.sub(r"[\W_]+", "", name.casefold()) if len(name) <= LONGEST else ""
    if letters:
        yield letters
    if len(letters) >= _FEWEST:
        yield from (letters[:at] + letters[at + 1 :] for at in range(len(letters)))
