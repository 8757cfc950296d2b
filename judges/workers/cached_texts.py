"""Which texts a provider has in its cache, so that of the calls about one only the first is paid for in full.

Writing a text into the cache costs more than sending it, reading it from there a tenth. So the first call about a text
goes alone, the others follow when it was answered, and what is asked about a text only once is not marked at all. What
a worker knows of the cache is lost with it; then one call about each text goes alone again.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Count

from judges.models import Call, Run
from judges.settlement import attempts

# Anthropic keeps what was marked for five minutes from its last use; a call takes a while until it is there.
KEPT_SECONDS = 270.0

Subject = tuple[int | None, int | None]  # ids of the assignment and of the story


class CachedTexts:
    """The texts of one run, by what one worker has sent about them."""

    def __init__(self, run: Run, *, patience_seconds: float) -> None:
        """patience_seconds : after so long without an answer another call about the text may be the first"""
        about_stories = run.calls.filter(kind=Call.Kind.ANSWER, story__isnull=False).order_by()
        counts = about_stories.values_list("assignment", "story").annotate(n=Count("pk")).filter(n__gt=1)
        self._shared: frozenset[Subject] = frozenset((assignment, story) for assignment, story, _n in counts)
        self._most_alike = max((n for *_subject, n in counts), default=1)
        self._patience = timedelta(seconds=patience_seconds)
        self._kept = timedelta(seconds=KEPT_SECONDS)
        self._first_sent_at: dict[Subject, datetime] = {}
        self._used_at: dict[Subject, datetime] = {}

    def is_shared(self, call: Call) -> bool:
        """Whether other calls begin with the same text."""
        return _subject_of(call) in self._shared

    def choose(self, run: Run, *, n: int, at: datetime) -> list[int]:
        """Ids of up to n planned calls that may go now: those about texts in the cache, and one about each other."""
        n_looked_at = (n + len(self._first_sent_at)) * self._most_alike
        rows = attempts.find_due(run, at=at).order_by("n_failures", "n_overloads", "pk")
        chosen: list[int] = []
        firsts: set[Subject] = set()
        for pk, assignment, story in rows.values_list("pk", "assignment", "story")[:n_looked_at]:
            subject = (assignment, story)
            if subject in self._shared and not self._is_kept(subject, at=at):
                if subject in firsts or self._is_awaited(subject, at=at):
                    continue
                firsts.add(subject)
            chosen.append(pk)
            if len(chosen) == n:
                break
        return chosen

    def note_sent(self, calls: Iterable[Call], *, at: datetime) -> None:
        for call in calls:
            if self.is_shared(call) and not self._is_kept(_subject_of(call), at=at):
                self._first_sent_at.setdefault(_subject_of(call), at)

    def note_ended(self, call: Call, *, is_answered: bool, at: datetime) -> None:
        """A call was answered, or was not and another about its text may be the first."""
        self._first_sent_at.pop(_subject_of(call), None)
        if is_answered:
            self._used_at[_subject_of(call)] = at

    def _is_kept(self, subject: Subject, *, at: datetime) -> bool:
        used_at = self._used_at.get(subject)
        return used_at is not None and at < used_at + self._kept

    def _is_awaited(self, subject: Subject, *, at: datetime) -> bool:
        sent_at = self._first_sent_at.get(subject)
        return sent_at is not None and at < sent_at + self._patience


def _subject_of(call: Call) -> Subject:
    return call.assignment_id, call.story_id
