"""TTCW: what a question of experts means, drafted by a model and edited by people."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from judges.laboratory.recipes.base import Ask, Brief, Finished, Output, Recipe, Step


class ExpandedMeasures(Recipe):
    slug = "ttcw-measures"
    version = "1"
    title = _("TTCW: expanded measures of questions")
    description = _(
        "Of every question of a draft instrument the model drafts what experts mean by it. A draft becomes the "
        "question’s background only when somebody has read and approved it."
    )
    citation = "Chakrabarty et al., Art or Artifice?, CHI 2024"
    place = "Section 5.2, “Expanded Expert Measure and Prompt Design”; table 3"
    gaps = _("Not printed: what the three experts changed in each draft.")
    works_on = "item"
    makes = "measure"
    prompts = ("ttcw-expanded-measure",)

    def next_step(self, brief: Brief, replies: Sequence[str]) -> Step:
        if not replies:
            return Ask("ttcw-expanded-measure", {"expert_question": brief.question})
        return Finished((Output(replies[-1]),))
