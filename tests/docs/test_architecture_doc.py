"""docs/architecture.md names paths that exist, and its picture is that of the code."""

import re
from pathlib import Path

import grimp

from tools import architecture

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "architecture.md").read_text()
APPS = ("studies", "annotation", "judges", "reports")
# Modules that Django finds by their names; a folder of them is no room.
BY_NAME = {"__init__.py", "__pycache__", "admin", "admin.py", "apps.py", "management", "migrations", "models.py"} | {
    *("urls.py", "api_urls.py", "views.py", "api.py", "tasks.py", "templatetags", "demo")
}


def test_every_path_that_is_named_is_there() -> None:
    paths = re.findall(
        r"`((?:studies|annotation|judges|reports|stats|config|tools|templates|static|locale|docs)/[\w./]*)`", DOC
    )

    assert len(paths) > 60
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_folder_of_an_app_is_described() -> None:
    folders = [f"{app}/{path.name}/" for app in APPS for path in (ROOT / app).iterdir() if path.is_dir()]

    assert [f for f in folders if Path(f).name not in BY_NAME and f"`{f}" not in DOC] == []


def test_every_folder_of_the_repository_is_described() -> None:
    named = [path.name for path in ROOT.iterdir() if path.is_dir() and re.fullmatch(r"[a-z]+", path.name)]
    folders = set(named) - {"docs", "var"}

    assert len(folders) > 8
    assert [folder for folder in sorted(folders) if f"\n| `{folder}/" not in DOC] == []


def test_the_picture_is_drawn_from_the_imports_as_they_are() -> None:
    drawn = architecture.draw(grimp.build_graph(*architecture.APPS))

    assert architecture.replace_picture(DOC, drawn) == DOC, "the imports have changed: run `make architecture`"
