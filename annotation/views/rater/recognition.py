"""Whether a rater knows the stories: the page before a group, and the flag under each story."""

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.participation import recognition
from annotation.progress.refusals import Refusal
from annotation.progress.work import Work
from annotation.views.rater.guards import Request, for_assignment
from annotation.views.rater.presenters import pages
from annotation.views.rater.routing import allow_get_and_post


@for_assignment
@allow_get_and_post
def ask(request: Request, work: Work) -> HttpResponse:
    """The opening lines of the stories, below what they were written to if raters see that. A yes gives the seat back,
    a no goes on to the first story."""
    if work.standing.refusal is not Refusal.OWES_RECOGNITION:
        return redirect("annotation:assignment", work.assignment.code)
    knows = request.POST.get("knows", "")
    if knows == "no":
        recognition.record_none_known(work.assignment)
        return redirect("annotation:assignment", work.assignment.code)
    if knows == "yes":
        recognition.give_back_seat(work.assignment, at=timezone.now())
        return redirect("annotation:home")
    openings = [
        (letter, story.language, recognition.opening_lines(story.text))
        for letter, story in work.stories.story_by_letter.items()
    ]
    is_undecided = request.method == "POST"
    problem = _("Please say whether you know one of them.") if is_undecided else ""
    context = pages.base_context(work) | {"premise": work.stories.premise, "openings": openings, "problem": problem}
    context["is_one"] = len(work.letters) == 1
    return render(request, "annotation/recognition.html", context, status=400 if is_undecided else 200)


@for_assignment
@require_POST
def flag(request: Request, work: Work, letter: str) -> HttpResponse:
    """Note that the rater recognises the story, or take that back."""
    if letter not in work.letters or not work.assignment.study.asks_recognition:
        raise Http404
    if refusal := work.standing.refusal or (None if work.may_read(letter) else Refusal.AHEAD):
        return pages.refuse(request, refusal)
    is_known = request.POST.get("knows") == "yes"
    recognition.flag_story(work.assignment, work.stories.story_by_letter[letter], is_known=is_known)
    if request.htmx:
        context = pages.base_context(work) | {"letter": letter, "is_recognised": is_known}
        return render(request, "annotation/recognised.html", context)
    return redirect("annotation:assignment", work.assignment.code)
