"""Lines that can be read beside each other: 120 characters of a script or stylesheet, 140 of a template.

Of Python ruff says it, of scripts Biome; a template's linter knows a length only for what it formats itself.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "static" / "quire"
TEMPLATES = ROOT / "templates"
# A line break between the tags of running words would be one more space among them.
UNBREAKABLE = {
    TEMPLATES / "annotation" / "story_text.html": "{% for stretch in paragraph.stretches %}",
    TEMPLATES / "annotation" / "prose.html": "{% for run in paragraph.runs %}",
}


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
