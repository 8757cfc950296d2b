"""What the columns of any study's answers can be; the items of a study are further ones."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.answer_import.names import AnswerNames
from studies.documents.errors import InvalidValue, quote
from studies.incoming_tables.roles import Role


def read_time(_names: object, cell: str) -> datetime:
    """A day, perhaps with its time, that is not still to come. Raises InvalidValue."""
    try:
        at = datetime.fromisoformat(cell)
        aware = at if timezone.is_aware(at) else timezone.make_aware(at)
    except (ValueError, OverflowError):
        reason = _("%(cell)s is no day and time; write it as 2027-01-31T18:00")
        raise InvalidValue(reason % {"cell": quote(cell)}) from None
    if aware > timezone.now():
        raise InvalidValue(_("this time is still to come; correct it, or empty the cell"))
    return aware


# About what is answered; a mapping says further things of each.
PLACES = (
    Role(
        "rater",
        gettext_lazy("Rater"),
        "rater rater_id expert expert_idx participant participant_id annotator annotator_id worker worker_id user "
        "user_id judge respondent responseid response_id",
        AnswerNames.find_rater,
        if_empty=gettext_lazy("the row names no rater; name one, or take the row out"),
    ),
    Role(
        "story",
        gettext_lazy("Story"),
        "story story_id story_code text_id item_id sample sample_id output_id",
        AnswerNames.find_story,
        if_empty=gettext_lazy("the row names no story; name one, or take the row out"),
    ),
    Role("group", gettext_lazy("Group"), "group group_id pair pair_id plot story_idx", AnswerNames.find_group),
)
# What is answered, where each row has one answer.
ANSWERS_BY_ROW = (
    Role(
        "item",
        gettext_lazy("Which question"),
        "item question question_id test test_id ttcw_idx criterion dimension",
    ),
    Role(
        "value",
        gettext_lazy("Answer to that question"),
        "value answer verdict binary_verdict rating score label response",
    ),
    Role("reason", gettext_lazy("Reason for it"), "rationale reason explanation comment justification why"),
)
# What else a row says of each of its answers: fields of `imports.Row` or of its `Answer`. A mapping has these keys.
FACTS = (
    Role("time", gettext_lazy("Day and time"), "time at timestamp submitted_at created_at date", read_time, field="at"),
)
ROLES = (*PLACES, *ANSWERS_BY_ROW, *FACTS)
RATER, STORY, GROUP = PLACES
