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


def describe_rule(plan: AnalysisPlan, rule: str) -> str:
    """What that rule of the plan leaves out, without a full stop."""
    pace = plan.exclude_faster_than or 0
    of_a_story = _("a rater’s answers about a story, where all scales with the same ends got the same answer")
    of_all = _("raters who gave one answer to all scales of all stories")
    words = {
        FAILED_CHECKS: _("raters who failed a comprehension check"),
        FAST: _("raters who read more than %(words)s words of story a minute") % {"words": f"{pace:g}"},
        STRAIGHT_LINING: of_a_story if plan.exclude_straight_lining == OF_A_STORY else of_all,
        RECOGNISED: _("a rater’s answers about a story that the rater recognised"),
        NAMED_RATERS: _("raters by code: %(codes)s") % {"codes": ", ".join(plan.exclude_raters)},
        NAMED_STORIES: _("stories by code: %(codes)s") % {"codes": ", ".join(plan.exclude_stories)},
    }
    return words[rule]


def describe_rules(plan: AnalysisPlan) -> list[str]:
    """What each rule of the plan leaves out."""
    return [describe_rule(plan, rule) for rule in plan.rules]
