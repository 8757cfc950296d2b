"""Scores from elsewhere: each row's fault by name, all or none, a version once; then answers of a metric."""

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rater, Response
from annotation.responses import verification
from judges import score_import
from judges.models import ScoreCard
from studies.models import Step, Story, StoryGroup, Study
from tests import factories

pytestmark = pytest.mark.django_db

SCORES = "story,value\np1s1,1.5\np1s2,-2e-1\n"


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2, comparative=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return path


def bring(file: Path, content: str = "", **options: Any) -> str:
    """What the command says, or why it refused."""
    if content:
        file.write_text(content)
    out = StringIO()
    try:
        call_command("import_scores", "plums", file, stdout=out, **({"metric": "reward", "scored_by": "Us"} | options))
    except CommandError as error:
        return str(error)
    return out.getvalue()


def test_scores_are_answers_of_a_metric_with_a_card_and_a_history(study: Study, file: Path) -> None:
    assert bring(file, better="lower", note="seed 3") == "2 scores of reward-1 came in, about stories.\n"

    card = ScoreCard.objects.get()
    assert (card.metric, card.version, card.better, card.scored_by, card.note) == (
        "reward",
        "1",
        "lower",
        "Us",
        "seed 3",
    )
    assert (card.rater.code, card.rater.kind, card.n_scores) == ("reward-1", Rater.Kind.METRIC, 2)
    assert sorted(Response.objects.values_list("story__code", "item__key", "value")) == [
        ("p1s1", "score", 1.5),
        ("p1s2", "score", -0.2),
    ]
    assert Step.objects.get(key="scores-reward-1").kind == Step.Kind.METRIC
    assert verification.verify().faults == []


def test_a_score_of_a_story_in_several_groups_stands_in_each_unless_the_file_names_one(file: Path) -> None:
    study = factories.study(n_stories=2, comparative=False, planned=False)
    again = StoryGroup.objects.create(study=study, code="plot9")
    again.stories.set(study.stories.all())
    factories.plan(study)

    bring(file)
    bring(file, "group,story,score\nplot9,p1s1,4\nplot9,p1s2,5\n", metric="votes", allow_missing=True)

    rows = Response.objects.values_list("assignment__rater__code", "assignment__group__code").distinct()
    assert sorted(rows) == [("reward-1", "plot1"), ("reward-1", "plot9"), ("votes-1", "plot9")]


def test_a_score_for_every_group_and_another_for_one_of_them_are_two_of_the_same(file: Path) -> None:
    study = factories.study(n_stories=2, comparative=False)

    message = bring(file, "story,group,value\np1s1,,1\np1s1,plot1,2\np1s2,,3\n")

    assert message.startswith("scores.csv: row 3, story: there is a score of the same already, in scores.csv: row 2")
    assert not Response.objects.filter(assignment__study=study).exists()


def test_a_score_of_a_pair_that_is_read_in_two_groups_stands_in_both(file: Path) -> None:
    study = factories.study(n_stories=2, comparative=False, planned=False)
    StoryGroup.objects.create(study=study, code="plot9").stories.set(study.stories.all())
    factories.plan(study)

    bring(file, "first,second,value\np1s1,p1s2,3\n")

    rows = Response.objects.values_list("assignment__group__code", "value")
    assert sorted(rows) == [("plot1", 3.0), ("plot9", 3.0)]


def test_scores_of_pairs_are_kept_for_the_story_whose_code_comes_first(study: Study, file: Path) -> None:
    bring(file, "first,second,value\np1s2,p1s1,3\n")
    bring(file, "group,value\nplot1,3\n", metric="votes")

    rows = Response.objects.values_list("assignment__rater__code", "story", "assignment__group__code", "value")
    assert sorted(rows) == [("reward-1", None, "plot1", -3.0), ("votes-1", None, "plot1", 3.0)]


def test_a_group_may_be_called_as_the_file_of_its_stories_called_it(file: Path) -> None:
    study = factories.study(n_stories=2, comparative=False, planned=False)
    StoryGroup.objects.create(study=study, code="plot-1").stories.set(study.stories.all())
    factories.plan(study)

    bring(file, "group,value\nplot 1,3\n", allow_missing=True)
    bring(file, "story,group,value\np1s1,plot 1,4\np1s2,plot-1,5\n", metric="votes", allow_missing=True)

    rows = Response.objects.values_list("assignment__rater__code", "assignment__group__code", "value")
    assert sorted(rows) == [("reward-1", "plot-1", 3.0), ("votes-1", "plot-1", 4.0), ("votes-1", "plot-1", 5.0)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (",value\np1s1,1\n", "scores.csv needs a column “value”, and a column “story”"),
        ("story,value\n,1\n", "scores.csv: row 2, “story”: the row names no story; name one, or take the row out"),
        ("first,group,value\np1s1,plot1,3\nx,plot7,3\n", "row 3, “group”: “plot7” is no group of two stories"),
        ("story,value\np1s1,1\np9,2\n", "scores.csv: row 3, “story”: “p9” is no story of the study; take the row out"),
        ("story,value\np1s1,1\np1s1,2\n", "row 3, story: there is a score of the same already, in scores.csv: row 2"),
        ("story,value\np1s1,1\n", "1 has no score (p1s2); add it to the file, or say that some may be missing."),
        ("story,value\np1s1,1\np1s2,\n", "row 3, “value”: there is no score; write one, or take the row out"),
        ("story,value\np1s1,1\np1s2,good\n", "row 3, “value”: “good” is no finite number; write one with a point"),
        ("story,value\np1s1,1\np1s2,inf\n", "row 3, “value”: “inf” is no finite number"),
        ("story,value\np1s1,1\np1s2,1e400\n", "“1e400” is no finite number"),
        ("story,value\np1s1,1\np1s2,nan\n", "“nan” is no finite number"),
        ('story,value\np1s1,1\np1s2,"1,5"\n', "“1,5” is no finite number; write one with a point, such as 0.75"),
        ("first,second,value\np1s1,p1s1,1\n", "row 2, “second”: these two are no pair of the study"),
        ("group,value\nplot7,1\n", "row 2, “group”: “plot7” is no group of two stories; score its stories one by one"),
        ("story,group,value\np1s1,plot7,1\n", "row 2, “group”: group “plot7” does not hold this story"),
        ("text,mark\np1s1,1\n", "scores.csv needs a column “value”, and a column “story”"),
        ("story,value\n", "There is a header and no row below it. Add a row for each score."),
    ],
)
def test_what_is_wrong_is_named_with_its_row_and_nothing_comes_in(
    study: Study, file: Path, content: str, message: str
) -> None:
    assert message in bring(file, content)
    assert not Response.objects.exists()
    assert not Step.objects.filter(kind=Step.Kind.METRIC).exists()


def test_all_problems_are_said_at_once_the_first_twenty_in_words(study: Study, file: Path) -> None:
    rows = "".join(f"q{n},1\n" for n in range(25))

    lines = bring(file, SCORES + rows).splitlines()

    assert len(lines) == 21
    assert lines[-1] == "25 problems in all."


def test_a_version_comes_in_once_and_the_next_stands_beside_it(study: Study, file: Path) -> None:
    bring(file)

    refusal = bring(file, metric_version="1")
    second = bring(file)

    assert refusal == "reward-1 has scores in this study already; give these another version, such as 2"
    assert second == "2 scores of reward-2 came in, about stories.\n"
    assert sorted(ScoreCard.objects.values_list("version", flat=True)) == ["1", "2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "length"}, "“length” is a metric of Quire’s own"),
        ({"metric": "My metric"}, "metric: “My metric”"),
        ({"metric": "a" * 31, "metric_version": "1"}, "together they have at most 31 characters"),
        ({"scored_by": " "}, "say who computed the scores"),
    ],
)
def test_a_card_that_cannot_stand_is_refused(study: Study, file: Path, options: dict[str, str], message: str) -> None:
    assert message in bring(file, **options)
    assert not ScoreCard.objects.exists()


def test_a_file_that_is_no_ordinary_one_is_named(study: Study, tmp_path: Path) -> None:
    assert bring(tmp_path) == f"{tmp_path.name}: is no ordinary file; copy what it holds into one"


def test_a_study_that_nobody_launched_takes_no_scores(file: Path) -> None:
    factories.study(n_stories=2, state="draft", planned=False)

    assert bring(file) == "plums: no protocol is frozen yet; launch it"
    assert Story.objects.count() == 2


def test_rows_that_a_tool_marks_as_none_stay_out_of_scores_and_are_counted(study: Study) -> None:
    table = score_import.read_scores("a.csv", b"story,value,Status\np1s1,1,done\np1s1,2,Preview\np1s2,3,done\n")
    hinted = replace(table, hints={"left_out": {"Status": ["Preview"]}})

    scores = score_import.examine(study, hinted, story_column="code")

    assert [(score.story, score.value) for score in scores.scores] == [("p1s1", 1), ("p1s2", 3)]
    assert (scores.problems, scores.n_left_out) == ((), {("Status", "Preview"): 1})
