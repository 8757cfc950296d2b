"""Lines that can be read beside each other, and files that can be read in one go: 400 lines, of code and tests alike.

A line has 120 characters of a script or stylesheet, 140 of a template. Of Python ruff says it, of scripts Biome; a
template's linter knows a length only for what it formats itself.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "static" / "quire"
TEMPLATES = ROOT / "templates"
# A line break between the tags of running words would be one more space among them.
UNBREAKABLE = {
    TEMPLATES / "annotation" / "story_text.html": "{% for stretch in paragraph.stretches %}",
    TEMPLATES / "annotation" / "prose.html": "{{ run.text }}",
}
MOST_LINES = 400
FOLDERS = (
    "annotation",
    "config",
    "judges",
    "reports",
    "static/quire",
    "stats",
    "studies",
    "templates",
    "tests",
    "tools",
)


def long_lines(path: Path, limit: int) -> list[str]:
    exempt = UNBREAKABLE.get(path, "\n")
    numbered = enumerate(path.read_text().splitlines(), start=1)
    return [f"{path.relative_to(ROOT)}:{n}" for n, line in numbered if len(line) > limit and exempt not in line]


@pytest.mark.parametrize("kind", ["css", "js", "ts"])
def test_scripts_and_styles_keep_to_120_characters(kind: str) -> None:
    paths = sorted(STATIC.rglob(f"*.{kind}"))

    assert paths
    assert [line for path in paths for line in long_lines(path, 120)] == []


def test_templates_keep_to_140_characters() -> None:
    paths = [path for path in sorted(TEMPLATES.rglob("*.html")) if TEMPLATES / "reports" not in path.parents]

    assert len(paths) > 50
    assert [line for path in paths for line in long_lines(path, 140)] == []
    assert all(line in path.read_text() for path, line in UNBREAKABLE.items()), "an exemption that is needed no more"


def test_files_keep_to_400_lines() -> None:
    paths = [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".js", ".html") and "vendor" not in path.parts
    ]

    n_by_path = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in paths}
    assert len(n_by_path) > 500
    assert [f"{path}: {n}" for path, n in n_by_path.items() if n > MOST_LINES] == []
