"""The addresses of a rater's stops: of places, parts and stories."""

from django.urls import reverse

from annotation.progress import Part, Place, Stop, phrases
from annotation.progress.work import Work
from studies.items import StoryLabel


def of_stop(work: Work, stop: Stop | None) -> str:
    """The address of a stop on the way; past the last one, the answers are checked."""
    code = work.assignment.code
    if stop is None:
        return reverse("annotation:check", args=[code])
    if isinstance(stop, Part) and work.assignment.seat is None:
        return reverse("annotation:once", args=[stop.key])
    if isinstance(stop, Part):
        return reverse("annotation:part", args=[code, stop.key])
    return of_place(work, stop)


def of_place(work: Work, place: Place) -> str:
    """The address at which one item is answered."""
    code = work.assignment.code
    if place.letter:
        return reverse("annotation:story_item", args=[code, place.step.key, place.letter, place.item.key])
    return reverse("annotation:item", args=[code, place.step.key, place.item.key])


def of_story(work: Work, letter: str) -> str:
    """Where a story can be read by itself."""
    return reverse("annotation:story", args=[work.assignment.code, letter])


def linked_stories(work: Work) -> list[StoryLabel]:
    """The stories as an item may name them, each with its address."""
    kind = work.assignment.study.text_kind
    return [
        StoryLabel(letter, url=of_story(work, letter), title=phrases.say("title", kind, letter=letter))
        for letter in work.letters
    ]
