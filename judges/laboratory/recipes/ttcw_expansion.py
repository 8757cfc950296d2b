"""TTCW: a story from a plot, then again and longer until it is near the length that was asked for."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from judges.laboratory.recipes.base import Ask, Brief, Finished, GaveUp, Output, Recipe, Rounds, Step, count_words

# The difference in words must be less than this.
WITHIN = 200
TOO_SHORT = gettext_noop("after %(n)s rounds it has %(n_words)s words of %(n_asked)s")
TOO_LONG = gettext_noop("it has %(n_words)s words of %(n_asked)s, and no prompt makes it shorter")


class Expansion(Recipe):
    slug = "ttcw-expansion"
    version = "1"
    title = _("TTCW: a story from a plot, expanded in rounds")
    description = _(
        "A story is asked for at a length, usually that of a story by a person on the same plot. As long as it is "
        "shorter by 200 words or more, the model is asked to write it again and longer, at most 20 times."
    )
    citation = "Chakrabarty et al., Art or Artifice?, CHI 2024"
    place = "Section 5.1; appendix, table 10"
    gaps = _(
        "Not printed: what was done with a story that came out too long. It is given up here, since there is no prompt "
        "that shortens one."
    )
    prompts = ("ttcw-story", "ttcw-expansion")
    sizes = (1500,)
    rounds = Rounds(_("Rounds of expansion, at most"), usual=20, most=20)

    def next_step(self, brief: Brief, replies: Sequence[str]) -> Step:
        n_asked = brief.n_words
        if not replies:
            return Ask("ttcw-story", {"premise": brief.premise}, {"word_count": n_asked})
        draft, n_rounds = replies[-1], len(replies) - 1
        n_words = count_words(draft)
        if abs(n_words - n_asked) < WITHIN:
            return Finished((Output(draft),))
        if n_words > n_asked:
            return GaveUp(TOO_LONG, {"n_words": n_words, "n_asked": n_asked})
        if n_rounds >= brief.n_rounds:
            return GaveUp(TOO_SHORT, {"n": n_rounds, "n_words": n_words, "n_asked": n_asked})
        return Ask("ttcw-expansion", {"draft": draft}, {"word_count": n_asked, "current_word_count": n_words})
