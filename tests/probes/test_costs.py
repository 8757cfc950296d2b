"""What a new thing costs is what docs/architecture.md says; and it is found wherever such things are looked for."""

import re
from pathlib import Path

import pytest

from tests.probes.tree import ROOT, TEST, Probe, copy_tree, run_tests

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
PERCENT = """### percent

```toml
slug = "talk"
version = "1"
title = "Talk"

[[items]]
key = "talk"
type = "percent"
question = "How much of it is dialogue?"
```

"""
PROBES = (
    Probe(
        "instrument",
        "instrument",
        "test_instruments_doc.py::test_every_built_in_instrument_is_listed_and_no_other",
        docs={"docs/instruments.md": (("| `ttcw` |", "| `first-line` | one question | nothing | all words |\n"),)},
    ),
    Probe(
        "item type",
        "item_type",
        "test_instruments_doc.py::test_every_type_has_a_section_and_no_other",
        docs={"docs/instruments.md": (("### spans\n", PERCENT),)},
    ),
    Probe(
        "figure of the report",
        "figure",
        "test_reports_doc.py::test_every_file_is_documented_and_no_other",
        docs={
            "docs/reports.md": (
                ("| `preferences.csv` |", "| `probes.csv` | the probe |\n"),
                ("| `preferences` |", "| `probe` | the probe |\n"),
            )
        },
    ),
    Probe(
        "model provider",
        "provider",
        "test_judges_doc.py::test_every_provider_is_documented_and_no_other",
        docs={"docs/judges.md": (("\nA new file defines a subclass of `Provider`", "| `telegraph` | a wire |\n"),)},
    ),
    Probe(
        "metric",
        "metric",
        "test_judges_doc.py::test_every_item_of_every_metric_is_documented_in_its_version_and_no_other",
        docs={"docs/judges.md": (("| `surprise-within`", "| `questions` | 1 | `marks` | question marks |\n"),)},
    ),
    Probe(
        "intervention",
        "intervention",
        "test_judges_doc.py::test_every_intervention_is_documented_and_no_other",
        docs={"docs/judges.md": (("| `request` | a last", "| `whisper` | small letters |\n"),)},
    ),
    Probe(
        "recipe",
        "recipe",
        "test_judges_doc.py::test_every_recipe_is_documented_in_its_version_and_no_other",
        docs={
            "docs/judges.md": (("| `nsv-extraction` | 1 | stories", "| `haiku` | 1 | premises | nowhere | all |\n"),)
        },
    ),
    Probe(
        "replication",
        "replication",
        "test_replications_doc.py::test_every_replication_has_a_section_and_no_other",
        docs={"docs/replications.md": (("## TTCW:", "## Depth: `replicate depth-again`\n\nGenerated.\n\n"),)},
    ),
    Probe(
        "study fact",
        "study_fact",
        "test_study_files_doc.py::test_every_key_of_a_study_is_documented_and_no_other",
        lines={
            "studies/facts.py": (
                ('    StudyFact(\n        key="ethics_', '    StudyFact(key="funder", label="Funder"),\n'),
            )
        },
        docs={"docs/study-files.md": (("| `ethics_approval` |", "| `funder` | text | who pays for the study |\n"),)},
    ),
    Probe(
        "export column",
        "export_column",
        "",  # the codebook is its docs, and a column without its meaning is no column
        lines={
            "reports/export/long_table_columns.py": (
                (
                    '    Column("step", ',
                    '    Column("n_reasons", "Signs of the reasons.", lambda row: len(row.response["rationale"])),\n',
                ),
            )
        },
    ),
    Probe(
        "role of stories",
        "story_role",
        "",  # the page offers every role by its title
        lines={
            "studies/story_import/columns.py": (
                ('    Role("url", ', '    Role("mood", gettext_lazy("Mood of the story"), "mood tone"),\n'),
            )
        },
    ),
    Probe(
        "role of answers",
        "answer_role",
        "",
        lines={
            "annotation/answer_import/roles.py": (
                (
                    'Role("time", ',
                    'Role("kind", gettext_lazy("Person or model"), "kind rater_kind"), ',
                ),
            )
        },
    ),
    Probe(
        "role of scores",
        "score_role",
        "",
        lines={
            "judges/score_import.py": (
                (
                    '    replace(GROUP, names="group',
                    '    Role("rationale", gettext_lazy("Reason"), "reason rationale why"),\n',
                ),
            )
        },
    ),
    Probe(
        "file of another tool",
        "tool_file",
        "test_imports_doc.py::test_every_tool_is_documented_and_no_other",
        docs={"docs/imports.md": (("| Potato |", "| Plum Survey | CSV | no rotten plums |\n"),)},
    ),
    Probe("study for another tool", "tool_export", ""),
    Probe(
        "language",
        "language",
        "test_languages_doc.py::test_every_language_is_documented_and_no_other",
        lines={"config/settings.py": (('    ("pt-br", ', '    ("pt", "Português, tradução não revista"),\n'),)},
        docs={
            "docs/languages.md": (
                ("| Brazilian", "| Portuguese, `pt` | nobody | complete; **not reviewed by a native editor** |\n"),
            )
        },
        copied={
            f"locale/pt/LC_MESSAGES/{name}": f"locale/pt_BR/LC_MESSAGES/{name}" for name in ("django.po", "django.mo")
        },
    ),
)
DOCS = ("instruments", "judges", "reports", "replications", "study_files", "languages", "imports")
DOCS_TESTS = tuple(f"tests/docs/test_{name}_doc.py" for name in DOCS)
# What whoever adds such a thing is held to without having written a test.
CONTRACTS = (
    "tests/judges/metrics/test_contract.py",
    "tests/judges/laboratory/recipes/test_recipes.py::test_a_recipe_asks_with_its_own_prompts_and_ends",
    "tests/judges/providers/test_contract.py::test_a_provider_has_a_slug_that_fits_its_column_and_a_title",
    "tests/judges/prompts/test_prompts.py::test_every_item_type_can_be_asked_by_every_built_in_prompt",
    "tests/reports/figures/test_contract.py",
    "tests/studies/items/test_contract.py",
    "tests/studies/test_facts.py",
    "tests/studies/incoming_tables/test_roles.py",
    "tests/studies/incoming_tables/test_tools.py",
    "tests/studies/items/test_instruments.py",
    "tests/languages/test_catalogue.py",
)
NEW_ONES = "docs or probed or percent or first-line or metrics or provider or probe or funder or roles or tool or [pt]"


def costs() -> dict[str, int]:
    """How many files each new thing touches, as the table says it."""
    part = ARCHITECTURE.split("\n## What a new thing costs\n")[1].split("\n## ")[0]
    return {name: int(n) for name, n in re.findall(r"^\| ([a-z ]+) \|[^|]+\| (\d+) \|", part, re.MULTILINE)}


def copy_with_probes(to: Path, *, is_documented: bool) -> Path:
    tree = copy_tree(to)
    for probe in PROBES:
        probe.put_into(tree, is_documented=is_documented)
    return tree


def test_every_row_of_the_table_has_a_probe_and_no_other() -> None:
    assert list(costs()) == [probe.row for probe in PROBES]


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.row)
def test_a_new_thing_touches_as_many_files_as_the_table_says(probe: Probe) -> None:
    print(f"{probe.row}: files touched: {len(probe.touched)} ({', '.join(probe.touched)})")

    assert len(probe.touched) == costs()[probe.row]


@pytest.mark.slow
def test_new_things_are_found_by_all_that_look_for_such_things(tmp_path: Path) -> None:
    tree = copy_with_probes(tmp_path, is_documented=True)
    probed = [f"tests/probes/new/{probe.folder}/{TEST}" for probe in PROBES]

    process = run_tests(tree, "--import-mode=importlib", "-k", NEW_ONES, *probed, *DOCS_TESTS, *CONTRACTS)

    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.slow
def test_new_things_are_refused_until_they_are_documented(tmp_path: Path) -> None:
    tree = copy_with_probes(tmp_path, is_documented=False)

    process = run_tests(tree, *DOCS_TESTS)

    assert process.returncode == 1, process.stdout + process.stderr
    for probe in PROBES:
        assert not probe.docs or f"FAILED tests/docs/{probe.refused_by}" in process.stdout, probe.row
