"""A new folder that holds a study of pairs: made whole or not at all, with the study file of the template of pairs."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tomli_w

from studies.documents import study_template
from studies.facts import FACTS


def check_new(folder: Path) -> None:
    """Raise FileExistsError if there is something of that name."""
    if folder.exists():
        raise FileExistsError(f"{folder} is there already; name a new folder, or remove it")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into that gets its name at the end; after an error nothing is left of it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield draft
        draft.chmod(0o755)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def write_study_file(name: str, *, seed: int) -> str:
    """The study file: the template of pairs, with words in place of what only its maker knows."""
    template = study_template.discover_templates()["pairs"]
    fields = {
        "slug": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "pairs",
        "title": template.title,
        **{fact.key: fact.sample for fact in FACTS if fact.sample},
        "seed": seed,
    }
    names = ("key", "kind", "title", "text", "instrument", "scope")
    steps = [{name: str(getattr(step, name)) for name in names if getattr(step, name)} for step in template.steps]
    return tomli_w.dumps({**template.study, **fields, "steps": steps})
