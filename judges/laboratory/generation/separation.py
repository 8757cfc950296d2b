"""Whether those who write, those who extract and those who judge are different makers' models, as the sources ask."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from judges import families
from judges.laboratory import recipes
from judges.models import Generation, Judge, Run
from studies.models import Study
from studies.protocol import Finding, Purpose


@dataclass(frozen=True)
class SharedFamily:
    """A maker whose models do more than one thing in a study; of a model whose maker is not known, the model itself.

    models : by what they do, sorted
    """

    family: str
    models: dict[str, list[str]]

    def __str__(self) -> str:
        """A sentence with the way out."""
        return f"{self.sentence}. {self.reason}"

    @property
    def sentence(self) -> str:
        words = {"write": _("writes"), "extract": _("extracts ideas"), "judge": _("judges")}
        parts = [f"{words[role]} ({', '.join(names)})" for role, names in self.models.items()]
        message = _("%(family)s has more than one part in this study: %(parts)s")
        return message % {"family": self.family, "parts": ", ".join(parts)}

    @property
    def reason(self) -> str:
        return _("A model favours texts like its own; use different providers for writing, extracting and judging.")


def find_shared_families(study: Study, *, besides: tuple[str, str] | None = None) -> list[SharedFamily]:
    """The makers whose models do more than one of the three in runs of the study. Two queries.

    besides : what a run that is not planned yet would do, and its model
    """
    models: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    roles = dict(Generation.objects.filter(run__study=study).values_list("run", "recipe"))
    runs = Run.objects.filter(study=study, judge__metric="", judge__endpoint__isnull=False, judge__is_trial=False)
    rows = [(_role(roles.get(pk)), model) for pk, model in runs.values_list("pk", "judge__model")]
    for role, model in [*rows, *([besides] if besides else [])]:
        if role:
            models[families.find_family(model) or model][role].add(model)
    return [
        SharedFamily(family, {role: sorted(by_role[role]) for role in ("write", "extract", "judge") if role in by_role})
        for family, by_role in sorted(models.items())
        if len(by_role) > 1
    ]


def find_role(recipe: recipes.Recipe) -> str:
    """What a run by the recipe does: "write" or "extract"; "" for what is no text of a study."""
    return {"story": "extract", "premise": "write"}.get(recipe.works_on, "")


def _role(recipe: str | None) -> str:
    return "judge" if recipe is None else find_role(recipes.find_recipe(recipe))


def collect_findings(sender: object, *, study: Study, **_named: Any) -> list[Finding]:
    """What the launch says of them, as warnings: nothing is forbidden."""
    return [
        Finding("warning", "", shared.sentence, shared.reason, frozenset({Purpose.LAUNCH}), "stories")
        for shared in find_shared_families(study)
    ]


def collect_run_warnings(sender: object, *, study: Study, judge: Judge, **_named: Any) -> list[str]:
    """What is said of them before a model judges in the study."""
    if judge.endpoint is None:
        return []
    shared = find_shared_families(study, besides=("judge", judge.model))
    return [str(family) for family in shared]
