"""The small model's server where it does not come up."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import local_model


def test_a_server_that_says_nothing_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = [sys.executable, "-c", "import time; time.sleep(600)"]
    popen = subprocess.Popen

    def start(_command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        return popen(silent, **options)

    monkeypatch.setattr(local_model, "find_weights", lambda: Path("weights.gguf"))
    monkeypatch.setattr(local_model, "START_SECONDS", 0.2)
    monkeypatch.setattr(subprocess, "Popen", start)

    with pytest.raises(local_model.NoServer, match="said nothing for"), local_model.serving():
        pass
