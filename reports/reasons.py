"""Why there is no figure: the sentence of each code, in English for files and in the reader's language for pages.

The statistics' own stand in `stats.reasons`; here are those of the reports.
"""

from collections.abc import Mapping
from typing import Protocol

from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from stats import reasons

SENTENCES = reasons.SENTENCES | {
    "depends_on_first_story": gettext_noop("It would depend on which story of a group is called the first."),
    "no_answers": gettext_noop("There are no answers."),
    "no_choices": gettext_noop("There are no choices."),
    "no_complete_rater": gettext_noop("No story has a rater who answered every test."),
    "no_kappa_to_average": gettext_noop("No item has a kappa to average."),
    "no_such_figure": gettext_noop("The data give no such figure."),
    "nothing_to_average": gettext_noop("There is nothing to average."),
    "order_not_known": gettext_noop("Imported answers do not say in which order the stories were shown."),
    "no_vectors": gettext_noop("There are no vectors: %(why)s."),
    "not_drawn_at_random": gettext_noop(
        "Nothing says that people’s stories were drawn at random; stories say so by the factor “drawn”, yes or no."
    ),
    "not_read_as_drawn": gettext_noop("People did not read exactly the stories that were drawn for them."),
    "answers_in_the_prompt": gettext_noop(
        "The judge’s prompt held answers of people in this study as examples, so its error cannot be measured by them."
    ),
    "no_constant_for_missing": gettext_noop(
        "The judge left answers out, and a scale without ends has no middle to stand for them."
    ),
    "source_not_ranked": gettext_noop("No story of this source was ranked."),
    "no_fills": gettext_noop("It is not known what stands in the blanks of these texts."),
    "no_reference_texts": gettext_noop("No text belongs to the reference set, so nothing says what is usual."),
    "no_reference_set": gettext_noop(
        "There is no reference set “%(name)s”, which the analysis plan names. Store it under that name, on the page of "
        "measures or by store_reference_set."
    ),
    "too_few_references": gettext_noop(
        "No prompt has more than %(k)s ideas in the reference set “%(name)s” that are no "
        "near-copies. Ideas of reference belong to a prompt if it is the same, word for word; store "
        "a set that has them."
    ),
    "no_surprise": gettext_noop(
        "No idea has a surprise by “%(name)s”. Bring in one score for each idea under that name; a model of the "
        "references needs references on several prompts in the ideas’ language."
    ),
    "no_named_scores": gettext_noop(
        "There are no scores “%(name)s” with one value for each idea, which the analysis plan names. Bring them in "
        "under that name with its version, as reward-1."
    ),
    "no_labels": gettext_noop(
        "The analysis plan names “%(name)s” as the standard, but no label of it could be read. Labels are a property "
        "of the stories, or answers that were imported as those of a model."
    ),
    "no_unit_with_judge_and_label": gettext_noop("Nothing has both an answer of the judge and a label."),
    "judge_or_labels_constant": gettext_noop("All answers of the judge, or all labels, are the same here."),
    "references_sealed": gettext_noop(
        "The references are stories of a study that is still sealed, so nothing says which are by people. Close it."
    ),
    "too_few_ideas_by_people": gettext_noop(
        "Only %(n)s ideas of reference by people stand on prompts that nothing was fitted on, and %(least)s are needed "
        "for a 95th percentile. Store a set with more."
    ),
    "no_feedback_pairs": gettext_noop(
        "Fewer than two prompts outside development have ideas after feedback as well as ideas without. Generate both "
        "on the same prompts and take them into the study."
    ),
    "open_blank": gettext_noop("A blank has no fill with words, so its section has no surprise."),
    "not_all_constraints_rated": gettext_noop("Nobody rated one of the constraints."),
    "filled_once": gettext_noop("Nobody filled the text more than once."),
    "too_few_such_units": gettext_noop("The rater rated fewer than %(least)s stories with this answer."),
    "too_few_ratings": gettext_noop("There are fewer than %(least)s ratings."),
}
# What sentences name in English words that have a translation.
NAMES = (
    gettext_noop("Fleiss' kappa"),
    gettext_noop("Krippendorff's alpha"),
    gettext_noop("Brennan and Prediger's kappa"),
)


class Coded(Protocol):
    """A reason: `reports.figures.base.Reason`, or the error that a statistic raised."""

    @property
    def code(self) -> str: ...
    @property
    def values(self) -> Mapping[str, str | int | float]: ...


def to_english(reason: Coded) -> str:
    """The reason as files and the command say it."""
    return SENTENCES[reason.code] % dict(reason.values)


def translate_reason(reason: Coded) -> str:
    """The reason in the language of whoever reads."""
    values = {name: _(value) if value in NAMES else value for name, value in reason.values.items()}
    return _(SENTENCES[reason.code]) % values


def language(reason: Coded) -> str:
    """The language in which `translate_reason` says it: English where there is no translation yet."""
    sentence = SENTENCES[reason.code]
    return "en" if _(sentence) == sentence else get_language() or "en"
