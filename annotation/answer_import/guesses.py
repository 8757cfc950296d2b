"""What the columns of a file of answers seem to be, by their names; whoever brings it says whether that is so."""

from __future__ import annotations

import re
from collections import defaultdict

from annotation.answer_import.column_map import AnswerColumn, ColumnMapping, GroupColumn, RaterColumn, StoryColumn
from annotation.answer_import.names import list_story_names, story_names
from annotation.answer_import.roles import FACTS, ROLES
from studies import protocol
from studies.incoming_tables.roles import plain_name, recognise
from studies.incoming_tables.tables import IncomingTable
from studies.models import Study


def guess_mapping(table: IncomingTable, study: Study) -> ColumnMapping:
    """The mapping that the names of the columns suggest, perhaps with gaps. A few queries."""
    column_by_role = {role: column for column, role in recognise(table.columns, ROLES).items()}
    story = column_by_role.get("story", "")
    return ColumnMapping(
        rater=RaterColumn(column=column_by_role.get("rater", "")),
        story=StoryColumn(column=story, by=_guess_names(table, story, study)) if story else StoryColumn(),
        group=GroupColumn() if story else GroupColumn(column=column_by_role.get("group", "")),
        facts={role.key: column_by_role[role.key] for role in FACTS if role.key in column_by_role},
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
    n_by_name = {by: len(values & set(story_names(study, by))) for by, _title in list_story_names(study)}
    return max(n_by_name, key=lambda by: n_by_name[by])
