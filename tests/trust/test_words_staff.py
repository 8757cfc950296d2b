"""Every word that staff read is translated, and nothing that is stored or taken away is."""

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from reports import figures, results
from reports.models import Report
from studies.items import all_types
from studies.models import Study
from tests.languages import pseudo
from tests.reports.test_pages import full_study
from tests.trust import marked, world

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# Names of tables and fields that are the same words in Portuguese.
SAME = {
    *("ID", "cloze", "clozes", "endpoint", "endpoints", "item", "persona", "personas", "prompt", "prompts"),
    *("bytes", "nonce", "sha256", "site", "slug", "template", "token", "tokens"),
}
OURS = ("studies", "annotation", "judges", "reports", "auth")
TEMPLATES = [
    path
    for folder in ("reports", "admin", "studies", "judges")
    for path in sorted((Path(settings.BASE_DIR) / "templates" / folder).rglob("*.html"))
]


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("ann"))
    return client


@pytest.fixture
def bracketed(monkeypatch: pytest.MonkeyPatch) -> None:
    pseudo.speak(monkeypatch, "pt-br")


def page(client: Client, address: str) -> str:
    answered = client.get(address, headers={"accept-language": "pt-BR"})
    assert answered.status_code == 200, address
    return answered.content.decode()


def addresses() -> list[str]:
    """The reports, and of each of our tables its list, its form to add one where there is one, and one of its rows."""
    request = RequestFactory().get("/")
    request.user = User.objects.get(username="root")
    found = [reverse("reports:index"), reverse("admin:records")]
    for study in Study.objects.all():
        found += [reverse("reports:show", args=[study.slug]), reverse("reports:figure", args=[study.slug, "all"])]
        found += [reverse("reports:section", args=[study.slug, name]) for name in ("findings", "raters")]
    for model, pages in admin.site._registry.items():
        if model._meta.app_label in OURS:
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            found.append(reverse(f"{name}_changelist"))
            if pages.has_add_permission(request):
                found.append(reverse(f"{name}_add"))
            for row in list(model._default_manager.all())[:3]:
                found.append(reverse(f"{name}_change", args=[row.pk]))
    draft, live = Study.objects.get(slug="quinces"), Study.objects.get(slug="plums")
    found += [reverse("admin:studies_study_action", args=[draft.pk, "plan"])]
    found += [reverse("admin:studies_study_action", args=[draft.pk, "launch"])]
    found += [reverse("admin:studies_study_action", args=[live.pk, "close"])]
    found += [reverse("admin:studies_provenance_formatting", args=[study.pk]) for study in (draft, live)]
    found += [reverse("admin:annotation_invitation_issue")]
    return found


@pytest.mark.slow
def test_every_word_of_every_page_for_staff_is_translated_or_content(staff: Client, bracketed: None) -> None:
    world.build()
    full_study("apples")
    seen = {address: page(staff, address) for address in addresses()}

    # Item types are offered by the names that instrument files know them by.
    content = marked.content() | set(all_types())
    left = {address: words for address, html in seen.items() if (words := marked.unmarked(html, content))}

    assert len(seen) > 60
    assert left == {}


def test_what_is_said_after_a_deed_is_translated_and_what_is_logged_is_not(staff: Client, bracketed: None) -> None:
    world.build()
    draft = Study.objects.get(slug="quinces")

    for action in ("close", "plan", "launch", "close"):  # the first is refused
        address = reverse("admin:studies_study_action", args=[draft.pk, action])
        html = staff.post(address, follow=True, headers={"accept-language": "pt-BR"}).content.decode()
        assert '<ul class="messagelist">' in html
        assert marked.unmarked(html, marked.content()) == []

    assert list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True)) == [
        "planned",
        "launched",
        "closed",
    ]


@pytest.mark.parametrize("unmarked", ["<p>Not marked.</p>", '<a aria-label="Not marked." href="/">⟦There⟧</a>'])
def test_a_word_that_is_not_translated_is_found(unmarked: str) -> None:
    html = f'<html lang="pt-br"><p>⟦Marked <b>words</b>⟧: plums.</p><q lang="en">Cited</q>{unmarked}</html>'

    assert marked.unmarked(html, {"plums"}) == ["Not marked."]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(settings.BASE_DIR)))
def test_a_template_for_staff_has_no_words_outside_of_the_tags_that_translate(path: Path) -> None:
    assert untranslated(path.read_text()) == []


def test_words_outside_of_the_tags_that_translate_are_found() -> None:
    template = '{% blocktranslate %}Fine{% endblocktranslate %}<p title="Not {{ x }}" class="a">{{ x }} either</p>'

    assert untranslated(template) == ["Not", "either"]


def untranslated(template: str) -> list[str]:
    """The words of a template that no tag translates, in text and in the attributes that are read out."""
    bare = re.sub(r"{#.*?#}|{% blocktranslate.*?endblocktranslate %}", " ", template, flags=re.DOTALL)
    bare = re.sub(r"{%.*?%}|{{.*?}}", " ", bare, flags=re.DOTALL)
    said = re.findall(rf'\b(?:{"|".join(marked.ATTRIBUTES)})="([^"]*)"', bare)
    said += re.findall(r'<input type="submit" value="([^"]*)"', bare)
    said += re.sub(r"<[^>]*>", "\n", bare).split("\n")
    found = [" ".join(each.split()) for each in said]
    return [each for each in found if marked.WORD.search(each) and each.strip("· ") not in marked.NAMES]


@pytest.mark.slow
def test_what_is_stored_and_taken_away_is_the_same_in_every_language(staff: Client, bracketed: None) -> None:
    study = full_study("apples")
    english = results.compute(study)
    files = ("responses_long.csv", "codebook.csv")
    names = [*(f"{name}.csv" for name in figures.by_table()), *files]

    with override("pt-br"):
        assert results.compute(study) == english
    assert "⟦" in page(staff, "/reports/apples/")
    assert "⟦" not in str(Report.objects.get().result)
    compared = 0
    for name in names:
        pages = [
            staff.get(f"/reports/apples/{name}", headers={"accept-language": language}) for language in ("en", "pt-BR")
        ]
        if {response.status_code for response in pages} == {404}:
            continue  # a table that this study has not
        english_file, file = (b"".join(response.streaming_content) for response in pages)  # type: ignore[attr-defined]
        assert english_file == file, name
        compared += 1
    assert compared > len(files) + 3


def test_the_names_of_tables_and_fields_are_said_in_every_language() -> None:
    names = {}
    for language in ("en", "pt-br"):
        with override(language):
            names[language] = [
                str(name)
                for app in OURS[:4]
                for model in apps.get_app_config(app).get_models()
                for name in (
                    model._meta.verbose_name,
                    model._meta.verbose_name_plural,
                    *(field.verbose_name for field in (*model._meta.local_fields, *model._meta.local_many_to_many)),
                )
            ]

    # A few are the same word in both.
    same = {one for one, other in zip(names["en"], names["pt-br"], strict=True) if one == other}
    assert same == SAME


def test_numbers_have_the_signs_of_the_language_and_drawings_have_none_of_them(staff: Client) -> None:
    study = full_study("apples")
    results.ensure_report(study, at=timezone.now(), by="tests")

    html = page(staff, "/reports/apples/figures/all/")

    assert re.search(r'<td class="n lead-figure">[−0]*\d+,\d+', html)
    drawn = re.findall(r'(?:\bd|\bx|\by|\bcx|viewBox)="([^"]*)"', html)
    assert drawn
    assert not [each for each in drawn if "," in each]
