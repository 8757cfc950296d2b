"""The scripts of the pages, without a browser: what they decide, how they are named, where their tools come from."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "static" / "quire"
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="there is no Node on this machine")
@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.test.js")), ids=lambda path: path.name)
def test_scripts_decide_what_their_own_tests_say(path: Path) -> None:
    assert NODE is not None
    run = subprocess.run([NODE, "--test", path], cwd=ROOT, capture_output=True, text=True, timeout=120)

    assert run.returncode == 0, run.stdout + run.stderr


def test_the_queue_decides_without_a_page() -> None:
    """What Node runs is what the browser runs: no page, no network, no import but that of the delays."""
    script = (SCRIPTS / "autosave" / "delays.js").read_text()
    script += (SCRIPTS / "autosave" / "queue.js").read_text().replace('from "./delays.js";', "").replace("import {", "")

    for name in ("document", "window", "navigator", "fetch(", "localStorage", "import "):
        assert not [line for line in script.splitlines() if name in line.split("//")[0] and "*" not in line]


def test_tools_are_pinned_exactly_and_no_lock_file_names_a_registry() -> None:
    """A lock file written behind a mirror would send everybody else there; two exact versions need none."""
    package = json.loads((ROOT / "package.json").read_text())

    versions = package["devDependencies"]
    assert versions
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values()), versions
    assert "dependencies" not in package, "nothing of it is needed to run Quire"
    assert not (ROOT / "package-lock.json").exists()
