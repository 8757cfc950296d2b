"""What comes with Quire: the built-in prompts, a judge that needs no key, and a judge for each metric."""

from dataclasses import asdict
from functools import cache
from typing import Any, TypeVar

from django.db import transaction

from judges import metrics, prompts
from judges.models import Endpoint, Judge, PersonaSet, Prompt
from judges.prompts import PersonaFile, PromptFile

STUB = "stub"

Contents = dict[tuple[str, str], dict[str, Any]]  # what rows say, by their names and versions
Row = TypeVar("Row", Prompt, PersonaSet)


def ensure_built_in() -> None:
    """Load the prompts and personas that come with Quire and are not there yet. Two queries if all are.

    One that is there under its name and version stays as it is; `load_prompts` says if its file has changed.
    """
    _add_missing(Prompt, _prompts())
    _add_missing(PersonaSet, _persona_sets())


def load_prompts() -> list[Prompt]:
    """The built-in prompts as rows, made where they are missing. Safe to call again.

    Raises prompts.InvalidPrompt for a file that cannot be used, or that changed under the version it was loaded as.
    """
    return _load(Prompt, _prompts())


def load_personas() -> list[PersonaSet]:
    """The sets of personas that come with Quire as rows, made where they are missing. Safe to call again.

    Raises prompts.InvalidPrompt for a file that cannot be used, or that changed under the version it was loaded as.
    """
    return _load(PersonaSet, _persona_sets())


@cache
def _prompts() -> Contents:
    return {(file.name, file.version): _read_prompt(file) for file in prompts.load_built_in()}


@cache
def _persona_sets() -> Contents:
    return {(file.name, file.version): _read_personas(file) for file in prompts.load_personas()}


def _read_prompt(file: PromptFile) -> dict[str, Any]:
    content = {name: getattr(file, name) for name in Prompt.CONTENT}
    # As a row gives it back: its columns hold lists.
    return {name: list(value) if isinstance(value, tuple) else value for name, value in content.items()}


def _read_personas(file: PersonaFile) -> dict[str, Any]:
    content = {name: getattr(file, name) for name in PersonaSet.CONTENT}
    return content | {"personas": [asdict(persona) for persona in file.personas]}


@transaction.atomic
def _load(model: type[Row], contents: Contents) -> list[Row]:
    _add_missing(model, contents)
    stored = {(row.name, row.version): row for row in model.objects.filter(name__in={name for name, _ in contents})}
    for key, content in contents.items():
        if stored[key].content != content:
            message = f"{stored[key]}: the file says otherwise than what was loaded; give it a new version"
            raise prompts.InvalidPrompt(message)
    return [stored[key] for key in contents]


def _add_missing(model: type[Row], contents: Contents) -> None:
    stored = set(model.objects.values_list("name", "version"))
    missing = [model(**content) for key, content in contents.items() if key not in stored]
    # Another process may be adding the same at this moment.
    model._default_manager.bulk_create(missing, ignore_conflicts=True)


@transaction.atomic
def make_stub_judge(slug: str = STUB, *, seed: int = 0, yes_rate: float = 0.5) -> Judge:
    """A judge that answers by chance, made if it is missing: for trying things without a key, and for the demo."""
    judge = Judge.objects.filter(slug=slug, endpoint__adapter=STUB).first()
    if judge is not None:
        return judge
    endpoint, _ = Endpoint.objects.get_or_create(
        adapter=STUB, defaults={"name": STUB, "is_allowed": True, "is_outside": False}
    )
    prompt = next(p for p in load_prompts() if p.name == "ttcw-reasoning-first")
    judge = Judge(
        slug=slug, endpoint=endpoint, model=STUB, prompt=prompt, parameters={"seed": seed, "yes_rate": yes_rate}
    )
    judge.full_clean()
    judge.save()
    return judge


@transaction.atomic
def make_metric_judge(slug: str) -> Judge:
    """The judge that measures by this metric as it is now, made if it is missing. Raises metrics.UnknownMetric."""
    metric = metrics.find_metric(slug)
    judge = Judge.objects.filter(metric=metric.slug, metric_version=metric.version).order_by("pk").first()
    if judge is None:
        judge = Judge(slug=metric.name, metric=metric.slug)
        judge.full_clean()
        judge.save()
    return judge
