"""`manage.py load_instrument FILE|SLUG`: an instrument into the database, or the two that a cloze becomes."""

import re
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize

from studies import loader
from studies.documents.cloze import read_cloze
from studies.documents.errors import DocumentError
from studies.documents.instrument import InstrumentDocument, discover, read_instrument
from studies.documents.ttcw_release import read_ttcw_release
from studies.models import Instrument

# What a cloze has and an instrument has not, seen without reading either.
SKELETON = re.compile(rb"^skeleton\s*=", re.MULTILINE)


class Command(BaseCommand):
    help = (
        "Loads an instrument: a TOML file, a built-in one by its slug, or the TTCW release's ttcw_all_tests.json, "
        "which becomes ttcw in version “published”. A cloze (docs/cloze.md) becomes two: one to fill it, one to judge."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("instrument", metavar="FILE|SLUG")

    def handle(self, *, instrument: str, **options: Any) -> None:
        try:
            loaded = _load(_path(instrument))
        except (DocumentError, loader.VersionConflict) as error:
            raise CommandError(str(error)) from None
        for row in loaded:
            n_items = row.items.count()
            items = f"{n_items} item{pluralize(n_items)}"
            self.stdout.write(f"{row.slug}@{row.version}: {row.title}, {items}, {row.fingerprint[:12]}")
            if advice := loader.advise(row):
                self.stdout.write(f"  {advice}")


def _path(name: str) -> Path:
    builtin = discover()
    path = builtin.get(name, Path(name))
    if not path.is_file():
        raise CommandError(f"{name}: there is no such file, and the built-in instruments are {', '.join(builtin)}")
    return path


def _load(path: Path) -> list[Instrument]:
    """The instrument in that file, or both of a cloze. Raises DocumentError, VersionConflict."""
    if path.suffix == ".toml" and SKELETON.search(path.read_bytes()):
        read_cloze(path)  # names the file where a fault is, which rows cannot
        cloze = loader.load_cloze(path.read_text(encoding="utf-8-sig"))
        return [instrument for instrument in (cloze.filling, cloze.judging) if instrument]
    return [loader.load_instrument(_read(path))]


def _read(path: Path) -> InstrumentDocument:
    return read_ttcw_release(path) if path.suffix == ".json" else read_instrument(path)
