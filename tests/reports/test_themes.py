"""Themes: a codebook, reasons coded blind by two people, a judge's suggestion afterwards, what the report says."""

import csv
import io
import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Rater, Response
from annotation.participation.withdrawal import withdraw
from reports import results
from reports.figures.themes.themes import SampleThemes
from reports.models import Coder, Coding, SampledReason, ThemeSample
from reports.rationales import codings, queries
from reports.rationales.codings import CannotCode
from studies.models import Source, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.replay import replayed
from tests.reports.test_pages import full_study

pytestmark = pytest.mark.django_db
PAGE = "/reports/plums/themes/"


@pytest.fixture
@replayed
def study() -> Study:
    made = full_study()
    for name in ("Ending", "Voice"):
        codings.add_theme(made, name=name, definition=f"About the {name.lower()}.")
    return made


@pytest.fixture
def sample(study: Study) -> ThemeSample:
    """The eight reasons of people to the first question: two people on four stories."""
    return codings.draw_sample(study, item="tests.item-1", kind="person", n=100, by="tests")


@pytest.fixture
def coders() -> tuple[User, User]:
    return factories.staff("researcher"), factories.staff("coordinator")


def code_all(sample: ThemeSample, by: User, ending: set[int]) -> None:
    """Theme “Ending” to the reasons of these numbers; none to the others."""
    theme = sample.study.themes.get(name="Ending").pk
    for number in range(1, sample.reasons.count() + 1):
        codings.record_coding(sample, number, user=by, themes={theme} if number in ending else ())


def in_story_order(sample: ThemeSample) -> list[int]:
    """The numbers of the reasons by story, then rater."""
    rows = sample.reasons.order_by("response__story__code", "response__assignment__rater__code")
    return list(rows.values_list("number", flat=True))


# ── the codebook and samples ───────────────────────────────────────────────────────────────────────────────────────


def test_a_codebook_changes_until_somebody_codes(study: Study, sample: ThemeSample, coders: tuple[User, User]) -> None:
    with pytest.raises(CannotCode, match="of this name"):
        codings.add_theme(study, name="ending", definition="Again.")
    codings.remove_theme(study, codings.add_theme(study, name="Plot", definition="About it.").pk)
    codings.record_coding(sample, 1, user=coders[0], themes=())

    with pytest.raises(CannotCode, match="changes no more"):
        codings.add_theme(study, name="Plot", definition="About it.")
    with pytest.raises(CannotCode, match="changes no more"):
        codings.remove_theme(study, study.themes.get(name="Voice").pk)

    assert list(study.themes.values_list("name", flat=True)) == ["Ending", "Voice"]


def test_a_sample_is_drawn_by_chance_from_what_fits(study: Study, sample: ThemeSample) -> None:
    few = codings.draw_sample(study, item="", kind="", n=5, by="tests")
    numbers = list(sample.reasons.values_list("number", flat=True))
    drawn = set(sample.reasons.values_list("response_id", flat=True))

    fitting = queries.reasons(study, queries.Filters(item="tests.item-1", kind="person"))
    assert numbers == list(range(1, 9))
    assert drawn == set(fitting.values_list("pk", flat=True))
    assert in_story_order(sample) != numbers
    assert few.reasons.count() == 5
    with pytest.raises(CannotCode, match="No reason fits"):
        codings.draw_sample(study, item="tests.item-9", kind="", n=5, by="tests")


def test_reasons_are_drawn_once_where_the_form_is_posted_twice(client: Client, study: Study) -> None:
    client.force_login(factories.staff("coordinator"))
    token = re.findall(r'name="once" value="(\w+)"', client.get(PAGE).content.decode())[-1]
    draw = {"do": "draw", "item": "tests.item-2", "kind": "model", "n": "3", "once": token}

    statuses = [client.post(PAGE, draw).status_code for _ in range(2)]

    assert statuses == [302, 302]
    assert ThemeSample.objects.count() == 1


def test_the_pages_make_a_codebook_and_a_sample(client: Client, study: Study) -> None:
    client.force_login(factories.staff("coordinator"))

    answers = [
        client.post(PAGE, {"do": "add", "name": "Pace", "definition": "About the pace."}),
        client.post(PAGE, {"do": "add", "name": "a;b", "definition": "About it."}),
        client.post(PAGE, {"do": "add", "name": "Pace", "definition": "Again."}),
        client.post(PAGE, {"do": "draw", "item": "tests.item-2", "kind": "model", "n": "3"}),
        client.post(PAGE, {"do": "draw", "item": "nowhere", "kind": "", "n": "3"}),
        client.post(PAGE, {"do": "remove", "theme": study.themes.get(name="Pace").pk}),
        client.post(PAGE, {"do": "remove", "theme": "²"}),
    ]

    assert [answer.status_code for answer in answers] == [302, 400, 400, 302, 400, 302, 400]
    assert list(study.themes.values_list("name", flat=True)) == ["Ending", "Voice"]
    assert list(ThemeSample.objects.values_list("item", "kind", "made_by")) == [
        ("tests.item-2", "model", "coordinator")
    ]


# ── coding blind ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_coder_sees_the_reason_and_its_question_and_nothing_else(
    client: Client, study: Study, sample: ThemeSample, coders: tuple[User, User]
) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    codings.record_coding(sample, 1, user=coders[1], themes={study.themes.get(name="Voice").pk})
    row = sample.reasons.select_related("response__assignment__rater", "response__story").get(number=1)
    client.force_login(coders[0])

    page = client.get(f"{PAGE}{sample.pk}/1/").content.decode()
    main = page.split("<main")[1].split("</main>")[0]

    assert row.response.rationale in main
    assert "Is it good in way 1?" in main
    for hidden in ("Canary", row.response.story.code, row.response.assignment.rater.code, "checked", "coordinator"):
        assert hidden not in main, hidden
    assert f"/rationales/{row.response_id}/" not in main
    assert not re.search(r"<strong>(Yes|No)", main)


def test_a_coding_is_saved_and_leads_to_the_next(client: Client, study: Study, sample: ThemeSample) -> None:
    client.force_login(factories.staff("researcher"))
    theme = study.themes.get(name="Ending")

    first = client.post(f"{PAGE}{sample.pk}/1/", {"themes": [theme.pk]})
    again = client.get(f"{PAGE}{sample.pk}/1/").content.decode()
    client.post(f"{PAGE}{sample.pk}/1/", {})
    refused = client.post(f"{PAGE}{sample.pk}/2/", {"themes": ["0"]})
    answers = [client.post(f"{PAGE}{sample.pk}/{n}/", {}) for n in range(2, 9)]

    assert first.headers["Location"] == f"{PAGE}{sample.pk}/2/"
    assert re.search(rf'value="{theme.pk}"\s+checked', again)
    assert refused.headers["Location"] == f"{PAGE}{sample.pk}/"
    assert answers[-1].headers["Location"] == f"{PAGE}{sample.pk}/"
    assert Coding.objects.count() == 8
    assert not Coding.objects.exclude(themes=None).exists()
    assert client.get(f"{PAGE}{sample.pk}/99/").status_code == 404


def test_neither_sees_what_the_other_found_until_both_are_done(
    client: Client, study: Study, sample: ThemeSample, coders: tuple[User, User]
) -> None:
    code_all(sample, coders[0], {1, 2})
    client.force_login(coders[1])
    before = client.get(f"{PAGE}{sample.pk}/").content.decode()
    sealed = results.compute(study)["themes"]
    assert "Where the two agree" not in before
    assert "Both" not in before.split("<main")[1]
    assert sealed == []

    code_all(sample, coders[1], {2, 3})
    after = client.get(f"{PAGE}{sample.pk}/").content.decode()

    cells = re.findall(r'Ending</th>\s*((?:<td class="n">.*?</td>\s*)+)', after, re.DOTALL)[0]
    assert re.findall(r">([^<]+)</td>", cells) == ["1", "1", "1", "5", "75"]
    assert 'id="reason-1"' in after
    assert 'id="reason-3"' in after
    assert 'id="reason-2"' not in after


def test_two_people_code_and_nothing_changes_once_both_are_done(
    client: Client, sample: ThemeSample, coders: tuple[User, User]
) -> None:
    third = factories.staff("designer")
    codings.record_coding(sample, 1, user=coders[0], themes=())
    codings.record_coding(sample, 1, user=coders[1], themes=())
    with pytest.raises(CannotCode, match="Two people"):
        codings.record_coding(sample, 1, user=third, themes=())
    for user in coders:
        code_all(sample, user, set())

    with pytest.raises(CannotCode, match="nothing changes"):
        codings.record_coding(sample, 1, user=coders[0], themes=())
    client.force_login(coders[0])
    assert client.get(f"{PAGE}{sample.pk}/1/").headers["Location"] == f"{PAGE}{sample.pk}/"
    assert list(Coder.objects.values_list("number", "name")) == [(1, "researcher"), (2, "coordinator")]


def test_a_designer_codes_nothing(client: Client, sample: ThemeSample) -> None:
    client.force_login(factories.staff("designer"))

    for address in (PAGE, f"{PAGE}{sample.pk}/", f"{PAGE}{sample.pk}/1/", f"{PAGE}{sample.pk}/reasons.csv"):
        assert client.get(address).status_code == 403
    assert client.post(f"{PAGE}{sample.pk}/1/").status_code == 403


# ── a judge's suggestion ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_judge_suggests_only_afterwards_and_for_every_reason(
    client: Client, study: Study, sample: ThemeSample, coders: tuple[User, User]
) -> None:
    client.force_login(coders[0])
    fetched = b"".join(client.get(f"{PAGE}{sample.pk}/reasons.csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(fetched)))
    assert [(row["number"], row["question"]) for row in rows] == [(str(n), "Is it good in way 1?") for n in range(1, 9)]
    assert list(rows[0]) == ["number", "question", "reason", "themes"]
    suggestion = b"number,themes\n" + b"".join(
        b"%d,%s\n" % (n, b"ending; Voice" if n < 3 else b"") for n in range(1, 9)
    )
    with pytest.raises(CannotCode, match="once both people"):
        codings.record_suggestion(sample, judge="gpt", data=suggestion)
    for user in coders:
        code_all(sample, user, {1, 2, 3, 4})

    bad = client.post(
        f"{PAGE}{sample.pk}/", {"judge": "gpt", "file": SimpleUploadedFile("x.csv", b"number,themes\n1,Plot\n")}
    )
    answer = client.post(f"{PAGE}{sample.pk}/", {"judge": "gpt", "file": SimpleUploadedFile("x.csv", suggestion)})

    assert (bad.status_code, answer.status_code) == (400, 302)
    assert "“plot” is no theme of the codebook" in bad.content.decode()
    found = codings.themes_by_reason(sample)
    ids = set(study.themes.values_list("pk", flat=True))
    assert found[Coder.JUDGE] == {n: ids if n < 3 else set() for n in range(1, 9)}
    assert codings.progress(sample).is_done
    page = client.get(f"{PAGE}{sample.pk}/").content.decode()
    assert "gpt: none of these" in page
    assert 'id="reason-8"' not in page


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff", "no CSV in UTF-8"),
        (b"number\n1\n", "needs the columns"),
        (b"number,themes\nx,\n", "whole number"),
        (b"number,themes\n1,\n1,\n", "came before"),
        (b"number,themes\n7,\n", "no reason 7"),
        (b"number,themes\n1,\n", "Nothing is said about reason 2"),
        (b'number,themes\n1,"a\n', "no CSV"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(data: bytes, message: str) -> None:
    with pytest.raises(CannotCode, match=message):
        codings.read_suggestion(data, theme_by_name={"ending": 1}, numbers=[1, 2])


# ── what the report says ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_report_says_agreement_and_shares_by_source(
    study: Study, sample: ThemeSample, coders: tuple[User, User]
) -> None:
    # By story and rater: p1s1 E01 E02, p1s2 E01 E02, p2s1 E01 E02, p2s2 E01 E02.
    numbers = in_story_order(sample)
    code_all(sample, coders[0], {numbers[0], numbers[1], numbers[4]})
    code_all(sample, coders[1], {numbers[0], numbers[4], numbers[2]})

    computed = results.read_results(results.compute(study)).figures["themes"]

    (row,) = computed.rows
    assert isinstance(row, SampleThemes)
    ending = row.rows[0]
    assert (row.n_reasons, row.n_stories, row.judge, ending.n_first, ending.n_second) == (8, 4, "", 3, 3)
    # Six of eight agree; by chance 3/8 · 3/8 + 5/8 · 5/8 = 34/64.
    assert ending.percent.value == pytest.approx(75)
    assert ending.kappa.value == pytest.approx((6 / 8 - 34 / 64) / (1 - 34 / 64))
    # Krippendorff: sixteen codes, six of them “Ending”; two units disagree: 1 − 15 · 4 / (2 · 6 · 10).
    assert ending.alpha.value == pytest.approx(1 - 15 * 4 / (2 * 6 * 10))
    assert ending.floor.upper is not None
    # The first found it in p1s1 and p2s1, the second in p1s2 as well.
    assert {s.source: (s.share.value, s.n_stories) for s in ending.shares} == {
        "": (pytest.approx(100 * (1 + 0.5 + 1 + 0) / 4), 4),
        "Source 1": (pytest.approx(100), 2),
        "Source 2": (pytest.approx(25), 2),
    }
    voice = row.rows[1]
    assert (voice.kappa.value, voice.kappa.why is None) == (None, False)


def test_one_reason_gives_shares_of_its_story_and_reasons_for_the_rest(study: Study, coders: tuple[User, User]) -> None:
    one = codings.draw_sample(study, item="tests.item-1", kind="person", n=1, by="tests")
    code_all(one, coders[0], {1})
    code_all(one, coders[1], set())

    (row,) = results.read_results(results.compute(study)).figures["themes"].rows

    assert [(share.n_stories, share.share.value) for share in row.rows[0].shares] == [(1, 50.0), (1, 50.0)]
    assert (row.rows[0].alpha.value, row.rows[0].interval.low) == (0.0, None)
    assert row.rows[0].interval.why is not None


def test_sources_of_themes_are_sealed_as_everywhere(
    client: Client, study: Study, sample: ThemeSample, coders: tuple[User, User]
) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    for user in coders:
        code_all(sample, user, {1, 2})

    pages = []
    for user in coders:
        client.force_login(user)
        pages.append(b"".join(client.get("/reports/plums/theme-shares.csv").streaming_content).decode())
    Study.objects.filter(pk=study.pk).update(state="live")
    client.force_login(coders[0])
    pages.append(b"".join(client.get("/reports/plums/theme-shares.csv").streaming_content).decode())

    assert ["Canary" in page for page in pages] == [True, False, False]
    assert all("Ending" in page for page in pages)


def test_a_report_is_computed_anew_when_somebody_has_coded(
    client: Client, study: Study, sample: ThemeSample, coders: tuple[User, User]
) -> None:
    before = results.fingerprint(study)
    for user in coders:
        code_all(sample, user, {1, 2})

    assert results.fingerprint(study) != before
    client.force_login(coders[0])
    page = client.get("/reports/plums/figures/all/").content.decode()
    assert 'id="themes"' in page
    assert "Of 100 stories" in page


# ── erasure ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_who_withdraws_takes_their_reasons_and_codings_along(
    study: Study, sample: ThemeSample, coders: tuple[User, User]
) -> None:
    for user in coders:
        code_all(sample, user, {1})
    rater = Rater.objects.get(code="plumsE01")
    gone = set(Response.objects.filter(assignment__rater=rater).values_list("pk", flat=True))
    assert SampledReason.objects.filter(response__in=gone).count() == 4
    assert Coding.objects.count() == 16

    withdraw(rater, at=NOON)

    assert not SampledReason.objects.filter(response__in=gone).exists()
    assert Coding.objects.count() == 8
    (done,) = codings.read_done(study)
    assert len(done.reasons) == 4


# ── how much it costs ──────────────────────────────────────────────────────────────────────────────────────────────


def test_pages_cost_the_same_for_few_and_many_reasons(
    client: Client, study: Study, sample: ThemeSample, coders: tuple[User, User]
) -> None:
    few = codings.draw_sample(study, item="", kind="", n=2, by="tests")
    for made in (few, sample):
        for user in coders:
            code_all(made, user, {1} if user == coders[0] else {2})
    client.force_login(coders[0])
    open_samples = [codings.draw_sample(study, item="", kind="", n=n, by="tests") for n in (2, 20)]

    n_queries = []
    for addresses in ([f"{PAGE}{s.pk}/" for s in (few, sample)], [f"{PAGE}{s.pk}/1/" for s in open_samples]):
        for address in addresses:
            with CaptureQueriesContext(connection) as captured:
                assert client.get(address).status_code == 200
            n_queries.append(len(captured))

    assert n_queries == [12, 12, 15, 15]
