"""The three tables that a paper prints: their numbers are those of the report, and LaTeX takes whatever is in them."""

import io
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import translation

from reports import results
from reports.document import latex
from reports.document.latex import LatexCell, LatexTable, RowPanel
from reports.document.values import Interval
from reports.figures.agreement.rows import AgreementResult
from reports.figures.base import without_value
from reports.figures.sources.comparisons import ComparisonResult
from reports.figures.sources.contrast_rows import ContrastRow, OutcomeContrasts
from reports.figures.sources.pass_rates import PassRateResult
from reports.methods.sampled_units import Sampled, find_sampled
from reports.methods.tables import paper_tables
from reports.numbers import coefficient, decimal
from reports.results import Results
from studies.models import Study
from tests import factories, triggers
from tests.reports import composed, given, planted
from tests.reports.test_pages import full_study

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

COMMANDS = {
    *(r"\textbackslash{}", r"\textasciicircum{}", r"\textasciitilde{}", r"\textless{}", r"\textgreater{}"),
    *(r"\textbar{}", r"\textquotedbl{}", r"\textasciigrave{}", r"\dots{}", r"\dag{}"),
}
HOSTILE = r"[*\input{/etc/passwd} & 100 % of $x$_1 #2 ~ ^^41 “Café”, naïve — ß, œ, Ångström \\ \end{tabular}"


def read(study: Study, *, blind: bool = False) -> Results:
    return results.read_results(results.compute(study, blind=blind))


def tables_of(shown: Results, sampled: Sampled = Sampled.GROUPS) -> dict[str, str]:
    return {table.name: table.text for table in paper_tables(shown, sampled)}


def cells_of(text: str) -> list[list[str]]:
    """The cells of every row, as they are printed."""
    rows = [line.removesuffix(r" \\") for line in text.splitlines() if line.endswith(r" \\") and " & " in line]
    return [re.split(r" (?<!\\)& ", row) for row in rows]


def plain(cell: str) -> str:
    """A cell without what is raised behind it, with minus signs as the report writes them."""
    return re.sub(r"\\textsuperscript\{.*\}$", "", cell).replace("$-$", "−").replace("{-}", "-")


# ── what stands in them ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_numbers_are_those_of_the_report() -> None:
    shown = read(planted.plant().study)
    tables = tables_of(shown)

    check_rates(shown.figures["pass_rates"], tables["items-by-source"])
    check_agreement(shown.figures["agreement"], tables["agreement"])
    check_differences(shown.figures["comparisons"], tables["differences"])


@pytest.mark.slow
@pytest.mark.data
def test_those_of_the_release_are_the_published_rates_and_kappas(release: Path) -> None:
    call_command("replicate", "ttcw", "--data", str(release / "ttcw"), stdout=io.StringIO(), stderr=io.StringIO())
    study = Study.objects.get(slug="ttcw-release")
    shown = read(study)
    tables = tables_of(shown, find_sampled(study, shown))

    check_rates(shown.figures["pass_rates"], tables["items-by-source"])
    check_agreement(shown.figures["agreement"], tables["agreement"])
    check_differences(shown.figures["comparisons"], tables["differences"])
    rows = cells_of(tables["items-by-source"])
    assert [plain(cell) for cell in rows[1]] == ["Narrative Ending", "91.7", "33.3", "8.3", "19.4"]
    assert [plain(cell) for cell in rows[29]] == ["Mean of 14", "84.7", "30.0", "8.7", "27.8"]
    assert [row[1] for row in cells_of(tables["agreement"])[1:4]] == [".47", ".25", ".28"]
    caption = tables["items-by-source"].splitlines()[2]
    for words in ("48 stories, 11 raters", "over writing prompts", "Hochberg over 14 outcomes", "Holm over 6 pairs"):
        assert words in caption


def check_rates(rates: PassRateResult, text: str) -> None:
    lines = [cell for row in (*rates.items, rates.mean) for cell in (row,)]
    rows = cells_of(text)[1 : 1 + 2 * len(lines)]
    for line, values, ends in zip(lines, rows[::2], rows[1::2], strict=True):
        assert [plain(cell) for cell in values[1:]] == [decimal(rate.value) for rate in line.by_source]
        assert [plain(cell) for cell in ends[1:]] == [printed(rate.interval, 1) for rate in line.by_source]


def check_agreement(agreement: AgreementResult, text: str) -> None:
    printed_rows = {(row[0], row[1].split("\\")[0]) for row in cells_of(text)}
    expected = {(latex.escape(row.title), tex(coefficient(row.coefficient.value))) for row in agreement.items}
    assert expected <= printed_rows


def check_differences(compared: ComparisonResult, text: str) -> None:
    contrasts = [(outcome, row) for outcome in compared.whole for row in outcome.contrasts]
    for (outcome, row), cells in zip(contrasts, cells_of(text)[1:], strict=True):
        assert plain(cells[0]) == f"{row.first} − {row.second}"
        expected = ["—"] * 3 if row.value is None else numbers_of(outcome, row)
        assert [plain(cell).replace("{---}", "—") for cell in cells[1:4]] == expected
        assert cells[1].endswith(r"\textsuperscript{*}") == row.is_clear


def numbers_of(outcome: OutcomeContrasts, row: ContrastRow) -> list[str]:
    return [decimal(row.value, outcome.places), *(printed(ends, outcome.places) for ends in (row.wide, row.interval))]


def printed(ends: Interval | None, places: int) -> str:
    return "—" if ends is None or ends.low is None else f"[{decimal(ends.low, places)}, {decimal(ends.high, places)}]"


def tex(number: str) -> str:
    return number.replace("−", "$-$").replace("–", "{---}")


def test_scales_and_declared_scores_stand_in_panels_of_their_own() -> None:
    shown = read(composed.plant().study)
    text = tables_of(shown)["items-by-source"]

    (total,) = [row for row in shown.figures["variance_components"].rows if row.title == "Craft in all"]
    (printed_total,) = [row for row in cells_of(text) if row[0] == "Craft in all"]

    assert re.findall(r"\\textit\{(.+?)\}", text) == ["Mean rating", "Mean score"]
    assert [plain(cell) for cell in printed_total[1:]] == [decimal(mean.value, 2) for mean in total.sources]


def test_letters_say_who_was_not_told_apart_and_a_row_without_has_nobody_who_was() -> None:
    shown = read(planted.plant().study)
    compared = shown.figures["comparisons"]
    outcomes = {outcome.key: outcome for outcome in compared.outcomes}
    apart = replace(
        outcomes["tests/item-1"],
        sources=tuple(
            replace(level, letters=letter)
            for level, letter in zip(outcomes["tests/item-1"].sources, "aab", strict=True)
        ),
    )
    others = tuple(apart if outcome.key == apart.key else outcome for outcome in compared.outcomes)
    with_letters = replace(shown, figures=shown.figures | {"comparisons": replace(compared, outcomes=others)})

    rows = cells_of(tables_of(with_letters)["items-by-source"])

    assert [re.findall(r"\\textsuperscript\{(\w+)\}", cell) for cell in rows[1][1:]] == [["a"], ["a"], ["b"]]
    assert "Sources that share a letter in a row are not shown to differ" in tables_of(with_letters)["items-by-source"]
    assert "In no row are two sources shown to differ" in tables_of(shown)["items-by-source"]


def test_what_has_no_value_is_a_dash_and_the_note_says_why() -> None:
    shown = read(full_study())
    agreement = shown.figures["agreement"]
    first = agreement.items[0]
    none = replace(
        first, coefficient=replace(first.coefficient, value=None, name=None, why=without_value("no_answers"))
    )
    without = replace(agreement, items=(none, *agreement.items[1:]))

    text = tables_of(replace(shown, figures=shown.figures | {"agreement": without}))["agreement"]

    assert ["Item 1", "{---}"] in [row[:2] for row in cells_of(text)]
    assert "{---} Item 1: There are no answers." in text


def test_while_sources_are_sealed_agreement_stands_alone_and_names_none() -> None:
    study = planted.plant().study
    assert "Model one" in "".join(tables_of(read(study)).values())

    sealed = tables_of(read(study, blind=True))

    assert list(sealed) == ["agreement"]
    assert "Model one" not in sealed["agreement"]


def test_of_many_sources_six_stand_beside_each_other() -> None:
    shown = read(full_study())
    rates = shown.figures["pass_rates"]
    names = [f"Model {n}" for n in range(14)]
    many = tuple(replace(rates.mean.by_source[0], source=name) for name in names)
    wide = replace(
        rates,
        items=tuple(replace(row, by_source=many) for row in rates.items),
        mean=replace(rates.mean, by_source=many),
    )

    text = tables_of(replace(shown, figures=shown.figures | {"pass_rates": wide}))["items-by-source"]

    assert re.findall(r"\\begin\{tabular\}\{(\w+)\}", text) == ["lrrrrrr", "lrrrrrr", "lrr"]
    assert [name for name in names if f"& {name.replace('-', '{-}')} " in text] == names
    assert re.findall(r"label\{tab:(.+?)\}", text) == [f"items-by-source-{n}" for n in (1, 2, 3)]


def test_blocks_are_named_for_what_they_are() -> None:
    with_premises = planted.plant().study
    groups = given.closed_study("pears", n_groups=3)
    with triggers.lifted():
        groups.groups.update(premise="")
    given.verdicts(groups, {"pearsE01": "ynynyn", "pearsE02": "yyynnn"})

    of_premises, of_groups = (find_sampled(study, read(study)) for study in (with_premises, groups))

    assert (of_premises, of_groups) == (Sampled.PREMISES, Sampled.GROUPS)
    assert "intervals over writing prompts" in tables_of(read(with_premises), of_premises)["agreement"]


def test_with_a_decimal_comma_the_ends_of_an_interval_are_parted_by_a_semicolon() -> None:
    shown = read(planted.plant().study)

    with translation.override("pt-br"):
        rows = cells_of(tables_of(shown)["items-by-source"])

    assert re.fullmatch(r"\[\d+,\d; \d+,\d\].*", rows[2][1])


# ── LaTeX ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_special_letter_is_escaped() -> None:
    letters = '\\{}$&#%_^~<>|"`'

    escaped = latex.escape(letters)

    rest = escaped
    for command in COMMANDS:
        rest = rest.replace(command, "")
    assert rest == r"\{\}\$\&\#\%\_"
    assert latex.escape("a -- b") == "a {-}{-} b"
    assert latex.escape("κ = −.41…") == r"$\kappa$ = $-$.41\dots{}"
    assert latex.escape("one\n\ntwo\x00\u200b") == "one two"
    assert latex.escape("Cafe\u0301") == "Caf\u00e9"


def table(*, n_rows: int = 2, title: str = "plot & pace") -> LatexTable:
    rows: list[list[LatexCell | str]] = [[title, LatexCell("8.3", "a"), "[0.0, 17.2]"]] * n_rows
    panels = [RowPanel(heading=title, rows=rows)]
    return LatexTable(name="t", title="T", caption=title, headings=["Item", "Yes", title], panels=panels, notes=[title])


def test_a_table_has_its_rules_and_its_note() -> None:
    assert table(n_rows=1).text.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{plot \& pace}\label{tab:t}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"Item & Yes & plot \& pace \\",
        r"\midrule",
        r"\multicolumn{3}{l}{\textit{plot \& pace}} \\*",
        r"plot \& pace & 8.3\textsuperscript{a} & [0.0, 17.2] \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip",
        r"\begin{minipage}{\linewidth}\footnotesize plot \& pace\end{minipage}",
        r"\end{table}",
    ]


def test_a_long_table_breaks() -> None:
    assert table(n_rows=50).text.startswith(r"\begin{longtable}{lrr}")


def test_no_text_of_a_study_becomes_a_command() -> None:
    text = table(title=HOSTILE).text

    assert r"\input" not in text
    assert text.count(r"\end{tabular}") == 1
    assert r"{}[*\textbackslash{}input\{/etc/passwd\} \& 100 \% of \$x\$\_1 \#2" in text


def test_braces_of_a_document_are_balanced(client: Client) -> None:
    full_study()
    client.force_login(factories.staff("researcher"))
    text = client.get("/reports/plums/methods.tex").content.decode()

    bare = re.sub(r"\\[\\{}]", "", text)
    assert bare.count("{") == bare.count("}") > 50
    assert text.startswith(r"\documentclass")
    assert r"\usepackage{booktabs}" in text
    assert text.endswith("\\end{document}\n")


def test_only_the_three_are_written_for_latex(client: Client) -> None:
    full_study()
    client.force_login(factories.staff("researcher"))
    names = ("items-by-source", "agreement", "differences", "pass-rates", "comparisons", "nothing")

    statuses = [client.get(f"/reports/plums/{name}.tex").status_code for name in names]

    assert statuses == [200, 200, 200, 404, 404, 404]


@pytest.mark.slow
def test_pdflatex_compiles_all_three_whatever_items_are_called(tmp_path: Path) -> None:
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not there")
    shown = read(planted.plant().study)
    rates, agreement = shown.figures["pass_rates"], shown.figures["agreement"]
    renamed = {
        "pass_rates": replace(rates, items=tuple(replace(row, title=HOSTILE) for row in rates.items)),
        "agreement": replace(agreement, items=tuple(replace(row, title=HOSTILE) for row in agreement.items)),
    }
    texts = tables_of(replace(shown, figures=shown.figures | renamed)).values()
    document = latex.write_document([*texts, table(n_rows=50, title=HOSTILE).text], paragraph=HOSTILE)
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")

    run = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"],
        check=False,
        capture_output=True,
        cwd=tmp_path,
    )

    assert run.returncode == 0, run.stdout[-2000:].decode(errors="replace")
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000
