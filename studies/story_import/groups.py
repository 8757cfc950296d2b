"""The groups that rows of a table make, and what is wrong with these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies import story_groups
from studies.documents.stories import MOST_IN_GROUP
from studies.incoming_tables.problems import RowProblem, WayOut
from studies.story_groups import Member, missing_sources
from studies.story_import.columns import BY_ROW, ColumnChoices
from studies.story_import.near_names import NearNames
from studies.story_import.rows import ImportRow, offer_to_leave_out


def form(rows: Sequence[ImportRow], choices: ColumnChoices, *, seed: int) -> dict[str, list[int]]:
    """The places of the rows in the sequence by the name of their group."""
    is_by_row = choices.grouping == BY_ROW
    members = [
        Member(at, row["text"], row["source"], str(row.n) if is_by_row else row["premise"], row["group"])
        for at, row in enumerate(rows)
        if row["group"] or choices.grouping != "column"
    ]
    grouping = "premise" if is_by_row else choices.grouping
    return story_groups.form_groups(members, grouping, seed=seed, size=choices.group_size)


def find_problems(
    groups: Mapping[str, Sequence[int]], rows: Sequence[ImportRow], choices: ColumnChoices
) -> Iterator[RowProblem]:
    """What is wrong with groups of rows, by name and places in the sequence."""
    column = choices.column_of("group")
    numbers_by_group = {name: tuple(rows[at].n for at in places) for name, places in groups.items()}
    for name, numbers in numbers_by_group.items():
        if len(numbers) > MOST_IN_GROUP:
            sentence = _("Group “%(group)s” has %(n)d stories; more than %(most)d have no letter.")
            names = {"group": name, "n": len(numbers), "most": MOST_IN_GROUP}
            yield RowProblem("error", numbers, column, sentence % names)
    if choices.grouping == "column":
        yield from _warnings_of_names(numbers_by_group, column)
    if choices.grouping == "pairs":
        for numbers in numbers_by_group.values():
            if len(numbers) == 1:
                sentence = _("This story is left without a partner.")
                yield RowProblem("error", numbers, "", sentence, (offer_to_leave_out(numbers),))
    source_by_place = {at: row["source"] for at, row in enumerate(rows)}
    if choices.grouping == "balanced" and (uneven := missing_sources(groups, source_by_place)):
        sentence = ngettext(
            "In %(n)d group not every source stands once: the sources have different numbers of stories.",
            "In %(n)d groups not every source stands once: the sources have different numbers of stories.",
            len(uneven),
        )
        yield RowProblem("warning", (), "", sentence % {"n": len(uneven)})


def _warnings_of_names(groups: Mapping[str, Sequence[int]], column: str) -> Iterator[RowProblem]:
    """Groups of one whose name is nearly another's."""
    larger = NearNames(name for name, numbers in groups.items() if len(numbers) > 1)
    for name, numbers in groups.items():
        close = larger.find(name) if len(numbers) == 1 and not any(letter.isdigit() for letter in name) else ""
        if close:
            sentence = _("“%(name)s” is a group of one; “%(other)s” has %(n)d.")
            names = {"name": name, "other": close, "n": len(groups[close])}
            way_out = WayOut(_("Put it into “%(other)s”") % {"other": close}, ("merge", name, close))
            yield RowProblem("warning", tuple(numbers), column, sentence % names, (way_out,))
