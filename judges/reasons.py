"""Why a call has no answer: kept in English, whole, and translated for the reader.

A row keeps the sentence with its values in it, so that those of alike calls are counted together and files that leave
Quire are in English. To show one it is recognised by the sentence that it was made from; so rows of any age read alike.
What a model or a provider said stays as it was said.
"""

import re
from functools import cache

from django.utils.translation import gettext, gettext_noop

# What a reply lacks.
OF_ITEM = "%(item)s: %(reason)s"
EMPTY = gettext_noop("the reply is empty")
BLOCKED = gettext_noop("the provider blocked the reply")
TRUNCATED = gettext_noop("the reply ended at the limit of its length")
LEAKED = gettext_noop("the reply repeats the code that stands beside the text and must not come back")
ECHO = gettext_noop("the reply repeats the text and says nothing about it")
NO_ANSWER = gettext_noop("there is no answer in “%(words)s”")
NO_ANSWER_FOR = gettext_noop("there is no answer for “%(item)s”")
LEFT_EMPTY = gettext_noop("the answer is left empty")
QUOTED = gettext_noop("the answer is quoted: “%(words)s”")
ALL_QUOTED = gettext_noop("the answers are quoted")
TWO_VERDICTS = gettext_noop("the reply gives two verdicts: “%(one)s” and “%(other)s”")
TWO_VERDICTS_FOR = gettext_noop("%(item)s: the reply gives two verdicts, “%(one)s” and “%(other)s”")
TWO_IN_ONE = gettext_noop("%(item)s: the reply gives two verdicts")
SECOND_OBJECT = gettext_noop("%(item)s: a second object names it, and cannot be read")
SAID_TWICE = gettext_noop("the reply says one thing twice in its JSON")
INNER = gettext_noop("the answers stand inside another object")
OUT_OF_PLACE = gettext_noop("the answers do not stand where they were asked for, beside “%(words)s”")
NOT_ONE_OBJECT = gettext_noop("the reply is not one object and nothing else")
OTHER_PARTS = gettext_noop("the reply has other parts than %(parts)s")
KNOWN_OR_NOT = gettext_noop("known must be yes or no")
UNKNOWN_YET_TOLD = gettext_noop("the reply says that it does not know the text, and what it knows of it")
# Of a cloze.
WAY_OUT = gettext_noop("the model took the way out at blank %(blank)s")
OTHER_BLANK = gettext_noop("blank %(blank)s: is none of this section")
EMPTY_BLANK = gettext_noop("blank %(blank)s: is left empty")
NO_WORDS = gettext_noop("blank %(blank)s: is not filled with words")
OPEN_BLANK = gettext_noop("blank %(blank)s: is still open")
EARLIER_SECTION = gettext_noop("not asked, since section %(section)s had no answer")
# What came in place of a reply.
LATE = gettext_noop("the provider did not answer in time")
UNREACHED = gettext_noop("the provider could not be reached (%(error)s)")
NOT_MADE = gettext_noop("the request could not be made (%(error)s)")
CLIENT_FAILED = gettext_noop("the client failed with %(error)s")
COMPRESSED = gettext_noop("the provider's reply is compressed, which was not asked for")
LARGER = gettext_noop("the provider's reply is larger than %(size)s MB")
NO_COMPLETION = gettext_noop("the provider's reply is not a chat completion")
BROKEN_OFF = gettext_noop("the provider ended its reply with an error of its own")
NO_MESSAGE = gettext_noop("the provider's reply is not a message")
NO_DOCUMENT = gettext_noop("the provider's reply is no document")
NO_LIKELIHOODS = gettext_noop(
    "the provider's reply does not hold a log-probability for each token of the text; use a server that echoes them, "
    "as vLLM does"
)
OTHER_MODEL = gettext_noop("another model answered than was asked: %(model)s")
ONE_TOKEN = gettext_noop("the text is one token, and nothing stands before it")
SIZES_DIFFER = gettext_noop("the vectors have %(sizes)s numbers, and cannot be compared")
NO_DIRECTION = gettext_noop("a vector is without a direction: all its numbers are 0")
NO_VECTORS = gettext_noop("the provider's reply does not hold a vector for each of the %(n)s texts")
REDIRECTED = gettext_noop("the provider redirects (HTTP %(status)s); redirects are not followed")
# Of batches.
NO_NUMBER = gettext_noop("the provider does not say what number it gave the batch")
NOT_IN_BATCH = gettext_noop("not answered in its batch")
NOT_ANSWERED_IN_BATCH = gettext_noop("not answered in a batch: %(words)s")
BATCH_NOT_TAKEN = gettext_noop("the provider did not take the batch on: %(words)s")
BATCH_NOT_TAKEN_UNSAID = gettext_noop("the provider did not take the batch on, and does not say why")
NOTHING_WRITTEN = gettext_noop("ended before any of its calls was written")
# What else became of a call.
UNHEARD = gettext_noop("sent, and nobody heard the answer")
CLOSED = gettext_noop("the run was closed")
SPENT = gettext_noop("the budget was spent")
SEAT_CLOSED = gettext_noop("the answer could not be recorded: its place is closed")
REUSED = gettext_noop("The reply is that of call %(call)s in run %(run)s.")
ERASED = gettext_noop("The text was erased, since its writer withdrew.")
WRITTEN_WITHOUT = gettext_noop("the text was written without it")
DRAFT_ENDED = gettext_noop("the draft ended before its turn came")
# Of metrics.
NO_VALUE = gettext_noop("there is no value")
NO_TEXT_WORDS = gettext_noop("the text has no words")
ONE_WORD = gettext_noop("the text has fewer than two words")
TOO_FEW_WORDS = gettext_noop("the text has too few words for this measure: %(n)s of at least %(least)s")
UNSPACED = gettext_noop("no spaces stand between the text's words, so they cannot be counted; compare its sentences")

# What does not fit where a cloze is compared with its answer, as `studies.cloze.alignment` has it.
_MISFITS = (
    gettext_noop("blank %(blank)s: is still open, %(words)s stands in its place"),
    gettext_noop("blank %(blank)s: a new paragraph does not follow it"),
    gettext_noop("blank %(blank)s: the answer goes on after the end of the text, with %(words)s"),
    gettext_noop("blank %(blank)s: %(words)s does not follow it"),
    gettext_noop("blank %(blank)s: after %(words)s the text goes on %(text)s, the answer %(answer)s"),
    gettext_noop("blank %(blank)s: could end in %(n)s places, since a new paragraph follows it each time"),
    gettext_noop("blank %(blank)s: could end in %(n)s places, since %(words)s follows it each time"),
    gettext_noop("beginning: after %(words)s the text goes on %(text)s, the answer %(answer)s"),
    gettext_noop("beginning: the text begins %(words)s, the answer %(answer)s"),
)
# What an item says of an answer that it does not allow, as `studies.items` has it.
_REFUSALS = (
    gettext_noop("Please answer “%(yes)s” or “%(no)s”."),
    gettext_noop("Please choose one of these: %(labels)s."),
    gettext_noop("Please choose among these: %(labels)s."),
    gettext_noop("One option is chosen twice; please name each once."),
    gettext_noop("Please choose a whole number from %(low)d to %(high)d."),
    gettext_noop("“%(given)s” is not one of the stories; please name %(known)s."),
    gettext_noop("Please name the stories by their letters: %(known)s."),
    gettext_noop("Please name the stories in order, best first."),
    gettext_noop("Still without a position: %(names)s. Please give each its own."),
    gettext_noop("%(names)s is in the order twice; please name each once."),
    gettext_noop("%(names)s share a position; please give each its own."),
    gettext_noop("Please choose at most %(most)d."),
    gettext_noop("Please give %(number)s."),
    gettext_noop("Please answer in words."),
)
# Which numbers an item asks for; looked for nowhere else, since much is said from one thing to another.
_NUMBERS = (
    gettext_noop("%(what)s from %(low)s to %(high)s"),
    gettext_noop("%(what)s of at least %(low)s"),
    gettext_noop("%(what)s of at most %(high)s"),
    gettext_noop("a whole number"),
    gettext_noop("a number"),
)
# What was said of answers in former versions, which are kept.
_FORMER = (
    gettext_noop("the reply answers “%(item)s”, which was not asked"),
    gettext_noop("the text has %(n)s words; at least %(least)s are needed"),
    gettext_noop("the text has %(n)s words, and the window is %(window)s"),
    gettext_noop("%(names)s stands in the order twice; please name each once."),
)
_NAMED = [value for name, value in globals().items() if name.isupper() and name[0] != "_" and name != "OF_ITEM"]
_SENTENCES = (*_NAMED, *_MISFITS, *_REFUSALS, *_FORMER)
# Where a value stands in a sentence.
PLACE = re.compile(r"(%\(\w+\)[sd])")
# An item's key before what is said of its answer.
_OF_ITEM = re.compile(r"(?P<item>[a-z0-9][a-z0-9-]{0,79}): (?P<reason>.+)", re.DOTALL)


def translate(text: str) -> str:
    """The reason in the reader's language; as it is if it is a model's or a provider's own words."""
    translated = _translate(text, _SENTENCES)
    if translated == text and (match := _OF_ITEM.fullmatch(text)):
        return f"{match['item']}: {_translate(match['reason'], _SENTENCES)}"
    return translated


def generalise(text: str, *, otherwise: str) -> str:
    """The reason in the reader's language with … in place of what differs from call to call; an item's key stays.

    otherwise : what is said where it is none of Quire's own
    """
    for sentence, pattern in _patterns(_SENTENCES):
        if pattern.fullmatch(text):
            return PLACE.sub("…", gettext(sentence))
    if match := _OF_ITEM.fullmatch(text):
        return f"{match['item']}: {generalise(match['reason'], otherwise=otherwise)}"
    return otherwise


def _translate(text: str, sentences: tuple[str, ...]) -> str:
    for sentence, pattern in _patterns(sentences):
        if match := pattern.fullmatch(text):
            values = {
                n: _translate(v, _NUMBERS) if n in ("number", "what") else v for n, v in match.groupdict().items()
            }
            return gettext(sentence).replace(")d", ")s") % values
    return text


@cache
def _patterns(sentences: tuple[str, ...]) -> list[tuple[str, re.Pattern[str]]]:
    """Each sentence with the pattern of those that were made from it, the longest first: it says most."""
    return [(sentence, _pattern_of(sentence)) for sentence in sorted(sentences, key=len, reverse=True)]


def _pattern_of(sentence: str) -> re.Pattern[str]:
    parts = (f"(?P<{p[2:-2]}>.*?)" if n % 2 else re.escape(p) for n, p in enumerate(PLACE.split(sentence)))
    return re.compile("".join(parts), re.DOTALL)
