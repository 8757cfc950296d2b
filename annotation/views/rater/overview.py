"""Where a rater stands: the list of what there is to do, and when a break might do good."""

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.participation import amended
from annotation.progress import Question, pace
from annotation.progress.pace import Orientation
from annotation.progress.work import Work
from annotation.views.rater import addresses
from annotation.views.rater.guards import Request, for_assignment
from annotation.views.rater.presenters import pages

RESTED = "rested"
BREAK_LENGTH = timedelta(minutes=10)  # a rater away for this long has had one


@for_assignment
@require_safe
def overview(request: Request, work: Work) -> HttpResponse:
    """The stories and parts of the group: how complete each is, where the rater is, and until when there is time."""
    if work.assignment.seat is None or work.standing.refusal:
        return redirect("annotation:assignment", work.assignment.code)
    orientation = Orientation(work)
    tasks = [(task, addresses.of_stop(work, task.stop) if task.stop else "") for task in orientation.tasks]
    context = pages.base_context(work) | {"orientation": orientation, "tasks": tasks, "has_tasks": True}
    context["amended"] = amended.list_amended_words(work.assignment)
    return render(request, "annotation/overview.html", context)


@for_assignment
@require_POST
def dismiss_break(request: Request, work: Work) -> HttpResponse:
    """Put the suggestion of a break away, and go on at the very item."""
    _note_rest(request, work, Orientation(work).active_seconds)
    return redirect("annotation:assignment", work.assignment.code)


def progress_context(request: Request, work: Work, question: Question, *, at: datetime) -> dict[str, Any]:
    """What a page of the desk says of progress, and whether it suggests a break. One query more than the page takes."""
    orientation = Orientation(work)
    last_active_at = work.assignment.last_active_at
    if last_active_at is None or at - last_active_at >= BREAK_LENGTH:
        _note_rest(request, work, orientation.active_seconds)
    is_due = pace.is_due_a_break(
        active_seconds=orientation.active_seconds,
        rested_at=_rested_at(request, work),
        has_finished_a_story=follows_finished_story(work, question),
    )
    return {"orientation": orientation, "is_due_a_break": is_due}


def follows_finished_story(work: Work, question: Question) -> bool:
    """Whether the question is the first about its story, and the story before it has nothing open."""
    index = work.letters.index(question.letter)
    if index == 0:
        return False
    questions = Orientation(work).questions
    first = next(q for q in questions if q.letter == question.letter)
    before = [q for q in questions if q.letter == work.letters[index - 1] and q.step.scope == question.step.scope]
    return question == first and not any(work.answers.shortfall(q) for q in before)


def _rested_at(request: Request, work: Work) -> int:
    """The active seconds in this assignment at the last break."""
    code, seconds = request.session.get(RESTED, ["", 0])
    return int(seconds) if code == work.assignment.code else 0


def _note_rest(request: Request, work: Work, active_seconds: int) -> None:
    # A session is written only when there is something to write: most pages then take no query for it.
    if active_seconds != _rested_at(request, work):
        request.session[RESTED] = [work.assignment.code, active_seconds]
