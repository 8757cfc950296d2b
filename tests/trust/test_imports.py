"""Code that serves raters, people or judges, cannot name who wrote a story: it never imports the tables that know."""

import ast
from pathlib import Path

from django.conf import settings

BASE = Path(settings.BASE_DIR)
KNOWING = {"Provenance", "Source"}
# The one module of these apps that writes provenance, of stories that it makes itself; no page and no prompt uses it.
ALLOWED = {"annotation/responses/derivation.py"}


def names_taken(path: Path) -> set[str]:
    """What a module takes from studies.models, and what it says of `.provenance`."""
    tree = ast.parse(path.read_text())
    taken = {
        a.name
        for n in ast.walk(tree)
        if isinstance(n, ast.ImportFrom) and n.module == "studies.models"
        for a in n.names
    }
    read = {"Provenance" for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "provenance"}
    looked_up = {"Provenance" for n in ast.walk(tree) if isinstance(n, ast.Constant) and "provenance__" in str(n.value)}
    return taken | read | looked_up


def modules(*apps: str) -> list[Path]:
    return [p for app in apps for p in sorted((BASE / app).rglob("*.py")) if "migrations" not in p.parts]


def test_no_module_that_serves_raters_imports_provenance() -> None:
    serving = [p for p in modules("annotation", "judges") if p.relative_to(BASE).as_posix() not in ALLOWED]
    reporting = [p for p in modules("reports") if names_taken(p) & KNOWING]

    assert len(serving) > 40
    assert reporting, "reports do read provenance, so the search finds what it looks for"
    assert {p.name: names_taken(p) & KNOWING for p in serving if names_taken(p) & KNOWING} == {}


def test_nothing_that_serves_a_page_or_a_prompt_reaches_the_one_module_that_may() -> None:
    serving = modules("annotation/views", "judges/prompts")

    assert serving
    assert [p.name for p in serving if "derived" in p.read_text()] == []
