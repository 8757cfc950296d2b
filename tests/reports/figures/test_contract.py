"""What every figure promises, checked for whichever figures there are."""

import inspect
import json
import re
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, get_args

import pytest
from django.test import Client

from reports import figures, results
from reports.document.model import Head
from reports.figures import all_figures, by_table
from reports.figures.base import Listing
from reports.figures.codec import Undecodable, decode, encode
from reports.models import Report
from reports.page import csv, text
from reports.page.outline import outline
from studies.models import Source, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import given
from tests.reports.test_pages import full_study

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

FIGURES = list(all_figures().values())
each_figure = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.key)


@pytest.fixture
def study() -> Study:
    """A closed study in which nearly every figure has something to say."""
    return full_study()


def seal(study: Study) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    Study.objects.update(state="live", closed_at=None)
    study.refresh_from_db()


def test_there_are_figures_in_the_order_of_the_page() -> None:
    assert {"progress", "pass_rates", "agreement", "rankings", "judges", "cloze"} <= set(all_figures())
    assert [figure.position for figure in FIGURES] == sorted({figure.position for figure in FIGURES})


@each_figure
def test_a_figure_knows_no_other(figure: Any) -> None:
    """What several need stands beside them in their family."""
    source = Path(inspect.getfile(type(figure))).read_text(encoding="utf-8")
    others = {type(other).__module__ for other in FIGURES} - {type(figure).__module__}

    assert others & set(re.findall(r"^from (reports\.[\w.]+) import", source, re.MULTILINE)) == set()


@pytest.mark.parametrize("path", sorted(Path(figures.__path__[0]).rglob("*.py")), ids=lambda path: path.stem)
def test_a_figure_asks_the_dataset_and_no_table(path: Path) -> None:
    asks = r"\.(?:all|count|exclude|exists|filter|first|order_by|values|values_list)\("
    asked = rf"django\.db|\.objects\b|study\.\w+{asks}"

    assert re.findall(asked, path.read_text(encoding="utf-8")) == []


@each_figure
def test_a_figure_says_what_it_is(figure: Any) -> None:
    declared = figure.result
    row = get_args(declared)[0] if not is_dataclass(declared) or get_args(declared) else declared

    assert re.fullmatch(r"[a-z_]+", figure.key)
    assert str(figure.title)
    assert figure.edition >= 1
    assert is_dataclass(row)
    assert row.__dataclass_params__.frozen
    assert figure.tables
    assert all(by_table()[table] is figure for table in figure.tables)


@pytest.mark.parametrize("kind", ["full", "sealed", "empty", "draft"])
def test_every_figure_comes_back_from_json_and_describes_itself(kind: str) -> None:
    study = full_study() if kind in ("full", "sealed") else given.closed_study()
    if kind == "sealed":
        seal(study)
    if kind == "draft":
        study = factories.study("draft", state="draft", planned=False)

    document = results.compute(study)
    result_by_key = results.read_results(document).figures

    assert {key: encode(result) for key, result in result_by_key.items()} == {
        key: document[key] for key in all_figures()
    }
    for figure in FIGURES:
        result = result_by_key[figure.key]
        if result is not None:
            tables = {name: list(rows) for name, rows in figure.rows(result).items()}
            assert tuple(tables) == figure.tables, figure.key
            assert all(tuple(row) == tuple(rows[0]) for rows in tables.values() for row in rows), figure.key
            assert all(section.heading for section in figure.describe(result, Head())), figure.key


def test_no_sealed_figure_tells_a_source(study: Study) -> None:
    seal(study)

    sealed = results.compute(study)

    assert [key for key in all_figures() if "Canary" in json.dumps(sealed[key])] == []
    hidden = {figure.key: encode(figure.nothing) for figure in FIGURES if not figure.is_shown_sealed}
    assert {key: sealed[key] for key in hidden} == hidden
    assert not set(hidden) & {figure.key for figure, _ in results.read_results(sealed).visible}


@pytest.mark.parametrize("state", ["closed", "live"])
def test_page_text_and_files_hold_every_figure_that_has_something_to_say(
    client: Client, study: Study, state: str
) -> None:
    Study.objects.update(state=state)
    study.refresh_from_db()
    client.force_login(factories.staff("researcher"))
    document = results.compute(study)
    read = results.read_results(document)
    visible, shown = read.visible, outline(read, read.head).shown

    page = client.get("/reports/plums/figures/all/").content.decode()
    summary = client.get("/reports/plums/").content.decode()
    lines = list(text.lines(results.read_results(document)))

    assert len(visible) >= (7 if state == "closed" else 3)
    for figure, result in visible:
        assert summary.count(f'id="{figure.key}"') == 1
        if figure.key in shown:  # else no row has its value, and the summary says why
            assert page.count(f'id="{figure.key}"') == 1
            assert f'href="#{figure.key}"' in page
        own = list(figure.lines(result, results.read_results(document).head))
        assert own
        assert "\n".join(own) in "\n".join(lines)
        for table in figure.tables:
            header, rows = csv.find_table(results.read_results(document), table)
            file = b"".join(client.get(f"/reports/plums/{table}.csv").streaming_content).decode()  # type: ignore[attr-defined]
            assert file.splitlines()[:1] == ([",".join(header)] if header else [""])
            assert len(rows) == len(list(figure.rows(result)[table]))


def test_no_two_parts_of_described_figures_have_one_id(client: Client, study: Study) -> None:
    client.force_login(factories.staff("researcher"))
    keys = [figure.key for figure, _ in results.read_results(results.compute(study)).visible]

    page = client.get("/reports/plums/figures/all/").content.decode()

    ids = [name for name in re.findall(r'\bid="([^"]+)"', page) if name.split("-")[0] in keys]
    assert len(ids) > 3 * len(keys)
    assert sorted(ids) == sorted(set(ids))


def test_the_command_prints_what_only_the_page_said_before(study: Study) -> None:
    printed = "\n".join(text.lines(results.read_results(results.compute(study))))

    for words in (
        "Progress",
        "Tests passed by each story, of 2",
        "Mean rank",
        "Authorship guesses",
    ):
        assert words in printed


def test_the_fingerprint_covers_the_edition_of_every_figure(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprints = [results.fingerprint(study)]

    for figure in FIGURES:
        with monkeypatch.context() as patch:
            patch.setattr(type(figure), "edition", figure.edition + 1)
            fingerprints.append(results.fingerprint(study))

    assert len(set(fingerprints)) == 1 + len(FIGURES)


@pytest.mark.parametrize("harm", ["missing", "unknown", "other kind"])
def test_a_stored_report_in_another_form_is_computed_anew(client: Client, study: Study, harm: str) -> None:
    fresh = results.ensure_report(study, at=NOON, by="ann")
    other = dict(fresh.result)
    if harm == "missing":
        del other["ratings"]
    if harm == "unknown":
        other["progress"] = {**other["progress"], "n_horses": 3}
    if harm == "other kind":
        other["judges"] = []  # as they were when they were a list
    Report.objects.update(result=other, readable_by="")  # as of other code
    with pytest.raises(Undecodable):
        results.read_results(other)
    client.force_login(factories.staff("researcher"))

    response = client.get("/reports/plums/figures/all/")

    assert response.status_code == 200
    assert Report.objects.get().result == results.compute(study)


def test_a_listing_is_a_list_and_a_default_is_left_out() -> None:
    kind = all_figures()["surveys"].result

    assert encode(Listing(())) == []
    assert decode(kind, [], "surveys") == Listing(())
    with pytest.raises(Undecodable, match="surveys/0: dimension, "):
        decode(kind, [{"step": "s", "item": "i", "title": "t"}], "surveys")


def test_a_metric_that_answers_what_people_answer_is_named_and_not_analysed(client: Client) -> None:
    study = given.closed_study(n_groups=1)
    given.verdicts(study, {"E01": "yn", "E02": "yn"})
    row = given.guesses(study, {"words": {"p1s1": "ai"}})[0]
    given.bring(study, [replace(row, kind="metric")])
    client.force_login(factories.staff("researcher"))

    judges = results.compute(study)["judges"]
    page = " ".join(client.get("/reports/plums/figures/all/").content.decode().split())

    counts = {"n_items": 1, "n_answered": 1, "n_declined": 0, "n_unreadable": 0}
    named = {"judge": "words", "kind": "metric", "step": "guess", "type": "choice"} | counts
    assert judges == {"compared": [], "not_analysed": [named]}
    assert "Answers of judges that no figure analyses" in page
    assert '<th scope="row">words</th> <td lang="en">guess</td> <td>Choice</td>' in page
    assert "Judges against the majority" not in page


def test_what_a_model_answers_stands_in_the_figure_of_its_kind() -> None:
    study = given.closed_study(n_groups=1)
    given.verdicts(study, {"E01": "yn", "E02": "yn"})
    stories = list(study.stories.order_by("code").values_list("code", flat=True))
    verdicts = [
        given.Row("test", "gpt", "plot1", story, "tests", "item-1", given.ANSWERS["y"], "model") for story in stories
    ]
    guesses = [
        given.Row("test", "gpt", "plot1", stories[0], "guess", "item-1", given.Answer(value="ai"), "model"),
        given.Row("test", "gpt", "plot1", stories[1], "guess", "item-1", given.ANSWERS["?"], "model"),
    ]
    given.bring(study, [*verdicts, *guesses])

    document = results.compute(study)

    (row,) = document["judges_on_choices"]
    assert (row["judge"], row["outcomes"]["answered"], row["outcomes"]["unreadable"]) == ("gpt", 1, 1)
    assert document["judges"]["not_analysed"] == []
    assert [judge["judge"] for judge in document["judges"]["compared"]] == ["gpt"]
    assert any("gpt: declined 0, unreadable 1, missing 0" in line for line in _lines(document))


def _lines(document: dict[str, Any]) -> list[str]:
    return list(text.lines(results.read_results(document)))
