"""Where no line of a page ends: within a name, an interval, or before a sign."""

import re

# Browsers end a line after a hyphen, also in GPT-3.5, before the sign of 27.8 %, and within −1.28 to 1.68.
NOT_WORDS = re.compile(r"(<(?:svg|select|textarea|pre)\b.*?</(?:svg|select|textarea|pre)>|<[^>]*>)", re.DOTALL)
NUMBERED_NAME = re.compile(r"\b\w{1,16}-\d[\d.]*\b")
SPACE_BEFORE_SIGN = re.compile(r"(?<=\d) (?=%)")
TWO_NUMBERS = re.compile(r"(?<=\d) (\w{1,2}) (?=−?\.?\d)")  # 4 to 20, 3 of 12, in any language
NO_BREAK = "\N{NO-BREAK SPACE}"


def kept_together(html: str) -> str:
    """The same page, on which no line ends within a name such as GPT-3.5, within an interval such as 4.0 to 20.0, or
    between a number and its percent sign."""
    parts = NOT_WORDS.split(html)  # words and what is none of them by turns
    for n in range(0, len(parts), 2):
        words = TWO_NUMBERS.sub(rf"{NO_BREAK}\1{NO_BREAK}", SPACE_BEFORE_SIGN.sub(NO_BREAK, parts[n]))
        parts[n] = NUMBERED_NAME.sub(r'<span class="kept-whole">\g<0></span>', words)
    return "".join(parts)
