"""What documents and texts are known by: their spelling as canonical JSON, and SHA-256 over it."""

import hashlib
import json
from typing import Any


def canonical_json(document: Any) -> str:
    """JSON with one spelling: sorted keys, no blanks, characters as they are."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256(text: str) -> str:
    """SHA-256 of the text in UTF-8, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
