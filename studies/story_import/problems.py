"""What is wrong with the rows of a table, row by row and each with a way out; and what would come in if nothing is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from django.utils.translation import gettext as _

from stats import garbage_collection
from studies import formatting, story_groups
from studies.documents import stories as documents
from studies.documents.errors import DocumentError, InvalidValue
from studies.documents.stories import Collection
from studies.hashing import sha256
from studies.incoming_tables.cautions import find_cautions
from studies.incoming_tables.encodings import ENCODINGS
from studies.incoming_tables.problems import RowProblem, WayOut
from studies.incoming_tables.tables import DAMAGED, OVERLONG, IncomingTable
from studies.story_groups import code_groups, name_groups, neutral_codes
from studies.story_import import groups
from studies.story_import.columns import FACTOR, ROLES, ColumnChoices
from studies.story_import.near_names import NearNames
from studies.story_import.problem_groups import group_problems
from studies.story_import.rows import (
    ImportRow,
    RowCounter,
    as_sentence,
    count_nothing,
    offer_new_codes,
    offer_to_leave_out,
    read_rows,
)
from studies.story_import.text_warnings import find_text_warnings
from studies.typography.normalisation import NORMALISATIONS
from studies.vocabulary import IntakeStage, SourceKind

# So many texts of each source are looked at for ways of typing, evenly over the file.
LOOKED_AT = 60
# So many letters of all these texts together, the beginning of each, but a page or so of each at least.
LETTERS_LOOKED_AT, FEWEST_LETTERS = 2_000_000, 2_000
_DIFFERS = 0.5
# Values that only `read_rows` puts into a row, so that they are read already. Others may come from the choices, unread.
READ_BY_ROW = frozenset(("text", "premise", "title", "url"))


@dataclass(frozen=True)
class StudyContents:
    """What the study holds already, as far as a new story must fit to it."""

    language: str = "en"
    seed: int = 0
    codes: frozenset[str] = frozenset()
    hashes: frozenset[str] = frozenset()
    group_codes: frozenset[str] = frozenset()
    kind_by_source: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Examination:
    """problems : errors first; collection : what would come in, None while there are errors
    raw_text_by_code : of the stories whose typing was made alike, as they came
    """

    n_stories: int = 0
    groups: dict[str, list[int]] = field(default_factory=dict)
    problems: list[RowProblem] = field(default_factory=list)
    collection: Collection | None = None
    raw_text_by_code: dict[str, str] = field(default_factory=dict)

    @property
    def errors(self) -> list[RowProblem]:
        return [problem for problem in self.problems if problem.level == "error"]

    @property
    def warnings(self) -> list[RowProblem]:
        return [problem for problem in self.problems if problem.level == "warning"]


@garbage_collection.only_new()
def examine(
    table: IncomingTable, choices: ColumnChoices, contents: StudyContents, *, count: RowCounter = count_nothing
) -> Examination:
    """Everything to be said of the table with these choices, at once, and what would come in."""
    problems = list(_problems_of_columns(table, choices))
    if problems:
        return Examination(problems=problems)
    rows, faults = read_rows(table, choices, count)
    problems = [
        *_problems_of_cells(table, choices),
        *_problems_of_encoding(table, choices),
        *_problems_of_formulas(table, choices),
        *faults,
        *_problems_of_sources(rows, choices, contents),
        *_problems_of_codes(rows, choices, contents),
        *_problems_of_texts(rows, choices, contents),
        *find_text_warnings(rows, choices.column_of("text")),
    ]
    examination = Examination(n_stories=len(rows), problems=problems)
    if len(rows) > documents.MOST_ROWS:
        sentence = _("There are more than %(n)d stories. Split the file.") % {"n": documents.MOST_ROWS}
        problems.append(RowProblem("error", (), "", sentence))
    places: dict[str, list[int]] = {}
    if rows and not examination.errors:
        places = _group(examination, rows, choices, contents)
        problems += _warnings_of_typing(rows, choices)
    elif rows and (choices.grouping != "size" or story_groups.is_group_size(choices.group_size)):
        places = groups.form(rows, choices, seed=contents.seed)  # for how large they would be
    examination.groups = _number_rows(places, rows)
    if not rows:
        problems.append(RowProblem("error", (), "", _("No row is left to bring in.")))
    if not examination.errors:
        _collect(examination, table, rows, choices, contents, places, count)
    examination.problems = sorted(group_problems(problems), key=lambda problem: problem.level != "error")
    return examination


def _problems_of_columns(table: IncomingTable, choices: ColumnChoices) -> Iterator[RowProblem]:
    counts = Counter(choices.roles.values())
    for role in ROLES:
        if role.if_missing and not counts[role.key]:
            yield RowProblem("error", (), "", str(role.if_missing))
        columns_of_role = [column for column in table.columns if choices.roles[column] == role.key]
        if len(columns_of_role) > 1 and not role.may_repeat and not choices.are_of_different_stories(columns_of_role):
            columns = ", ".join(columns_of_role)
            sentence = _("Several columns are said to be the same: %(columns)s. Keep one.")
            yield RowProblem("error", (), "", sentence % {"columns": columns})
    if not counts["source"] and not choices.source and counts["text"] < 2:
        sentence = _("No column is the source. Say which one it is, or name one source for all stories.")
        yield RowProblem("error", (), "", sentence)
    yield from _problems_of_factors(choices)
    if choices.grouping == "column" and not counts["group"]:
        sentence = _("No column is the group. Say which one it is, or form groups in another way.")
        yield RowProblem("error", (), "", sentence)
    if choices.grouping == "size" and not story_groups.is_group_size(choices.group_size):
        yield RowProblem("error", (), "", story_groups.say_group_sizes())
    if choices.grouping == "premise" and not counts["premise"]:
        sentence = _("No column is the prompt. Say which one it is, or form groups in another way.")
        yield RowProblem("error", (), "", sentence)


def _problems_of_factors(choices: ColumnChoices) -> Iterator[RowProblem]:
    """Names that no property can have, and those of a column of the row that columns of its stories have too."""
    sides = choices.sides
    factors = {column: sides[column].name if column in sides else column for column in choices.columns_of(FACTOR)}
    for column, name in factors.items():
        try:
            documents.read_factor(name, "x")
        except InvalidValue as error:
            sentence = _("The name of the property “%(name)s” %(why)s.") % {"name": name, "why": error}
            yield RowProblem("error", (), column, sentence)
        alike = [other for other, of_other in factors.items() if of_other == column]
        if len(alike) > 1:
            sentence = _("Several columns are said to be the same: %(columns)s. Keep one.")
            yield RowProblem("error", (), "", sentence % {"columns": ", ".join(alike)})


def _problems_of_cells(table: IncomingTable, choices: ColumnChoices) -> Iterator[RowProblem]:
    """Cells that cannot come in as they are, or are to be looked at, in columns that count and rows that are left."""
    omitted = set(choices.left_out)
    wanted = [column for column in table.columns if choices.roles[column]]
    rows_by_column: dict[str, list[int]] = defaultdict(list)
    for n, at in table.damaged:
        if table.columns[at] in wanted and n not in omitted:
            rows_by_column[table.columns[at]].append(n)
    for column, numbers in rows_by_column.items():
        yield RowProblem("error", tuple(numbers), column, _(DAMAGED), (offer_to_leave_out(numbers),))
    if overlong := [n for n in table.overlong if n not in omitted]:
        yield RowProblem("error", tuple(overlong), "", _(OVERLONG), (offer_to_leave_out(overlong),))
    for caution in find_cautions(table, [column for column in wanted if choices.roles[column] == "text"]):
        if numbers := [n for n in caution.rows if n not in omitted]:
            yield replace(caution, rows=tuple(numbers), ways_out=(offer_to_leave_out(numbers),))


def _problems_of_encoding(table: IncomingTable, choices: ColumnChoices) -> Iterator[RowProblem]:
    if table.encoding == "utf-8":
        return
    lines = (cell for _n, cells in table.rows for cell in cells)
    words = (word for line in lines for word in line.split() if not word.isascii())
    sentence = _(
        "The file is not UTF-8. Read as %(encoding)s it has words such as %(words)s. If they look wrong, choose "
        "another encoding above, or save it again as “CSV UTF-8”."
    ) % {
        "encoding": ENCODINGS.get(table.encoding, table.encoding),
        "words": ", ".join(f"“{word[:24]}”" for word in islice(words, 4)),
    }
    if choices.accepts_encoding:
        yield RowProblem("warning", (), "", sentence)
    else:
        yield RowProblem("error", (), "", sentence, (WayOut(_("They look right"), ("encoding",)),))


def _problems_of_formulas(table: IncomingTable, choices: ColumnChoices) -> Iterator[RowProblem]:
    rows_by_column: dict[str, list[int]] = defaultdict(list)
    omitted = set(choices.left_out)
    for n, at in table.formulas:
        if at < len(table.columns) and choices.roles[table.columns[at]] and n not in omitted:
            rows_by_column[table.columns[at]].append(n)
    for column, numbers in rows_by_column.items():
        sentence = _("A formula, of which Quire does not know the result. In the sheet, paste it as a value.")
        yield RowProblem("error", tuple(numbers), column, sentence, (offer_to_leave_out(numbers),))


def _problems_of_sources(
    rows: Sequence[ImportRow], choices: ColumnChoices, contents: StudyContents
) -> Iterator[RowProblem]:
    column = choices.column_of("source")
    if lacking := [row.n for row in rows if row.lacks("source")]:
        sentence = _("No source is said. Fill it in, or name one for all stories below.")
        yield RowProblem("error", tuple(lacking), column, sentence, (offer_to_leave_out(lacking),))
    kind_column = choices.column_of("source_kind")
    rows_by_value: dict[str, list[ImportRow]] = defaultdict(list)
    names_source = bool(column) or choices.names_sources_by_column
    for row in rows:
        value = row["source_kind_said"] if kind_column else row["source"] if names_source else ""
        kind = choices.kinds.get(value, "") if value else ""
        row.values["source_kind"] = kind or choices.source_kind
        if not row.values["source_kind"] and (kind_column or "source" not in row.refused):
            rows_by_value[value].append(row)
    known = NearNames(name for name, kind in choices.kinds.items() if kind)
    for value, members in rows_by_value.items():
        numbers = tuple(row.n for row in members)
        sentence = _("It is not said who wrote these. Choose the kind of source for all, or fill it in.")
        if value:
            sentence = _("Say above what “%(value)s” is.") % {"value": value[:60]}
        ways_out = [offer_to_leave_out(numbers)]
        if close := known.find(value):
            label = _("Take it as “%(value)s”") % {"value": close[:60]}
            ways_out.insert(0, WayOut(label, ("kind", value, choices.kinds[close])))
        yield RowProblem("error", numbers, kind_column or column, sentence, tuple(ways_out))
    yield from _problems_of_two_kinds(rows, contents, kind_column or column)


def _problems_of_two_kinds(rows: Sequence[ImportRow], contents: StudyContents, column: str) -> Iterator[RowProblem]:
    """A source is of one kind, in this file and in all studies."""
    rows_by_source: dict[str, list[ImportRow]] = defaultdict(list)
    for row in rows:
        if row["source_kind"] and row["source"]:
            rows_by_source[row["source"]].append(row)
    for source, members in rows_by_source.items():
        counts = Counter(row["source_kind"] for row in members)
        stored = contents.kind_by_source.get(source)
        kind = stored or counts.most_common(1)[0][0]
        others = [row for row in members if row["source_kind"] != kind]
        if not others:
            continue
        sentence = _("“%(source)s” is %(kind)s in other rows; a source has one kind. Correct it, or name it otherwise.")
        if stored:
            sentence = _("“%(source)s” is %(kind)s already; a source has one kind. Correct it, or name it otherwise.")
        sentence %= {"source": source[:60], "kind": SourceKind(kind).label}
        ways_out = [offer_to_leave_out([row.n for row in others])]
        values = {row["source_kind_said"] for row in others}
        if len(values) == 1 and (value := values.pop()):
            names = {"value": value[:60], "kind": SourceKind(kind).label}
            ways_out.insert(0, WayOut(_("Take “%(value)s” as %(kind)s") % names, ("kind", value, kind)))
        yield RowProblem("error", tuple(row.n for row in others), column, sentence, tuple(ways_out))


def _problems_of_codes(
    rows: Sequence[ImportRow], choices: ColumnChoices, contents: StudyContents
) -> Iterator[RowProblem]:
    column = choices.column_of("code")
    if not column or choices.has_new_codes:
        return
    if lacking := [row.n for row in rows if row.lacks("story", "code")]:
        yield RowProblem(
            "error", tuple(lacking), column, _("No code is there."), (offer_new_codes(), offer_to_leave_out(lacking))
        )
    row_by_place: dict[tuple[str, str], int] = {}
    for row in rows:
        # A story may stand in several groups, as in a study file: its row is repeated with the other group.
        place = (row["story"], row["group"] if choices.grouping == "column" else "")
        if row["story"] and row_by_place.setdefault(place, row.n) != row.n:
            sentence = _("The code “%(code)s” stands in row %(row)d already.")
            sentence %= {"code": row["story"], "row": row_by_place[place]}
            yield RowProblem("error", (row.n,), column, sentence, (offer_new_codes(), offer_to_leave_out([row.n])))
    if present := [row.n for row in rows if row["story"] in contents.codes]:
        sentence = _("A story of this code is in the study already.")
        yield RowProblem("error", tuple(present), column, sentence, (offer_to_leave_out(present), offer_new_codes()))
    for row in rows:
        names = (row["source"], row["title"], *map(str, row.factors.values()))
        if row["story"] and formatting.find_telling_word(row["story"], names):
            sentence = _("The code “%(code)s” tells the source to a coordinator.") % {"code": row["story"]}
            yield RowProblem("warning", (row.n,), column, sentence, (offer_new_codes(),))


def _problems_of_texts(
    rows: Sequence[ImportRow], choices: ColumnChoices, contents: StudyContents
) -> Iterator[RowProblem]:
    column = choices.column_of("text")
    with_text = {row["story"] for row in rows if row["story"] and row["text"].strip()}
    if empty := [row.n for row in rows if row.lacks("text") and row["story"] not in with_text]:
        sentence = _("The text is empty, so there is nothing to read.")
        yield RowProblem("error", tuple(empty), column, sentence, (offer_to_leave_out(empty),))
    first_by_text: dict[str, ImportRow] = {}
    present: list[int] = []
    for row in rows:
        if row["text"].strip():
            mark = sha256(row["text"])
            first = first_by_text.setdefault(mark, row)
            if first is not row and (not row["story"] or first["story"] != row["story"]):
                sentence = _("The same text as in row %(row)d, word for word.") % {"row": first.n}
                yield RowProblem("warning", (row.n,), column, sentence, (offer_to_leave_out([row.n]),))
            elif first is row and mark in contents.hashes:
                present.append(row.n)
    if present:
        sentence = _("A story of this very text is in the study already.")
        if len(present) == len(rows):
            sentence = _(
                "Every story of this file is in the study already, word for word. Discard the file, unless you want "
                "each of them twice."
            )
        yield RowProblem("warning", tuple(present), column, sentence, (offer_to_leave_out(present),))


def _group(
    examination: Examination, rows: Sequence[ImportRow], choices: ColumnChoices, contents: StudyContents
) -> dict[str, list[int]]:
    """The places of the rows by group; what is wrong with the groups is added to the problems."""
    if choices.grouping == "column" and (lacking := [row.n for row in rows if row.lacks("group")]):
        sentence = _("No group is said. Fill it in, or form groups in another way.")
        way_out = offer_to_leave_out(lacking)
        column = choices.column_of("group")
        examination.problems.append(RowProblem("error", tuple(lacking), column, sentence, (way_out,)))
        return {}
    places = groups.form(rows, choices, seed=contents.seed)
    examination.problems += groups.find_problems(places, rows, choices)
    return places


def _number_rows(places: Mapping[str, Sequence[int]], rows: Sequence[ImportRow]) -> dict[str, list[int]]:
    return {name: [rows[at].n for at in members] for name, members in places.items()}


def _warnings_of_typing(rows: Sequence[ImportRow], choices: ColumnChoices) -> Iterator[RowProblem]:
    """Ways of typing that stand in many texts of one source and few of another's, each with a way out."""
    rows_by_source: dict[str, list[ImportRow]] = defaultdict(list)
    for row in rows:
        if row["text"]:
            rows_by_source[row["source"]].append(row)
    if not 2 <= len(rows_by_source) <= 30:
        return
    samples = {source: members[:: -(-len(members) // LOOKED_AT)] for source, members in rows_by_source.items()}
    n_letters = max(LETTERS_LOOKED_AT // sum(map(len, samples.values())), FEWEST_LETTERS)
    for kind, (meaning, change) in NORMALISATIONS.items():
        changed = {
            source: [row.n for row in members if change(row["text"][:n_letters]) != row["text"][:n_letters]]
            for source, members in samples.items()
        }
        shares = {source: len(changed[source]) / len(samples[source]) for source in samples}
        if max(shares.values()) - min(shares.values()) >= _DIFFERS:
            most = max(shares, key=lambda source: shares[source])
            sentence = _("Typing differs by source, most in stories by %(source)s. To make it alike: %(meaning)s.")
            names = {"source": most, "meaning": _(meaning)}
            way_out = WayOut(_("Make it alike in all"), ("normalise", kind))
            column = choices.column_of("text")
            yield RowProblem("warning", tuple(changed[most]), column, sentence % names, (way_out,))


def _collect(
    examination: Examination,
    table: IncomingTable,
    rows: Sequence[ImportRow],
    choices: ColumnChoices,
    contents: StudyContents,
    places: Mapping[str, Sequence[int]],
    count: RowCounter,
) -> None:
    """Have the reader of study files make stories and groups of the rows: what it would refuse does not come in."""
    has_codes = bool(choices.column_of("code")) and not choices.has_new_codes
    codes = [row["story"] for row in rows] if has_codes else neutral_codes(len(rows), taken=contents.codes)
    examination.raw_text_by_code = {
        code: row["raw_text"] for row, code in zip(rows, codes, strict=True) if row["raw_text"] != row["text"]
    }
    if choices.grouping == "column":
        group_codes = code_groups(places)
    else:
        group_codes = name_groups(places, taken=contents.group_codes)
    group_by_place = {at: group_codes[name] for name, members in places.items() for at in members}

    def cells() -> Iterator[tuple[int, dict[str, object]]]:
        for at, (row, code) in enumerate(zip(rows, codes, strict=True)):
            count(IntakeStage.EXAMINING, at, len(rows))
            yield (
                row.n,
                {role.key: row.values[role.key] for role in ROLES if row.values.get(role.key) not in ("", None)}
                | {"story": code, "group": group_by_place[at]}
                | row.factors,
            )

    try:
        examination.collection = documents.collect_stories(Path(table.name), cells(), typed=READ_BY_ROW)
    except DocumentError as error:
        numbers = tuple(int(word) for word in error.location.replace(",", " ").split() if word.isdigit())
        ways_out = (offer_to_leave_out(numbers),) if numbers else ()
        problem = RowProblem("error", numbers[:1], "", as_sentence(error.reason), ways_out)
        examination.problems.append(problem)
