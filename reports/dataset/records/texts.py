"""What stands for the texts of stories."""

from __future__ import annotations

from studies.models import Story, Study


def read_text_keys(study: Study) -> dict[str, str]:
    """What stands for each story's text, by its code: its hash, or the code where it is withheld. One query."""
    fields = ("code", "sha256", "is_withheld")
    stories = Story.objects.filter(study=study).values_list(*fields)
    return {code: code if is_withheld else sha256 for code, sha256, is_withheld in stories}
