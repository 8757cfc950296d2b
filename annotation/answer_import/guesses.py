"""What the columns of a file of answers seem to be, by their names; whoever brings it says whether that is so."""

from __future__ import annotations

import re
from collections import defaultdict

from django.utils.translation import gettext_lazy

from annotation.answer_import.column_map import AnswerColumn, ColumnMapping, GroupColumn, RaterColumn, StoryColumn
from annotation.answer_import.rows import factor_names, story_names
from studies import protocol
from studies.incoming_tables.roles import Role, plain_name, recognise
from studies.incoming_tables.tables import IncomingTable
from studies.models import Study

# What the columns of any study's answers can be; the items of a study are further ones. First what is answered about.
PLACES = (
    Role(
        "rater",
        gettext_lazy("Rater"),
        "rater rater_id expert expert_idx participant participant_id annotator annotator_id worker worker_id user "
        "user_id judge respondent responseid response_id",
    ),
    Role("story", gettext_lazy("Story"), "story story_id story_code text_id item_id sample sample_id output_id"),
    Role("group", gettext_lazy("Group"), "group group_id pair pair_id plot story_idx"),
)
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
    Role("time", gettext_lazy("Day and time"), "time at timestamp submitted_at created_at date"),
)
ROLES = (*PLACES, *ANSWERS_BY_ROW)


def guess_mapping(table: IncomingTable, study: Study) -> ColumnMapping:
    """The mapping that the names of the columns suggest, perhaps with gaps. A few queries."""
    column_by_role = {role: column for column, role in recognise(table.columns, ROLES).items()}
    story = column_by_role.get("story", "")
    return ColumnMapping(
        rater=RaterColumn(column=column_by_role.get("rater", "")),
        story=StoryColumn(column=story, by=_guess_names(table, story, study)) if story else StoryColumn(),
        group=GroupColumn() if story else GroupColumn(column=column_by_role.get("group", "")),
        time=column_by_role.get("time", ""),
        answers=_guess_answers(table, column_by_role, study),
    )


def _guess_answers(table: IncomingTable, column_by_role: dict[str, str], study: Study) -> tuple[AnswerColumn, ...]:
    """A column for each item whose key it bears; else one column of answers, with another that names the items."""
    steps_by_item = defaultdict[str, list[str]](list)
    loaded_protocol = protocol.load_protocol(protocol.latest(study))
    for step in (*loaded_protocol.ratings, *loaded_protocol.asked_once):
        for item in protocol.items_of(step):
            steps_by_item[item.key].append(step.key)
    item_by_name = {plain_name(key): key for key in steps_by_item}
    wide = []
    for column in table.columns:
        name = plain_name(column)
        key = item_by_name.get(name) or item_by_name.get(re.sub(r"_(score|rating|answer|value)$", "", name))
        if key:
            wide.append(AnswerColumn(value=column, item=key, step=steps_by_item[key][0]))
    if wide:
        return tuple(wide)
    value, rationale = column_by_role.get("value", ""), column_by_role.get("reason", "")
    if not value:
        return ()
    if items_in := column_by_role.get("item", ""):
        return (AnswerColumn(value=value, items_in=items_in, rationale=rationale),)
    key = next(iter(steps_by_item), "")
    return (AnswerColumn(value=value, item=key, step=steps_by_item[key][0], rationale=rationale),) if key else ()


def _guess_names(table: IncomingTable, column: str, study: Study) -> str:
    """By what the column names stories: what most of its values are of some story."""
    values = set(table.count_values(column))
    n_by_name = {by: len(values & set(story_names(study, by))) for by in ("code", "title", *factor_names(study))}
    return max(n_by_name, key=lambda by: n_by_name[by])
