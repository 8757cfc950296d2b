"""What web processes and commands import of judges brings no provider's SDK with it."""

import subprocess
import sys

from django.conf import settings

SDKS = ("openai", "httpx", "httpx2", "anthropic")
SCRIPT = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
django.setup()
import config.urls, judges.admin, judges.models, judges.tasks
from judges import metrics, providers
assert providers.all_providers() and metrics.all_metrics()
print(*sorted(name for name in sys.modules if name in {sdks}))
from judges.providers.base import Connection
for slug in ("openai", "anthropic", "gemini"):
    providers.find_provider(slug).connect(Connection("https://api.example.org/v1", key="", timeout_seconds=1))
print(*sorted(name for name in sys.modules if name in {sdks}))
"""


def test_no_sdk_is_imported_before_the_first_connection() -> None:
    script = SCRIPT.replace("{sdks}", repr(SDKS))

    process = subprocess.run(
        [sys.executable, "-c", script], cwd=settings.BASE_DIR, capture_output=True, text=True, check=False
    )

    assert process.returncode == 0, process.stderr
    before, after = process.stdout.split("\n")[:2]
    assert before == ""
    assert {"openai", "anthropic"} <= set(after.split()), "each is imported once something is to be sent"
