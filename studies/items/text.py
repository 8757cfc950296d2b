"""An answer in the rater's own words."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from studies.items.base import InvalidAnswer, InvalidDefinition, ItemDefinition, ItemType, Setting, StoryLabel, Value
from studies.items.rationale import Rule, count_words, shortfall

MOST_BYTES = 50_000  # in UTF-8, of an answer in words and of the reasons beside an answer


class Text(ItemType):
    """Stores the text exactly as it was written.

    settings : least, how many words or sentences are needed to submit; unit, "words" (default) or "sentences";
        most_lines, how many lines at most may have anything on them to submit; kind, "word", "sentence" or
        "paragraph": what fills the blank of a cloze
    """

    name = "text"
    title = gettext_lazy("Words")
    summary = gettext_lazy("a line or a page")
    seconds = 60
    level = "none"
    is_written = True
    template = "items/text.html"
    settings = {
        "least": Setting(int, gettext_lazy("At least"), gettext_lazy("So many are needed. Empty: none.")),
        "unit": Setting(
            str,
            gettext_lazy("Counted in"),
            choices=(("words", gettext_lazy("words")), ("sentences", gettext_lazy("sentences"))),
        ),
        "most_lines": Setting(int, gettext_lazy("Lines at most")),
        "kind": Setting(str, gettext_lazy("Kind of blank"), is_of_cloze=True),
    }
    example = {
        "item": {"key": "why", "question": "What decided it?", "settings": {"least": 3, "unit": "words"}},
        "valid": [("The last line did.", "The last line did."), (" two\nlines ", " two\nlines "), ("é 🙂", "é 🙂")],
        "model": ["The last line did."],
        "invalid": [3, True, ["words"], {"text": "words"}],
    }

    def check(self, item: ItemDefinition) -> None:
        super().check(item)
        if not 0 <= item.settings.get("least", 0) <= 10_000:
            raise InvalidDefinition("settings.least", "must be between 0 and 10000")
        if item.settings.get("unit", "words") not in ("words", "sentences"):
            raise InvalidDefinition("settings.unit", 'must be "words" or "sentences"')
        if not 1 <= item.settings.get("most_lines", 1) <= 1_000:
            raise InvalidDefinition("settings.most_lines", "must be between 1 and 1000")
        if item.settings.get("kind", "word") not in ("word", "sentence", "paragraph"):
            raise InvalidDefinition("settings.kind", 'must be "word", "sentence" or "paragraph"')

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        text = self.clean_draft(item, raw, stories=stories)
        if excess := _excess(item, text):
            raise InvalidAnswer(excess)
        return text

    def clean_draft(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        if not isinstance(raw, str):
            raise InvalidAnswer(_("Please answer in words."))
        if not is_storable(raw):
            raise InvalidAnswer(_("The text contains a character that cannot be stored; please write it again."))
        if too_long := excess_length(raw):
            raise InvalidAnswer(too_long)
        return raw

    def shortfall(self, item: ItemDefinition, value: Value) -> str:
        if excess := _excess(item, value):
            return excess
        least = item.settings.get("least", 0)
        return shortfall(Rule("required", least, item.settings.get("unit", "words")), value) if least else ""

    def from_form(self, data: Mapping[str, Any], name: str, *, stories: Sequence[StoryLabel] = ()) -> Any:
        # Browsers post every line break as CRLF; without this, showing an answer and posting it back would change it.
        text = data.get(name)
        return text.replace("\r\n", "\n") if isinstance(text, str) else text

    def context(
        self, item: ItemDefinition, *, name: str, value: Any = None, stories: Sequence[StoryLabel] = ()
    ) -> dict[str, Any]:
        text = value if isinstance(value, str) else ""
        return {
            **super().context(item, name=name, value=text, stories=stories),
            "n_words": count_words(text),
            "least": item.settings.get("least", 0),
            "unit": item.settings.get("unit", "words"),
        }

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        least, unit = item.settings.get("least", 0), item.settings.get("unit", "words")
        bounds = [f"of at least {least} {unit}"] if least > 1 else []
        if most := item.settings.get("most_lines"):
            bounds.append(f"of at most {most} lines" if most > 1 else "of one line")
        return " ".join(["Answer with text", " and ".join(bounds)]).strip() + "."

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


def _excess(item: ItemDefinition, text: str) -> str:
    """What there is too much of, as a sentence; "" if nothing."""
    most, count = item.settings.get("most_lines"), sum(map(bool, map(str.strip, text.splitlines())))
    if not most or count <= most:
        return ""
    message = ngettext("Please write one line only.", "Please write at most %(most)d lines.", most)
    return message % {"most": most} + _(" So far there are %(count)d.") % {"count": count}


def excess_length(text: str) -> str:
    """By how much the text is longer than any that is taken, as a sentence; "" if it is not."""
    encoded = text.encode(errors="surrogatepass")
    if len(encoded) <= MOST_BYTES:
        return ""
    # Nobody who writes counts bytes: what they hear is how many characters at the end find no room.
    n_kept = len(encoded[:MOST_BYTES].decode(errors="ignore"))
    message = _(
        "This has %(n)d characters, %(excess)d more than can be saved. Please shorten it; it stays on this page."
    )
    return message % {"n": len(text), "excess": len(text) - n_kept}


def is_storable(text: str) -> bool:
    """Whether every database can keep the text: no NUL and no half of a surrogate pair, which JSON can both spell."""
    return "\x00" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
