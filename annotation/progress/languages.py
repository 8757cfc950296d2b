"""In which language a rater sees the interface, and in which language the words on a page are."""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation
from django.utils.html import format_html
from django.utils.text import Truncator

from annotation.progress import Question, phrases
from studies.models import Step, Study
from studies.protocol import items_of

N_LEADING_WORDS = 12  # words of a question, enough to know it by


def activate_language(request: HttpRequest, study: Study) -> None:
    """Let the interface speak the study's language if Quire has it, otherwise English, for the rest of this request;
    unless the visitor has chosen a language. Everybody who answers the same questions then reads the same words."""
    if not chosen_language(request):
        translation.activate(of_interface(study))


def chosen_language(request: HttpRequest) -> str:
    """The language that the visitor chose in the reading settings; empty if they chose none."""
    code = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    return code if code in dict(settings.LANGUAGES) else ""


def of_interface(study: Study) -> str:
    """The language of the interface around this study."""
    try:
        return translation.get_supported_language_variant(study.language)
    except LookupError:
        return settings.LANGUAGE_CODE


@dataclass(frozen=True)
class Words:
    """Words on a page that say in which language they are. language : empty if they are the interface's own"""

    text: str
    language: str = ""

    def __str__(self) -> str:
        """As a page shows them."""
        return format_html('<span lang="{}">{}</span>', self.language or translation.get_language(), self.text)

    __html__ = __str__


def of_step(step: Step, study: Study) -> str:
    """The language of what a step asks: its instrument's, or the study's."""
    return step.instrument.language if step.instrument else study.language


def step_title(step: Step, study: Study) -> Words:
    """What a step is called: its own title, otherwise its instrument's."""
    if step.title or not step.instrument:
        return Words(step.title, study.language)
    return Words(step.instrument.title, step.instrument.language)


def item_title(question: Question, study: Study) -> Words:
    """What an item is called: its title, or among several its question; the letter of its story stands for itself."""
    if question.item.title:
        return Words(question.item.title, of_step(question.step, study))
    if len(items_of(question.step)) > 1:
        return Words(Truncator(question.item.question).words(N_LEADING_WORDS), of_step(question.step, study))
    return step_title(question.step, study)


def story_title(letter: str, study: Study) -> Words:
    """What a story is called; an idea and a text are called so."""
    return Words(phrases.say("title", study.text_kind, letter=letter))
