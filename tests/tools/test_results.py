"""Results of two versions are compared value by value: what differs is named, what is only called otherwise is not."""

import json
from pathlib import Path

import pytest

from tools.results import __main__ as results


def folder(path: Path, document: object, table: str) -> Path:
    path.mkdir()
    (path / "report.json").write_text(json.dumps(document))
    (path / "plums").mkdir()
    (path / "plums" / "ratings.csv").write_text(table)
    return path


def test_only_what_differs_is_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = folder(tmp_path / "a", {"mean": 0.5, "n": 3, "why": "There are no ratings."}, "item,n\nx,1\ny,2\n")
    after = folder(
        tmp_path / "b", {"mean": 0.5 + 1e-15, "n": 4, "why": {"code": "no_ratings", "values": {}}}, "item,n\nx,1\ny,3\n"
    )

    n_differences = results.compare(before, after)

    said = capsys.readouterr().out
    assert n_differences == 2
    assert "report.json: /n: 3, now 4" in said
    assert "plums/ratings.csv: 1/n: '2', now '3'" in said
    assert results.compare(before, before) == 0
