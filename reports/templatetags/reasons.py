"""Why there is no figure, in the reader's language. Results are stored in English, one for all readers.

A reason with a number in it is not listed, and shown in English and marked as that.
"""

from django import template
from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

register = template.Library()

# Statistics know no Django, so what they say is listed here; a test holds the list to the code.
REASONS = {
    gettext_noop("No item has a kappa to average."),
    gettext_noop("There are fewer than two groups to resample."),
    gettext_noop("No story of this source was ranked."),
    gettext_noop("There is nothing to average."),
    gettext_noop("There are no answers."),
    gettext_noop("No story has a rater who answered every test."),
    gettext_noop("There are no choices."),
    gettext_noop("It would depend on which story of a group is called the first."),
    gettext_noop("There are no ratings."),
    gettext_noop("No unit was rated by both."),
    gettext_noop("Both give every unit the same value, so Cohen's kappa is 0/0."),
    gettext_noop("No unit has two ratings."),
    gettext_noop("No shuffle of the ratings gives the statistic a value."),
    gettext_noop("There are no scores."),
    gettext_noop("No unit has two totals."),
    gettext_noop("The truth holds fewer than two values, so there is nothing to balance."),
    gettext_noop("Fewer than two pairs of values."),
    gettext_noop("One side does not vary, so there is no correlation."),
    gettext_noop("A group has fewer than two values."),
    gettext_noop("Neither group varies, so there is nothing to compare their difference with."),
    gettext_noop("There are fewer than two clusters to resample."),
    gettext_noop("No resample gives the statistic a value."),
    gettext_noop("Every resample gives the same value, so resampling cannot tell how sure it is."),
    gettext_noop("No unit has both a verdict of the judge and a majority."),
    gettext_noop("Fewer than two raters ranked every story."),
    gettext_noop("Every rater ranks all stories the same, so Kendall's W is 0/0."),
    gettext_noop("There are no rankings."),
    gettext_noop("There are no verdicts."),
    gettext_noop("All ratings are the same, so agreement by chance is certain and Fleiss' kappa is 0/0."),
    gettext_noop("All ratings are the same, so agreement by chance is certain and Krippendorff's alpha is 0/0."),
}


@register.filter
def reason(said: str) -> str:
    """The reason as it is shown."""
    return _(said) if said in REASONS else said


@register.filter
def reason_language(said: str) -> str:
    """The language in which it is shown."""
    return (get_language() or "en") if said in REASONS else "en"
