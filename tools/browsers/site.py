"""The demo on a new database, served by gunicorn: to be walked through, stopped and started again.

Nothing of Django is imported: it lives in the environment of the site, and this in that of the browsers.
"""

import os
import re
import signal
import socket
import subprocess
import time
import tomllib
import urllib.request
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv" / "bin" / "python"
DEMO = ROOT / "studies" / "demo"


class Site:
    """While this holds, the demo answers at `address`; `links` has an expert's link of every live study by its slug."""

    def __init__(self, folder: str) -> None:
        self.port = _find_free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {
            name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")
        }
        self.environment["QUIRE_VAR"] = folder
        self.process: subprocess.Popen[bytes] | None = None
        self.links: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._manage("migrate", "--verbosity", "0")
        output = self._manage("demo", "--port", str(self.port))
        titles = {_title_of(path): path.parent.name for path in DEMO.glob("*/study.toml")}
        slug = ""
        for line in output.splitlines():
            slug = next((titles[title] for title in titles if line.startswith(f"  {title} (live")), slug)
            if link := re.search(r"Expert +(\S+)", line):
                self.links.setdefault(slug, link[1])
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _manage(self, *arguments: str) -> str:
        command = [str(PYTHON), str(ROOT / "manage.py"), *arguments]
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    def start(self) -> None:
        """Start, and return when it answers. Raises TimeoutError if it does not within half a minute."""
        gunicorn = [str(PYTHON), "-m", "gunicorn", "tools.browsers.wsgi", "--bind", f"127.0.0.1:{self.port}"]
        size = ["--workers", "2", "--threads", "4", "--log-level", "critical", "--graceful-timeout", "2"]
        self.process = subprocess.Popen([*gunicorn, *size], cwd=ROOT, env=self.environment, start_new_session=True)
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{self.address}/again/", timeout=5)
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise TimeoutError("the demo's server does not answer")

    def stop(self) -> None:
        """All of its processes at once, as when the power goes."""
        if self.process is None:
            return
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None


def _title_of(path: Path) -> str:
    return str(tomllib.loads(path.read_text())["title"])


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
