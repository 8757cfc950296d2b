"""The instrument as the TTCW release words it, read from its own file."""

import json
import re
from pathlib import Path
from typing import Any

from studies.documents.errors import DocumentError
from studies.documents.instrument import InstrumentDocument, parse_instrument

CITATION = (
    "Chakrabarty, T., Laban, P., Agarwal, D., Muresan, S., & Wu, C.-S. (2024). Art or Artifice? Large Language Models "
    "and the False Promise of Creativity. CHI 2024. https://doi.org/10.1145/3613904.3642731"
)


def read_ttcw_release(path: Path) -> InstrumentDocument:
    """The fourteen tests as the TTCW release words them, read from its `ttcw_all_tests.json`. Raises DocumentError.

    A test's full prompt is its expanded measure and then the instruction to a model, which begins "Given the story".
    """
    try:
        tests = json.loads(path.read_bytes())
        items = [_item(test) for test in tests]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DocumentError(path, "file", f"is not the release's ttcw_all_tests.json ({error!r})") from error
    return parse_instrument(
        {
            "slug": "ttcw",
            "version": "published",
            "title": "Torrance Test of Creative Writing",
            "citation": CITATION,
            "url": "https://github.com/salesforce/creativity_eval",
            "note": "Read from the public release, verbatim. Its licence is BSD-3-Clause.",
            "items": items,
        },
        path,
    )


def _item(test: dict[str, Any]) -> dict[str, Any]:
    measure, begins, rest = test["full_prompt"].partition("Given the story")
    if not begins:
        raise ValueError(f"{test['category']}: no “Given the story” in its full_prompt")
    return {
        "key": re.sub(r"[^a-z0-9]+", "-", test["category"].lower()).strip("-"),
        "type": "binary",
        "dimension": test["torrance_dimension"],
        "title": test["category"],
        "question": test["question"],
        "background": measure.strip(),
        "instruction": begins + rest,
        "rationale": "required",
        "rationale_least": 1,
        "suggested": "one to three sentences",
        "quoted": ["question", "background", "instruction"],
    }
