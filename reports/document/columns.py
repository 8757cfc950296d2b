"""The kinds of column that tables of figures have. Each says what the page shows and what the file holds.

`name` is the column of the file, a word of `reports.document.vocabulary`; `heading` None leaves a column to the file.
Without `of`, the value is the row's attribute of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from django.utils.translation import gettext as _

from reports import numbers, reasons
from reports.document.model import Head, Phrase, TableCell, TableColumn
from reports.document.phrases import phrase
from reports.document.strips import Coefficient, StripAxis
from reports.document.values import Estimate, Floor, Interval, IntervalEstimate, Reason

T = TypeVar("T")
Write = Callable[[Any], str]
LEAD, QUIET = "lead-figure", "off"
# What files call the parts of an interval and of a chance floor, for `fields`.
ENDS = {"low": "interval.low", "high": "interval.high"}
CHANCE = {"chance_mean": "floor.mean", "chance_upper": "floor.upper"}


def ends(places: int) -> Callable[[Interval | None], str]:
    """Writes both ends of an interval with so many decimals."""
    return lambda interval: numbers.interval(interval, places)


class AboutItem(Protocol):
    @property
    def step(self) -> str: ...
    @property
    def item(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def dimension(self) -> str: ...


def decimals(places: int) -> Write:
    """Writes a number with so many decimals."""
    return lambda number: numbers.decimal(number, places)


def item(head: Head, of: Callable[[T], AboutItem] | None = None) -> TableColumn[T]:
    """The item that a row is about, by its title; in files with its step, key and dimension."""
    get = of or _itself
    return replace(
        item_in_file(of), heading=_("Item"), cell=lambda row: TableCell(words=get(row).title, language=head.language)
    )


def item_in_file(of: Callable[[T], AboutItem] | None = None) -> TableColumn[T]:
    """The item that a row is about, in the file alone."""
    in_file_alone = fields("step", "item", "title", "dimension", of=of or _itself)
    return replace(in_file_alone, is_number=False, is_head=True)


def _itself(row: Any) -> AboutItem:
    return row  # type: ignore[no-any-return]


def words(
    name: str,
    heading: Phrase | None,
    of: Callable[[T], str] | None = None,
    *,
    shown: Callable[[T], Phrase] | None = None,
    language: str = "",
    is_head: bool = False,
    css: str = "",
) -> TableColumn[T]:
    """A column of words. shown : what the page has in place of the file's words; language : of the words"""
    get = of or attrgetter(name)
    show = shown or get
    return TableColumn(
        heading=heading,
        cell=lambda row: TableCell(words=show(row), language=language, css=css),
        files={name: get},
        is_number=False,
        is_head=is_head,
    )


def number(
    name: str,
    heading: Phrase | None,
    of: Callable[[T], float | None] | None = None,
    *,
    write: Write = numbers.whole,
    shown: Callable[[T], Phrase] | None = None,
    why: Callable[[T], Reason | None] = lambda row: None,
    css: str | Callable[[T], str] = "",
    is_head: bool = False,
) -> TableColumn[T]:
    """A column of numbers, counts unless `write` says otherwise.

    shown : what the page has in place of the number alone; why : the reason where it is missing
    """
    get = of or attrgetter(name)

    def cell(row: T) -> TableCell:
        phrase_of_row = shown(row) if shown else write(get(row))
        return with_reason(TableCell(words=phrase_of_row, css=css if isinstance(css, str) else css(row)), why(row))

    return TableColumn(heading=heading, cell=cell, files={name: get}, is_head=is_head)


def interval(
    of: Callable[[T], Interval | None],
    *,
    write: Callable[[Interval | None], str],
    heading: Phrase = "",
    css: str = "",
    low: str = "low",
    high: str = "high",
) -> TableColumn[T]:
    """Both ends of a 95 % interval in one column, marked where it is weak; in files one column for each end."""

    def cell(row: T) -> TableCell:
        return replace(interval_cell(of(row), write(of(row))), css=css)

    in_file_alone = ends_in_file(of, low=low, high=high)
    return replace(in_file_alone, heading=heading or phrase(_("95 %% interval")), cell=cell)


def floor(heading: Phrase | None, of: Callable[[T], Floor], *, write: Write, prefix: str = "") -> TableColumn[T]:
    """A chance floor, its mean and its upper end in one column; in files a column for each. prefix : of their names"""

    in_file_alone = fields(**{f"{prefix}chance_mean": "mean", f"{prefix}chance_upper": "upper"}, of=of)
    return replace(in_file_alone, heading=heading, cell=lambda row: floor_cell(of(row), write))


def strip(rows: Iterable[T], of: Callable[[T], Coefficient]) -> TableColumn[T]:
    """Coefficients drawn on one axis with their intervals and floors; the heading says from where to where.

    rows : those that the axis is to hold
    """
    axis = StripAxis.over(of(row) for row in rows)
    return TableColumn(
        heading=axis_words(axis),
        cell=lambda row: TableCell(strip=axis.draw(of(row))),
        is_number=False,
        is_drawn=True,
    )


def shown(heading: Phrase, of: Callable[[T], Phrase], *, css: str = "", is_head: bool = False) -> TableColumn[T]:
    """A column that files do not have."""
    return TableColumn(
        heading=heading, cell=lambda row: TableCell(words=of(row), css=css), is_number=not is_head, is_head=is_head
    )


def note(of: Callable[[T], str]) -> TableColumn[T]:
    """What must be read beside the values of a row, in English; only files have it."""
    return in_file("note", of)


def in_file(name: str, of: Callable[[T], Any] | None = None) -> TableColumn[T]:
    """A column that only the file has."""
    return TableColumn(files={name: of or attrgetter(name)})


def with_reason(cell: TableCell, why: Reason | None) -> TableCell:
    """The cell, which tells when asked why it has no value."""
    if why is None:
        return cell
    return replace(cell, title=reasons.translate_reason(why), title_language=reasons.language(why))


def fields(*names: str, of: Callable[[Any], Any] = lambda row: row, prefix: str = "", **paths: str) -> TableColumn[Any]:
    """What a row has, or what `of` gives, in the file alone: attributes under their own names, after `prefix`.

    paths : under another name the attribute, or that of a part: low="interval.low"; None where there is no such part
    """

    def value(path: str) -> Callable[[Any], Any]:
        return lambda row: _follow(of(row), path)

    path_by_name = {prefix + name: name for name in names} | paths
    return TableColumn(files={name: value(path) for name, path in path_by_name.items()})


def _follow(part: Any, path: str) -> Any:
    for name in path.split("."):
        if part is None:
            return None
        part = getattr(part, name)
    return part


def ends_in_file(of: Callable[[T], Interval | None], *, low: str = "low", high: str = "high") -> TableColumn[T]:
    """Both ends of an interval, in the file alone."""
    return fields(**{low: "low", high: "high"}, of=of)


def with_places(column: Callable[[int], TableColumn[T]], places: Callable[[T], int]) -> TableColumn[T]:
    """A column whose rows have their own numbers of decimals. column : with so many"""
    return replace(column(0), cell=lambda row: column(places(row)).cell(row))


def axis_words(axis: StripAxis) -> Phrase:
    """From where to where an axis of coefficients goes."""
    ends = {"low": numbers.coefficient(axis.low), "high": numbers.coefficient(axis.high)}
    return phrase(_("%(low)s to %(high)s"), **ends)


def interval_cell(ends: Interval | None, words: str) -> TableCell:
    """The ends of an interval in these words, marked where it is weak; or why there is none."""
    return with_reason(marked(TableCell(words=words), ends), ends.why) if ends else TableCell(words=words)


def floor_cell(floor: Floor | None, write: Write) -> TableCell:
    """The mean of a chance floor and its upper end, or the reason why there is none."""
    if floor is None or floor.mean is None:
        return with_reason(TableCell(words=numbers.NONE), floor.why if floor else None)
    return TableCell(words=_("%(mean)s, %(upper)s") % {"mean": write(floor.mean), "upper": write(floor.upper)})


def cell_with_ends(
    estimate: IntervalEstimate | None,
    write: Write,
    write_ends: Callable[[Interval | None], str],
    *,
    is_marked: bool = False,
) -> TableCell:
    """A value and, smaller, the ends of its interval where it has one. is_marked : whether a weak one is marked"""
    if estimate is None:
        return TableCell(words=numbers.NONE)
    words, ends = write(estimate.value), estimate.interval
    if ends.low is not None:
        words = phrase('%(value)s <span class="ends">%(ends)s</span>', value=words, ends=write_ends(ends))
    cell = with_reason(TableCell(words=words), estimate.why)
    return marked(cell, ends) if is_marked else cell


def marked(cell: TableCell, ends: Interval) -> TableCell:
    """The cell, marked where the interval is weak."""
    return replace(cell, mark="†", mark_title=ends.note or "") if ends.is_weak else cell


def estimate(
    name: str,
    heading: Phrase | None,
    of: Callable[[T], Estimate | None],
    *,
    write: Write = numbers.coefficient,
    css: str | Callable[[T], str] = "",
) -> TableColumn[T]:
    """A column of estimates, coefficients unless `write` says otherwise; one without a value tells why when asked."""
    return number(
        *(name, heading),
        of=lambda row: getattr(of(row), "value", None),
        write=write,
        why=lambda row: getattr(of(row), "why", None),
        css=css,
    )


def with_interval(
    name: str,
    heading: Phrase,
    of: Callable[[T], Estimate | None] | None = None,
    between: Callable[[T], Interval | None] | None = None,
    *,
    places: int | None = None,
    prefix: str = "",
    css: str = "",
) -> list[TableColumn[T]]:
    """An estimate, the row itself unless `of` gives another, and its 95 % interval, side by side.

    between : gives the interval, where the estimate does not have it
    places : decimals of both; None for coefficients
    prefix : of the names of its ends in files
    """
    is_coefficient = places is None
    write: Write = numbers.coefficient if is_coefficient else decimals(places or 0)
    write_ends = numbers.coefficients if is_coefficient else ends(places or 0)
    get: Callable[[T], Any] = of or (lambda row: row)
    get_ends = between or (lambda row: getattr(get(row), "interval", None))
    low, high = f"{prefix}low", f"{prefix}high"
    return [
        estimate(name, heading, get, write=write, css=css),
        interval(get_ends, write=write_ends, low=low, high=high),
    ]


def count_of(
    name: str,
    heading: Phrase | None,
    of: Callable[[T], int] | None = None,
    *,
    n_all: Callable[[T], int],
    css: str = "",
) -> TableColumn[T]:
    """How many there are of how many; the file has the first number alone."""
    get = of or attrgetter(name)

    def shown(row: T) -> str:
        return _("%(n)s of %(all)s") % {"n": numbers.whole(get(row)), "all": numbers.whole(n_all(row))}

    return number(name, heading, get, shown=shown, css=css)


def counts(heading: Phrase, name: str, *others: str) -> TableColumn[Any]:
    """How many there are, and how many of what else, beside each other; the file has the first number alone."""

    def shown(row: Any) -> str:
        return ", ".join(numbers.whole(getattr(row, count)) for count in (name, *others))

    return number(name, heading, shown=shown)


def yes_or_no(name: str, heading: Phrase, of: Callable[[T], bool] | None = None) -> TableColumn[T]:
    """Whether something is so; in files True or False."""
    get = of or attrgetter(name)
    return TableColumn(
        heading=heading,
        cell=lambda row: TableCell(words=_("yes") if get(row) else _("no")),
        files={name: get},
        is_number=False,
    )


def constants(**values: Any) -> TableColumn[Any]:
    """Columns that only the file has, each with the same value in every row."""

    def constant(value: Any) -> Callable[[Any], Any]:
        return lambda row: value

    return TableColumn(files={name: constant(value) for name, value in values.items()})


def source(of: Callable[[T], Any] | None = None, *, heading: Phrase = "", is_head: bool = True) -> TableColumn[T]:
    """The source of a row, or of what `of` gives; a row without one is of all together."""

    def name(row: T) -> str:
        return str((of(row) if of else row).source)  # type: ignore[union-attr]

    return words(
        *("source", heading or _("Source")),
        of=lambda row: name(row) or "all",
        shown=lambda row: name(row) or _("All"),
        is_head=is_head,
    )
