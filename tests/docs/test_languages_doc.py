"""docs/languages.md has a row for every language of the interface, and says which nobody has reviewed."""

import re
from pathlib import Path

from django.conf import settings
from django.utils.translation import to_locale

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "languages.md").read_text()
ROWS = dict(re.findall(r"^\| [^|]+, `([\w-]+)` \| [^|]+ \| ([^|]+) \|$", DOC, re.MULTILINE))
TRANSLATED = {code: name for code, name in settings.LANGUAGES if code != settings.LANGUAGE_CODE}


def test_every_language_is_documented_and_no_other() -> None:
    assert sorted(ROWS) == sorted(TRANSLATED)


def test_what_nobody_has_reviewed_says_so_here_and_wherever_it_is_chosen() -> None:
    for code, name in TRANSLATED.items():
        catalogue = (ROOT / "locale" / to_locale(code) / "LC_MESSAGES" / "django.po").read_text()
        is_unreviewed = "NOT REVIEWED" in catalogue

        assert ("not reviewed by a native editor" in ROWS[code]) == is_unreviewed
        # By its own name, and in its own words after a comma.
        assert ("," in name) == is_unreviewed
