"""Why an answer cannot be given or changed now: one rule for pages, before they offer, and saves, before they keep."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from django.utils.translation import gettext_noop

from annotation import responses
from annotation.models import Assignment
from studies.models import Step
from studies.protocol import Protocol


class Refusal(Enum):
    """The reasons, by code. UNOPENED : a part that locks what came before has still to be opened."""

    ENDED = "ended"
    CLOSED = "closed"
    PAUSED = "paused"
    OWES_CONSENT = "owes_consent"
    OWES_RECOGNITION = "owes_recognition"
    LOCKED = "locked"
    AHEAD = "ahead"
    UNOPENED = "unopened"

    @property
    def sentence(self) -> str:
        """What the rater is told; the page that says so translates it."""
        return _SENTENCES[self]

    @property
    def fate(self) -> str:
        """What becomes of what an open page has not saved yet; empty where the sentence says it."""
        return _FATES.get(self, "")


_AHEAD = gettext_noop("This part opens later: please begin all earlier parts first.")
_SENTENCES = {
    Refusal.ENDED: responses.ENDED,
    Refusal.CLOSED: gettext_noop("The study has closed, so answers can no longer be changed. What you saved is kept."),
    Refusal.PAUSED: gettext_noop("The study is paused, so answers cannot be changed just now. What you saved is kept."),
    Refusal.OWES_CONSENT: gettext_noop("Please give your consent first; nothing was saved."),
    Refusal.OWES_RECOGNITION: gettext_noop("Please first say whether you know any of these texts; nothing was saved."),
    Refusal.LOCKED: gettext_noop(
        "These answers were locked when the next part was opened, so they can no longer be changed."
    ),
    Refusal.AHEAD: _AHEAD,
    Refusal.UNOPENED: _AHEAD,
}
_NOT_SAVED = gettext_noop("What you wrote since then is not saved; it is still here, to copy.")
_FATES = {
    Refusal.PAUSED: gettext_noop(
        "What you wrote since then is kept here and is saved automatically when the study resumes."
    ),
    Refusal.ENDED: _NOT_SAVED,
    Refusal.CLOSED: _NOT_SAVED,
    Refusal.LOCKED: _NOT_SAVED,
}
# What refuses an answer and yet lets its page be looked at.
READABLE = frozenset({None, Refusal.LOCKED})


@dataclass(frozen=True)
class Standing:
    """All that decides on what may be answered in an assignment, and what follows from it.

    protocol : what is asked, in which order, and what locks
    status : of the assignment
    is_open : the study takes answers at this moment
    is_paused : if it does not, it will again once it is resumed
    owes_consent : its protocol asks for a consent, and the rater has given none, nor one to an earlier text
    owes_recognition : the rater has still to say whether they know one of the stories
    letters : the stories in their order; none in the visit that holds what is asked once
    n_begun : about how many stories something has been said on the reading desk
    locked_before : the position of the last locking step that was opened; earlier answers are final
    """

    protocol: Protocol
    status: str
    is_open: bool
    owes_consent: bool
    owes_recognition: bool
    letters: Sequence[str]
    n_begun: int
    locked_before: int
    is_paused: bool = False

    @property
    def refusal(self) -> Refusal | None:
        """Why nothing at all can be changed in this assignment; None if something can."""
        if self.status != Assignment.Status.OPEN:
            return Refusal.ENDED
        if not self.is_open:
            return Refusal.PAUSED if self.is_paused else Refusal.CLOSED
        if self.owes_consent:
            return Refusal.OWES_CONSENT
        return Refusal.OWES_RECOGNITION if self.owes_recognition else None

    def refusal_at(self, step: Step, letter: str = "") -> Refusal | None:
        """Why no answer of this step, about the story of that letter, can be given or changed; None if it can."""
        return self.refusal or self._refusal_in_order(step, letter)

    def is_locked(self, step: Step) -> bool:
        """Whether the answers to this step are final, a part after it having been opened."""
        return step.position < self.locked_before

    def is_ahead(self, step: Step, letter: str = "") -> bool:
        """Whether the rater would come to this step too early; one that waits to be opened is not too early."""
        return self._refusal_in_order(step, letter) is Refusal.AHEAD

    def _refusal_in_order(self, step: Step, letter: str) -> Refusal | None:
        """The same where the assignment itself refuses nothing: what is final, and what the rater has not come to."""
        if self.is_locked(step):
            return Refusal.LOCKED
        if step.scope == Step.Scope.ONCE:
            return None  # the visit is no part of a group: what locks there neither opens nor closes it
        earlier = [s for s in self.protocol.ratings if s.position < step.position]
        if any(s.locks and s.position > self.locked_before for s in earlier):
            return Refusal.AHEAD
        follows_reading = any(s.scope == Step.Scope.STORY for s in earlier)
        n_begun, letters = self.n_begun, self.letters
        if is_ahead(step.scope, letter, letters=letters, n_begun=n_begun, follows_reading=follows_reading):
            return Refusal.AHEAD
        return Refusal.UNOPENED if step.locks and step.position > self.locked_before else None


def is_ahead(scope: str, letter: str, *, letters: Sequence[str], n_begun: int, follows_reading: bool) -> bool:
    """Whether a rater wants to be somewhere too early: at a story before every earlier one is begun, or at a comparison
    that follows the reading before all stories are.

    n_begun : about how many stories the rater has said something on the desk
    """
    if scope == Step.Scope.STORY:
        return bool(letter) and n_begun < letters.index(letter)
    return follows_reading and n_begun < len(letters)
