"""A command of manage.py in a process of its own, for work that no worker takes up: never in that of the web server."""

import subprocess
import sys
import threading

from django.conf import settings


def start_command(*words: str) -> None:
    """Start `manage.py` with these words, and do not wait for it."""
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, str(settings.BASE_DIR / "manage.py"), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Unless somebody waits for it, it stays a zombie for as long as the web server runs.
    threading.Thread(target=process.wait, daemon=True).start()
