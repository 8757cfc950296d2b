"""Formatting by source: what is called a difference, and keeping what came when texts are made alike."""

import hashlib
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.design import launches
from studies import formatting
from studies.formatting import CannotNormalise
from studies.models import Provenance, Step, Story, StoryGroup, Study
from studies.typography import comparison
from studies.typography.comparison import compare_texts
from studies.typography.normalisation import NORMALISATIONS
from tests import factories

ALL = list(NORMALISATIONS)


# ── differences ────────────────────────────────────────────────────────────────────────────────────────────────────


def why(*texts: list[str]) -> dict[str, str]:
    """Why each sign or amount tells the sources apart, by its name."""
    found = comparison.compare_texts("", {f"S{n}": some for n, some in enumerate(texts)})
    return {getattr(row, "title", "") or row.sign.key: row.why for row in found.telling}  # type: ignore[union-attr]


def test_a_sign_in_half_more_stories_of_one_source_is_a_difference() -> None:
    plain, bold = "It was so and went on.", "It **was** so and went on."

    assert why([plain] * 4, [bold] * 2 + [plain] * 2) == {
        "bold": "in 50 % of the stories of one source, in 0 % of another's"
    }


def test_a_sign_in_fewer_stories_and_rarely_is_none() -> None:
    plain, bold = "It went on. " * 400, "It **was** so. " + "It went on. " * 400

    assert "bold" not in why([plain] * 20, [bold] * 9 + [plain] * 11)
    assert "bold" in why([plain] * 20, [bold] * 10 + [plain] * 10)


def test_a_sign_twice_as_frequent_is_a_difference_though_all_stories_have_it() -> None:
    words = "so it went " * 100

    assert why([f"*A* b. {words}"], [f"*A* *b* *c*. {words}"])["italics"] == (
        "9.9 in a thousand words of one source, 3.3 of another's"
    )
    assert "italics" not in why([f"*A* *b* *c*. {words}"], [f"*A* *b* *c* *d*. {words}"])


def test_ways_of_typing_a_dash_are_compared_where_there_is_a_dash() -> None:
    told = why(["It—was.", "It was."], ["It--was.", "It was."])

    assert told == {
        "em_dash": "in 100 % of the stories with dashes of one source, in 0 % of another's",
        "hyphens": "in 100 % of the stories with dashes of one source, in 0 % of another's",
    }
    assert "em_dash" not in why(["It—was."], ["It was."])


def test_more_dashes_are_the_authors_and_no_normalisation_is_named_for_them() -> None:
    words = "so it went " * 100

    told = why([f"A—b. {words}"], [f"A—b—c—d. {words}"])

    assert told == {
        "dashes of any kind, in a thousand words": "9.9 in a thousand words of one source, 3.3 of another's"
    }


def test_where_no_spaces_stand_between_words_every_character_counts_as_one() -> None:
    assert why(["书" * 300 + " *a*"], ["书" * 300 + " *a* *b* *c*"])["italics"] == (
        "9.9 in a thousand words of one source, 3.3 of another's"
    )


def test_length_and_paragraphs_differ_from_a_quarter_on() -> None:
    assert "words" not in why(["a " * 100], ["a " * 124])
    assert why(["a " * 100], ["a " * 125])["words"] == "125 on average in one source, 100 in another"
    assert "paragraphs" in why(["a\n\nb"], ["a\n\nb\n\nc"])


def test_one_source_has_nothing_to_be_told_from() -> None:
    assert why(["A—b."]) == {}


def test_a_text_is_searched_for_each_sign_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    signs = [
        replace(sign, count=lambda text, sign=sign: searched.append(sign.key) or sign.count(text))
        for sign in comparison.SIGNS
    ]
    monkeypatch.setattr(comparison, "SIGNS", signs)

    assert why(["One—two."], ["One – two."])
    assert len(searched) == 2 * len(signs)


def test_the_order_of_stories_and_names_of_sources_change_nothing() -> None:
    one, other = ["A—b.", "It was."], ["“It was so.”", "It… was."]

    assert why(one, other) == why(list(reversed(one)), other)
    assert set(why(one, other)) == set(why(other, one))


# ── a study's ──────────────────────────────────────────────────────────────────────────────────────────────────────


def draft() -> Study:
    """An unplanned study of two groups: the stories of Source 2 are typed as models type."""
    study = factories.study(n_groups=2, n_stories=2, state=Study.State.DRAFT, planned=False)
    for story in study.stories.all():
        dash = "—" if story.code.endswith("s2") else " -- "
        Story.objects.filter(pk=story.pk).update(text=f"It began{dash}so.\n\nIt ended.")
    for story in study.stories.all():
        story.save()
    return study


@pytest.mark.django_db
def test_the_report_says_all_groups_together_and_each_by_itself() -> None:
    study = draft()

    found = formatting.report(study)

    assert [table.title for table in found] == ["All groups", "Group plot1", "Group plot2"]
    assert [table.sources for table in found] == [("Source 1", "Source 2")] * 3
    assert {row.sign.key for row in found[0].rows if row.why} == {"em_dash", "hyphens"}
    cells = {row.sign.key: [(c.n_with, c.n_stories) for c in row.by_source] for row in found[0].rows}
    assert cells["em_dash"] == [(0, 2), (2, 2)]


@pytest.mark.django_db
def test_a_sample_is_compared_anew_only_when_a_text_or_the_language_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    study = draft()
    compared = []
    monkeypatch.setattr(formatting, "compare_texts", lambda *texts: compared.append(texts) or compare_texts(*texts))

    def signs(language: str = "en") -> list[str]:
        with translation.override(language):
            return [row.sign.key for row in formatting.report(study, by_group=False, most=30)[0].rows]

    assert signs() == signs() == ["em_dash", "hyphens"]
    assert len(compared) == 1
    Story.objects.filter(code__endswith="s1").update(text="It began so.\n\nIt ended.")
    assert signs() == ["em_dash"]
    signs("pt-br")
    assert len(compared) == 3


@pytest.mark.django_db
def test_normalising_keeps_the_raw_text_and_both_hashes_and_ends_the_difference() -> None:
    study = draft()
    came = {story.code: story.text for story in study.stories.all()}

    n_changed = formatting.normalise(study, ["dashes"])

    assert n_changed == 2
    assert not formatting.report(study)[0].telling
    for story in study.stories.select_related("provenance"):
        raw = story.provenance.raw_text
        assert story.text == "It began—so.\n\nIt ended."
        assert story.sha256 == hashlib.sha256(story.text.encode()).hexdigest()
        assert raw == (came[story.code] if came[story.code] != story.text else "")
        assert story.provenance.raw_sha256 == (hashlib.sha256(raw.encode()).hexdigest() if raw else "")


@pytest.mark.django_db
def test_normalising_twice_keeps_the_first_text() -> None:
    study = draft()
    story = study.stories.get(code="p1s1")
    came = story.text

    formatting.normalise(study, ["dashes"])
    Story.objects.filter(pk=story.pk).update(text="It  was.")
    formatting.normalise(study, ["spaces"])

    assert Provenance.objects.get(story=story).raw_text == came
    assert Story.objects.get(pk=story.pk).text == "It was."


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["draft", "live", "closed"])
def test_texts_stay_as_they_are_once_they_are_frozen(state: str) -> None:
    study = factories.study(state=state)
    factories.freeze(study)
    before = list(study.stories.order_by("pk").values())

    with pytest.raises(CannotNormalise, match="the protocol of plums is frozen, so its texts stay as they are"):
        formatting.normalise(study, ALL)

    assert list(study.stories.order_by("pk").values()) == before


@pytest.mark.django_db
def test_a_cloze_keeps_its_text() -> None:
    study = draft()
    Step.objects.filter(version__study=study, key="tests").update(layout="cloze")

    with pytest.raises(CannotNormalise, match="is a cloze"):
        formatting.normalise(study, ["dashes"])


@pytest.mark.django_db
def test_without_a_place_for_the_raw_text_nothing_is_changed() -> None:
    study = draft()
    Provenance.objects.filter(story__code="p1s1").delete()

    with pytest.raises(CannotNormalise, match="p1s1: without provenance"):
        formatting.normalise(study, ["dashes"])


@pytest.mark.django_db
def test_a_normalised_study_can_be_planned_and_launched() -> None:
    study = draft()
    formatting.normalise(study, ALL)
    call_command("plan", study.slug)

    assert launches.launch_obstacles(study, at=factories.NOON) == []
    assert launches.launch(study, by="tests", at=factories.NOON).state == Study.State.LIVE


@pytest.mark.django_db
def test_codes_that_name_their_source_are_told() -> None:
    study = Study.objects.create(slug="codes", title="Codes")
    group = StoryGroup.objects.create(study=study, code="g")
    for code, source in {
        "gpt4_1": "GPT-4",
        "x7": "GPT-4",
        "new-yorker-3": "The New Yorker",
        "theatre": "The Sun",
    }.items():
        group.stories.add(factories.story(study, code, source=source))
    Provenance.objects.update(title="", factors={"size": "70B"})

    assert formatting.find_telling_codes(study) == [("gpt4_1", "GPT-4"), ("new-yorker-3", "yorker")]


# ── page and command ───────────────────────────────────────────────────────────────────────────────────────────────


def page_of(study: Study) -> str:
    return reverse("admin:studies_provenance_formatting", args=[study.pk])


@pytest.mark.django_db
def test_the_page_shows_what_differs_and_mends_it(client: Client) -> None:
    study = draft()
    client.force_login(factories.staff("designer"))

    before = client.get(page_of(study)).content.decode()
    client.post(page_of(study), {"kinds": ["dashes"]})
    after = client.get(page_of(study)).content.decode()

    assert "em dash without spaces, a—b" in before
    assert "2 of 2" in before
    assert "2 stories changed (dashes)" in after
    assert after.count("No formatting differs by source.") == 3


@pytest.mark.django_db
def test_who_may_not_see_sources_sees_no_formatting_by_source(client: Client) -> None:
    study = draft()
    seen, changed = {}, {}
    for role in ("designer", "coordinator", "researcher", "steward", "administrator", ""):
        client.force_login(factories.staff(role))
        seen[role] = client.get(page_of(study)).status_code
        changed[role] = client.post(page_of(study), {"kinds": ["dashes"]}).status_code

    assert [role for role, status in seen.items() if status == 200] == ["designer", "researcher"]
    assert [role for role, status in changed.items() if status == 302] == ["designer"]


@pytest.mark.django_db
def test_an_unknown_normalisation_changes_nothing(client: Client) -> None:
    study = draft()
    client.force_login(factories.staff("designer"))

    page = client.post(page_of(study), {"kinds": ["dashes", "words"]}, follow=True).content.decode()

    assert "Nothing was changed: there is no normalisation words" in page
    assert not Provenance.objects.exclude(raw_text="").exists()


@pytest.mark.django_db
def test_a_text_edited_by_hand_keeps_what_came(client: Client) -> None:
    study = draft()
    story = study.stories.get(code="p1s1")
    came = story.text
    client.force_login(factories.staff("designer"))

    form = {"study": study.pk, "code": story.code, "language": "en", "text": "Otherwise."}
    client.post(reverse("admin:studies_story_change", args=[story.pk]), form)

    assert Story.objects.get(pk=story.pk).text == "Otherwise."
    assert Provenance.objects.get(story=story).raw_text == came


@pytest.mark.django_db
def test_the_command_prints_the_report_and_normalises(capsys: pytest.CaptureFixture[str]) -> None:
    study = draft()

    call_command("formatting", study.slug)
    first = capsys.readouterr().out
    call_command("formatting", study.slug, normalise=["all"])
    second = capsys.readouterr().out

    assert "hyphens as a dash, a -- b or a - b: in 100 % of the stories with dashes of one source" in first
    assert "dashes        2 stories" in first
    assert "plums: 2 stories changed" in second
    assert second.count("no formatting differs by source") == 3


@pytest.mark.django_db
def test_the_command_names_its_errors() -> None:
    factories.study()

    with pytest.raises(CommandError, match=r"study “pears”.*: plums$"):
        call_command("formatting", "pears")
    with pytest.raises(CommandError, match="the protocol of plums is frozen"):
        call_command("formatting", "plums", normalise=["dashes"])
