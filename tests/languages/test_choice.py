"""Which language somebody sees: the study's, unless they choose another; the browser's where there is no study."""

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from annotation.participation import invitations
from studies.models import Instrument, Study
from tests import factories, triggers
from tests.annotation import walk

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
PORTUGUESE = {"Accept-Language": "pt-BR,pt;q=0.9"}
READING = {"theme": "light", "size": "2", "back": "/again/"}


def consent_page(client: Client, language: str, **headers: str) -> str:
    study = factories.study()
    with triggers.lifted():
        Study.objects.update(language=language)
    walk.come_in(client, study)
    return client.get(reverse("annotation:consent"), headers=headers).content.decode()


@pytest.mark.parametrize(
    ("study", "interface", "word"),
    [
        ("en", "en", "Continue"),
        ("en-GB", "en", "Continue"),
        ("pt-br", "pt-br", "Continuar"),
        ("pt-BR", "pt-br", "Continuar"),
        ("pt", "pt-br", "Continuar"),
        ("de", "en", "Continue"),
        ("tlh", "en", "Continue"),
    ],
)
@pytest.mark.parametrize("browser", ["en", "pt-BR"])
def test_every_rater_of_a_study_reads_the_same_words(
    client: Client, study: str, interface: str, word: str, browser: str
) -> None:
    page = consent_page(client, study, **{"Accept-Language": browser})

    assert f'<html lang="{interface}"' in page
    assert f"{word}</button>" in page
    assert f'<p lang="{study}">You can stop at any time.</p>' in page


def test_the_link_itself_speaks_the_language_of_the_study(client: Client) -> None:
    study = factories.study()
    with triggers.lifted():
        Study.objects.update(language="pt-br")
    _, token = invitations.issue(study)

    page = client.get(reverse("annotation:invitation", args=[token]))

    assert "Este é um convite para ler histórias" in page.text
    assert page.headers["Content-Language"] == "pt-br"


def test_a_language_that_was_chosen_is_kept_until_it_is_left_to_the_study_again(client: Client) -> None:
    consent_page(client, "pt-br")
    choice = reverse("annotation:reading")

    client.post(choice, READING | {"language": "en"})
    chosen = client.get(reverse("annotation:consent")).text
    client.post(choice, READING | {"language": ""})
    left = client.get(reverse("annotation:consent")).text

    assert '<html lang="en"' in chosen
    assert '<option value="en" lang="en" selected>' in chosen
    assert '<html lang="pt-br"' in left


@pytest.mark.parametrize("language", ["de", "xx", "../en", "pt-br\r\nSet-Cookie: a=b"])
def test_a_language_that_quire_does_not_have_is_not_chosen(client: Client, language: str) -> None:
    kept = client.post(reverse("annotation:reading"), READING | {"language": language})

    assert kept.cookies[settings.LANGUAGE_COOKIE_NAME].value == ""
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    assert '<html lang="en"' in consent_page(client, "en")


def test_the_reading_settings_stay_as_they_were_when_a_language_is_chosen(client: Client) -> None:
    client.post(reverse("annotation:reading"), READING | {"theme": "dark", "language": "pt-br"})

    page = client.get("/again/").text

    assert 'data-theme="dark"' in page
    assert "Por favor, entre novamente" in page


def test_pages_without_a_study_and_of_the_staff_follow_the_browser(client: Client) -> None:
    assert "Estudos de escrita criativa" in client.get("/", headers=PORTUGUESE).text
    assert '<html lang="pt-br"' in client.get("/nowhere/", headers=PORTUGUESE).text
    assert 'lang="pt-br"' in client.get(reverse("admin:login"), headers=PORTUGUESE).text
    assert '<html lang="en"' in client.get("/").text


def test_no_rater_is_told_by_the_browser_of_the_one_before(client: Client) -> None:
    consent_page(client, "pt-br")

    assert '<html lang="en"' in Client().get("/").text


def test_a_translation_says_that_nobody_has_reviewed_it(client: Client) -> None:
    assert "Português (Brasil), tradução não revista</option>" in client.get("/").text


def test_an_instrument_keeps_its_own_language_in_a_study_of_another(client: Client) -> None:
    study = factories.study(n_stories=2)
    with triggers.lifted():
        Study.objects.update(language="pt-br")
        study.stories.update(language="pt-br")
        Instrument.objects.update(language="en")
    mine = walk.begin(client, study)

    page = " ".join(client.get(walk.address(mine)).text.split())

    assert '<article class="story" translate="no" lang="pt-br"' in page
    assert '<h2 id="title-tests-A-item-1" tabindex="-1" translate="no">Item 1</h2>' in page
    assert '<header class="item-head" lang="en">' in page
    assert '<span lang="pt-br">pergunta 1 de 2</span>' in page
    assert '<label class="answer" lang="pt-br"><input type="radio" name="answer-tests-A-item-1" value="yes"' in page
    assert "Sim" in page
    assert "Salvando…" in page
