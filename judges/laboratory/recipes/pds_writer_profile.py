"""PDS: a story of 500 words by a model that is told to be a seasoned writer."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from judges.laboratory.recipes.base import Ask, Brief, Recipe, Rounds, Step, regenerate


class WriterProfile(Recipe):
    slug = "pds-writer-profile"
    version = "1"
    title = _("PDS: WriterProfile")
    description = _(
        "The profile of a seasoned writer, then the writing prompt, for 500 words. A story outside "
        "400 to 600 words is discarded whole and counted, and another is asked for in the same words."
    )
    citation = "Harel-Canada et al., Measuring Psychological Depth in Language Models, EMNLP 2024"
    place = "Section 3.2.1; appendix A.1 and A.3.2, listing 2"
    gaps = _("Not printed: after how many tries one gives up. The paper’s smallest model took 139 on average.")
    prompts = ("pds-writer-profile",)
    rounds = Rounds(_("Tries for each story, at most"), usual=10, most=200)

    def next_step(self, brief: Brief, replies: Sequence[str]) -> Step:
        asks = [Ask("pds-writer-profile", {"premise": brief.premise})]
        return regenerate(asks, replies, least=400, most=600, n_rounds=brief.n_rounds)
