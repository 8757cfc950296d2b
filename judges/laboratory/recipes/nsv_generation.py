"""NSV: main ideas for a story from a prompt for writing, at several temperatures."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from judges.laboratory.recipes.base import Ask, Brief, Finished, Output, Recipe, Step


class IdeaGeneration(Recipe):
    slug = "nsv-generation"
    version = "1"
    title = _("NSV: ideas generated from writing prompts")
    description = _(
        "For every writing prompt main ideas of a story: so many at each temperature, in each of the lengths."
    )
    citation = "da Silva & Marcacini, Caracterização da Capacidade Criativa em Sistemas de IA Generativa"
    place = "Section 3.3, page 10"
    gaps = _("Not printed: the prompt, the temperatures, and how many ideas. Our prompt is marked as own.")
    makes = "idea"
    prompts = ("nsv-idea-generation",)
    sizes = (50,)

    def next_step(self, brief: Brief, replies: Sequence[str]) -> Step:
        if not replies:
            return Ask("nsv-idea-generation", {"premise": brief.premise}, {"word_count": brief.n_words})
        return Finished((Output(replies[-1]),))
