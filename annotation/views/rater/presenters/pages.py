"""What the desk and the pages beside it show, as plain data for their templates, and the answers that they share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from annotation import progress, responses
from annotation.models import Response
from annotation.participation import recognition
from annotation.progress import Part, Question, State, Stop, languages, phrases
from annotation.progress.languages import Words
from annotation.progress.refusals import Refusal
from annotation.progress.work import Work
from annotation.responses import quotes, timing
from annotation.responses.quotes import MarkedParagraph, Quote
from annotation.views.rater import addresses
from annotation.views.rater.guards import Request, list_posted_texts
from annotation.views.rater.presenters.questions import (
    ItemForm,
    MissingAnswer,
    PostedAnswer,
    build_item_form,
    missing_answer,
    number_in_words,
    response_in_words,
    story_opening,
)
from studies.models import Step, Story
from studies.typography.paragraphs import number_paragraphs

CHECKED = "checked"
AT_THE_BEGINNING = (1, 0)  # of the first paragraph, nothing is above


@dataclass(frozen=True)
class RefusedAnswer:
    """What was posted for one question and could not be kept, and why.

    seconds : after which it may be sent again as it is; 0 if it could never be kept so
    """

    question: Question
    problem: str
    posted: PostedAnswer | None = None
    seconds: int = 0


@dataclass(frozen=True)
class IndexEntry:
    """One item in the index of the desk."""

    id: str
    url: str
    number: int
    title: str
    state: State
    is_lacking: bool
    is_current: bool


@dataclass(frozen=True)
class StoryLink:
    """One story of the group by its letter; url is empty as long as it is too early to read it."""

    letter: str
    state: State
    is_current: bool
    url: str


@dataclass(frozen=True)
class StepSection:
    """A step on a page that shows several: its items about the group, or by story, each with its opening words."""

    step: Step
    title: Words
    item_forms: list[ItemForm]
    by_story: list[tuple[StoryLink, Words | None, list[ItemForm]]]


@dataclass(frozen=True)
class ShownStory:
    """A story with its words, on a page that holds all of its group. prefix : how names on the page begin for it"""

    letter: str
    prefix: str
    story: Story
    paragraphs: list[MarkedParagraph]


@dataclass(frozen=True)
class ReviewRow:
    """One answer on the page of all answers.

    heading : the step, or the story where the step asks about one at a time
    letter : of the story, where the heading does not name it
    opening : the words that the story begins with, where there are several
    story_language : only where a passage is quoted
    lacks : what is missing before submission, as a sentence
    """

    name: Words
    heading: Words
    letter: str
    opening: Words | None
    url: str
    words: Words | None
    reasons: str
    quotes: Sequence[Quote]
    story_language: str
    state: State
    lacks: str
    is_locked: bool


def base_context(work: Work) -> dict[str, Any]:
    """What every page of an assignment needs around it."""
    return {
        "study": work.assignment.study,
        "assignment": work.assignment,
        "fills_text": work.protocol.fills_text,
        "revisions": lambda: _all_revisions(work),
    }


def _all_revisions(work: Work) -> dict[str, Any]:
    every = (question for part in work.parts for question in progress.list_questions(part, work.letters))
    return list_revisions(work, ((question, work.answers.at(question)) for question in every))


def list_revisions(
    work: Work, answers: Iterable[tuple[Question, Response | None]], *, of_step: str = ""
) -> dict[str, Any]:
    """Which revision of each answer is saved, by its address after the prefix: a page's script compares them with what
    it was told to be saved, since after a restore they may be older. of_step : the key, where they are of one step"""
    return {
        "prefix": addresses.of_answers(work),
        "within": f"{of_step}/" if of_step else "",
        "revisions": {f"{question.path}/": response.revision for question, response in answers if response},
    }


def desk_context(
    work: Work, part: Part, question: Question, *, refused: RefusedAnswer | None = None, shows_shortfalls: bool
) -> dict[str, Any]:
    """The reading desk at one item: the story, the item, the index."""
    story_questions = [q for q in progress.list_questions(part, work.letters) if q.letter == question.letter]
    before, after = progress.neighbours(work.parts, part, work.letters, question)
    story = work.stories.story_by_letter[question.letter]
    position = story_questions.index(question)
    form = build_item_form(
        work,
        question,
        number=position + 1,
        total=len(story_questions),
        posted=refused.posted if refused else None,
        problem=refused.problem if refused else "",
        shows_shortfalls=shows_shortfalls,
    )
    return base_context(work) | {
        "item_form": form,
        "story": story,
        "is_recognised": is_recognised(work, story),
        "paragraphs": quotes.mark_quotes(number_paragraphs(story.text), form.quotes),
        "premise": work.stories.premise,
        "letter": question.letter,
        "reading_position": work.assignment.reading_positions.get(question.letter, AT_THE_BEGINNING),
        "story_links": story_links(work, current=question.letter),
        "n_stories": len(work.letters),
        "n_stories_in_words": number_in_words(len(work.letters)),
        "minutes_on_story": timing.sum_seconds_on_story(work.assignment, story) // 60,
        "index": index_entries(work, story_questions, question),
        "lead": question.step.text if position == 0 or story_questions[position - 1].step != question.step else "",
        "n_open": sum(bool(work.answers.shortfall(q)) for q in story_questions),
        "has_previous": before is not None,
        "next_label": _next_label(question, after, work.assignment.study.text_kind),
        "next_url": addresses.of_stop(work, after),
    }


def is_recognised(work: Work, story: Story) -> bool:
    """Whether the rater has said that they recognise the story; not looked up where nobody is asked."""
    return work.assignment.study.asks_recognition and recognition.is_flagged(work.assignment, story)


def _next_label(question: Question, after: Stop | None, text_kind: str) -> str:
    if isinstance(after, Question):
        is_same_story = after.letter == question.letter
        return _("Next question") if is_same_story else phrases.say("next", text_kind, letter=after.letter)
    return _("Go on") if after else _("Check answers")


def index_entries(
    work: Work, story_questions: Sequence[Question], current: Question
) -> list[tuple[str, list[IndexEntry]]]:
    """The index of the items asked here, under their dimensions."""
    numbered = list(enumerate(story_questions, start=1))
    return [
        (
            dimension,
            [
                IndexEntry(
                    id=q.id,
                    url=addresses.of_stop(work, q),
                    number=n,
                    title=q.item.title or q.item.question,
                    state=work.answers.state(q),
                    is_lacking=bool(work.answers.shortfall(q)),
                    is_current=q == current,
                )
                for n, q in entries
            ],
        )
        for (_, dimension), entries in groupby(numbered, key=lambda entry: (entry[1].step.pk, entry[1].item.dimension))
    ]


def story_links(work: Work, *, current: str = "") -> list[StoryLink]:
    """The stories of the group, how complete each is, and the way to those that may be read."""
    desks = [q for part in work.parts if part.stops_at_items for q in progress.list_questions(part, work.letters)]
    links: list[StoryLink] = []
    for n, letter in enumerate(work.letters):
        story_questions = [q for q in desks if q.letter == letter]
        url = addresses.of_stop(work, story_questions[0]) if story_questions and n <= work.standing.n_begun else ""
        if not story_questions and work.outline.part_with_stories:
            url = addresses.of_story(work, letter)
        links.append(StoryLink(letter, progress.combined_state(story_questions, work.answers), letter == current, url))
    return links


def together_context(
    work: Work,
    part: Part,
    *,
    refused: Sequence[RefusedAnswer] = (),
    shows_shortfalls: bool = False,
    missing_answers: Sequence[MissingAnswer] = (),
    wrong: Sequence[str] = (),
) -> dict[str, Any]:
    """One page with all that a part asks: each step a section, in it the group's items or those of story by story.

    refused : what was posted and could not be kept; it stands in its item once more
    wrong : the keys of the items of a check that were not answered rightly at the attempt before
    """
    links = story_links(work)
    questions = progress.list_questions(part, work.letters)
    not_right = [q for q in questions if q.item.key in wrong]
    problems = {q.id: _("This was not right.") for q in not_right}
    problems |= {answer.question.id: answer.problem for answer in refused}
    posted_by_question = {answer.question.id: answer.posted for answer in refused}
    forms = [
        build_item_form(
            work,
            q,
            posted=posted_by_question.get(q.id),
            problem=problems.get(q.id, ""),
            shows_shortfalls=shows_shortfalls,
        )
        for q in questions
    ]
    after = progress.neighbours(work.parts, part, work.letters)[1]
    return base_context(work) | {
        "part": part,
        "readings": list_stories(work) if part == work.outline.part_with_stories else [],
        "premise": work.stories.premise,
        "n_stories": len(links),
        "n_stories_in_words": number_in_words(len(links)),
        "sections": [_section(work, step, forms, links) for step in part.steps],
        "story_links": links,
        "heading": _heading(work, part),
        "missing_answers": missing_answers,
        "refused_answers": [missing_answer(work, a.question, a.problem, is_here=True) for a in refused],
        "is_once": work.assignment.seat is None,
        "is_locked": work.standing.refusal_at(part.steps[0]) is not None,
        "page_url": addresses.of_stop(work, part),
        "not_right": [missing_answer(work, q, problems[q.id]) for q in not_right if not (missing_answers or refused)],
        "next_url": addresses.of_stop(work, after),
        "next_label": _("Go on") if after else _("Check your answers"),
    }


def _section(work: Work, step: Step, forms: Sequence[ItemForm], links: Sequence[StoryLink]) -> StepSection:
    """The step's own of these forms, as a section of the page."""
    of_step = [form for form in forms if form.question.step == step]
    by_story = [(link, [form for form in of_step if form.question.letter == link.letter]) for link in links]
    return StepSection(
        step,
        languages.step_title(step, work.assignment.study),
        item_forms=[form for form in of_step if not form.question.letter],
        by_story=[(link, story_opening(work, link.letter), forms) for link, forms in by_story if forms],
    )


def _heading(work: Work, part: Part) -> Words:
    """What stands above a part: the title of its one step, or that the stories are compared."""
    study = work.assignment.study
    if len(part.steps) == 1:
        return languages.step_title(part.steps[0], study)
    return Words(phrases.say("together", study.text_kind, n=number_in_words(len(work.letters))))


def list_stories(work: Work) -> list[ShownStory]:
    """The stories of the group with their words, for a page that holds them all."""
    return [
        ShownStory(letter, f"{letter}-", story, quotes.mark_quotes(number_paragraphs(story.text), []))
        for letter, story in work.stories.story_by_letter.items()
    ]


def review_context(work: Work, parts: Sequence[Part]) -> dict[str, Any]:
    """All answers of these parts in words, by story and step, with what is still lacking."""
    rows = [_review_row(work, q) for part in parts for q in progress.list_questions(part, work.letters)]
    shortfalls = progress.list_shortfalls(parts, work.letters, work.answers)
    sections = [(heading, list(group)) for heading, group in groupby(rows, key=lambda row: row.heading)]
    return base_context(work) | {
        "sections": sections,
        "missing_answers": [missing_answer(work, question, sentence) for question, sentence in shortfalls],
        "story_links": story_links(work),
        "has_locked": any(row.is_locked for row in rows),
    }


def _review_row(work: Work, question: Question) -> ReviewRow:
    study, step, response = work.assignment.study, question.step, work.answers.at(question)
    is_by_story = step.scope == Step.Scope.STORY
    passages = quotes.readable_quotes(response.quotes) if response else []
    return ReviewRow(
        name=Words(question.item.title or question.item.question, languages.of_step(step, study)),
        heading=languages.story_title(question.letter, study) if is_by_story else languages.step_title(step, study),
        letter=question.letter if step.scope == Step.Scope.STORIES else "",
        opening=story_opening(work, question.letter),
        url=addresses.of_stop(work, question),
        words=response_in_words(work, response, question),
        reasons=response.rationale if response else "",
        quotes=passages,
        story_language=work.stories.story_by_letter[question.letter].language if passages and question.letter else "",
        state=work.answers.state(question),
        lacks=work.answers.shortfall(question),
        is_locked=work.standing.is_locked(step),
    )


def shows_shortfalls(request: Request, work: Work) -> bool:
    """Whether the rater has tried to submit with answers lacking; then the items say so too."""
    return request.session.get(CHECKED) == work.assignment.code


def render_review(request: Request, work: Work, context: dict[str, Any]) -> HttpResponse:
    """The page of all answers, from `review_context`. Once sent and refused, what is lacking is said at the items too;
    a rater who only looks at the page is not told so."""
    is_refused = request.method == "POST"
    if is_refused and context["missing_answers"]:
        request.session[CHECKED] = work.assignment.code
    context |= {"is_refused": is_refused}
    return render(request, "annotation/check.html", context, status=400 if is_refused else 200)


def mark_postponed(response: HttpResponse, *, seconds: int) -> HttpResponse:
    """The response; if what was refused may be sent again after some seconds, with the status that says so."""
    if seconds:
        response.status_code = 429
        response.headers["Retry-After"] = str(seconds)
    return response


def refuse(request: Request, refusal: Refusal | responses.AssignmentEnded) -> HttpResponse:
    """The plain page that says why nothing was changed and gives back what was posted; to htmx only the sentence."""
    reason = refusal if isinstance(refusal, Refusal) else Refusal.ENDED
    fate = _(reason.fate) if reason.fate else ""
    response = give_back(request, _(reason.sentence), list_posted_texts(request), fate=fate)
    response.headers["Quire-Reason"] = reason.value
    return response


def give_back(request: Request, message: str, texts: Sequence[str], *, fate: str = "") -> HttpResponse:
    """The same, for a reason that nothing but its sentence has a name for. fate : what becomes of what an open page has
    not saved yet"""
    template = "annotation/refused.html#trouble" if request.htmx else "annotation/refused.html"
    context = {"message": message, "fate": fate, "texts": texts, "oob": True}
    return render(request, template, context, status=409)
