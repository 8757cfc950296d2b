"""An assignment as its rater works on it, for the pages.

What is asked (`Outline`), of which stories (`LetteredStories`), what has been said (`Answers`) and what may be
(`Standing`) are things of their own; here they are brought together, in one query.
"""

from datetime import datetime
from functools import cached_property

from django.db.models import Q, QuerySet

from annotation import progress, responses
from annotation.models import Assignment, Rater, Response
from annotation.participation import consents, recognition
from annotation.prepared_queries import PreparedQuery
from annotation.progress import Answers, Part
from annotation.progress.outlines import Outline, load_outline
from annotation.progress.refusals import Standing
from annotation.progress.stories import LetteredStories
from studies import lifecycle
from studies.protocol import Protocol


class Work:
    """An assignment with what belongs to it.

    outline : what its protocol asks, from memory
    standing : what may be answered and what refuses
    stories : by letter; their words are read when first asked for (1 query)
    owes_new_consent : the text that the rater agreed to was amended; what is on an open page is still kept, and the
        next page asks
    """

    def __init__(
        self, assignment: Assignment, outline: Outline, standing: Standing, *, owes_new_consent: bool = False
    ) -> None:
        self.assignment = assignment
        self.owes_new_consent = owes_new_consent
        self.outline = outline
        self.standing = standing
        self.stories = LetteredStories(assignment, outline)

    @property
    def protocol(self) -> Protocol:
        return self.outline.protocol

    @property
    def parts(self) -> list[Part]:
        return self.outline.once if self.assignment.seat is None else self.outline.parts

    @property
    def letters(self) -> list[str]:
        return self.stories.letters

    @cached_property
    def answers(self) -> Answers:
        """What has been answered, read when first asked for (1 query)."""
        return self.load_answers()

    def load_answers(self) -> Answers:
        """What has been answered at this very moment. One query."""
        return Answers(progress.index_responses(self.assignment.responses.all()), self.stories.id_by_letter)

    @cached_property
    def visit_answers(self) -> Answers:
        """What the rater has said in the steps that are asked once, read when first asked for (1 query)."""
        visit = {"assignment__rater": self.assignment.rater_id, "assignment__seat": None}
        return Answers(progress.index_responses(Response.objects.filter(**visit)), {})

    def may_read(self, letter: str) -> bool:
        """Whether the story has its own page: on the desk one after another, beside comparisons all at once."""
        return self.outline.part_with_stories is not None or self.letters.index(letter) <= self.standing.n_begun


def load_work(code: str, *, rater: int | None, at: datetime) -> Work | None:
    """That rater's work under that code as it stands at that moment, in one query; None if there is none."""
    assignment = _MINE.first(code=code, rater=rater) if rater is not None else None
    if assignment is None:
        return None
    outline = load_outline(assignment.version)
    has_consented = consents.has_consented(assignment.rater, outline.protocol.consent)
    agreed_before = consents.has_consented_before(assignment.rater)
    standing = Standing(
        protocol=outline.protocol,
        status=assignment.status,
        is_open=lifecycle.is_open_for_answers(assignment.study, at=at),
        is_paused=assignment.study.is_paused,
        owes_consent=not has_consented and not agreed_before,
        owes_recognition=recognition.is_owed(assignment, has_desk=outline.has_desk),
        letters=list(responses.letters(assignment.seat.order)) if assignment.seat else [],
        n_begun=len(assignment.begun),
        locked_before=assignment.locked_before,
    )
    is_at_work = standing.is_open and standing.status == Assignment.Status.OPEN
    owes_new_consent = is_at_work and agreed_before and not has_consented
    return Work(assignment, outline, standing, owes_new_consent=owes_new_consent)


def _assignments(*, code: str, rater: int) -> QuerySet[Assignment]:
    everything = Assignment.objects.select_related("study", "rater", "seat", "group", "version")
    mine = everything.filter(may_work("rater__"), code=code, rater=rater)
    return mine.defer("version__document", "study__description")


def may_work(rater: str = "") -> Q:
    """Raters who are people, have not withdrawn and whose link was not revoked. `rater`: the path to them."""
    conditions = {"kind": Rater.Kind.PERSON, "withdrawal": None, "invitation__revoked_at": None}
    return Q(**{rater + name: value for name, value in conditions.items()})


_MINE = PreparedQuery(_assignments, code="a code", rater=918273645)
