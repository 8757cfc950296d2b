"""A small cloze to read, to change and to break."""

from dataclasses import asdict
from typing import Any

import tomli_w

from studies.documents.cloze import ClozeDocument, parse_cloze

SHOES = '''\
slug = "shoes"
version = "1"
title = "Seven Pairs"
citation = "Written for the tests."
skeleton = """
Between Basel and the border the attendant collects the shoes.

The seventh pair stood at berth eleven. They were {{1}} and they were wet; in the heel
of the left one lay {{2}}.

“I have heard nothing,” said the widow in nine, “but {{3}}.”

{{4}}

At the border the officer turned them over. “{{5}},” she said.
"""

[[sections]]
number = 1
title = "The Corridor"

[[sections.constraints]]
text = "The object must be small enough to lie in a heel."
must = true
checks = [
    { text = "Is it smaller than a matchbox?", required = true },
    { text = "Would it stay there?" },
]

[[sections.constraints]]
text = "Nothing says whose the shoes are."

[[sections]]
number = 2
title = "The Compartments"

[[sections.constraints]]
text = "The widow hears what nobody could have done."

[[sections]]
number = 3
title = "The Border"

[[sections.constraints]]
text = "The officer finds what Anselm overlooked."
must = true

[[blanks]]
number = 1
kind = "word"
section = 1
hint = "what kind of shoes"

[[blanks]]
number = 2
kind = "word"
section = 1

[[blanks]]
number = 3
kind = "sentence"
section = 2

[[blanks]]
number = 4
kind = "paragraph"
section = 2
hint = "what Anselm did next"
follows = [2, 3]

[[blanks]]
number = 5
kind = "sentence"
section = 3

[[edges]]
from = 1
to = 2
question = "Could what was heard have put the object there?"

[[edges]]
from = 1
to = 3
question = "Does the officer’s find agree with the object?"
'''

FILLS = {
    1: "brown walking boots",
    2: "a left-luggage ticket",
    3: "a drawer, and then nothing, twice",
    4: "Anselm sat down on the jump seat. He polished all seven pairs.",
    5: "These have never been walked in",
}


def shoes() -> ClozeDocument:
    return parse_cloze(SHOES, "shoes.toml")


def write_cloze(document: ClozeDocument) -> str:
    """The document as TOML; reading it gives the same document."""
    return tomli_w.dumps(_stated(asdict(document)), multiline_strings=True)


def _stated(part: Any) -> Any:
    """The part without what says no more than leaving it out."""
    if isinstance(part, dict):
        return {name.rstrip("_"): _stated(value) for name, value in part.items() if value not in ("", False, ())}
    return [_stated(value) for value in part] if isinstance(part, tuple) else part
