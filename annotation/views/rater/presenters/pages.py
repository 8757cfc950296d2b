"""What the desk and the pages beside it show, as plain data for their templates, and the answers that they share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from annotation import progress, responses
from annotation.participation import recognition
from annotation.progress import Part, Place, State, Stop, languages, phrases
from annotation.progress.languages import Words
from annotation.progress.refusals import Refusal
from annotation.progress.work import Work
from annotation.responses import quotes, timing
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
)
from studies.items.rationale import count_words
from studies.models import Step, Story
from studies.typography.paragraphs import number_paragraphs

CHECKED = "checked"


@dataclass(frozen=True)
class RefusedAnswer:
    """What was posted for one place and could not be kept, and why.

    seconds : after which it may be sent again as it is; 0 if it could never be kept so
    """

    place: Place
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


@dataclass
class Section:
    """A step on a page that shows several: its items about the group, or story by story."""

    step: Step
    title: Words
    item_forms: list[ItemForm] = field(default_factory=list)
    by_story: list[tuple[StoryLink, list[ItemForm]]] = field(default_factory=list)


def base_context(work: Work) -> dict[str, Any]:
    """What every page of an assignment needs around it."""
    return {"study": work.assignment.study, "assignment": work.assignment, "fills_text": work.protocol.fills_text}


def desk_context(
    work: Work, part: Part, place: Place, *, refused: RefusedAnswer | None = None, shows_shortfalls: bool
) -> dict[str, Any]:
    """The reading desk at one item: the story, the item, the index."""
    story_places = [p for p in progress.list_places(part, work.letters) if p.letter == place.letter]
    before, after = progress.neighbours(work.parts, part, work.letters, place)
    story = work.stories.story_by_letter[place.letter]
    position = story_places.index(place)
    form = build_item_form(
        work,
        place,
        number=position + 1,
        total=len(story_places),
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
        "letter": place.letter,
        "story_links": story_links(work, current=place.letter),
        "n_stories": len(work.letters),
        "n_stories_in_words": number_in_words(len(work.letters)),
        "minutes_on_story": timing.seconds_on_story(work.assignment, story) // 60,
        "index": index_entries(work, story_places, place),
        "lead": place.step.text if position == 0 or story_places[position - 1].step != place.step else "",
        "n_open": sum(bool(work.answers.shortfall(p)) for p in story_places),
        "has_previous": before is not None,
        "next_label": _next_label(place, after, work.assignment.study.text_kind),
        "next_url": addresses.of_stop(work, after),
    }


def is_recognised(work: Work, story: Story) -> bool:
    """Whether the rater has said that they recognise the story; not looked up where nobody is asked."""
    return work.assignment.study.asks_recognition and recognition.is_flagged(work.assignment, story)


def _next_label(place: Place, after: Stop | None, text_kind: str) -> str:
    if isinstance(after, Place):
        is_same_story = after.letter == place.letter
        return _("Next question") if is_same_story else phrases.say("next", text_kind, letter=after.letter)
    return _("Go on") if after else _("Check answers")


def index_entries(work: Work, story_places: Sequence[Place], current: Place) -> list[tuple[str, list[IndexEntry]]]:
    """The index of the items asked here, under their dimensions."""
    numbered = list(enumerate(story_places, start=1))
    return [
        (
            dimension,
            [
                IndexEntry(
                    id=p.id,
                    url=addresses.of_stop(work, p),
                    number=n,
                    title=p.item.title or p.item.question,
                    state=work.answers.state(p),
                    is_lacking=bool(work.answers.shortfall(p)),
                    is_current=p == current,
                )
                for n, p in entries
            ],
        )
        for (_, dimension), entries in groupby(numbered, key=lambda np: (np[1].step.pk, np[1].item.dimension))
    ]


def story_links(work: Work, *, current: str = "") -> list[StoryLink]:
    """The stories of the group, how complete each is, and the way to those that may be read."""
    desks = [p for part in work.parts if part.stops_at_items for p in progress.list_places(part, work.letters)]
    links: list[StoryLink] = []
    for n, letter in enumerate(work.letters):
        story_places = [p for p in desks if p.letter == letter]
        url = addresses.of_stop(work, story_places[0]) if story_places and n <= work.standing.n_begun else ""
        if not story_places and work.outline.part_with_stories:
            url = addresses.of_story(work, letter)
        links.append(StoryLink(letter, progress.combined_state(story_places, work.answers), letter == current, url))
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
    not_right = [p for p in progress.list_places(part, work.letters) if p.item.key in wrong]
    problems = {p.id: _("This was not right.") for p in not_right}
    problems |= {answer.place.id: answer.problem for answer in refused}
    posted_by_place = {answer.place.id: answer.posted for answer in refused}
    sections = []
    for step in part.steps:
        section = Section(step, languages.step_title(step, work.assignment.study))
        forms = [
            build_item_form(
                work,
                p,
                posted=posted_by_place.get(p.id),
                problem=problems.get(p.id, ""),
                shows_shortfalls=shows_shortfalls,
            )
            for p in progress.list_places(part, work.letters)
            if p.step == step
        ]
        section.item_forms = [form for form in forms if not form.place.letter]
        for link in links:
            if story_forms := [form for form in forms if form.place.letter == link.letter]:
                section.by_story.append((link, story_forms))
        sections.append(section)
    after = progress.neighbours(work.parts, part, work.letters)[1]
    return base_context(work) | {
        "part": part,
        "readings": readings(work) if part == work.outline.part_with_stories else [],
        "premise": work.stories.premise,
        "n_stories": len(links),
        "n_stories_in_words": number_in_words(len(links)),
        "sections": sections,
        "story_links": links,
        "heading": languages.step_title(part.steps[0], work.assignment.study)
        if len(part.steps) == 1
        else Words(phrases.say("together", work.assignment.study.text_kind, n=number_in_words(len(links)))),
        "missing_answers": missing_answers,
        "refused_answers": [missing_answer(work, a.place, a.problem, is_here=True) for a in refused],
        "is_once": work.assignment.seat is None,
        "is_locked": work.standing.refusal_at(part.steps[0]) is not None,
        "page_url": addresses.of_stop(work, part),
        "not_right": [missing_answer(work, p, problems[p.id]) for p in not_right if not (missing_answers or refused)],
        "next_url": addresses.of_stop(work, after),
        "next_label": _("Go on") if after else _("Check your answers"),
    }


def readings(work: Work) -> list[dict[str, Any]]:
    """The stories of the group with their words, for a page that holds them all; names on it begin with the letter."""
    return [
        {
            "letter": letter,
            "prefix": f"{letter}-",
            "story": story,
            "paragraphs": quotes.mark_quotes(number_paragraphs(story.text), []),
        }
        for letter, story in work.stories.story_by_letter.items()
    ]


def review_context(work: Work, parts: Sequence[Part]) -> dict[str, Any]:
    """All answers of these parts in words, by story and step, with what is still lacking."""
    study = work.assignment.study
    rows = [
        {
            "name": Words(p.item.title or p.item.question, languages.of_step(p.step, study)),
            "heading": languages.step_title(p.step, study)
            if p.step.scope != Step.Scope.STORY
            else languages.story_title(p.letter, study),
            "letter": p.letter if p.step.scope == Step.Scope.STORIES else "",
            "url": addresses.of_stop(work, p),
            "words": response_in_words(work, work.answers.at(p), p),
            "n_words": count_words(r.rationale if (r := work.answers.at(p)) else ""),
            "state": work.answers.state(p),
            "lacks": work.answers.shortfall(p),
            "is_locked": work.standing.is_locked(p.step),
        }
        for part in parts
        for p in progress.list_places(part, work.letters)
    ]
    shortfalls = progress.list_shortfalls(parts, work.letters, work.answers)
    sections = [(heading, list(group)) for heading, group in groupby(rows, key=lambda row: row["heading"])]
    return base_context(work) | {
        "sections": sections,
        "missing_answers": [missing_answer(work, place, sentence) for place, sentence in shortfalls],
        "story_links": story_links(work),
        "has_locked": any(row["is_locked"] for row in rows),
    }


def shows_shortfalls(request: Request, work: Work) -> bool:
    """Whether the rater has tried to submit with answers lacking; then the items say so too."""
    return request.session.get(CHECKED) == work.assignment.code


def render_review(request: Request, work: Work, context: dict[str, Any]) -> HttpResponse:
    """The page of all answers, from `review_context`. Once sent and refused, what is lacking is said at the items too;
    whoever only looks is reproached with nothing."""
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
    message = refusal.sentence if isinstance(refusal, Refusal) else str(refusal)
    template = "annotation/refused.html#trouble" if request.htmx else "annotation/refused.html"
    context = {"message": _(message), "texts": list_posted_texts(request), "oob": True}
    return render(request, template, context, status=409)
