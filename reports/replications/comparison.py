"""What a paper printed beside what its data give, figure by figure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.reasons import to_english
from reports.replications import cloze_procedures, flatten, pair_procedures, procedures, scale_procedures
from reports.replications.procedures import Evidence, Figures
from stats.reasons import Incomputable

PROCEDURES = (
    procedures.PROCEDURES | scale_procedures.PROCEDURES | cloze_procedures.PROCEDURES | pair_procedures.PROCEDURES
)


@dataclass(frozen=True)
class PublishedFigure:
    """One published figure beside the recomputed one.

    key : of the block in the data file; at : which figure of the block, as ("GPT4", "3")
    published, expected : what was printed, and what the data must give, each to so many decimals; None if not known
    listed : what the data may give instead, to the decimals of `expected`: a discrepancy that is listed with its reason
    value : recomputed, unrounded; None if it cannot be, and then `why` says why
    """

    key: str
    at: tuple[str, ...]
    published: float | None
    decimals: int
    expected: float | None
    expected_decimals: int
    listed: float | None
    value: float | None
    why: str
    reason: str
    is_of_judge: bool

    @property
    def is_to_be_met(self) -> bool:
        """Whether it is known what must come out."""
        return self.expected is not None

    @property
    def is_as_expected(self) -> bool:
        may_be = [figure for figure in (self.expected, self.listed) if figure is not None]
        return not may_be or any(_rounds_to(self.value, figure, self.expected_decimals) for figure in may_be)

    @property
    def is_as_published(self) -> bool:
        return self.published is None or _rounds_to(self.value, self.published, self.decimals)

    @property
    def mark(self) -> str:
        """same: as published; known: differs, for the reason given; expected, new: not published; or DIFFERS."""
        if not self.is_as_expected:
            return "DIFFERS"
        if not self.is_as_published:
            return "known"
        if self.published is not None:
            return "same"
        return "expected" if self.expected is not None else "new"

    @property
    def name(self) -> str:
        return " ".join((self.key, *self.at))


@dataclass(frozen=True)
class Block:
    """Figures of one procedure.

    is_table : whether its figures have two keys, a row and a column, and are read as a table
    """

    key: str
    title: str
    printed_in: str
    procedure: str
    figures: tuple[PublishedFigure, ...]
    is_table: bool = False


def _rounds_to(value: float | None, figure: float, decimals: int) -> bool:
    # Just over half a unit: a figure that lies on the half may have been rounded either way.
    return value is not None and abs(value - figure) <= 0.5 * 10**-decimals + 1e-9


def compare(evidence: Evidence, spec: Mapping[str, Any]) -> list[Block]:
    """Every figure of the data file beside the recomputed one."""
    return [_block(evidence, entry) for entry in spec["figures"]]


def _block(evidence: Evidence, entry: Mapping[str, Any]) -> Block:
    selected = evidence.without_groups(entry.get("without_groups", []))
    selected = selected.of_models() if entry.get("only_models") else selected
    selected = selected.of_items(entry["items"]) if "items" in entry else selected
    figures = _figures(entry, PROCEDURES[entry["of"]](selected, **entry.get("options", {})))
    printed_in, is_table = entry.get("printed_in", ""), entry.get("is_table", False)
    return Block(entry["key"], entry["title"], printed_in, entry["procedure"], figures, is_table)


def _figures(entry: Mapping[str, Any], figures: Figures) -> tuple[PublishedFigure, ...]:
    published, expected, listed = (dict(flatten(entry.get(name))) for name in ("published", "expected", "listed"))
    is_of_judge = entry["of"].startswith("judge_")
    decimals = entry.get("decimals", 0)
    must, must_decimals = (expected, entry.get("expected_decimals", 0)) if expected else (published, decimals)
    # An expected figure without a recomputed one is a difference; of judges only those at hand are compared.
    missing = [] if is_of_judge else [at for at in must if at not in figures]
    order = {at: place for place, at in enumerate(must)}
    computed = figures | dict.fromkeys(missing, Incomputable("no_such_figure"))
    return tuple(
        PublishedFigure(
            key=entry["key"],
            at=at,
            published=published.get(at),
            decimals=decimals,
            expected=must.get(at),
            expected_decimals=must_decimals,
            listed=listed.get(at),
            value=None if isinstance(figure, Incomputable) else figure,
            why=to_english(figure) if isinstance(figure, Incomputable) else "",
            reason=entry.get("reason", ""),
            is_of_judge=is_of_judge,
        )
        for at, figure in sorted(computed.items(), key=lambda pair: order.get(pair[0], len(order)))
    )


def list_differences(blocks: Sequence[Block], *, of_judges: bool) -> list[PublishedFigure]:
    """The figures that are not what the data must give."""
    return [f for block in blocks for f in block.figures if not f.is_as_expected and f.is_of_judge == of_judges]


def write_document(
    name: str, study: str, blocks: Sequence[Block], *, files: Mapping[str, str], caution: str = ""
) -> dict[str, Any]:
    """The comparison as one document of unrounded numbers; `docs/replications.md` explains its keys."""
    return {
        "replication": name,
        "study": study,
        "caution": caution,
        "files": dict(files),
        "is_replicated": not list_differences(blocks, of_judges=False),
        "differences": [difference_sentence(figure) for figure in list_differences(blocks, of_judges=False)],
        "judge_differences": [difference_sentence(figure) for figure in list_differences(blocks, of_judges=True)],
        "figures": [
            {
                "key": figure.key,
                "at": list(figure.at),
                "title": block.title,
                "printed_in": block.printed_in,
                "procedure": block.procedure,
                "published": figure.published,
                "expected": figure.expected,
                "listed": figure.listed,
                "value": figure.value,
                "why_none": figure.why,
                "mark": figure.mark,
                "reason": figure.reason if figure.mark == "known" else "",
                "is_of_judge": figure.is_of_judge,
            }
            for block in blocks
            for figure in block.figures
        ],
    }


def difference_sentence(figure: PublishedFigure) -> str:
    """One difference, named in a line."""
    value = _number(figure.value, figure.expected_decimals) if figure.value is not None else f"no value ({figure.why})"
    must = _number(figure.expected, figure.expected_decimals)
    listed_figure = (
        f", or the listed {_number(figure.listed, figure.expected_decimals)}" if figure.listed is not None else ""
    )
    return f"{figure.name}: {value} where the data must give {must}{listed_figure}"


def lines(blocks: Sequence[Block]) -> Iterator[str]:
    """The comparison to read: published beside recomputed, figure by figure."""
    for block in blocks:
        if not block.figures:
            continue
        yield ""
        yield block.title + (f" ({block.printed_in})" if block.printed_in else "")
        yield f"  {block.procedure}"
        yield from _table(block) if block.is_table else map(_line, block.figures)
        if reason := next((figure.reason for figure in block.figures if figure.mark == "known"), ""):
            yield f"  known: {reason}"


def _line(figure: PublishedFigure) -> str:
    decimals = max(figure.decimals, figure.expected_decimals)
    value = _number(figure.value, decimals) if figure.value is not None else figure.why
    published = "" if figure.published is None else f"published {_number(figure.published, figure.decimals)}"
    name = ", ".join(f"test {at}" if at.isdigit() else at for at in figure.at)
    return f"  {name:<22} {published:<17} recomputed {value:>9}  {figure.mark}".rstrip()


SIGNS = {"same": "=", "known": "*", "DIFFERS": "!"}


def _table(block: Block) -> Iterator[str]:
    """Rows and columns of recomputed figures, each with the published one where that is another."""
    if any(figure.published is not None for figure in block.figures):
        yield "  recomputed; = as published; (published) * known; (published) ! DIFFERS"
    cell_by_place = {(row, column): _cell(figure) for figure in block.figures for row, column in [figure.at]}
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*cell_by_place, strict=True))
    widths = [max(len(c), *(len(cell_by_place.get((r, c), "")) for r in rows)) for c in columns]
    first = max(map(len, rows))
    for row, cells in [("", columns), *((r, [cell_by_place.get((r, c), "") for c in columns]) for r in rows)]:
        text = "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        yield f"  {row:<{first}}  {text}".rstrip()
    yield from (f"  –: {reason}" for reason in dict.fromkeys(f.why for f in block.figures if f.value is None))


def _cell(figure: PublishedFigure) -> str:
    value = _number(figure.value, max(figure.decimals, figure.expected_decimals))
    sign = SIGNS.get(figure.mark, "")
    is_another = figure.published is not None and not figure.is_as_published
    return f"{value} ({_number(figure.published, figure.decimals)}) {sign}" if is_another else f"{value} {sign}".strip()


def _number(value: float | None, decimals: int) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"
