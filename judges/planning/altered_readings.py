"""Readings of changed stories: what is asked in them, and where there are none."""

from dataclasses import replace

from django.utils.translation import gettext as _

from judges import interventions
from judges.interventions import Intervention
from judges.planning.scopes import CannotRun, Scope
from judges.requests import CallWords, PlannedCall
from studies import items as item_types
from studies import protocol as protocols
from studies.models import Item, Step, StoryGroup, Study


def list_names(scope: Scope) -> list[str]:
    """Slug and version of each intervention of a run, as its readings are marked. Raises CannotRun."""
    try:
        return [interventions.find_intervention(slug).name for slug in scope.interventions]
    except interventions.UnknownIntervention as error:
        raise CannotRun(str(error)) from None


def find_kinds(study: Study, steps: list[Step], scope: Scope) -> dict[str, Intervention]:
    """The interventions of a run, by name. Raises CannotRun if the steps ask nothing that could show their effect."""
    names = list_names(scope)
    kinds = dict(zip(names, map(interventions.find_intervention, scope.interventions), strict=True))
    if kinds and not any(map(can_show, steps)):
        message = _(
            "Interventions are for verdicts and scales about single stories. %(study)s asks neither here: pairs, "
            "rankings and clozes are about several texts, of which only one would be changed"
        )
        raise CannotRun(message % {"study": study.slug})
    english = [str(kind.title) for kind in kinds.values() if kind.is_english]
    if english and study.language.partition("-")[0] != "en":
        message = _(
            "%(study)s has stories in another language than English, in which these interventions put words: "
            "%(titles)s. Choose others"
        )
        raise CannotRun(message % {"study": study.slug, "titles": ", ".join(english)})
    return kinds


def ask(
    wording: CallWords, steps: list[Step], group: StoryGroup, order: list[str], kind: Intervention
) -> tuple[list[str], list[PlannedCall]]:
    """The stories in which the intervention changes something, and what is asked about each. Raises InvalidPrompt.

    order : of the stories as they are read
    """
    text_by_code = {story.code: story.text for story in group.stories.all() if story.code in order}
    altered = {
        code: interventions.alter(kind, text, seed=group.study.seed, code=code) for code, text in text_by_code.items()
    }
    altered = {code: text for code, text in altered.items() if text != text_by_code[code]}
    measured = [step for step in steps if can_show(step)]
    # All stories keep the letters that they have in the plain reading, so that nothing else is changed.
    calls = replace(wording, text_by_code=altered).ask_about_group(measured, group, order, is_whole=False)
    about_altered = [call for call in calls if call.story and call.story.code in altered]
    codes = [code for code in order if code in altered]
    return codes, [call for call in about_altered if call.item is None or _is_number(call.item)]


def can_show(step: Step) -> bool:
    """Whether the step asks anything that could show what a change of a story does."""
    is_about_a_story = step.scope in (Step.Scope.STORY, Step.Scope.STORIES)
    return is_about_a_story and any(map(_is_number, protocols.items_of(step)))


def _is_number(item: Item) -> bool:
    """Whether it is a verdict, or a place on a scale."""
    kind = item_types.find_type(item.type)
    return kind.is_verdict or kind.level in ("ordinal", "interval")
