"""The addresses of a rater's stops, questions, parts and stories; and what is asked at an address."""

from django.http import Http404
from django.urls import reverse

from annotation import progress
from annotation.progress import Part, Question, Stop
from annotation.progress.work import Work
from studies.models import Step
from studies.protocol import items_of

ABOUT_ONE_STORY = (Step.Scope.STORY, Step.Scope.STORIES)


def of_stop(work: Work, stop: Stop | None) -> str:
    """The address of a stop on the way; past the last one, the answers are checked."""
    code = work.assignment.code
    if stop is None:
        return reverse("annotation:check", args=[code])
    if isinstance(stop, Part) and work.assignment.seat is None:
        return reverse("annotation:once", args=[stop.key])
    if isinstance(stop, Part):
        return reverse("annotation:part", args=[code, stop.key])
    return of_question(work, stop)


def of_question(work: Work, question: Question) -> str:
    """The address at which one item is answered."""
    code = work.assignment.code
    if question.letter:
        return reverse("annotation:story_item", args=[code, question.step.key, question.letter, question.item.key])
    return reverse("annotation:item", args=[code, question.step.key, question.item.key])


def of_answers(work: Work) -> str:
    """What the addresses of all questions of the assignment begin with."""
    return reverse("annotation:assignment", args=[work.assignment.code]) + "s/"


def of_story(work: Work, letter: str) -> str:
    """Where a story can be read by itself."""
    return reverse("annotation:story", args=[work.assignment.code, letter])


def find_part(work: Work, step_key: str) -> Part:
    """The part to which that step belongs. Raises Http404 if there is none."""
    if part := progress.find_part(work.parts, step_key):
        return part
    raise Http404


def find_question(work: Work, step_key: str, item_key: str, letter: str) -> tuple[Part, Question]:
    """The question at that address, and its part. Raises Http404 if nothing is asked there."""
    part = find_part(work, step_key)
    step = next(step for step in part.steps if step.key == step_key)
    item = next((item for item in items_of(step) if item.key == item_key), None)
    if item is None or letter not in (work.letters if step.scope in ABOUT_ONE_STORY else [""]):
        raise Http404
    return part, Question(step, item, letter)
