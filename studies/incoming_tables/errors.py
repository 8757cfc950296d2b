"""Why a table does not come in, in sentences for the account that brings it."""

from __future__ import annotations


class UnreadableFile(ValueError):
    """A file cannot be read as a table; the message says why and what would do."""


class ImportRefused(ValueError):
    """Nothing was imported; the message says why and what would do, in a line for each of the first problems."""
