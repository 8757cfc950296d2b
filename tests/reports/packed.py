"""The packages of studies of every kind, each made once for all tests of a run."""

import os
import random
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.db import transaction
from django.test import override_settings

from reports.export import issues
from tests.reports.packaged import MAKERS
from tests.reports.test_packages import issued

Pack = Callable[[str], ZipFile]


@pytest.fixture
def pack(db: None, tmp_path_factory: pytest.TempPathFactory) -> Pack:
    """The package, with sources, of the study of a name in MAKERS. The first test that asks makes it for all others, in
    whichever process they run."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def find_or_make(name: str) -> ZipFile:
        path = shared / f"{name}.zip"
        if not path.exists():
            folder = tmp_path_factory.mktemp("made")
            made = folder / "package.zip"
            made.write_bytes(_make(name, folder))
            made.replace(path)  # at once, so that no other process reads half of it
        return ZipFile(BytesIO(path.read_bytes()))

    return find_or_make


def _make(name: str, folder: Path) -> bytes:
    """Codes are drawn, or follow the installation's key, and decide in which order shuffles take stories and places:
    here they are the same in every run."""
    drawn = random.Random(1)
    with pytest.MonkeyPatch.context() as patch, override_settings(SECRET_KEY="the same in every run"):
        patch.setattr("secrets.token_hex", lambda n=32: drawn.randbytes(n).hex())
        patch.setattr("secrets.SystemRandom", lambda: drawn)
        with transaction.atomic():
            study = MAKERS[name](patch, folder)
            package, _archive = issued(study, with_sources=True, reason="To compute its numbers again.")
            content = b"".join(issues.read_pieces(package))
            transaction.set_rollback(True)
    return content
