"""PDS: portraits of the characters first, then a story from premise and portraits."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from judges.laboratory.recipes.base import Ask, Brief, Recipe, Rounds, Step, regenerate


class PlanWrite(Recipe):
    slug = "pds-plan-write"
    version = "1"
    title = _("PDS: Plan+Write")
    description = _(
        "Portraits of two or three characters, then a story from writing prompt and portraits. A "
        "story outside 400 to 600 words is discarded whole and counted, and another is asked for in "
        "the same words."
    )
    citation = "Harel-Canada et al., Measuring Psychological Depth in Language Models, EMNLP 2024"
    place = "Section 3.2.1; appendix A.1 and A.3.3, listings 4 and 7"
    gaps = _(
        "Not printed: the prompt of the second step, so that ours stands here, marked as own; and whether a story that "
        "is asked for again gets new portraits. Here it keeps those that it had."
    )
    prompts = ("pds-character-portraits", "pds-plan-write-story")
    rounds = Rounds(_("Tries for each story, at most"), usual=10, most=199)

    def next_step(self, brief: Brief, replies: Sequence[str]) -> Step:
        portraits = replies[0] if replies else ""
        asks = [
            Ask("pds-character-portraits", {"premise": brief.premise}),
            Ask("pds-plan-write-story", {"premise": brief.premise, "portraits": portraits}, {"word_count": 500}),
        ]
        return regenerate(asks, replies, least=400, most=600, n_rounds=brief.n_rounds)
