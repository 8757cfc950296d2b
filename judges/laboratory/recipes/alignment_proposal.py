"""Alignment: a changed instruction for a judge, proposed from where it and experts disagree."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from judges.laboratory.recipes.base import Ask, Brief, Finished, GaveUp, Output, Recipe, Step
from judges.parsing import objects
from judges.parsing.outcomes import Contradiction

SLUG = "alignment-proposal"
UNREADABLE = gettext_noop("the reply holds no JSON object with a template of its own")


class AlignmentProposal(Recipe):
    slug = SLUG
    version = "1"
    title = _("A changed instruction for a judge")
    description = _(
        "From answers on which a judge and experts disagree the model proposes another wording of the prompt."
    )
    citation = "Quire"
    place = "–"
    gaps = _("No source: prompt and steps are Quire’s own.")
    works_on = "disagreements"
    makes = "prompt"
    prompts = (SLUG,)

    def next_step(self, brief: Brief, replies: Sequence[str]) -> Step:
        if not replies:
            texts = {
                "disagreements": brief.disagreements,
                "present": brief.template,
                "present_system": brief.system,
            }
            return Ask(SLUG, texts, {"summary": brief.summary})
        if read_proposal(replies[-1]) is None:
            return GaveUp(UNREADABLE)
        return Finished((Output(replies[-1]),))


def read_proposal(reply: str) -> dict[str, str] | None:
    """The changes, system and template of a reply; None if it proposes no template."""
    try:
        proposals = [row.content for row in objects.find_objects(reply) if _is_proposal(row.content)]
    except Contradiction:
        return None
    if not proposals:
        return None
    return {name: str(proposals[-1].get(name) or "").strip() for name in ("changes", "system", "template")}


def _is_proposal(content: dict[str, Any]) -> bool:
    template = content.get("template")
    return isinstance(template, str) and bool(template.strip())
