"""The digest of everything by which a stored report is read and shown: code, templates and translations.

What was made of a report under another digest may be read or look otherwise now, so it is made anew; nobody has to
count an edition up.
"""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

READ_AND_SHOWN_BY = (
    ("annotation", "*.py"),
    ("config", "*.py"),
    ("judges", "*.py"),
    ("reports", "*.py"),
    ("stats", "*.py"),
    ("studies", "*.py"),
    ("templates/reports", "*"),
    ("locale", "*.mo"),
)


@cache
def source_digest() -> str:
    """SHA-256 over the files; computed once in a process."""
    digest = hashlib.sha256()
    for path in _files():
        digest.update(f"{path.relative_to(settings.BASE_DIR)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files() -> Iterator[Path]:
    for folder, pattern in READ_AND_SHOWN_BY:
        yield from sorted(path for path in (settings.BASE_DIR / folder).rglob(pattern) if path.is_file())
