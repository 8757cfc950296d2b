"""Making a study for somebody: from a template, like another one, or from a file. Its maker becomes its lead.

The one way in for pages and commands; slugs are made from titles.
"""

import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from django.contrib.admin.models import ADDITION
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from studies import construction, loader, protocol
from studies.access import make_lead
from studies.action_log import log_action
from studies.documents.archive import unpack_study
from studies.documents.names import RESERVED, first_free
from studies.documents.stories import Collection
from studies.documents.study import read_skeleton
from studies.documents.study_template import StudyTemplate
from studies.facts import FACTS
from studies.models import Cloze, Instrument, Study

LONGEST_SLUG = 80
CLOZE = "cloze"  # under which name a template's step asks for the cloze that comes as a file
# What a study that is made like another takes over; the organiser is entered again.
COPIED = (
    *("language", "description", "text_kind", "seats_per_group", "order_policy", "shows_premise", "asks_recognition"),
    *("groups_per_sitting", "groups_per_rater", "n_repeats", "hours_per_group", "excluded_studies"),
    *(fact.key for fact in FACTS if fact.is_copied),
)


@dataclass(frozen=True)
class NewStudy:
    """What the maker of a study says of it. facts : by key"""

    title: str
    language: str = "en"
    facts: Mapping[str, Any] = field(default_factory=dict)


def find_free_slug(title: str) -> str:
    """A name for addresses that is made of the title, and no other study has."""
    taken = {*Study.objects.values_list("slug", flat=True), *RESERVED}
    return first_free(slugify(title).strip("-_") or "study", taken, longest=LONGEST_SLUG)


@transaction.atomic
def create_from_template(template: StudyTemplate, new: NewStudy, *, by: User, cloze: str = "") -> Study:
    """A draft with all steps of the template, and its sample wording. Raises DocumentError, loader.VersionConflict.

    cloze : for a template that needs one, its document; without it, its step waits for one
    """
    loader.ensure_builtin_instruments()
    loaded = loader.load_cloze(cloze) if cloze and template.needs_cloze else None
    steps = [step for step in template.steps if step.instrument != CLOZE or loaded]
    plain = [step for step in steps if step.instrument != CLOZE]
    collection = _stories_of(loaded)
    study = construction.create_study(
        {**template.study, **_said(new), "seed": draw_seed()},
        stories=collection.stories if collection else (),
        groups=collection.groups if collection else (),
        steps=steps,
        instruments=loader.find_instruments(plain, path=Path(f"{template.key}.toml")) | _filling(loaded),
    )
    return appoint_lead(study, by, f"template {template.key}")


def _stories_of(cloze: Cloze | None) -> Collection | None:
    return read_skeleton(cloze.document, path=Path("cloze.toml")) if cloze else None


def _filling(cloze: Cloze | None) -> dict[str, Instrument]:
    return {CLOZE: cloze.filling} if cloze and cloze.filling else {}


@transaction.atomic
def copy_study(original: Study, new: NewStudy, *, by: User) -> Study:
    """A draft that asks the same in the same words and is planned alike; stories and people stay behind."""
    return appoint_lead(copy_without_lead(original, new), by, f"like {original.slug}")


@transaction.atomic
def copy_without_lead(original: Study, new: NewStudy) -> Study:
    """As `copy_study`, without a lead: the caller appoints one, or nobody is signed in."""
    fields = {name: getattr(original, name) for name in COPIED}
    study = construction.create_study(
        {**fields, **_said(new), "seed": draw_seed()}, stories=(), groups=(), steps=(), instruments={}
    )
    construction.copy_steps(protocol.read_rows(protocol.latest(original)).steps, protocol.draft(study))
    return study


@transaction.atomic
def create_from_file(file: IO[bytes], name: str, *, by: User) -> Study:
    """The study in an uploaded file, ZIP or TOML; under another slug if its own is taken. Raises DocumentError."""
    with tempfile.TemporaryDirectory() as folder:
        path = unpack_study(file, name, Path(folder))
        study = loader.load_study(path, rename=find_free_slug)
    return appoint_lead(study, by, f"file {Path(name).name}")


def _said(new: NewStudy) -> dict[str, Any]:
    return {"slug": find_free_slug(new.title), "title": new.title, "language": new.language, **new.facts}


def draw_seed() -> int:
    return secrets.randbelow(2**31)


def appoint_lead(study: Study, by: User, origin: str) -> Study:
    """The study with its maker as its lead, and how it was made in the log, which is one for all languages."""
    make_lead(study, by)
    log_action(study, origin, by=by, flag=ADDITION)
    return study
