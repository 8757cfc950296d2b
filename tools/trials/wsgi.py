"""The application, with one defence switched off if TRIAL_WITHOUT names it."""

import os
from typing import Any

from config.wsgi import application

WITHOUT = os.environ.get("TRIAL_WITHOUT", "")

if WITHOUT == "revisions":
    from annotation import responses

    _record = responses.record

    def _careless(*args: Any, base: int | None = None, key: str = "", **options: Any) -> Any:
        """Every save is written as it comes, whatever it was based on and however often it comes."""
        return _record(
            *args,
            base=None,
            key=key,
            is_confirmation=True,
            **{k: v for k, v in options.items() if k != "is_confirmation"},
        )

    responses.record = _careless
elif WITHOUT == "checks":
    from config.postgresql.base import DatabaseWrapper

    # Whatever comes out of the pool is taken, dead or alive.
    del DatabaseWrapper.get_new_connection
elif WITHOUT:
    raise SystemExit(f"there is no defence “{WITHOUT}”")

__all__ = ["application"]
