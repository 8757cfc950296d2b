"""LitBench's test set on generated files of its form: every value by hand, and every bad row."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from annotation.models import Rater, Response
from reports import replications
from reports.replications.readers.litbench_judges import read_preference
from studies.models import Provenance, Source, Story, StoryGroup, Study
from tests.reports import litbench_by_hand
from tests.reports.litbench_generated import FILE, HEADER, USER, write_pairs, write_rewards, write_rows, write_verdicts

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

Rows = list[dict[str, str]]
JUDGE, REWARD = "claude-3-7-sonnet", "bt-llama-8b"


def replicate(folder: Path, **options: Any) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of the command."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("replicate", "litbench", data=folder, stdout=out, stderr=err, **options)
    except CommandError as error:
        return error.returncode, out.getvalue(), err.getvalue() + str(error)
    return 0, out.getvalue(), err.getvalue()


def document(folder: Path) -> dict[str, Any]:
    return dict(json.loads(replicate(folder, json=True)[1]))


def values(of: dict[str, Any], key: str) -> dict[str, float]:
    return {"/".join(f["at"]): f["value"] for f in of["figures"] if f["key"] == key and f["value"] is not None}


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    """The rows of a file in the test's folder, which two judges have answered to."""
    rows = write_pairs(tmp_path / FILE)
    (tmp_path / "judges").mkdir()
    write_verdicts(tmp_path / "judges" / f"{JUDGE}.jsonl", rows)
    write_rewards(tmp_path / "judges" / f"{REWARD}.jsonl", rows)
    return rows


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_value_is_what_the_script_by_hand_computes(tmp_path: Path, seed: int) -> None:
    rows = write_pairs(tmp_path / FILE, seed=seed)
    paths = [tmp_path / "judges" / f"{name}.jsonl" for name in (JUDGE, REWARD)]
    paths[0].parent.mkdir()
    write_verdicts(paths[0], rows, seed=seed)
    write_rewards(paths[1], rows, seed=seed)

    of_command = document(tmp_path)

    by_hand = litbench_by_hand.computed(tmp_path / FILE, paths)
    accuracies = by_hand.pop("accuracy")
    assert len(by_hand) == 13
    for key, figures in by_hand.items():
        assert values(of_command, key) == pytest.approx(figures, abs=1e-9), key
    assert values(of_command, "judge_pair_accuracy") == pytest.approx({JUDGE: accuracies[JUDGE]})
    assert values(of_command, "judge_trained_accuracy") == pytest.approx({REWARD: accuracies[REWARD]})
    assert min(by_hand["judge_answers_lost"].values()) > 0
    assert 0 < by_hand["judge_flip_rate"][JUDGE] < 1


def test_only_intervals_are_not_computed_by_hand(tmp_path: Path, rows: Rows) -> None:
    keys = {figure["key"] for figure in document(tmp_path)["figures"]}

    by_hand = litbench_by_hand.computed(tmp_path / FILE, sorted((tmp_path / "judges").iterdir()))
    assert keys - set(by_hand) == {"judge_pair_interval", "judge_pair_accuracy", "judge_trained_accuracy"}


def test_intervals_of_accuracies_are_over_prompts(tmp_path: Path, rows: Rows) -> None:
    of_command = document(tmp_path)

    ends = values(of_command, "judge_pair_interval")
    accuracies = values(of_command, "judge_pair_accuracy") | values(of_command, "judge_trained_accuracy")
    for name, accuracy in accuracies.items():
        assert ends[f"{name}/low"] < accuracy < ends[f"{name}/high"]


def test_it_says_first_that_it_was_not_run_on_the_release(tmp_path: Path, rows: Rows) -> None:
    status, output, _complaints = replicate(tmp_path)

    assert status == 1, "generated pairs are not as many as the paper's"
    assert output.startswith("Its makers have not yet run it on the release")


def test_votes_are_a_metric_judges_are_raters_and_no_person_is_named(tmp_path: Path, rows: Rows) -> None:
    replicate(tmp_path)

    study = Study.objects.get()
    assert (study.slug, study.state) == ("litbench-release", Study.State.CLOSED)
    assert sorted(Rater.objects.values_list("code", "kind")) == [
        (REWARD, "metric"),
        (JUDGE, "model"),
        (f"{JUDGE}-swapped", "model"),
        ("upvotes", "metric"),
    ]
    assert list(Source.objects.values_list("name", "kind")) == [("Writers of r/WritingPrompts", "amateur_writer")]
    assert {group.stories.count() for group in StoryGroup.objects.all()} == {2}
    assert StoryGroup.objects.count() == len(rows)
    assert set(StoryGroup.objects.values_list("premise", flat=True)) == {row["prompt"] for row in rows}
    assert Story.objects.filter(is_withheld=True).count() == 2
    chosen = {row["chosen_comment_id"] for row in rows}
    of_votes = Response.objects.filter(assignment__rater__code="upvotes").values_list("value", flat=True)
    release_id = {p.story.code: p.factors["release_id"] for p in Provenance.objects.select_related("story")}
    assert {release_id[code] for code in of_votes} == chosen
    assert USER not in json.dumps(list(Provenance.objects.values("title", "url", "factors")))


def test_a_judge_comes_in_later_under_another_key(tmp_path: Path, rows: Rows) -> None:
    judges = tmp_path / "judges"
    first = document(tmp_path)
    write_verdicts(judges / "o4-mini.jsonl", rows)

    with override_settings(SECRET_KEY="another " * 8):
        second = document(tmp_path)

    assert Study.objects.count() == 1
    assert values(second, "judge_pair_accuracy")["o4-mini"] == values(first, "judge_pair_accuracy")[JUDGE]
    assert values(second, "judge_first_rate")["o4-mini"] == values(first, "judge_first_rate")[JUDGE]


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Reasoning: B drags.\nPreferred: A", "a1"),
        ("**Preferred:** [B]", "b2"),
        ("2. Preferred: B (the one you predict)", "b2"),
        ("Preferred: A? No.\nPreferred: B", "b2"),
        ("A", "a1"),
        ("Preferred: Both", None),
        ("I cannot choose.", None),
        ("", None),
    ],
)
def test_a_reply_is_read_by_what_it_prefers_and_is_never_guessed(reply: str, value: str | None) -> None:
    answer = read_preference(reply, ["a1", "b2"])

    assert (answer.value, answer.outcome) == (value, "" if value else "unreadable")


# ── what cannot be read ────────────────────────────────────────────────────────────────────────────────────────────


def change(row: int, column: str, value: str) -> Callable[[Path, Rows], None]:
    """Give a row of the file another value in that column."""

    def write(folder: Path, rows: Rows) -> None:
        rows[row - 2][column] = value
        write_rows(folder / FILE, rows)

    return write


def without(*columns: str) -> Callable[[Path, Rows], None]:
    def write(folder: Path, rows: Rows) -> None:
        write_rows(folder / FILE, rows, header=[name for name in HEADER if name not in columns])

    return write


def lines(*lines: str) -> Callable[[Path, Rows], None]:
    """Give the judge these lines; {a} and {b} are the ids of the first pair, {c} one of another."""

    def write(folder: Path, rows: Rows) -> None:
        a, b = rows[0]["chosen_comment_id"], rows[0]["rejected_comment_id"]
        c = next(row["chosen_comment_id"] for row in rows if row["prompt"] != rows[0]["prompt"])
        text = "\n".join(lines).replace("{a}", a).replace("{b}", b).replace("{c}", c)
        (folder / "judges" / f"{JUDGE}.jsonl").write_text(text)

    return write


def no_texts(folder: Path, rows: Rows) -> None:
    write_rows(folder / FILE, [row | {"chosen_story": "", "rejected_story": "[removed]"} for row in rows])


def another_text(folder: Path, rows: Rows) -> None:
    name = rows[0]["chosen_comment_id"]
    row = next(row for row in rows[1:] if row["chosen_comment_id"] == name)
    row["chosen_story"] = "Another text of the same comment."
    write_rows(folder / FILE, rows)


def twice(folder: Path, rows: Rows) -> None:
    write_rows(folder / FILE, [*rows, rows[0]])


def other_name(folder: Path, rows: Rows) -> None:
    (folder / "judges" / "upvotes.jsonl").write_text("")


FETCH = "fetch the stories by their ids with scripts/rehydrate.py of github.com/drfein/LitBench"
VERDICT = '{"first": "{a}", "second": "{b}", "response": "A"}'
BAD: dict[str, tuple[Callable[[Path, Rows], None], str]] = {
    "no file": (lambda folder, _rows: (folder / FILE).unlink(), f"{FILE}: file: cannot be read"),
    "no rows": (lambda folder, _rows: write_rows(folder / FILE, []), "holds no rows below its header"),
    "ids alone": (
        without(*(name for name in HEADER if not name.endswith("comment_id"))),
        f"row 1, prompt: this column is missing; the file holds ids alone; {FETCH}",
    ),
    "no stories": (without("chosen_story", "rejected_story"), f"the file holds ids alone; {FETCH}"),
    "stories never fetched": (no_texts, f"no story has a text: the file holds ids alone; {FETCH}"),
    "no ids": (without("rejected_comment_id"), "row 1, rejected_comment_id: this column is missing; add it"),
    "an id that is empty": (change(3, "chosen_comment_id", ""), "row 3, chosen_comment_id: is empty"),
    "an id that is none": (change(3, "rejected_comment_id", "a b"), "“a b” is no id of a comment, such as k3xq9zt"),
    "votes in words": (change(3, "chosen_comment_score", "many"), "“many” is no whole number; write digits alone"),
    "a date in words": (change(3, "chosen_timestamp", "June"), "row 3, chosen_timestamp: “June” is no date"),
    "another text of a comment": (another_text, "is not what row 2 says of"),
    "a pair twice": (twice, "row 2 has the same two stories; leave one of them out"),
    "a judge called as the votes": (other_name, "no judge can be called “upvotes”; name the file otherwise"),
    "a line of no kind": (lines('{"verdict": "A"}'), "line 1: must be an object with first, response, second, or with"),
    "no JSON": (lines(VERDICT, "A"), f"{JUDGE}.jsonl: line 2"),
    "a reward among verdicts": (lines(VERDICT, '{"comment_id": "{a}", "reward": 1}'), "line 2: is a verdict among"),
    "an unknown story": (lines('{"first": "zz", "second": "{b}", "response": "A"}'), "“zz” is no comment of the file"),
    "two stories of no pair": (lines('{"first": "{a}", "second": "{c}", "response": "A"}'), "makes no pair with"),
    "an order twice": (lines(VERDICT, VERDICT), "line 1 has this pair in this order already; keep one of them"),
    "a reply that is a number": (lines(VERDICT.replace('"A"', "1")), "line 1, response: must be text, not “1”"),
    "a reward that is none": (lines('{"comment_id": "{a}", "reward": "high"}'), "must be a number, not “high”"),
}


@pytest.mark.parametrize(("spoil", "sentence"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_refused_with_its_place_and_brings_in_nothing(
    tmp_path: Path, rows: Rows, spoil: Callable[[Path, Rows], None], sentence: str
) -> None:
    spoil(tmp_path, rows)

    status, _output, complaints = replicate(tmp_path)

    assert (status, Study.objects.exists()) == (2, False)
    assert sentence in complaints


# ── what the paper prints ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.data
def test_the_data_file_prints_what_the_paper_prints(release: Path) -> None:
    source = release.parent / "sources" / "litbench.txt"
    if not source.exists():
        pytest.skip("the text of the paper is not beside the releases")
    text = source.read_text(encoding="utf-8")
    table = text.partition("Model\tAccuracy\tAvg. Expl. Len.")[2].partition("Table 3:")[0]
    figures = {entry["key"]: entry for entry in replications.load_spec("litbench")["figures"]}

    cells = [line.replace("<b>", "").replace("</b>", "").split("\t") for line in table.strip().splitlines()]
    assert figures["judge_pair_accuracy"]["published"] == {name: float(accuracy) for name, accuracy, _length in cells}
    assert len(cells) == 10
    for printed in ("2,480 pairwise comparisons composed of 3,543", "length of 550 words", "65.25% of chosen", "61.2%"):
        assert printed in text.replace("**", "")
