"""NSV: the main idea of a story, in several lengths."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from judges.laboratory.recipes.base import Ask, Brief, Finished, Output, Recipe, Step


class IdeaExtraction(Recipe):
    slug = "nsv-extraction"
    version = "1"
    title = _("NSV: ideas extracted from stories")
    description = _("Of every story its main idea, in each of the lengths.")
    citation = "da Silva & Marcacini, Caracterização da Capacidade Criativa em Sistemas de IA Generativa"
    place = "Section 3.3, page 10"
    gaps = _(
        "Not printed: the prompt, and how near the lengths must be kept. Ours is marked as own; no idea is discarded."
    )
    works_on = "story"
    makes = "idea"
    prompts = ("nsv-idea-extraction",)
    sizes = (50, 150, 250)

    def next_step(self, brief: Brief, replies: Sequence[str]) -> Step:
        if not replies:
            return Ask("nsv-idea-extraction", {"original": brief.original}, {"word_count": brief.n_words})
        return Finished((Output(replies[-1]),))
