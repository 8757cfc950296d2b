"""What judges were compared with, in sentences of the methods paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

STANDARD = "judges_on_standard"


def judge_sentences(shown: Mapping[str, Any]) -> Iterator[str]:
    """With people, unless no person has answered a study with a standard; and with that standard. shown : by figure"""
    standard, progress = shown.get(STANDARD), shown.get("progress")
    has_people = bool(progress and progress.n_raters) or standard is None
    if has_people and any(key.startswith("judges") for key in shown.keys() - {STANDARD}):
        yield _(
            "Judges were compared with people on the same items and stories; what a judge declined, or what could "
            "not be read, was counted and never taken for an answer."
        )
    if standard is not None and standard.labels:
        yield _("Judges were compared with %(standard)s, which the analysis plan names as a standard.") % {
            "standard": standard.name
        }
    if "alternative_annotator" in shown:
        yield _("Whether a judge could stand in for an expert was tested as by Calderon, Reichart and Dror (2025).")
