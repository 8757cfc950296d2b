"""The kinds of steps that a designer adds, as a literary scholar would name them, and what suits each."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from studies import items, protocol
from studies.models import Instrument, Step


@dataclass(frozen=True)
class NewStep:
    """One kind.

    scope : how its questions are asked at first; "" for a text
    is_last : it stands after the groups
    needs_key : its questions have right answers
    """

    key: str
    title: Promise
    sentence: Promise
    kind: str
    scope: str = ""
    is_last: bool = False
    needs_key: bool = False

    def suits(self, instrument: Instrument) -> bool:
        """Whether the instrument can be asked in such a step. Its items and its cloze are read."""
        is_cloze = bool(getattr(instrument, "cloze", None))
        if self.scope == Step.Scope.GROUP:
            return True
        questions = list(instrument.items.all())
        if is_cloze or any(items.find_type(item.type).about_stories for item in questions):
            return False
        return not self.needs_key or protocol.has_right_answers(questions)


KINDS = (
    NewStep("consent", _("Consent"), _("A text to agree to; always first."), Step.Kind.CONSENT),
    NewStep(
        "about-raters",
        _("Questions about the rater"),
        _("Asked once, before the first group."),
        Step.Kind.RATING,
        Step.Scope.ONCE,
    ),
    NewStep("briefing", _("Briefing"), _("A text to read."), Step.Kind.BRIEFING),
    NewStep(
        "check",
        _("Comprehension check"),
        _("Questions with right answers, about the briefing."),
        Step.Kind.RATING,
        Step.Scope.ONCE,
        needs_key=True,
    ),
    NewStep(
        "practice",
        _("Practice story"),
        _("With sample answers to compare with; never counted."),
        Step.Kind.PRACTICE,
        Step.Scope.ONCE,
    ),
    NewStep("story-questions", _("Questions on each story"), _("Beside its text."), Step.Kind.RATING, Step.Scope.STORY),
    NewStep(
        "comparison",
        _("Stories beside each other"),
        _("Ranking, the better of two, or what concerns all of them."),
        Step.Kind.RATING,
        Step.Scope.GROUP,
    ),
    NewStep(
        "exit-questions",
        _("Exit questions"),
        _("Asked once, at the end."),
        Step.Kind.RATING,
        Step.Scope.ONCE,
        is_last=True,
    ),
    NewStep("debriefing", _("Debriefing"), _("What it was about, at the end."), Step.Kind.BRIEFING, is_last=True),
)
KIND_BY_KEY = {kind.key: kind for kind in KINDS}
