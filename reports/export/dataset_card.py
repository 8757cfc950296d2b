"""What the Hugging Face Hub reads at the head of a README: an unpacked public package is a dataset there as it is.

https://huggingface.co/docs/hub/datasets-manual-configuration
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from reports.export.archive import WrittenFile
from reports.export.content import PackageContent

FIRST = "responses_long.csv"


def head_lines(content: PackageContent, files: Sequence[WrittenFile], tables: Collection[str]) -> Iterator[str]:
    """YAML, of which each value is written as JSON: the study's title and language, and a configuration for each table.

    tables : names of the files that are tables of answers, texts and places; one without rows cannot be shown there
    """
    shown = [file.name for file in files if file.name in tables and file.n_rows]
    configurations = [
        {
            "config_name": name.removesuffix(".csv"),
            "data_files": [{"split": "all", "path": name}],
            **({"default": True} if name == FIRST else {}),
        }
        for name in sorted(shown, key=lambda name: (name != FIRST, name))
    ]
    yield "---"
    yield f"pretty_name: {json.dumps(content.study.title, ensure_ascii=False)}"
    yield f"language: {json.dumps([content.study.language])}"
    yield f"configs: {json.dumps(configurations)}"
    yield from ["---", ""]
