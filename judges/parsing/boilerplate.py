"""What a model puts around a text that it was asked to write, and what the text is without it.

Nothing is taken away by itself: what stands here is a proposal, which a person sees as a difference and approves.
"""

import re

# What a reply says before it begins: an affirmation, or that here is what was asked for.
_LEAD = re.compile(
    r"(?:(?:okay|ok|sure|certainly|of course|absolutely|great|alright)\b[^\n]{0,80}"
    r"|(?:here(?:['’]s| is| are)|below is|this is)\b[^\n]{0,80})"
    r"(?:\b(?:story|idea|version|draft|rewrite|expansion)\b[^\n]{0,120}|:)",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"#{1,6} \S[^\n]{0,120}|\*\*[^*\n]{1,120}\*\*|(?:title|story|idea)\s*:\s*[^\n]{0,120}", re.IGNORECASE
)
# What it says after it has ended.
_TAIL = re.compile(
    r"\(?\**word count\b[^\n]{0,80}|\(?\d[\d,.]* words\.?\)?|(?:the )?end\.?|\**the end\**\.?"
    r"|i hope (?:you|this)\b[^\n]{0,200}|(?:please )?let me know\b[^\n]{0,200}|note:[^\n]{0,300}",
    re.IGNORECASE,
)
_RULE = re.compile(r"[-*_=]{3,}")
_MARK = re.compile(r"</?[a-z]+(?: \w+)? fence-[0-9a-f]{32}>")
_CODE = re.compile(r"```\w*")


def strip_boilerplate(text: str) -> str:
    """The text without what a model said around it: a lead, a line with its title, a count of words, good wishes.

    Only whole lines at its beginning and end go, and marks of the fences and code blocks; the text itself as it is if
    nothing would be left.
    """
    lines = [_MARK.sub("", line) for line in text.strip().splitlines() if not _CODE.fullmatch(line.strip())]
    lines = _strip_ends(lines)
    while lines and _is_boilerplate(lines[0], _LEAD, _TITLE):
        lines = _strip_ends(lines[1:])
    while lines and _is_boilerplate(lines[-1], _TAIL):
        lines = _strip_ends(lines[:-1])
    return "\n".join(lines).strip() or text.strip()


def _strip_ends(lines: list[str]) -> list[str]:
    """The lines without empty ones and rules at both ends."""
    start, end = 0, len(lines)
    while start < end and (not lines[start].strip() or _RULE.fullmatch(lines[start].strip())):
        start += 1
    while end > start and (not lines[end - 1].strip() or _RULE.fullmatch(lines[end - 1].strip())):
        end -= 1
    return lines[start:end]


def _is_boilerplate(line: str, *patterns: re.Pattern[str]) -> bool:
    return any(pattern.fullmatch(line.strip()) for pattern in patterns)
