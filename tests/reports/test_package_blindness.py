"""A blind package marks no story by its source: not by its code, nor by which texts are withheld."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from annotation.models import Response, Timing
from judges import catalogue, runs
from studies import hashing
from studies.models import Provenance, Source, Story, Study
from tests import triggers
from tests.independent.comparison import recomputed
from tests.reports import given
from tests.reports.packaged import twice_read_study
from tests.reports.test_packages import issued, table
from tests.reports.test_replicate_ttcw import replicate
from tests.reports.test_replication_codes import guesses

pytestmark = pytest.mark.django_db


def withheld_of(study: Study) -> set[str]:
    return set(study.stories.filter(is_withheld=True).values_list("code", flat=True))


def tellers(archive: ZipFile, marked: set[str]) -> Iterator[tuple[str, str]]:
    """Tables and columns in which what the marked stories have in common, filled cells or a value, no other has."""
    for name in archive.namelist():
        rows = table(archive, name) if name.endswith(".csv") else []
        if not rows or "story" not in rows[0]:
            continue
        for column in rows[0]:
            for read in (bool, str):
                values: dict[str, set[Any]] = defaultdict(set)
                for row in rows:
                    values[row["story"]].add(read(row[column]))
                others = [values[story] for story in values if story and story not in marked]
                common = set.intersection(*(values.get(story, {"no row"}) for story in marked))
                if common and not any(common & of_other for of_other in others):
                    yield name, column


def withhold(study: Study, *codes: str) -> set[str]:
    """Withhold the texts of these stories, which are all those of one source. All others may be redistributed."""
    one, other = Source.objects.order_by("name")[:2]
    provenances = Provenance.objects.filter(story__study=study)
    with triggers.lifted():
        provenances.update(may_redistribute=True, licence="CC0", source=one)
        provenances.filter(story__code__in=codes).update(source=other)
        Story.objects.filter(study=study, code__in=codes).update(
            text="", is_withheld=True, n_words=0, sha256=hashing.sha256("")
        )
    return withheld_of(study)


@pytest.mark.parametrize("is_public", [False, True])
def test_a_blind_package_does_not_tell_which_texts_are_withheld(is_public: bool) -> None:
    study = given.closed_study(n_groups=3)
    given.verdicts(study, {"E01": "ynynyn", "E02": "yyyynn"})
    _package, before = issued(study)
    withheld = withhold(study, "p1s2", "p2s1", "p3s2")  # not all first or second, as they are when read

    _package, blind = issued(study, is_public=is_public)
    _package, opened = issued(study, with_sources=True, reason="To compare.", is_public=is_public)

    assert {row["story"] for row in table(before, "stories.csv") if row["text"]} > withheld
    assert {row["story"] for row in table(opened, "stories.csv") if row["n_words"] == "0"} == withheld
    assert ("stories.csv", "text") in list(tellers(opened, withheld))
    assert list(tellers(blind, withheld)) == []
    rows = table(blind, "stories.csv")
    assert {(row["n_words"], row["sha256"], row["has_text"], row["text"]) for row in rows} == {("", "", "False", "")}
    assert "no text, no length\nand no hash" in blind.read("README.md").decode()


def test_a_blind_package_without_withheld_texts_has_all_of_them_with_lengths_and_hashes() -> None:
    _package, blind = issued(given.closed_study())

    assert all(row["text"] and row["n_words"] and row["sha256"] for row in table(blind, "stories.csv"))


@pytest.mark.embedded
def test_the_script_computes_what_does_not_rest_on_lengths_or_hashes(tmp_path: Path) -> None:
    study = twice_read_study()
    places = Response.objects.values_list("assignment", "step", "story").distinct()
    for assignment, step, story in places:
        Timing.objects.create(assignment_id=assignment, step_id=step, story_id=story, active_seconds=90)
    withhold(study, "p2s2")

    _package, blind = issued(study)
    result: dict[str, Any] = recomputed(blind, tmp_path)

    assert result["differences"] == []
    pace, repeats = result["figures"]["pace"], result["figures"]["repeats"]
    assert {name.rpartition(".")[2] for name in pace["others"]} == {"words_read"}
    assert (pace["n_computed"] > 0, repeats["n_computed"], repeats["n"] > 0) == (True, 0, True)
    reasons = {*pace["why"].values(), *repeats["why"].values()}
    assert {reason.partition(",")[0] for reason in reasons} == {"what rests on the lengths of texts"}


@pytest.mark.data
def test_a_blind_package_of_ttcw_names_no_source_and_no_withheld_story(release: Path) -> None:
    replicate(release / "ttcw")
    study = Study.objects.get()
    names = [row["story_id"] for row in json.loads((release / "ttcw" / "ttcw_short_stories.json").read_text())]
    withheld = withheld_of(study)

    _package, blind = issued(study)
    _package, public = issued(study, is_public=True)

    assert (len(names), len(withheld)) == (48, 12)
    guessed = guesses(names)
    for archive in (blind, public):
        codes = {row["story"] for row in table(archive, "stories.csv")}
        assert (len(codes), [code for code in codes if code.partition("-")[2] in guessed]) == (48, [])
        assert list(tellers(archive, withheld)) == []
        assert "New Yorker" not in archive.read("README.md").decode()
        assert "New Yorker" not in archive.read("datapackage.json").decode()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("The New Yorker", "Twelve New Yorker stories are withheld."),
        ("GPT-3.5", "By gpt 3.5, mostly."),
        ("GPT4", "Some are by GPT-4."),
    ],
)
def test_a_card_leaves_out_lines_that_name_a_source_as_people_write_it(source: str, words: str) -> None:
    study = given.closed_study()
    with triggers.lifted():
        row = Provenance.objects.filter(story__study=study).select_related("source")[0].source
        row.name = source
        row.save()
        Study.objects.filter(pk=study.pk).update(description=f"Plums.\n{words}", notice=f"Pears.\n{words}")
    study.refresh_from_db()

    _package, blind = issued(study)
    _package, opened = issued(study, with_sources=True, reason="To compare.")

    card = blind.read("README.md").decode()
    assert (words in card, "Plums." in card, "Pears." in card) == (False, True, True)
    assert opened.read("README.md").decode().count(words) == 2


def tell_readers(archive: ZipFile, withheld: set[str]) -> set[tuple[str, str]]:
    """Files and readers in them that have something about stories, and nothing about the withheld ones."""
    stories_by_place: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in table(archive, "responses_long.csv"):
        stories_by_place["responses_long.csv", row["rater"]].add(row["story"])
    for row in table(archive, "assignments.csv"):
        stories_by_place["assignments.csv", row["rater"]].update(json.loads(row["stories"]))
    for line in archive.read("judge_calls.jsonl").decode().splitlines():
        call = json.loads(line)
        stories_by_place["judge_calls.jsonl", call["judge"]].add(call["story"])
    return {place for place, stories in stories_by_place.items() if not stories & withheld}


def judge_and_measure(study: Study) -> tuple[str, str]:
    """The codes of a judge and a metric that read what they can."""
    judge = catalogue.make_stub_judge()
    runs.drain(runs.start(study, judge, by="tests"))
    metric = catalogue.make_metric_judge("length")
    runs.drain(runs.start(study, metric, by="tests"))
    return judge.slug, metric.slug


SAID_OF_READERS = "Judges and metrics that were run in Quire are in it if they read every story; others"


def test_readers_that_could_not_read_the_withheld_texts_are_in_no_blind_package(tmp_path: Path) -> None:
    study = given.closed_study(n_groups=3)
    given.verdicts(study, {"E01": "ynynyn", "E02": "yyyynn"})
    withheld = withhold(study, "p1s2", "p2s1", "p3s2")
    readers = set(judge_and_measure(study))

    _package, blind = issued(study)
    _package, opened = issued(study, with_sources=True, reason="To compare.")

    of_opened = tell_readers(opened, withheld)
    assert {name for name, reader in of_opened if reader in readers} == {
        "responses_long.csv",
        "assignments.csv",
        "judge_calls.jsonl",
    }
    assert tell_readers(blind, withheld) == set()
    assert {row["rater"] for row in table(blind, "responses_long.csv")} == {"E01", "E02"}
    for name in blind.namelist():
        words = blind.read(name).decode()
        assert [code for code in readers if f'"{code}"' in words or f",{code}," in words] == [], name
    assert SAID_OF_READERS in blind.read("README.md").decode()
    assert recomputed(blind, tmp_path)["differences"] == []


def test_readers_of_every_story_stay_and_the_card_says_the_same(tmp_path: Path) -> None:
    study = given.closed_study(n_groups=3)
    given.verdicts(study, {"E01": "ynynyn", "E02": "yyyynn"})
    readers = set(judge_and_measure(study))

    _package, blind = issued(study)

    assert {row["rater"] for row in table(blind, "responses_long.csv")} == {"E01", "E02"} | readers
    assert {json.loads(line)["judge"] for line in blind.read("judge_calls.jsonl").decode().splitlines()} == readers
    assert SAID_OF_READERS in blind.read("README.md").decode()
    assert recomputed(blind, tmp_path)["differences"] == []
