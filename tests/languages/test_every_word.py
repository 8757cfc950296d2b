"""Every word on a rater's page has passed through gettext or is the study's own, and says in which language it is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from django.template import engines
from django.template.loader import render_to_string
from django.utils import translation

from annotation.models import Consent, Rater, Response
from annotation.participation import consents
from annotation.progress import outlines
from studies.documents import cloze as document
from studies.items import InvalidAnswer, StoryLabel, all_types
from studies.models import Cloze, Instrument, Item, Step, Story, StoryGroup, Study
from tests import factories, triggers
from tests.languages import pseudo
from tests.languages.pseudo import faults
from tests.studies.cloze.documents import write_cloze
from tests.trust import crawl
from tests.trust import world as worlds
from tests.trust.addresses import patterns
from tests.trust.crawl import Ask
from tests.trust.world import World

# Whose words are in which language. Of French Quire has no translation: then the interface is English.
FOREIGN = {"interface": "en", "study": "fr", "instrument": "pt-br", "story": "de"}
OURS = {"interface": "pt-br", "study": "pt-br", "instrument": "en", "story": "en"}
MANNERS = ("get", "htmx", "post", "htmx post", "query", "foreign form")
N_VALUES = 2  # of those that the parameters of an address can have, the visitor's own first


@triggers.lifted()
def rewrite(languages: Mapping[str, str]) -> None:
    """Write all content in letters and languages of its own; the raters' answers say nothing."""
    Study.objects.update(language=languages["study"], shows_premise=True, notice="See.", minutes=40)
    pseudo.rewrite(Study.objects.all(), "study", "title", "organiser", "notice")
    pseudo.rewrite(StoryGroup.objects.all(), "study", "premise")
    pseudo.rewrite(Step.objects.all(), "study", "title", "text", "story")
    for step in Step.objects.filter(kind=Step.Kind.PRACTICE):
        for sample in step.samples.values():
            sample["why"] = pseudo.written(sample["why"], "study")
        step.save()
    for consent in Consent.objects.select_related("step", "rater"):
        Consent.objects.filter(pk=consent.pk).update(text_sha256=consents.text_sha256(consent.step))
        Rater.objects.filter(pk=consent.rater_id).update(consented_to=[consents.text_sha256(consent.step)])
    pseudo.rewrite(Story.objects.all(), "story", "text")
    Story.objects.update(language=languages["story"])
    pseudo.rewrite(Instrument.objects.all(), "instrument", "title")
    Instrument.objects.update(language=languages["instrument"])
    pseudo.rewrite(
        Item.objects.all(), "instrument", "title", "question", "dimension", "background", "help", "suggested", "options"
    )
    for each in Cloze.objects.all():
        Cloze.objects.filter(pk=each.pk).update(document=write_cloze(told(each.parsed, languages["story"])))
    for study in Study.objects.all():
        factories.freeze_anew(study)
    Response.objects.exclude(rationale="").update(rationale="1 2 3.")
    Response.objects.filter(item__type="text").update(value="12")
    outlines.forget_outlines()


def told(cloze: document.ClozeDocument, language: str) -> document.ClozeDocument:
    """The cloze with its words in the letters of a story."""

    def words(said: str) -> str:
        return pseudo.written(said, "story")

    return replace(
        cloze,
        language=language,
        title=words(cloze.title),
        skeleton=words(cloze.skeleton),
        blanks=tuple(replace(blank, hint=words(blank.hint)) for blank in cloze.blanks),
        sections=tuple(
            replace(
                section,
                title=words(section.title),
                constraints=tuple(replace(each, text=words(each.text)) for each in section.constraints),
            )
            for section in cloze.sections
        ),
    )


def pages(world: World, manners: Sequence[str] = MANNERS) -> list[tuple[str, str]]:
    """Everything that raters and strangers are answered at their addresses, each with who asked for what and how."""
    found = []
    for who in (*crawl.RATERS, "anonymous"):
        for pattern in (each for each in patterns() if each.name.startswith("annotation:")):
            for values in crawl.values(world, pattern, who)[:N_VALUES]:
                for manner in manners:
                    ask = Ask(who, pattern, pattern.address(values), manner)
                    found.append((f"{who} {manner} {pattern.name}", body(world, ask)))
    return found


def body(world: World, ask: Ask) -> str:
    with crawl.transaction.atomic():
        client = world.visitors[ask.visitor]
        cookies = client.cookies.copy()
        _, answered = crawl.answered(client, ask)
        client.cookies = cookies
        crawl.transaction.set_rollback(True)
    # What a form of the crawl answers is given back to whoever may not send it; it is nobody's words.
    return answered["body"].decode().replace('<blockquote class="given-back">yes</blockquote>', "")


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("languages", [FOREIGN, OURS], ids=["foreign study", "study in our languages"])
def test_every_word_of_every_page_is_translated_or_the_studys_own_and_marked_as_what_it_is(
    monkeypatch: pytest.MonkeyPatch, languages: Mapping[str, str]
) -> None:
    monkeypatch.setitem(crawl.FORM, "rationale", "1 2 3.")
    world = worlds.build()
    rewrite(languages)
    speak(monkeypatch, languages)

    answered = pages(world)

    assert "\n".join(found_on(answered, languages)) == ""
    seen = [pseudo.n_letters(html, languages) for _, html in answered]
    assert {whose: sum(each[whose] for each in seen) > 1000 for whose in languages} == dict.fromkeys(languages, True)


def speak(patch: pytest.MonkeyPatch, languages: Mapping[str, str]) -> None:
    for language in {"en", languages["interface"]}:
        pseudo.speak(patch, language)


def found_on(answered: list[tuple[str, str]], languages: Mapping[str, str]) -> list[str]:
    """The faults of all these pages. Fragments stand in a page that speaks the language of the interface; where there
    is no study, that is English."""
    return sorted(
        {
            f"{asked}: {fault}"
            for asked, html in answered
            if html
            for here in [languages if is_of_study(html, languages) else {**languages, "interface": "en"}]
            for fault in faults(html, here, within=None if "<html" in html else languages["interface"])
        }
    )


def is_of_study(html: str, languages: Mapping[str, str]) -> bool:
    return "<html" not in html or f'<html lang="{languages["interface"]}"' in html


def test_the_page_for_our_own_faults_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    pseudo.speak(monkeypatch, "en")

    assert faults(render_to_string("500.html"), FOREIGN) == []


TYPES = list(all_types().values())


def item_of(kind: Any) -> Any:
    """The type's own example in the letters of an instrument."""
    given = {"options": [], "settings": {}} | kind.example["item"]
    words = {name: pseudo.deep(given[name], "instrument") for name in ("question", "options")}
    settings = {
        name: said if name in ("correct", "unit") and kind.name == "text" else pseudo.deep(said, "instrument")
        for name, said in given["settings"].items()
    }
    return SimpleNamespace(**(given | words | {"settings": settings}))


def stories_of(kind: Any) -> list[StoryLabel]:
    return [StoryLabel(letter, url=f"#{letter}") for letter in kind.example.get("stories", [])]


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_the_controls_of_every_item_type_are_translated_and_marked(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    pseudo.speak(monkeypatch, "en")
    value = kind.example["valid"][0][1] if kind.name not in ("text", "spans") else None

    html = str(kind.field(item_of(kind), stories=stories_of(kind)).widget.render("answer", value))

    assert faults(html, FOREIGN, within=FOREIGN["instrument"]) == []


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_the_reason_why_an_answer_will_not_do_is_translated(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    pseudo.speak(monkeypatch, "en")

    for raw in kind.example["invalid"]:
        with pytest.raises(InvalidAnswer) as caught:
            kind.clean(item_of(kind), raw, stories=stories_of(kind))
        said = str(caught.value)
        assert [f for f in faults(f"<p>{said}</p>", FOREIGN, within="en") if "gettext" in f] == []


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_what_a_model_is_told_and_what_is_exported_is_the_same_in_every_language(
    monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    item = SimpleNamespace(**({"options": [], "settings": {}} | kind.example["item"]))
    value, stories = kind.example["valid"][0][1], stories_of(kind)

    def said() -> tuple[str, Any, str]:
        return kind.words(item, stories=stories), kind.schema(item, stories=stories), kind.label(item, value)

    plain = said()
    with translation.override("pt-br"):
        assert said() == plain
    pseudo.speak(monkeypatch, "en")
    assert said() == plain


# ── the reader of pages would see it ───────────────────────────────────────────────────────────────────────────────


def rendered(template: str) -> str:
    return engines["django"].from_string("{% load i18n %}" + template).render({})


@pytest.mark.parametrize(
    "template",
    [
        "<p>Saved</p>",
        '<p>{% translate "Saved" %} at noon</p>',
        '<p title="Your answer"></p>',
        '<p aria-label="answer"></p>',
        '<input placeholder="Words">',
        '<img alt="A tree">',
        '<p data-done="Saved"></p>',
        '<p data-many="words"></p>',
        "<template><p>Not saved</p></template>",
        "<noscript>Save</noscript>",
        "<title>Receipt · Quire</title>",
        '<option value="">choose</option>',
    ],
)
def test_a_string_that_did_not_pass_through_gettext_is_found(monkeypatch: pytest.MonkeyPatch, template: str) -> None:
    pseudo.speak(monkeypatch, "en")

    found = faults(rendered(template), FOREIGN, within="en")

    assert found
    assert all("did not pass through gettext" in fault for fault in found)


@pytest.mark.parametrize(
    "template",
    [
        '<p>{% translate "Saved" %} <time>12:00</time></p>',
        '<p data-state="saved" data-step="tests" class="problem" data-done="{% translate "Saved" %}"></p>',
        "<p>{% blocktranslate with n=3 %}Blank {{ n }} <b>is open</b>{% endblocktranslate %}</p>",
        '<p>{% translate "Answer" context "verb" %} A <kbd>Esc</kbd> <code>9f8e</code> us@example.org</p>',
        "<p>{% blocktranslate count n=2 %}{{ n }} word{% plural %}{{ n }} words{% endblocktranslate %}</p>",
    ],
)
def test_what_passed_through_gettext_is_not(monkeypatch: pytest.MonkeyPatch, template: str) -> None:
    pseudo.speak(monkeypatch, "en")

    assert faults(rendered(template), FOREIGN, within="en") == []


def test_words_that_are_marked_as_another_language_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pseudo.speak(monkeypatch, "en")
    title, saved = pseudo.written("Plums", "study"), rendered('{% translate "Saved" %}')

    assert faults(f'<p lang="fr">{title} <b lang="en">{saved}</b></p>', FOREIGN, within="en") == []
    assert faults(f"<p>{title}</p>", FOREIGN, within="en") == [f"p: “{title}” is the study's and marked as en"]
    assert faults(f'<p lang="fr">{saved}</p>', FOREIGN, within="en") == [
        f"p: “{saved}” is the interface's and marked as fr"
    ]
