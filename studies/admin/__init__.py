"""Instruments, protocols, stories and clozes in the admin. The study itself is in `annotation.admin`."""

from studies.admin import cloze, studies

__all__ = ["cloze", "studies"]
