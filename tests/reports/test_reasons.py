"""Why there is no figure: stored in English, read in the reader's language."""

import ast
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation

from reports.templatetags.reasons import REASONS, reason, reason_language

# Of the release, of which no page of a study tells.
OF_REPLICATIONS = {"comparison.py", "procedures.py", "scale_procedures.py"}
NAMED = "All ratings are the same, so agreement by chance is certain and "


def said_in_code() -> set[str]:
    """What `stats` and `reports` say instead of a figure, where it is one sentence without anything filled in."""
    base = Path(settings.BASE_DIR)
    files = [*base.glob("stats/*.py"), *(f for f in base.glob("reports/*.py") if f.name not in OF_REPLICATIONS)]
    found = set()
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text()))):
        said: list[ast.expr | None] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Incomputable", "TooFewRaters")):
            said = [*node.args]
        if isinstance(node, ast.Dict):
            said = [
                value for key, value in zip(node.keys, node.values, strict=True) if ast.unparse(key or value) == "'why'"
            ]
        found |= {each.value for each in said if isinstance(each, ast.Constant)}
    return {each for each in found if isinstance(each, str)}


def test_every_reason_of_the_code_is_listed_and_no_other() -> None:
    named = {each for each in REASONS if each.startswith(NAMED)}
    arbitrary = {"It would depend on which story of a group is called the first."}

    assert len(said_in_code()) > 20
    assert REASONS - named - arbitrary == said_in_code()
    assert len(named) == 2


@pytest.mark.parametrize("said", sorted(REASONS))
def test_a_listed_reason_is_read_in_the_readers_language(said: str) -> None:
    with translation.override("pt-br"):
        assert (reason(said) != said, reason_language(said)) == (True, "pt-br")
    assert (reason(said), reason_language(said)) == (said, "en")


def test_any_other_is_english_and_says_so() -> None:
    with translation.override("pt-br"):
        assert (reason("Only 3 of 7."), reason_language("Only 3 of 7.")) == ("Only 3 of 7.", "en")
