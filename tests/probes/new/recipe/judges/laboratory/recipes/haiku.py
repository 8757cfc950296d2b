"""A recipe of a test."""

from collections.abc import Sequence

from judges.laboratory.recipes.base import Ask, Brief, Finished, Output, Recipe, Step


class Haiku(Recipe):
    slug = "haiku"
    version = "1"
    title = "Haiku"
    description = "An idea, whatever its length."
    citation = "Nobody"
    place = "nowhere"
    gaps = "All of it."
    makes = "idea"
    prompts = ("nsv-idea-generation",)
    sizes = (17,)

    def next_step(self, brief: Brief, replies: Sequence[str]) -> Step:
        if not replies:
            return Ask("nsv-idea-generation", {"premise": brief.premise}, {"word_count": brief.n_words})
        return Finished((Output(replies[-1]),))
