"""What the columns of any study's answers can be; the items of a study are further ones."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from annotation.answer_import.names import AnswerNames
from studies.incoming_tables.roles import Role

# About what is answered; a mapping says further things of each.
PLACES = (
    Role(
        "rater",
        gettext_lazy("Rater"),
        "rater rater_id expert expert_idx participant participant_id annotator annotator_id worker worker_id workerid "
        "user user_id username judge respondent respondent_id responseid response_id prolific_pid prolific_id "
        "participant_code subject subject_id coder reviewer email email_address e_mail who record_id",
        AnswerNames.find_rater,
        if_empty=gettext_lazy("the row names no rater; name one, or take the row out"),
    ),
    Role(
        "story",
        gettext_lazy("Story"),
        "story story_id story_code story_title input_story input_story_id text_id item_id sample sample_id output_id",
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
_TIME = (
    "time at timestamp submitted_at submitted submit_time submittime submitdate completed_at created_at date end_date "
    "enddate recorded_date recordeddate end_time"
)
# What else a row says of each of its answers: fields of `imports.Row` or of its `Answer`. A mapping has these keys.
FACTS = (Role("time", gettext_lazy("Day and time"), _TIME, AnswerNames.read_time, field="at"),)
ROLES = (*PLACES, *ANSWERS_BY_ROW, *FACTS)
RATER, STORY, GROUP = PLACES
