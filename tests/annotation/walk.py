"""A rater's steps through the pages, as a browser would take them."""

from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Rater, Response
from annotation.participation import invitations
from studies.models import Study

HTMX = {"HX-Request": "true"}


def come_in(client: Client, study: Study) -> Rater:
    """Open a new link and press Continue."""
    invitation, token = invitations.issue(study)
    client.post(reverse("annotation:invitation", args=[token]))
    invitation.refresh_from_db()
    assert invitation.rater is not None, "the link was not opened"
    return invitation.rater


def begin(client: Client, study: Study) -> Assignment:
    """Come in, agree, and take a group."""
    rater = come_in(client, study)
    client.post(reverse("annotation:consent"), {"agrees": "yes"})
    client.post(reverse("annotation:begin"))
    return rater.assignments.get()


def address(assignment: Assignment, step: str = "tests", item: int = 1, letter: str = "A") -> str:
    """Where an item is asked; no letter for one about the group."""
    if letter:
        return reverse("annotation:story_item", args=[assignment.code, step, letter, f"item-{item}"])
    return reverse("annotation:item", args=[assignment.code, step, f"item-{item}"])


def give(
    client: Client,
    assignment: Assignment,
    value: Any = "yes",
    why: str = "It is so.",
    *,
    step: str = "tests",
    item: int = 1,
    letter: str = "A",
    base: int = 0,
    htmx: bool = False,
    **more: Any,
) -> HttpResponse:
    """Post an answer from a page that saw revision `base`; None to leave the field out, as an unanswered radio does."""
    name = "-".join(filter(None, ("answer", step, letter, f"item-{item}")))
    form = {"rationale": why, "base": base} | more
    if value is not None:
        form[name] = value
    return client.post(address(assignment, step, item, letter), form, headers=HTMX if htmx else {})


def said(assignment: Assignment) -> list[tuple[Any, str]]:
    """Value and rationale of every response, in the order of recording."""
    return list(Response.objects.filter(assignment=assignment).order_by("pk").values_list("value", "rationale"))


def answer_all(client: Client, assignment: Assignment) -> None:
    """Every question of the factories' study, by posting each."""
    letters = "ABCDEFGH"[: len(assignment.seat.order)]
    for letter in letters:
        for item in (1, 2):
            give(client, assignment, item=item, letter=letter)
    ranking = [f"answer-ranking-item-1_{letter}" for letter in letters]
    positions = {name: place for place, name in enumerate(ranking, start=1)}
    give(client, assignment, None, "", step="ranking", letter="", **positions)
    for letter in letters:
        give(client, assignment, "ai", "", step="guess", letter=letter)
