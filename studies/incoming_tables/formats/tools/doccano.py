"""doccano: labelled texts as JSONL or CSV, a file for each annotator or one for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, AnnotatedTask, Tool
from studies.incoming_tables.formats.tools.options import flatten, join_options, spell
from studies.incoming_tables.roles import plain_name
from studies.incoming_tables.tables import IncomingTable, TableKind

OF_ALL = ("all", "file", "export", "dataset", "annotations", "pasted")  # names of files that are of no one annotator

TEXTS, LABELS = {"text", "data"}, {"label", "labels"}
# Columns of raters and their answers that doccano does not write.
OTHERS = (
    *("rater", "rater_id", "expert", "participant", "participant_id", "annotator_id", "worker", "worker_id", "user"),
    *(
        "user_id",
        "judge",
        "respondent",
        "coder",
        "reviewer",
        "value",
        "answer",
        "verdict",
        "rating",
        "score",
        "response",
    ),
)


class Doccano(Tool):
    name = "doccano"
    title = "doccano"
    roles = {"annotator": "rater", "id": "story", "Comments": LEAVE_OUT, "text": LEAVE_OUT}
    story_roles = {
        "id": "code",
        "text": "text",
        "data": "text",
        **dict.fromkeys(("label", "Comments", "annotator", "annotation_approver"), LEAVE_OUT),
    }
    task_column = "id"
    prefixes = ("meta.",)

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        columns = {*table.columns}
        is_whole = {"id", "Comments"} <= columns and all(columns & names for names in (TEXTS, LABELS))
        return is_whole and not any(plain_name(column) in OTHERS for column in columns)

    @classmethod
    def unpack(cls, entry: Mapping[str, Any]) -> list[AnnotatedTask] | None:
        text = entry.get("text", entry.get("data"))
        if not isinstance(text, str) or "id" not in entry:
            return None
        facts = {name: entry[name] for name in entry if name not in ("label", "labels", "annotations", "Comments")}
        # Since 1.0 a file has labels without their annotator; before, with the annotator's number.
        if isinstance(entry.get("annotations"), list) and "meta" in entry:
            labels: dict[str, list[str]] = {}
            for annotation in entry["annotations"]:
                if not isinstance(annotation, dict) or "label" not in annotation:
                    return None
                labels.setdefault(str(annotation.get("user", "")), []).append(str(annotation["label"]))
            return [
                AnnotatedTask(flatten(facts), [{"label": spell(labels[user]), "annotator": user} for user in labels])
            ]
        if "Comments" not in entry and not {"annotation_approver", "labels"} <= entry.keys():
            return None
        return [AnnotatedTask(flatten(facts), [{"label": spell(entry.get("label", entry.get("labels")))}])]

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        """With the annotator of whom the file is, by its name; labels of a CSV, which stand between #, as options."""
        stem, columns = PurePosixPath(table.name).stem, table.columns
        at = columns.index("label") if "label" in columns and table.name.endswith((".csv", ".tsv", ".xlsx")) else -1
        rows = list(table.rows)
        if at >= 0:
            rows = [(n, (*row[:at], join_options(row[at].split("#")), *row[at + 1 :])) for n, row in rows]
        names_rater = not {"annotator", "annotation_approver"}.isdisjoint(columns)
        if not names_rater and not kind.has_stories and stem.lower() not in OF_ALL:
            columns, rows = (*columns, "annotator"), [(n, (*row, stem)) for n, row in rows]
        return replace(table, columns=columns, rows=tuple(rows))
