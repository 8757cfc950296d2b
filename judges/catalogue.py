"""What comes with Quire: the built-in prompts, a judge that needs no key, and a judge for each metric."""

from dataclasses import asdict
from functools import cache
from typing import Any

from django.db import transaction

from judges import metrics, prompts
from judges.models import Endpoint, Judge, PersonaSet, Prompt
from judges.prompts import PersonaFile, PromptFile

STUB = "stub"


def ensure_built_in() -> None:
    """Load the prompts and personas that come with Quire and are not there yet. Two queries if all are.

    One that is there under its name and version stays as it is; `load_prompts` says if its file has changed.
    """
    of_prompts, of_personas = _files()
    stored = set(Prompt.objects.values_list("name", "version"))
    for prompt in of_prompts:
        if (prompt.name, prompt.version) not in stored:
            _get_or_create_prompt(prompt)
    stored = set(PersonaSet.objects.values_list("name", "version"))
    for personas in of_personas:
        if (personas.name, personas.version) not in stored:
            _get_or_create_personas(personas)


@cache
def _files() -> tuple[tuple[PromptFile, ...], tuple[PersonaFile, ...]]:
    return tuple(prompts.load_built_in()), tuple(prompts.load_personas())


@transaction.atomic
def load_prompts() -> list[Prompt]:
    """The built-in prompts as rows, made where they are missing. Safe to call again.

    Raises prompts.InvalidPrompt for a file that cannot be used, or that changed under the version it was loaded as.
    """
    loaded: list[Prompt] = []
    for prompt in prompts.load_built_in():
        row, content = _get_or_create_prompt(prompt)
        if {name: row.content[name] for name in content} != content:
            raise prompts.InvalidPrompt(f"{row}: the file says otherwise than what was loaded; give it a new version")
        loaded.append(row)
    return loaded


@transaction.atomic
def load_personas() -> list[PersonaSet]:
    """The sets of personas that come with Quire as rows, made where they are missing. Safe to call again.

    Raises prompts.InvalidPrompt for a file that cannot be used, or that changed under the version it was loaded as.
    """
    loaded: list[PersonaSet] = []
    for file in prompts.load_personas():
        row, content = _get_or_create_personas(file)
        if row.content != content:
            raise prompts.InvalidPrompt(f"{row}: the file says otherwise than what was loaded; give it a new version")
        loaded.append(row)
    return loaded


def _get_or_create_prompt(file: PromptFile) -> tuple[Prompt, dict[str, Any]]:
    """The row under the file's name and version, and what the file says."""
    content = {name: _as_stored(getattr(file, name)) for name in Prompt.CONTENT}
    row, _ = Prompt.objects.get_or_create(name=file.name, version=file.version, defaults=content)
    return row, content


def _get_or_create_personas(file: PersonaFile) -> tuple[PersonaSet, dict[str, Any]]:
    content = {name: getattr(file, name) for name in PersonaSet.CONTENT}
    content["personas"] = [asdict(persona) for persona in file.personas]
    row, _ = PersonaSet.objects.get_or_create(name=file.name, version=file.version, defaults=content)
    return row, content


def _as_stored(value: Any) -> Any:
    """The value as a row gives it back: its columns hold lists."""
    return list(value) if isinstance(value, tuple) else value


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
