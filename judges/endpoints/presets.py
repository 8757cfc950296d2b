"""Endpoints of well-known providers, to fill in a form with; a new one is a table in presets.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

FILE = Path(__file__).with_name("presets.toml")


@dataclass(frozen=True)
class Preset:
    """What an endpoint of a provider is made of.

    key_variable : the name of the environment variable that its key is put into; "" if it needs none
    is_outside : texts that go there leave the house
    """

    slug: str
    name: str
    adapter: str
    base_url: str
    key_variable: str
    is_outside: bool
    key_page: str = ""
    command: str = ""

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
