"""A package that is unpacked where Quire is not, and its `recompute.py` run there."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

# A module of that name comes first on the path, so that whoever imports Django fails.
POISON = 'raise ImportError("Django is not to be needed here.")\n'
RUN = """
import runpy, sys
folder, poison, *options = sys.argv[1:]
sys.path[:0] = [folder, poison]
sys.argv = ["recompute.py", *options]
runpy.run_path(folder + "/recompute.py", run_name="__main__")
"""


def run_recompute(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The command of the package in that folder, run without the project, and without Django; a warning is an error."""
    poison = folder.parent / "poison"
    poison.mkdir(exist_ok=True)
    (poison / "django.py").write_text(POISON)
    command = [sys.executable, "-I", "-W", "error", "-c", RUN, str(folder), str(poison), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def recompute(package: ZipFile, folder: Path) -> dict[str, Any]:
    """What `recompute.py` says of a package."""
    package.extractall(folder / "package")
    run = run_recompute(folder / "package", "--json")
    assert run.stderr == ""
    answer: dict[str, Any] = json.loads(run.stdout)
    assert run.returncode == bool(answer["differences"])
    return answer
