"""The demo in a folder that is thrown away, served for pictures: import this before anything of Django's."""

import io
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

# A place of its own for the database, before anything of Django's is read; and Playwright's event loop runs in this
# thread, so that Django would take all that follows for asynchronous code.
FOLDER = tempfile.TemporaryDirectory()
os.environ |= {"QUIRE_VAR": FOLDER.name, "DJANGO_ALLOW_ASYNC_UNSAFE": "true"}
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.pop("DATABASE_URL", None)
django.setup()

from django.core.management import call_command  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
PORT = 8714
SITE = f"http://127.0.0.1:{PORT}"


@contextmanager
def demo() -> Iterator[dict[str, list[str]]]:
    """A demo that is served while this lasts: its addresses by what they are for."""
    output = io.StringIO()
    call_command("migrate", verbosity=0)
    call_command("demo", port=PORT, stdout=output)
    command = [sys.executable, str(ROOT / "manage.py"), "runserver", "--noreload", str(PORT)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait()
        yield {
            "links": re.findall(r"Expert +(\S+)", output.getvalue()),
            "password": re.findall(r"password: (\S+)", output.getvalue()),
            "report": re.findall(r"Report +(\S+)", output.getvalue()),
        }
    finally:
        server.terminate()
        server.wait()


def wait() -> None:
    """Until the server answers. Raises TimeoutError if it does not within half a minute."""
    for _ in range(300):
        try:
            urllib.request.urlopen(SITE)
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError("the demo's server does not answer")
