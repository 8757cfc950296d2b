"""Folders of study files, and how it is seen that nothing of a bad one came in."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.apps import apps

from studies.documents.errors import DocumentError

STUDY = """
slug = "plums"
title = "Plums"

[[steps]]
key = "consent"
kind = "consent"
text = "You can stop at any time."

[[steps]]
key = "tests"
kind = "rating"
instrument = "ttcw"
scope = "story"
"""


HEADER = "story,group,text,source,source_kind"


CSV = f"{HEADER}\ns1,g1,Once.,Ann,expert_writer\ns2,g1,Twice.,Bob,language_model\n"


ROW = {"story": "s1", "group": "g1", "text": "Once.", "source": "Ann", "source_kind": "expert_writer"}


def folder(tmp_path: Path, *, study: str = STUDY, **told: str | bytes) -> Path:
    """A study's folder: study.toml, and files of stories by suffix; a valid CSV unless others are given."""
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")
    for suffix, content in (told or {"csv": CSV}).items():
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / f"stories.{suffix}").write_bytes(data)
    return tmp_path


def rows_by_table() -> dict[str, int]:
    names = ("studies", "annotation")
    return {
        m._meta.db_table: m._default_manager.count() for name in names for m in apps.get_app_config(name).get_models()
    }


@contextmanager
def refused(said: str) -> Iterator[None]:
    """Nothing comes in, and the message is this, on one line."""
    before = rows_by_table()
    with pytest.raises(DocumentError) as caught:
        yield
    assert str(caught.value) == said
    assert "\n" not in str(caught.value)
    assert rows_by_table() == before
