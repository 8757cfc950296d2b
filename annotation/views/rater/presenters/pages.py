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
from annotation.progress import Part, Place, State, Stop, languages
from annotation.progress.languages import Words
from annotation.progress.refusals import Refusal
from annotation.progress.work import Work
from annotation.responses import quotes, timing
from annotation.views.rater import addresses
from annotation.views.rater.guards import Request
from annotation.views.rater.presenters.questions import Asking, Lack, Posted, ask, counted, lack, words_of
from studies.items.rationale import count_words
from studies.models import Step, Story
from studies.typography.paragraphs import paragraphs

CHECKED = "checked"


@dataclass(frozen=True)
class Refused:
    """What was posted for one place and could not be kept, and why."""

    place: Place
    problem: str
    given: Posted | None = None


@dataclass(frozen=True)
class Thumb:
    """One item in the thumb index."""

    id: str
    url: str
    number: int
    title: str
    state: State
    is_lacking: bool
    is_current: bool


@dataclass(frozen=True)
class Letter:
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
    asked: list[Asking] = field(default_factory=list)
    by_story: list[tuple[Letter, list[Asking]]] = field(default_factory=list)


def common(work: Work) -> dict[str, Any]:
    """What every page of an assignment needs around it."""
    return {"study": work.assignment.study, "assignment": work.assignment, "fills_cloze": work.fills_cloze}


def desk(work: Work, part: Part, place: Place, *, refused: Refused | None = None, is_checked: bool) -> dict[str, Any]:
    """The reading desk at one item: the story, the item, the index."""
    here = [p for p in progress.list_places(part, work.letters) if p.letter == place.letter]
    before, after = progress.neighbours(work.parts, part, work.letters, place)
    story = work.story_by_letter[place.letter]
    asked = ask(
        work,
        place,
        number=here.index(place) + 1,
        total=len(here),
        given=refused.given if refused else None,
        problem=refused.problem if refused else "",
        is_checked=is_checked,
    )
    return common(work) | {
        "asking": asked,
        "story": story,
        "is_recognised": is_recognised(work, story),
        "paragraphs": quotes.mark_quotes(paragraphs(story.text), asked.quotes),
        "premise": work.premise,
        "letter": place.letter,
        "letters": letters(work, current=place.letter),
        "n_stories": len(work.letters),
        "n_stories_in_words": counted(len(work.letters)),
        "minutes_here": timing.seconds_on_story(work.assignment, story) // 60,
        "thumbs": thumbs(work, here, place),
        "lead": place.step.text if here.index(place) == 0 or here[here.index(place) - 1].step != place.step else "",
        "n_open": sum(bool(work.answers.shortfall(p)) for p in here),
        "has_previous": before is not None,
        "next_label": _next_label(place, after),
        "next_url": addresses.of_stop(work, after),
    }


def is_recognised(work: Work, story: Story) -> bool:
    """Whether the rater has said that they recognise the story; not looked up where nobody is asked."""
    return work.assignment.study.asks_recognition and recognition.is_flagged(work.assignment, story)


def _next_label(place: Place, after: Stop | None) -> str:
    if isinstance(after, Place):
        same = after.letter == place.letter
        return _("Next question") if same else _("Next story, %(letter)s") % {"letter": after.letter}
    return _("Go on") if after else _("Check answers")


def thumbs(work: Work, here: Sequence[Place], current: Place) -> list[tuple[str, list[Thumb]]]:
    """The index of the items asked here, under their dimensions."""
    numbered = list(enumerate(here, start=1))
    return [
        (
            dimension,
            [
                Thumb(
                    id=p.id,
                    url=addresses.of_stop(work, p),
                    number=n,
                    title=p.item.title or p.item.question,
                    state=work.answers.state(p),
                    is_lacking=bool(work.answers.shortfall(p)),
                    is_current=p == current,
                )
                for n, p in found
            ],
        )
        for (_, dimension), found in groupby(numbered, key=lambda np: (np[1].step.pk, np[1].item.dimension))
    ]


def letters(work: Work, *, current: str = "") -> list[Letter]:
    """The stories of the group, how complete each is, and the way to those that may be read."""
    desks = [p for part in work.parts if part.kind == "desk" for p in progress.list_places(part, work.letters)]
    found: list[Letter] = []
    for n, letter in enumerate(work.letters):
        mine = [p for p in desks if p.letter == letter]
        url = addresses.of_stop(work, mine[0]) if mine and n <= work.standing.n_begun else ""
        if not mine and work.part_with_stories:
            url = addresses.of_story(work, letter)
        found.append(Letter(letter, progress.combined_state(mine, work.answers), letter == current, url))
    return found


def together(
    work: Work,
    part: Part,
    *,
    refused: Refused | None = None,
    is_checked: bool = False,
    lacking: Sequence[Lack] = (),
    wrong: Sequence[str] = (),
) -> dict[str, Any]:
    """One page with all that a part asks: each step a section, in it the group's items or those of story by story.

    wrong : the keys of the items of a check that were not answered rightly at the attempt before
    """
    stories = letters(work)
    not_right = [p for p in progress.list_places(part, work.letters) if p.item.key in wrong]
    problems = {p.id: _("This was not right.") for p in not_right}
    if refused:
        problems[refused.place.id] = refused.problem
    sections = []
    for step in part.steps:
        section = Section(step, languages.step_title(step, work.assignment.study))
        asked = [
            ask(
                work,
                p,
                given=refused.given if refused and refused.place == p else None,
                problem=problems.get(p.id, ""),
                is_checked=is_checked,
            )
            for p in progress.list_places(part, work.letters)
            if p.step == step
        ]
        section.asked = [a for a in asked if not a.place.letter]
        section.by_story = [(s, mine) for s in stories if (mine := [a for a in asked if a.place.letter == s.letter])]
        sections.append(section)
    after = progress.neighbours(work.parts, part, work.letters)[1]
    return common(work) | {
        "part": part,
        "readings": readings(work) if part == work.part_with_stories else [],
        "premise": work.premise,
        "n_stories": len(stories),
        "n_stories_in_words": counted(len(stories)),
        "sections": sections,
        "letters": stories,
        "heading": languages.step_title(part.steps[0], work.assignment.study)
        if len(part.steps) == 1
        else Words(_("The %(n)s stories together") % {"n": counted(len(stories))}),
        "lacking": lacking,
        "not_right": [lack(work, p, problems[p.id]) for p in not_right if not lacking],
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
            "paragraphs": quotes.mark_quotes(paragraphs(story.text), []),
        }
        for letter, story in work.story_by_letter.items()
    ]


def review(work: Work, parts: Sequence[Part]) -> dict[str, Any]:
    """All answers of these parts in words, by story and step, with what is still lacking."""
    study = work.assignment.study
    rows = [
        {
            "name": Words(p.item.title or p.item.question, languages.of_step(p.step, study)),
            "heading": languages.step_title(p.step, study)
            if p.step.scope != Step.Scope.STORY
            else languages.story_title(p.letter),
            "letter": p.letter if p.step.scope == Step.Scope.STORIES else "",
            "url": addresses.of_stop(work, p),
            "words": words_of(work, work.answers.at(p), p),
            "n_words": count_words(r.rationale if (r := work.answers.at(p)) else ""),
            "state": work.answers.state(p),
            "lacks": work.answers.shortfall(p),
            "is_locked": work.is_locked(p.step),
        }
        for part in parts
        for p in progress.list_places(part, work.letters)
    ]
    sections = [(heading, list(found)) for heading, found in groupby(rows, key=lambda row: row["heading"])]
    return common(work) | {
        "sections": sections,
        "lacking": [lack(work, place, sentence) for place, sentence in work.shortfalls(parts)],
        "letters": letters(work),
        "has_locked": any(row["is_locked"] for row in rows),
    }


def is_checked(request: Request, work: Work) -> bool:
    """Whether the rater has looked through their answers and found some lacking; then the items say so too."""
    return request.session.get(CHECKED) == work.assignment.code


def checked(request: Request, work: Work, context: dict[str, Any]) -> HttpResponse:
    """The page of all answers, as `review` tells them. From now on, what is lacking is said at the items too."""
    if context["lacking"]:
        request.session[CHECKED] = work.assignment.code
    return render(request, "annotation/check.html", context, status=400 if request.method == "POST" else 200)


def refuse(request: Request, refusal: Refusal | responses.AssignmentEnded) -> HttpResponse:
    """The plain page that says why nothing was changed; to htmx only the sentence."""
    message = refusal.sentence if isinstance(refusal, Refusal) else str(refusal)
    template = "annotation/refused.html#trouble" if request.htmx else "annotation/refused.html"
    return render(request, template, {"message": _(message), "oob": True}, status=409)
