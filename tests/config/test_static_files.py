"""Joining our modules and sheets, and when what was collected is used."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.contrib.staticfiles.storage import staticfiles_storage

from config import static_files
from config.static_files import CannotJoin, StaticStorage

FOLDER = Path(site_settings.STATICFILES_DIRS[0])


def write(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text)
    return folder


def test_modules_are_joined_once_each_before_those_that_import_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        a='import { c } from "./c.js";\nimport * as b from "./b.js";\nconsole.log(b, c);\n',
        b='import {\n  c as d,\n} from "./c.js";\nexport const b = d; // kept\n',
        c="// gone\n/** @type {number} */\nexport const c = 1;\n",
    )

    joined = static_files.join_modules(tmp_path, "a.js")

    assert joined == (
        "const module_c = (() => {\nconst c = 1;\nreturn { c };\n})();\n"
        "const module_b = (() => {\nconst {\n  c: d,\n} = module_c;\nconst b = d; // kept\nreturn { b };\n})();\n"
        "const module_a = (() => {\nconst { c } = module_c;\nconst b = module_b;\nconsole.log(b, c);\n"
        "return {  };\n})();\n"
    )


@pytest.mark.parametrize(
    "modules",
    [
        {"a": 'import "./b.js";\n', "b": 'import "./a.js";\n'},
        {"a": "export let n = 1;\n"},
        {"a": "export default 1;\n"},
        {"a": 'export * from "./b.js";\n'},
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path: Path, modules: dict[str, str]) -> None:
    write(tmp_path, **modules)

    with pytest.raises(CannotJoin):
        static_files.join_modules(tmp_path, "a.js")


def test_raters_sheet_holds_no_style_of_the_staff_and_asks_for_no_other_sheet() -> None:
    sheet = static_files.join_sheets(FOLDER, "quire/rater.css")

    assert ".story" in sheet
    assert "@import" not in sheet
    assert ".plot" in (FOLDER / "quire/research.css").read_text()
    assert ".plot .axis" not in sheet


def test_files_collected_before_a_change_are_not_used(tmp_path: Path, settings: Any) -> None:
    source, root = tmp_path / "source", tmp_path / "root"
    source.mkdir()
    root.mkdir()
    (source / "a.css").write_text("")
    (root / "staticfiles.json").write_text('{"version": "1.1", "paths": {}, "hash": ""}')
    settings.STATICFILES_DIRS = [source]

    os.utime(source / "a.css", (1, 1))
    assert StaticStorage(location=root, base_url="/static/").is_current
    os.utime(source / "a.css", (2**31, 2**31))
    assert not StaticStorage(location=root, base_url="/static/").is_current


def test_without_collected_files_they_are_served_from_their_folders() -> None:
    assert staticfiles_storage.url("quire/rater.css") == "/static/quire/rater.css"


def test_a_page_of_two_scripts_shares_nothing_but_what_has_no_state() -> None:
    """Each script that a page names is joined by itself: a queue of saves that two import would be there twice."""
    pages = "\n".join(path.read_text() for path in Path(site_settings.BASE_DIR, "templates").rglob("*.html"))
    named = set(re.findall(r'static "(quire/[\w/-]+\.js)"', pages)) - {"quire/quire.js"}

    importing = re.compile(r'^import .*?"(?:\.{1,2}/)+(.+)";$', re.MULTILINE)
    imported = {name: importing.findall((FOLDER / name).read_text()) for name in named}

    assert "quire/cloze.js" in imported
    assert {each for imports in imported.values() for each in imports} == {"dom.js"}
