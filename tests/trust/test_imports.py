"""Code that serves raters, people or judges, cannot name who wrote a story: it never imports the tables that know."""

import ast
from pathlib import Path

import grimp
from django.conf import settings

BASE = Path(settings.BASE_DIR)
KNOWING = {"Provenance", "Source"}
# What of these apps may know it: what writes it, of stories made here and of leave to send; and what compares a model's
# claim to know a text with the truth, once the claim has been made. No page of raters and no prompt uses them.
ALLOWED = {
    *("annotation/responses/derivation.py", "judges/laboratory/generation/acceptance.py"),
    "annotation/answer_import/names.py",  # answers from elsewhere may name a story by its title or a factor
    *("judges/releases.py", "judges/settlement/recognition_results.py"),
}


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


def test_what_is_sent_to_a_model_is_made_without_what_knows_provenance() -> None:
    graph = grimp.build_graph("judges", cache_dir=None)
    knowing = {"judges.laboratory.generation.acceptance", "judges.releases", "judges.settlement.recognition_results"}

    assert graph.find_downstream_modules("judges.settlement.recognition_results"), "what reads replies uses it"
    making = ("judges.planning", "judges.requests")
    upstream = {name: graph.find_upstream_modules(name, as_package=True) for name in making}
    assert "judges.prompts" in upstream["judges.planning"], "what plans a run imports what it says"
    assert {name: modules & knowing for name, modules in upstream.items()} == {name: set() for name in making}
