"""A day and a time are written in one way for each language: to raters, in reports, in the admin, by the browser."""

import re
from datetime import UTC, datetime

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation
from django.utils.formats import date_format, get_format
from django.utils.translation import to_locale

from annotation.models import Assignment
from annotation.templatetags.reading_preferences import browsers_locale
from annotation.templatetags.times import day_and_time, time_of_day, to_the_second
from reports import results
from studies.models import Study
from tests import factories
from tests.annotation.walk import answer_all, begin

AT = datetime(2026, 11, 1, 19, 5, tzinfo=UTC)
SAID = {
    "en": ("1 November 2026", "19:05 UTC", "1 November 2026, 19:05 UTC"),
    "pt-br": ("1 de novembro de 2026", "19:05 UTC", "1 de novembro de 2026, 19:05 UTC"),
}
LANGUAGES = list(SAID)  # those whose formats are ours; of others Django knows how they write a day


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_how_it_writes_dates(language: str) -> None:
    with translation.override(language):
        said = tuple(date_format(AT, name) for name in ("DATE_FORMAT", "TIME_FORMAT", "DATETIME_FORMAT"))
        short = tuple(date_format(AT, name) for name in ("SHORT_DATE_FORMAT", "SHORT_DATETIME_FORMAT"))

        assert said == SAID[language]
        assert short == (said[0], said[2])
        assert re.fullmatch(r"[a-z]{2}-[A-Z]{2}", get_format("BROWSER"))
        assert get_format("BROWSER").split("-")[0] == to_locale(language).split("_")[0]


def test_a_language_without_formats_of_ours_writes_the_zone_all_the_same() -> None:
    with translation.override("fr"):
        assert (day_and_time(AT), time_of_day(AT)) == ("1 novembre 2026, 19:05 UTC", "19:05 UTC")
        assert browsers_locale() == "fr"


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_order_matters_the_seconds_are_written_in_the_same_way(language: str) -> None:
    with translation.override(language):
        assert to_the_second(AT) == SAID[language][2].replace("19:05", "19:05:00")
        assert to_the_second(None) == ""


@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
def test_receipt_report_and_admin_write_a_time_alike(client: Client, admin_client: Client, language: str) -> None:
    study = factories.study(n_stories=2)
    assignment = begin(client, study)
    answer_all(client, assignment)
    client.post(reverse("annotation:check", args=[assignment.code]))
    Study.objects.update(state="closed", closed_at=AT, launched_at=AT)
    Assignment.objects.update(ended_at=AT)
    study.refresh_from_db()
    results.ensure_report(study, at=AT, by="tests")
    for each in (client, admin_client):
        each.cookies[settings.LANGUAGE_COOKIE_NAME] = language

    receipt = client.get(reverse("annotation:receipt", args=[assignment.code])).text
    report = admin_client.get(reverse("reports:show", args=[study.slug])).text
    admin = admin_client.get(reverse("admin:studies_study_change", args=[study.pk])).text

    day, _, day_and_time = SAID[language]
    assert f">{day_and_time}</time>" in receipt
    assert day_and_time in report
    assert day in report.replace(day_and_time, "")
    assert admin.count(day_and_time) == 2, "launched and closed"


@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_tells_its_scripts_how_to_write_times(client: Client, language: str) -> None:
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language

    page = client.get(reverse("annotation:home")).text

    assert f'data-locale="{ {"en": "en-GB", "pt-br": "pt-BR"}[language] }"' in page
