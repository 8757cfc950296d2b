"""With which prompts judges were asked, and what stood in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from judges.models import Judge, Run
from studies.models import Study


def read_prompts_by_model(study: Study, *, without: frozenset[str]) -> dict[str, dict[str, str]]:
    """Of every model that was asked with several prompts, each judge's prompt by the judge's name. One query.

    Nothing but the words differs: endpoint, parameters and personas are the same. A prompt that was made from experts'
    answers is none of them: its judge is asked about the held-out stories alone.
    """
    runs = Run.objects.judging().filter(study=study, judge__metric="", judge__prompt__proposal=None)
    runs = runs.exclude(judge__slug__in=without).select_related("judge__prompt")
    groups = defaultdict[tuple[Any, ...], dict[str, str]](dict)
    for run in runs.order_by("judge__slug", "pk"):
        judge, prompt = run.judge, str(run.judge.prompt)
        key = (judge.model, judge.endpoint_id, str(sorted(judge.parameters.items())), run.persona_set_id)
        if prompt not in groups[key].values():
            groups[key][judge.slug] = prompt
    several = {key: prompts for key, prompts in groups.items() if len(prompts) > 1}
    # Groups of one model differ in something else; the name of the first judge tells them apart.
    names = [key[0] for key in several]
    return {
        key[0] if names.count(key[0]) == 1 else f"{key[0]} ({next(iter(prompts))})": prompts
        for key, prompts in several.items()
    }


def read_judges_told_answers(study: Study) -> set[str]:
    """The judges in whose prompts stood what people of this study answered. One query."""
    runs = Run.objects.filter(study=study, judge__metric="", drift_check=None).select_related("judge")
    return {run.judge.slug for run in runs if run.frozen.get("examples")}


def read_models(slugs: Iterable[str]) -> dict[str, str]:
    """The model of each judge of these names that there is. One query."""
    return dict(Judge.objects.filter(slug__in=slugs).values_list("slug", "model"))
