"""A copy of the tree with new things put into it, and tests run there in a process of their own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEW = Path(__file__).parent / "new"
TEST = "probed.py"
PARTS = (
    *(
        "annotation",
        "config",
        "docs",
        "judges",
        "locale",
        "reports",
        "static",
        "stats",
        "studies",
        "templates",
        "tests",
    ),
    *("manage.py", "pyproject.toml", "README.md"),
)


@dataclass(frozen=True)
class Probe:
    """One new thing.

    row : of the table in docs/architecture.md
    folder : in `new/`, with its files
    docs, lines : by path, the lines that it adds to files that are there, each with the words it stands before;
        docs are those that a test of the docs asks for
    refused_by : the test that fails as long as the docs are not there
    copied : by path, files that begin as copies of others
    """

    row: str
    folder: str
    refused_by: str
    docs: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    lines: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    copied: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> list[str]:
        """The new files in their places, as paths in the tree."""
        folder = NEW / self.folder
        paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        return sorted(str(path) for path in paths if "__pycache__" not in path.parts and path.name != TEST)

    @property
    def touched(self) -> list[str]:
        """Every file that it adds or changes."""
        return sorted({*self.files, *self.copied, *self.lines, *self.docs})

    def put_into(self, tree: Path, *, is_documented: bool) -> None:
        for path in self.files:
            shutil.copy(NEW / self.folder / path, tree / path)
        for path, original in self.copied.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            # Of the same length, since a compiled catalogue counts its bytes.
            (tree / path).write_bytes((tree / original).read_bytes().replace(b"Continuar", b"Prossegue"))
        for additions in (self.lines, self.docs) if is_documented else (self.lines,):
            for path, pairs in additions.items():
                for before, line in pairs:
                    text = (tree / path).read_text()
                    assert before in text, f"{path} has no {before!r}"
                    (tree / path).write_text(text.replace(before, line + before, 1))


def copy_tree(to: Path) -> Path:
    """What Quire runs of and is tested with, as it stands."""
    # With what Python has compiled, which it takes for current by the files' times, and these are copied too.
    leave = shutil.ignore_patterns("node_modules", "pictures", "gallery")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, to / part, ignore=leave)
        else:
            shutil.copy(ROOT / part, to / part)
    return to


def run_tests(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Those tests of the copy, on a database of its own, whatever the tests around it use and however many they are."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DATABASE_"))}
    environment = ours | {"QUIRE_VAR": str(tree / "var"), "PYTHONPATH": str(tree)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
