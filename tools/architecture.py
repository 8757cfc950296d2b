"""The picture of docs/architecture.md, drawn from the imports of the code: `make architecture`.

Rooms are the folders and modules directly inside an app. An arrow says "imports"; one that follows from two others is
left out, so that the picture shows the order and not every line.
"""

import re
import sys
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
APPS = ("reports", "judges", "annotation", "studies", "stats")
# Django finds these by their names; they stand beside the rooms and belong to no layer.
LEFT_OUT = {"apps", "management", "migrations", "urls", "api_urls", "templatetags"}
START, END = "<!-- picture: make architecture -->", "<!-- end of picture -->"

Edges = set[tuple[str, str]]


def room_edges(graph: grimp.ImportGraph, app: str) -> Edges:
    """Which rooms of an app import which others of it, as (importer, imported)."""
    edges: Edges = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            importer, target = room_of(module), room_of(imported)
            if importer and target and importer != target and all(r.startswith(f"{app}.") for r in (importer, target)):
                edges.add((importer, target))
    return edges


def room_of(module: str) -> str:
    """`annotation.responses` of `annotation.responses.history`; empty for what belongs to no room."""
    parts = module.split(".")
    return "" if len(parts) < 2 or parts[1] in LEFT_OUT else ".".join(parts[:2])


def app_edges(graph: grimp.ImportGraph) -> Edges:
    """Which apps import which others."""
    return {
        (importer, imported)
        for importer in APPS
        for imported in APPS
        if importer != imported and graph.direct_import_exists(importer=importer, imported=imported, as_packages=True)
    }


def reduce(edges: Edges) -> Edges:
    """The edges without those that follow from two or more others."""
    targets: dict[str, set[str]] = {}
    for importer, imported in edges:
        targets.setdefault(importer, set()).add(imported)

    def reach(start: str, reached: set[str]) -> set[str]:
        for target in targets.get(start, set()) - reached:
            reached.add(target)
            reach(target, reached)
        return reached

    return {
        (importer, imported)
        for importer, imported in edges
        if not any(imported in reach(other, set()) for other in targets[importer] - {imported})
    }


def draw(graph: grimp.ImportGraph) -> str:
    """The picture as Mermaid text: a box for every app with its rooms, arrows for imports."""
    lines = ["```mermaid", "flowchart TB"]
    for app in APPS:
        edges = room_edges(graph, app)
        rooms = sorted({room_of(module) for module in graph.modules if module.startswith(f"{app}.")} - {""})
        lines += [f"  subgraph {app}", *(f"    {room}[{room.split('.')[1]}]" for room in rooms)]
        lines += [f"    {importer} --> {imported}" for importer, imported in sorted(reduce(edges))]
        lines.append("  end")
    lines += [f"  {importer} ==> {imported}" for importer, imported in sorted(reduce(app_edges(graph)))]
    return "\n".join([*lines, "```"])


def replace_picture(page: str, picture: str) -> str:
    """The page with this picture between its two marks."""
    return re.sub(f"{START}.*?{END}", lambda _: f"{START}\n{picture}\n{END}", page, flags=re.DOTALL)


def main() -> int:
    page = PAGE.read_text()
    drawn = replace_picture(page, draw(grimp.build_graph(*APPS)))
    PAGE.write_text(drawn)
    sys.stderr.write(f"{PAGE.relative_to(ROOT)}: {'drawn anew' if drawn != page else 'is up to date'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
