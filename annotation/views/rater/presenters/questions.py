"""Items as pages show them: controls, what has been answered, what is still lacking."""

import re
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import BadRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from annotation.models import Response
from annotation.progress import Question, State, languages, phrases
from annotation.progress.languages import Words
from annotation.progress.work import Work
from annotation.responses.quotes import Quote, readable_quotes
from annotation.views.rater import addresses
from annotation.views.rater.guards import Request
from studies import items
from studies.items import InvalidAnswer, StoryLabel, is_empty
from studies.items.rationale import count_sentences, count_words
from studies.items.text import excess_length, is_storable
from studies.models import Item, Step

REVISION = re.compile(r"[0-9]{1,9}")
KEY = re.compile(r"[A-Za-z0-9-]{1,40}")


@dataclass(frozen=True)
class ItemForm:
    """One item on a page.

    controls : the item type's own, with the value that was answered or, if it was refused, posted
    problem : why what was posted could not be kept, or what is still lacking once the rater has asked
    number, total : where it stands among those that are asked together
    earlier : what was answered in the step that this one revises
    """

    question: Question
    url: str
    controls: str
    rationale: str
    quotes: list[Quote]
    revision: int
    state: State
    problem: str
    is_locked: bool
    number: int
    total: int
    shows_background: bool
    language: str
    earlier: Words | None

    @property
    def id(self) -> str:
        return self.question.id

    @property
    def item(self) -> Item:
        return self.question.item

    @property
    def least(self) -> str:
        """How long the reasons must be at least, in words; empty if that is not asked."""
        item = self.item
        if item.rationale != item.Rationale.REQUIRED:
            return ""
        n = max(item.rationale_least, 1)
        if item.rationale_unit == "words":
            return ngettext("at least %(n)s word", "at least %(n)s words", n) % {"n": number_in_words(n)}
        return ngettext("at least %(n)s sentence", "at least %(n)s sentences", n) % {"n": number_in_words(n)}

    @property
    def counts_sentences(self) -> bool:
        """Whether the counter beside the reasons counts sentences, as it does where so many are asked for."""
        return self.item.rationale == self.item.Rationale.REQUIRED and self.item.rationale_unit == "sentences"

    @property
    def n_counted(self) -> int:
        return (count_sentences if self.counts_sentences else count_words)(self.rationale)

    @property
    def unit(self) -> dict[str, str]:
        """What is counted, in words: for one, for many, and for as many as there are."""
        return {name: self._unit(n) for name, n in (("one", 1), ("many", 2), ("now", self.n_counted))}

    def _unit(self, n: int) -> str:
        return ngettext("sentence", "sentences", n) if self.counts_sentences else ngettext("word", "words", n)


@dataclass(frozen=True)
class PostedAnswer:
    """What a form says about one item.

    base : the revision that it was answered upon; key : the form's own name for this save
    n_pasted : characters of large pastes into the reasons since the last save
    """

    value: Any
    rationale: str
    quotes: list[Any]
    base: int
    key: str
    n_pasted: int = 0


def is_posted(request: Request, question: Question) -> bool:
    """Whether a page that was posted as a whole had that item on it, to be answered."""
    return f"base-{question.id}" in request.POST


def parse_answer(request: Request, work: Work, question: Question) -> PostedAnswer:
    """The answer in a request. Raises BadRequest if its revision is none that a page of ours could send.

    Fields carry the id of their question, since a page posts all that it asks; a request about one question alone may
    leave it out.
    """
    post = request.POST
    base = post.get(f"base-{question.id}", post.get("base", "0"))
    if not REVISION.fullmatch(base):
        raise BadRequest("A revision is a whole number.")
    key, n_pasted = post.get("key", ""), post.get(f"pasted-{question.id}", post.get("pasted", "0"))
    has_reasons = question.item.rationale != Item.Rationale.NONE
    return PostedAnswer(
        value=items.find_type(question.item.type).from_form(post, question.name, stories=work.stories.labels),
        rationale=post.get(f"rationale-{question.id}", post.get("rationale", "")).replace("\r\n", "\n"),
        quotes=(post.getlist(f"quotes-{question.id}") or post.getlist("quotes")) if has_reasons else [],
        base=int(base),
        key=key if KEY.fullmatch(key) else "",
        n_pasted=int(n_pasted) if REVISION.fullmatch(n_pasted) else 0,
    )


def check_storable(posted: PostedAnswer) -> None:
    """Raise InvalidAnswer if there is something in the reasons that no database could keep, or more than is taken."""
    if not is_storable(posted.rationale):
        raise InvalidAnswer(_("Your reasons contain a character that cannot be stored; please write it again."))
    if too_long := excess_length(posted.rationale):
        raise InvalidAnswer(too_long)


def join_reasons(stored: str, posted: str) -> str:
    """Both reasons, a blank line between them; empty if there is only one to keep."""
    return f"{stored}\n\n{posted}" if stored and posted and stored != posted else ""


def build_item_form(
    work: Work,
    question: Question,
    *,
    number: int = 1,
    total: int = 1,
    posted: PostedAnswer | None = None,
    problem: str = "",
    shows_shortfalls: bool = False,
) -> ItemForm:
    """One item as the page shows it: with what is stored, or with what was posted and refused for that problem."""
    response = work.answers.at(question)
    value = posted.value if posted else value_of(work, response, question.item)
    kind = items.find_type(question.item.type)
    field = kind.field(question.item, stories=_shown_stories(work) if kind.about_stories else work.stories.labels)
    step = question.step
    return ItemForm(
        question=question,
        url=addresses.of_stop(work, question),
        controls=str(field.widget.render(question.name, value)),
        rationale=posted.rationale if posted else response.rationale if response else "",
        quotes=readable_quotes(posted.quotes if posted else response.quotes if response else []),
        revision=response.revision if response else 0,
        state=work.answers.state(question),
        problem=problem or (work.answers.shortfall(question) if shows_shortfalls else ""),
        is_locked=work.standing.refusal_at(step, question.letter) is not None,
        number=number,
        total=total,
        shows_background=_shows_background(work, question),
        language=languages.of_step(step, work.assignment.study),
        earlier=response_in_words(work, _revised_response(work, question), question),
    )


def _shown_stories(work: Work) -> list[StoryLabel]:
    """The stories as an item about them shows them: each with its address and the words it begins with."""
    kind = work.assignment.study.text_kind
    return [
        StoryLabel(
            letter,
            url=addresses.of_story(work, letter),
            title=phrases.say("title", kind, letter=letter),
            opening=work.stories.opening_by_letter.get(letter, ""),
            language=story.language,
        )
        for letter, story in work.stories.story_by_letter.items()
    ]


def story_opening(work: Work, letter: str) -> Words | None:
    """The words that a story of several begins with; None for no letter, and where there is one story alone."""
    opening = work.stories.opening_by_letter.get(letter)
    return Words(opening, work.stories.story_by_letter[letter].language) if opening else None


def _revised_response(work: Work, question: Question) -> Response | None:
    """What was said to the same item in the step that this one revises; None if it revises none."""
    step = work.protocol.revised_by(question.step) if question.step.revises else None
    if step is None:
        return None
    if step.scope == Step.Scope.ONCE:
        return work.visit_answers.at(Question(step, question.item))
    return work.answers.at(Question(step, question.item, question.letter))


def _shows_background(work: Work, question: Question) -> bool:
    """Whether the background stands open at first: always, for the first story only, or when asked for."""
    if question.step.background == Step.Background.FOLDED:
        return not question.letter or question.letter == work.letters[0]
    return question.step.background == Step.Background.ABOVE


def value_of(work: Work, response: Response | None, item: Item) -> Any:
    """The response's value with its stories named by letter; None if there is none."""
    if response is None or response.value is None:
        return None
    return items.find_type(item.type).renamed(response.value, work.stories.letter_by_code)


def response_in_words(work: Work, response: Response | None, question: Question) -> Words | None:
    """What was answered, in the words of the item; None if nothing was."""
    value = value_of(work, response, question.item)
    return None if value is None else label_value(work, question, value)


def posted_in_words(work: Work, posted: PostedAnswer, question: Question) -> Words | None:
    """What was posted, in the words of the item; as it came if the item does not allow it."""
    kind = items.find_type(question.item.type)
    if is_empty(posted.value):
        return None
    try:
        return label_value(work, question, kind.clean(question.item, posted.value, stories=work.stories.labels))
    except InvalidAnswer:
        return Words(str(posted.value), work.assignment.study.language)


def label_value(work: Work, question: Question, value: Any) -> Words:
    """The value's label: in the item's language, or translated where the item leaves the words to the interface. A
    story that is chosen is called as on the page."""
    kind = items.find_type(question.item.type)
    if kind.chooses_story and value in work.letters:
        return languages.story_title(value, work.assignment.study)
    label = kind.label(question.item, value)
    if kind.is_worded(question.item):
        return Words(label, languages.of_step(question.step, work.assignment.study))
    return Words(_(label))


@dataclass(frozen=True)
class MissingAnswer:
    """A question that is not complete, for the summary above a page: of which story it is, what it is called, where it
    is, what it lacks."""

    letter: str
    name: Words
    url: str
    sentence: str

    @property
    def rest(self) -> str:
        """What follows the name: the sentence, after a colon unless the name is a sentence itself."""
        return f"{'' if self.name.text.endswith(('.', '?', '!', '…')) else ':'} {self.sentence}"


def missing_answer(work: Work, question: Question, sentence: str, *, is_here: bool = False) -> MissingAnswer:
    """is_here : the summary is on the page of the question itself, where a link must not reload it"""
    url = f"#item-{question.id}" if is_here else addresses.of_stop(work, question)
    return MissingAnswer(question.letter, languages.item_title(question, work.assignment.study), url, sentence)


def number_in_words(n: int) -> str:
    """The number of stories, words or sentences in words, up to twelve."""
    numbers = (
        pgettext("stories, words or sentences", "no"),
        pgettext("stories, words or sentences", "one"),
        pgettext("stories, words or sentences", "two"),
        pgettext("stories, words or sentences", "three"),
        pgettext("stories, words or sentences", "four"),
        pgettext("stories, words or sentences", "five"),
        pgettext("stories, words or sentences", "six"),
        pgettext("stories, words or sentences", "seven"),
        pgettext("stories, words or sentences", "eight"),
        pgettext("stories, words or sentences", "nine"),
        pgettext("stories, words or sentences", "ten"),
        pgettext("stories, words or sentences", "eleven"),
        pgettext("stories, words or sentences", "twelve"),
    )
    return numbers[n] if n < len(numbers) else str(n)
