"""Endpoints of well-known providers, to fill in a form with; a new one is a table in presets.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

FILE = Path(__file__).with_name("presets.toml")
LOCAL = "this-machine"  # the small model that `make model` starts


@dataclass(frozen=True)
class Preset:
    """What an endpoint of a provider is made of.

    key_variable : the name of the environment variable that its key is put into; "" if it needs none
    is_outside : texts that go there leave the house
    model : the one that answers there; "" where there are several
    n_at_once, timeout_seconds : what its server bears; as of every endpoint if None
    """

    slug: str
    name: str
    adapter: str
    base_url: str
    key_variable: str
    is_outside: bool
    key_page: str = ""
    command: str = ""
    model: str = ""
    n_at_once: int | None = None
    timeout_seconds: int | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """What it says of an endpoint, by the names of its fields."""
        names = ("adapter", "base_url", "key_variable", "is_outside", "n_at_once", "timeout_seconds")
        told = {name: getattr(self, name) for name in names}
        return {"name": self.slug} | {name: value for name, value in told.items() if value is not None}

    @property
    def first_step(self) -> str:
        """What is to be done before judges can use it."""
        if self.command:
            message = _(
                "Start the server with “%(command)s”, and have its host and port (%(host)s) added to "
                "QUIRE_ALLOWED_PRIVATE_ENDPOINTS."
            )
            return message % {"command": self.command, "host": urlsplit(self.base_url).netloc}
        message = _("Make a key at %(page)s, set it as %(variable)s where judges run, and restart them.")
        return message % {"page": self.key_page, "variable": self.key_variable}


@cache
def all_presets() -> dict[str, Preset]:
    """Every preset by its slug, in the file's order."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {slug: Preset(slug, **table) for slug, table in tables.items()}


def find_model(base_url: str) -> str:
    """The model that answers at that address, if it is a preset's with one; else ""."""
    return next((preset.model for preset in all_presets().values() if preset.base_url == base_url), "")
