"""What stands in a package beside its tables: codebook, protocol, descriptor, and the card that says what it all is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count
from django.utils import translation

from annotation.models import Assignment, Rater, Response
from reports.dataset.answers import has_real_people
from reports.export import dataset_card
from reports.export.archive import WrittenFile
from reports.export.content import PackageContent, PackageTable
from reports.export.report_columns import ReportColumns, codebook_entries, schema_fields
from studies import protocol
from studies.cloze import compilation
from studies.models import Cloze, Instrument, Source, Step
from studies.protocol import is_undeclared, list_outcomes


def to_json(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n"


def codebook(
    content: PackageContent, tables: Mapping[str, PackageTable], report_columns: ReportColumns
) -> dict[str, Any]:
    """Every column of every table, every item with all that its values mean, and how the judged clozes are made up."""
    return {
        "clozes": list(_clozes(content)),
        "report": codebook_entries(report_columns),
        "tables": {
            name: {field: {"type": of.type, "meaning": of.meaning} for field, of in table.fields(content).items()}
            for name, table in tables.items()
        },
        "items": [
            {
                "step": item.step.key,
                "item": item.item.key,
                "scope": item.step.scope,
                "instrument": item.item.instrument.slug,
                "instrument_version": item.item.instrument.version,
                "citation": item.item.instrument.citation,
                "type": item.item.type,
                "level": item.level,
                "is_verdict": item.type.is_verdict,
                "is_about_a_story": item.is_about_a_story,
                "is_preference": item.is_preference,
                "is_ranking": item.is_ranking,
                "author_by_option": item.author_by_option,
                "title": item.item.title,
                "dimension": item.item.dimension,
                "question": item.item.question,
                "options": item.item.options,
                "settings": item.item.settings,
            }
            for item in content.items
        ],
        "scores": list(_scores(content)),
    }


def _scores(content: PackageContent) -> Iterator[dict[str, Any]]:
    """The scores of the study by the keys of their outcomes, with all that their numbers follow from: those that its
    instruments declare, and means of scales where they declare none."""
    steps = dict.fromkeys(item.step for item in content.items)
    for outcome in list_outcomes(steps):
        if outcome.score:
            yield {
                "outcome": outcome.key,
                "is_declared": not is_undeclared(outcome.key),
                "is_part": outcome.is_part,
                "title": outcome.title,
                "step": outcome.items[0][0],
                "items": list(outcome.score.items),
                "how": outcome.score.how,
                "weights": dict(outcome.score.weights),
                "reversed": list(outcome.score.reversed),
            }


def _clozes(content: PackageContent) -> Iterator[dict[str, Any]]:
    """Of each cloze whose filled texts are judged its sections with blanks and constraints, and its edges, by the keys
    of the items that ask about them. None of its words. One query."""
    instruments: dict[int | None, Instrument] = {i.item.instrument_id: i.item.instrument for i in content.items}
    for cloze in Cloze.objects.filter(judging__in=instruments).order_by("pk"):
        document = cloze.parsed
        yield {
            "slug": document.slug,
            "instrument": instruments[cloze.judging_id].slug,
            "instrument_version": instruments[cloze.judging_id].version,
            "sections": [
                {
                    "number": section.number,
                    "blanks": [blank.number for blank in document.blanks if blank.section == section.number],
                    "constraints": [
                        {
                            "item": compilation.constraint_key(section.number, number),
                            "required_checks": [
                                compilation.check_key(section.number, number, place)
                                for place, check in enumerate(constraint.checks, start=1)
                                if check.required
                            ],
                        }
                        for number, constraint in enumerate(section.constraints, start=1)
                    ],
                }
                for section in document.sections
            ],
            "edges": [compilation.edge_key(edge.from_, edge.to) for edge in document.edges],
        }


def protocols(content: PackageContent) -> dict[str, Any]:
    """Every frozen version of the protocol as it was frozen, and the amendments; of a draft the protocol as it stands.

    A blind package leaves the analysis plan out, which names sources; the hash is that of the whole document.
    """
    versions = content.study.frozen_versions
    frozen = [
        {"version": version.number, "sha256": version.sha256, "document": _blind(content, version.document)}
        for version in versions
    ]
    if frozen:
        return {"versions": frozen, "amendments": list(_amendments(content))}
    document = protocol.write_document(protocol.load_protocol(protocol.draft(content.study)))
    return {"versions": [{"version": None, "sha256": None, "document": _blind(content, document)}]}


def _amendments(content: PackageContent) -> Iterator[dict[str, Any]]:
    """What was changed after the launch, as it was made; nothing in it tells of a source. One query."""
    rows = content.study.amendments.select_related("version", "study").defer("version__document", "words")
    for row in rows.order_by("number"):
        yield {
            "number": row.number,
            "version": row.version.number if row.version else None,
            "at": row.at.isoformat(),
            "reason": row.reason,
            "holds_for": row.holds_for,
            "changes": row.changes,
            "previous": row.previous,
            "digest": row.digest,
        }


def _blind(content: PackageContent, text: str) -> dict[str, Any]:
    document = dict(json.loads(text))
    if not content.with_sources and document.pop("analysis_plan", None):
        document["left_out"] = ["analysis_plan"]
    return document


def count_excluded(content: PackageContent) -> dict[str, int]:
    """What the package leaves out: raters who withdrew, and answers that they gave or that were practice; and of what
    it holds, what no result counts."""
    answers = Response.objects.filter(assignment__study=content.study)
    of_withdrawn = answers.exclude(assignment__rater__withdrawal=None).exclude(step__kind=Step.Kind.PRACTICE)
    assignments = list(content.assignments.select_related("rater"))
    is_mixed = has_real_people(assignments)
    n_by_status = dict(content.assignments.order_by().values_list("status").annotate(n=Count("pk")))
    return {
        "raters_who_withdrew": content.study.raters.exclude(withdrawal=None).count(),
        "answers_of_raters_who_withdrew": of_withdrawn.filter(first_answered_at__isnull=False).count(),
        "answers_in_practice": answers.filter(step__kind=Step.Kind.PRACTICE).count(),
        "simulated_raters_beside_real_ones": content.study.raters.filter(is_simulated=True).count() * is_mixed,
        "assignments_given_up": n_by_status.get(Assignment.Status.GIVEN_UP, 0),
        "assignments_open": n_by_status.get(Assignment.Status.OPEN, 0),
    }


# ── the descriptor ─────────────────────────────────────────────────────────────────────────────────────────────────


def descriptor(
    content: PackageContent,
    files: list[WrittenFile],
    tables: Mapping[str, PackageTable],
    report_columns: ReportColumns,
    excluded: Mapping[str, int],
) -> dict[str, Any]:
    """`datapackage.json`: a Data Package, version 1. Source: specs.frictionlessdata.io/data-package."""
    study = content.study
    return {
        "profile": "data-package",
        "name": study.slug,
        "title": study.title,
        "description": _description(content) or study.title,
        "resources": [_resource(content, file, tables, report_columns) for file in files],
        "quire": {"is_blind": not content.with_sources, "is_public": content.is_public, "left_out": dict(excluded)},
    }


def _description(content: PackageContent) -> str:
    """The study's own description; of a blind package without the paragraphs that name a source."""
    return _without_sources(content, content.study.description)


def _without_sources(content: PackageContent, text: str) -> str:
    """The text; for a blind package without the paragraphs that name a source. One query then."""
    if content.with_sources or not text.strip():
        return text.strip()
    names = Source.objects.filter(provenances__story__study=content.study).values_list("name", flat=True).distinct()
    patterns = [_pattern(name) for name in names]
    kept = [line for line in text.splitlines() if not any(pattern.search(line) for pattern in patterns)]
    return "\n".join(kept).strip()


def _pattern(name: str) -> re.Pattern[str]:
    """Finds the name of a source as people write it: "The New Yorker" in "New Yorker stories", "GPT-4" in "gpt 4"."""
    parts = re.findall(r"[^\W\d_]+|\d+", name)
    if len(parts) > 1 and parts[0].casefold() in ARTICLES:
        parts = parts[1:]
    words = r"[\W_]*".join(map(re.escape, parts)) or re.escape(name)
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


ARTICLES = ("the", "a", "an")
# What a file is, by its ending: programmes guess otherwise, and take `report.json` for a report of their own, or a
# semicolon in a note for the sign between cells.
FORMATS: dict[str, dict[str, Any]] = {
    ".csv": {
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "dialect": {"delimiter": ",", "quoteChar": '"', "doubleQuote": True},
    },
    ".json": {"format": "json", "mediatype": "application/json", "encoding": "utf-8", "type": "json"},
    ".jsonl": {"format": "jsonl", "mediatype": "application/jsonl", "encoding": "utf-8", "type": "file"},
}


def _resource(
    content: PackageContent, file: WrittenFile, tables: Mapping[str, PackageTable], report_columns: ReportColumns
) -> dict[str, Any]:
    name = file.name.lower().replace("/", ".").replace("_", "-")
    resource = {"name": name, "path": file.name, "bytes": file.n_bytes, "hash": f"sha256:{file.sha256}"}
    table = tables.get(file.name)
    resource |= FORMATS.get(Path(file.name).suffix, {})
    if table is not None:
        fields = [
            {"name": name, "type": field.type, "description": field.meaning}
            for name, field in table.fields(content).items()
        ]
    elif file.name in report_columns:
        fields = schema_fields(file.name, report_columns[file.name])
    else:
        return resource | {"profile": "data-resource"}
    return resource | {
        "profile": "tabular-data-resource",
        "description": table.meaning if table else _meaning(file.name),
        "schema": {"fields": fields, "missingValues": [""]},
    }


# ── the card ───────────────────────────────────────────────────────────────────────────────────────────────────────


def card(
    content: PackageContent,
    files: list[WrittenFile],
    tables: Mapping[str, PackageTable],
    excluded: Mapping[str, int],
    reason: str,
    editions: str = "",
    not_recomputed: Sequence[str] = (),
) -> str:
    """`README.md`: what the package is, what stands in it, what does not, and how it is checked. In English."""
    lines = [*_card_lines(content, files, tables, excluded, reason, editions), *CHECK.splitlines()]
    if not_recomputed:
        lines += ["", f"`recompute.py` does not compute these parts of the report: {', '.join(not_recomputed)}."]
    return "\n".join(lines) + "\n"


def _card_lines(
    content: PackageContent,
    files: list[WrittenFile],
    tables: Mapping[str, PackageTable],
    excluded: Mapping[str, int],
    reason: str,
    editions: str,
) -> Iterator[str]:
    study = content.study
    if content.is_public:
        yield from dataset_card.head_lines(content, files, tables)
    yield from [f"# {study.title}", ""]
    with translation.override(settings.LANGUAGE_CODE):
        facts = [f"{label}: {words}" for label, words in study.plain_facts]
    told = [_description(content), *(_without_sources(content, words) for words in (study.notice, *facts))]
    for paragraph in filter(None, told):
        yield from [paragraph, ""]
    if _are_all_simulated(content):
        yield from ["All raters of this study were simulated; nothing in it was said by a person.", ""]
    yield from ["## What it holds", "", *_sources_lines(content, reason), ""]
    yield "| file | holds | rows |"
    yield "|---|---|---|"
    for file in files:
        meaning = tables[file.name].meaning if file.name in tables else _meaning(file.name)
        rows = "" if file.n_rows is None else str(file.n_rows)
        yield f"| `{file.name}` | {meaning} | {rows} |"
    if editions:
        yield from ["", editions]
    yield from ["", "## What it leaves out", ""]
    yield from [f"- {name.replace('_', ' ')}: {n}" for name, n in excluded.items()]
    yield from ["", "Names, addresses and payments of raters are in no package; raters stand under their codes."]
    yield "Rows that are open, given up or of simulated raters beside people say so in `status`; no result counts them."
    yield ""


def _are_all_simulated(content: PackageContent) -> bool:
    """Whether there are raters, and none of them is a person. One query."""
    of_people = content.assignments.filter(rater_kind=Rater.Kind.PERSON).order_by()
    return set(of_people.values_list("rater__is_simulated", flat=True).distinct()) == {True}


def _sources_lines(content: PackageContent, reason: str) -> Iterator[str]:
    if content.with_sources:
        yield f"With sources: who wrote each story stands in it. The reason that was given: {reason}"
    else:
        yield "Blind: no source, no author, no original title, no factor of a story."
        yield "Lines of the description and the notice that name a source are left out."
        yield "Judges and metrics that were run in Quire are in it if they read every story; others, and requests that"
        yield "made, measured or tried something, are in no blind package, and its report is computed without them."
    if not content.may_tell_texts_apart:
        yield "Some texts are withheld. Which ones would say who wrote them, so `stories.csv` has no text, no length"
        yield "and no hash of any story, and `recompute.py` leaves out what is based on them."
    elif content.is_public:
        yield "Public: texts stand in it only where their licence lets them travel, others by their SHA-256."
    else:
        yield "Not for publication: texts stand in it whatever their licence says."


def _meaning(name: str) -> str:
    folder = name.partition("/")[0]
    if name.endswith(".R"):
        return "A mixed model in R, for which the report has none; its head says what it expects."
    return MEANING.get(name) or MEANING.get(folder, "A table of the report.")


MEANING = {
    "agreement.csv": "Inter-rater agreement, item by item.",
    "judge_calls.jsonl": "Every request to a judge and what came back.",
    "codebook.csv": "What the columns of the long file and its items mean.",
    "codebook.json": "Every column of every table, every item with its options.",
    "protocol.json": "What was asked, in which words, version by version.",
    "report.json": "The report: every number that the study's page shows.",
    "recompute.py": "Computes the report's numbers from these files.",
    "recompute": "A part of recompute.py, which reads these files.",
    "stats": "The statistics that made the report, as Quire has them.",
    "spreadsheets": "A copy for spreadsheets.",
}
CHECK = """\
## To check it

    sha256sum --check SHA256SUMS
    python recompute.py

The first compares every file with its sum. The second reads these files and computes the numbers of `report.json` again
with the very functions that made it: they stand in `stats/`, copied from Quire; what reads the tables and calls them is
`recompute/`. Quire and Django need not be there; Python 3.11 or later needs the packages numpy, scipy, pandas,
statsmodels, scikit-learn and krippendorff. It says how many numbers are the same, and names those that differ and those
that it does not compute. So it shows that the report follows from these answers, and by which formulas. That the
formulas are right is checked elsewhere: Quire's tests keep a second implementation of them, written independently
(`tests/independent/`), and hold packages like this one against it.

Where R is there, `Rscript script/scales.R`, `script/verdicts.R` and `script/ordinal.R` fit mixed models with crossed
effects of raters, stories and items (packages lme4, ordinal, jsonlite).

Values are exact: read tables with a program (pandas: `read_csv(…, keep_default_na=False)`). The copies under
`spreadsheets/` are safe to open in a spreadsheet, which would run some of what raters write as formulas.
"""
