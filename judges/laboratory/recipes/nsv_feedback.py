"""NSV: an idea that is written again in rounds of simulated feedback."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from judges.laboratory.recipes.base import Ask, Brief, Finished, Output, Recipe, Rounds, Step

# In turn; the words stand in the prompt's file.
OPERATORS = ("surprise", "perspective")


class FeedbackRounds(Recipe):
    slug = "nsv-feedback"
    version = "1"
    title = _("NSV: ideas in rounds of feedback")
    description = _(
        "An idea for every writing prompt, then written again in rounds: each with an operator, an "
        "idea of reference if one is chosen, and a check list of coherence. The idea of every round "
        "is kept."
    )
    citation = "da Silva & Marcacini, Caracterização da Capacidade Criativa em Sistemas de IA Generativa"
    place = "Section 2.1, pages 4 and 5"
    gaps = _(
        "Not printed: the prompts, all operators but two, the check list, how the idea of reference enters, and how "
        "many rounds there are. What is ours is marked as own. For as many ideas without feedback, use the recipe "
        "without rounds."
    )
    makes = "idea"
    prompts = ("nsv-idea-generation", "nsv-idea-feedback")
    sizes = (50,)
    rounds = Rounds(_("Rounds of feedback"), usual=3, most=20)
    takes_reference = True

    def next_step(self, brief: Brief, replies: Sequence[str]) -> Step:
        if not replies:
            return Ask("nsv-idea-generation", {"premise": brief.premise}, {"word_count": brief.n_words})
        n_rounds = len(replies) - 1
        if n_rounds >= brief.n_rounds:
            return Finished(tuple(Output(text, round=n) for n, text in enumerate(replies)))
        texts = {"premise": brief.premise, "draft": replies[-1], "reference": brief.reference}
        values = {"word_count": brief.n_words, "operator": OPERATORS[n_rounds % len(OPERATORS)]}
        return Ask("nsv-idea-feedback", texts, values)
