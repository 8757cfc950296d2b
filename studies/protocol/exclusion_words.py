"""What exclusion rules leave out, in words: on pages, in reports and in what is registered."""

from django.utils.translation import gettext as _

from studies.documents.analysis_plan import (
    FAILED_CHECKS,
    FAST,
    NAMED_RATERS,
    NAMED_STORIES,
    OF_A_STORY,
    RECOGNISED,
    STRAIGHT_LINING,
    AnalysisPlan,
)


def describe_rule(rule: str, detail: str) -> str:
    """What the rule leaves out, without a full stop. detail : as `AnalysisPlan.detail_of` gives it"""
    of_a_story = _("a rater’s answers about a story, where all scales with the same ends got the same answer")
    of_all = _("raters who gave one answer to all scales of all stories")
    words = {
        FAILED_CHECKS: _("raters who failed a comprehension check"),
        FAST: _("raters who read more than %(words)s words of story a minute") % {"words": detail},
        STRAIGHT_LINING: of_a_story if detail == OF_A_STORY else of_all,
        RECOGNISED: _("a rater’s answers about a story that the rater recognised"),
        NAMED_RATERS: _("raters by code: %(codes)s") % {"codes": detail},
        NAMED_STORIES: _("stories by code: %(codes)s") % {"codes": detail},
    }
    return words[rule]


def describe_rules(plan: AnalysisPlan) -> list[str]:
    """What each rule of the plan leaves out."""
    return [describe_rule(rule, plan.detail_of(rule)) for rule in plan.rules]
