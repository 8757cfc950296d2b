"""Potato: a project's configuration, its stories and its schemes. https://potato-annotation.readthedocs.io"""

import json
from typing import Any

from studies.tool_exports.base import AskedStories, Question, ToolExport

TYPES = {"one": "radio", "several": "multiselect", "number": "number", "words": "text"}


class PotatoExport(ToolExport):
    name = "potato"
    title = "Potato"

    @staticmethod
    def files(asked: AskedStories) -> dict[str, str]:
        # A story that stands in two groups is read in each.
        rows = [{"id": f"{story['group']}.{story['story']}".strip("."), **story} for story in asked.stories]
        configuration = {
            "annotation_task_name": asked.title,
            "task_dir": ".",
            "data_files": ["stories.jsonl"],
            "item_properties": {"id_key": "id", "text_key": "text"},
            "annotation_schemes": [scheme for question in asked.questions for scheme in _schemes(question)],
            "output_annotation_dir": "annotations",
            "output_annotation_format": "jsonl",
            "user_config": {"allow_all_users": True, "users": []},
            "site_dir": "default",
            "port": 8000,
        }
        # What is JSON is YAML, too.
        return {
            "config.yaml": json.dumps(configuration, ensure_ascii=False, indent=1) + "\n",
            "stories.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        }


def _schemes(question: Question) -> list[dict[str, Any]]:
    words = "\n\n".join(filter(None, (question.background, question.words)))
    scheme: dict[str, Any] = {
        "annotation_type": TYPES[question.form],
        "name": question.name,
        "description": words,
        "label_requirement": {"required": True},
    }
    if question.options:
        scheme["labels"] = [{"name": value, "tooltip": label} for value, label in question.options]
    if question.form == "number":
        scheme |= dict(zip(("min_value", "max_value"), question.ends, strict=True))
    if question.form == "words":
        scheme["textarea"] = {"on": True, "rows": 4}
    if not question.takes_reason:
        return [scheme]
    reason = {"annotation_type": "text", "name": f"{question.name}.reason", "description": "Reason"}
    return [scheme, {**reason, "textarea": {"on": True, "rows": 4}}]
