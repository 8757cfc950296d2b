"""A page of several questions, posted as a whole: by its button, and by browsers in which no script has run."""

from collections.abc import Sequence

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import progress, responses
from annotation.models import Response
from annotation.progress import Part, Question, languages
from annotation.progress.work import Work
from annotation.responses import Entry, Stale
from annotation.responses.quotes import read_quotes, serialise_quotes
from annotation.templatetags.times import time_of_day
from annotation.views.rater import addresses
from annotation.views.rater.guards import Request
from annotation.views.rater.presenters import pages, questions
from annotation.views.rater.presenters.pages import RefusedAnswer
from annotation.views.rater.presenters.questions import MissingAnswer, PostedAnswer
from studies.items import InvalidAnswer


def save(request: Request, work: Work, part: Part) -> list[RefusedAnswer]:
    """Keep each answer that was posted, whatever becomes of the others; what could not be kept, and why.

    What is stored already in the same words is not written again, nor is what nobody has touched on this page. Raises
    AssignmentEnded if nothing of this part can be changed any more.
    """
    posted_questions = [q for q in progress.list_questions(part, work.letters) if questions.is_posted(request, q)]
    if posted_questions and (refusal := work.standing.refusal_at(part.steps[0])):
        raise responses.AssignmentEnded(refusal.sentence)
    refused: list[RefusedAnswer] = []
    posted_answers: list[tuple[Question, PostedAnswer]] = []
    entries: list[Entry] = []
    for question in posted_questions:
        posted = questions.parse_answer(request, work, question)
        try:
            is_confirmation = request.POST.get("confirm") == question.item.key
            entries.append(_entry(work, question, posted, is_confirmation=is_confirmation))
            posted_answers.append((question, posted))
        except InvalidAnswer as error:
            refused.append(RefusedAnswer(question, str(error), posted))
    try:
        results = responses.record_many(entries, is_from_page=True) if entries else []
    except responses.TooManySaves as error:
        return [
            *refused,
            *(
                RefusedAnswer(question, str(error), posted, seconds=error.seconds)
                for (question, posted), entry in zip(posted_answers, entries, strict=True)
                if entry.is_confirmation or not _is_stored(work, question, posted)
            ),
        ]
    for (question, posted), entry, result in zip(posted_answers, entries, results, strict=True):
        if isinstance(result, responses.AssignmentEnded):
            raise result
        if isinstance(result, InvalidAnswer):
            refused.append(RefusedAnswer(question, str(result), posted))
        elif isinstance(result, Stale) and not responses.is_untouched(entry, result.response):
            refused.append(RefusedAnswer(question, _conflict(work, question, result.response), posted))
    return refused


def _entry(work: Work, question: Question, posted: PostedAnswer, *, is_confirmation: bool) -> Entry:
    """Raises InvalidAnswer if the reasons or the passages could not be stored."""
    questions.check_storable(posted)
    quotes = read_quotes(posted.quotes, work.stories.load_text(question.letter)) if posted.quotes else []
    answer = responses.Answer(posted.value, posted.rationale, serialise_quotes(quotes))
    return Entry(
        assignment=work.assignment,
        step=question.step,
        item=question.item,
        story=work.stories.reference(question.letter),
        answer=answer,
        at=timezone.now(),
        base=posted.base,
        key=posted.key,
        n_pasted=posted.n_pasted,
        is_confirmation=is_confirmation,
    )


def _is_stored(work: Work, question: Question, posted: PostedAnswer) -> bool:
    """Whether value and reasons stand there already, if only as nothing, without passages to compare."""
    stored = work.answers.at(question)
    if posted.quotes or (stored and stored.quotes):
        return False
    value, rationale = (stored.value, stored.rationale) if stored else (None, "")
    return (posted.value or None, posted.rationale) == (value or None, rationale)


def list_unsaved(request: Request, work: Work, part: Part) -> list[str]:
    """What was posted for this part and is not stored so: each answer in words after its question, with its reasons."""
    unsaved: list[str] = []
    for question in progress.list_questions(part, work.letters):
        if not questions.is_posted(request, question):
            continue
        posted = questions.parse_answer(request, work, question)
        words = questions.posted_in_words(work, posted, question)
        if (words or posted.rationale) and not _is_stored(work, question, posted):
            name = languages.item_title(question, work.assignment.study).text
            answer = "\n".join(filter(None, (words.text if words else "", posted.rationale)))
            unsaved.append(f"{name}\n{answer}")
    return unsaved


def _conflict(work: Work, question: Question, stored: Response) -> str:
    """What is saved of an answer that was changed in two windows, and how to keep what stands on this page."""
    value = questions.response_in_words(work, stored, question)
    return conflict_message("; ".join(filter(None, (value.text if value else "", stored.rationale))), stored)


def conflict_message(words: str, stored: Response) -> str:
    """words : what is stored now"""
    at = time_of_day(stored.last_edited_at)
    if not words:
        return _(
            "Changed in another window at %(time)s, where it is empty now. To keep what is written here, save again."
        ) % {"time": at}
    return _(
        "Changed in another window at %(time)s, where it now says “%(words)s”. "
        "To keep what is written here, save again."
    ) % {"time": at, "words": words}


def seconds_to_wait(refused: Sequence[RefusedAnswer]) -> int:
    """After how many seconds these may be sent again; 0 if time changes nothing."""
    return max((answer.seconds for answer in refused), default=0)


def missing_answers(work: Work, part: Part, refused: Sequence[RefusedAnswer]) -> list[MissingAnswer]:
    """What the part lacks, but for what was refused, of which that is said already."""
    ids = {answer.question.id for answer in refused}
    shortfalls = progress.list_shortfalls([part], work.letters, work.answers)
    return [
        questions.missing_answer(work, question, sentence, is_here=True)
        for question, sentence in shortfalls
        if question.id not in ids
    ]


def go_on(request: Request, work: Work, part: Part) -> HttpResponse:
    """On from a page of comparisons, once all that was posted is kept. What still lacks is said before submission."""
    try:
        refused = save(request, work, part)
    except responses.AssignmentEnded as ended:
        return pages.refuse(request, ended)
    if refused:
        context = pages.together_context(
            work, part, refused=refused, shows_shortfalls=pages.shows_shortfalls(request, work)
        )
        response = render(request, "annotation/together.html", context, status=400)
        return pages.mark_postponed(response, seconds=seconds_to_wait(refused))
    return redirect(addresses.of_stop(work, progress.neighbours(work.parts, part, work.letters)[1]))
