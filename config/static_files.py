"""Static files as they are sent: by hash and for good once `collectstatic` has run, and from their folders until then.

A page would ask for each module and sheet by itself. So `collectstatic` writes what a module imports, and what a sheet
imports, into the file itself; names and addresses are those of the folders, and no template knows the difference.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.utils.functional import cached_property
from whitenoise.storage import CompressedManifestStaticFilesStorage

OURS = "quire/"

SHEET_IMPORT = re.compile(r'^@import "([^"]+)";\n', flags=re.MULTILINE)
IMPORT = re.compile(r'^import (?:(\{[^}]*\}|\* as \w+) from )?"([^"]+)";\n', flags=re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", flags=re.MULTILINE)
# Comments are for readers of the folders. Ours begin a line or are JSDoc; none of these signs is within a string.
COMMENT = re.compile(r"^[ \t]*//[^\n]*\n|[ \t]*/\*.*?\*/(?:[ \t]*\n)?", flags=re.MULTILINE | re.DOTALL)
SHEET_COMMENT = re.compile(r"/\*.*?\*/", flags=re.DOTALL)
LEFT_OVER = re.compile(r"^(?:import|export)\b.*", flags=re.MULTILINE)


class CannotJoin(Exception):
    """A module or a sheet is written in a way that is not joined."""


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Django's files by hash, ours joined before; from the folders while what was collected is older than a file of
    ours. (Django could rewrite addresses within modules too, but stumbles over comments in django-htmx.)"""

    @cached_property
    def is_current(self) -> bool:
        """Whether `collectstatic` has run since our files were last changed; otherwise a page would have old styles."""
        manifest = Path(self.path(self.manifest_name))
        if not manifest.exists():
            return False
        collected = manifest.stat().st_mtime
        folders = [Path(folder) for folder in settings.STATICFILES_DIRS]
        return all(file.stat().st_mtime <= collected for folder in folders for file in folder.rglob("*"))

    def url(self, name: str | None, force: bool = False) -> str:
        if not self.is_current:
            return StaticFilesStorage.url(self, name)
        return str(super().url(name, force))

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        if not dry_run:
            folder = Path(self.path(""))
            joins = {".js": join_modules, ".css": join_sheets}
            for name, (storage, path) in list(paths.items()):
                join = joins.get(Path(name).suffix)
                if join and name.startswith(OURS):
                    source = Path(storage.path(path)).parents[name.count("/")]
                    (folder / name).write_text(join(source, name), encoding="utf-8")
                    paths[name] = (self, name)
        yield from super().post_process(paths, dry_run=dry_run, **options)


def join_sheets(folder: Path, name: str) -> str:
    """The sheet with those that it imports in their places. Raises CannotJoin if one stands in another folder, where
    its addresses would lead elsewhere."""

    def read(match: re.Match[str]) -> str:
        if "/" in match[1]:
            raise CannotJoin(f"{name} imports {match[1]}, from another folder.")
        return (folder / posixpath.dirname(name) / match[1]).read_text(encoding="utf-8")

    return SHEET_COMMENT.sub("", SHEET_IMPORT.sub(read, (folder / name).read_text(encoding="utf-8")))


def join_modules(folder: Path, name: str) -> str:
    """The module with all that it imports, each in a function of its own, which returns what it exports.

    Raises CannotJoin for modules that import each other in a circle, for `export let`, whose value may change after it
    was handed on, and for what else of `import` and `export` ours do not use.
    """
    variables: dict[str, str] = {}
    parts: list[str] = []

    def add(path: str, importers: tuple[str, ...]) -> str:
        if path in importers:
            raise CannotJoin(f"{path} imports itself, by {importers[-1]}.")
        if path not in variables:
            source = COMMENT.sub("", (folder / path).read_text(encoding="utf-8"))
            source = IMPORT.sub(lambda match: bind(path, match, (*importers, path)), source)
            exported = EXPORT.findall(source)
            source = EXPORT.sub("", source)
            if left_over := LEFT_OVER.search(source):
                raise CannotJoin(f"{path}: “{left_over[0]}” is not joined.")
            variables[path] = "module_" + re.sub(r"\W", "_", path.removesuffix(".js"))
            parts.append(f"const {variables[path]} = (() => {{\n{source}return {{ {', '.join(exported)} }};\n}})();\n")
        return variables[path]

    def bind(path: str, match: re.Match[str], importers: tuple[str, ...]) -> str:
        variable = add(posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2])), importers)
        if not match[1]:
            return ""
        names = match[1].removeprefix("* as ").replace(" as ", ": ")
        return f"const {names} = {variable};\n"

    add(name, ())
    return "".join(parts)
