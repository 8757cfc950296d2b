"""A judge into which one bias was planted shows that bias, as large as it was planted, and none of the others.

The numbers are worked out by hand beside each test: nothing here computes them as the figures do.
"""

from typing import Any

import pytest

from annotation.models import Rater
from annotation.responses import Answer
from reports.dataset import Dataset
from reports.figures.judges.biases import JudgeBiases
from reports.figures.judges.on_pairs import JudgesOnPairs
from studies.models import Provenance, Study
from tests import factories, triggers
from tests.replay import replayed
from tests.reports import given, planted
from tests.reports.judge_readings import read, start_run

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# Of every story its worth, 1 or 2, on which all people agree, and how often its 64 words are doubled, 0 to 3. At
# either worth, and in the first place and the second, every length is there equally often.
WORTH = {f"p{g:02}s{n}": 1 + (g - 1) // 4 % 2 for g in range(1, 13) for n in (1, 2)}
DOUBLINGS = {f"p{g:02}s{n}": (g + 2 * n - 3) % 4 for g in range(1, 13) for n in (1, 2)}


@pytest.fixture
@replayed
def study() -> Study:
    """Twelve pairs; a model wrote every second story, another every fourth, people the rest."""
    study = planted.empty_study()
    with triggers.lifted():
        for story in study.stories.all():
            story.text = "word " * (64 * 2 ** DOUBLINGS[story.code])
            story.save()
    for rater in planted.EXPERTS:
        answer(study, rater, scale=WORTH, verdict={story: is_good(story) for story in WORTH}, better="s2")
    return study


def is_good(story: str) -> bool:
    """So say the people: of eight stories in twenty-four."""
    return WORTH[story] == 2


def answer(
    study: Study,
    who: str,
    *,
    scale: dict[str, int],
    verdict: dict[str, bool],
    words: dict[str, int] | None = None,
    better: str = "",
) -> None:
    """Bring in ratings and verdicts. words : of the explanations of the verdicts; better : which story of each pair"""
    kind = Rater.Kind.PERSON if who in planted.EXPERTS else Rater.Kind.MODEL
    rows = []
    for story in WORTH:
        value = "yes" if verdict[story] else "no"
        why = "word " * words[story] if words else ""
        for step, said in (("scales", Answer(value=scale[story])), ("tests", Answer(value=value, rationale=why))):
            rows.append(given.Row("test", who, f"plot{story[1:3]}", story, step, "item-1", said, kind))
    for g in range(1, 13) if better else ():
        choice = Answer(value=f"p{g:02}{better}")
        rows.append(given.Row("test", who, f"plot{g:02}", "", "better", "item-1", choice, kind))
    given.bring(study, rows)


def values(study: Study) -> dict[tuple[str, str], float | None]:
    """Every number of the audit."""
    return {(row.bias, row.kind): row.value for row in JudgeBiases().compute(Dataset.of(study)).rows}


def near(**numbers: float) -> dict[tuple[str, str], Any]:
    """By "bias__kind"."""
    return {tuple(name.split("__")): pytest.approx(number, abs=1e-9) for name, number in numbers.items()}


# Of the eight stories that people call good, and the sixteen that they do not.
FAIR = {"verbosity__verdicts": 0.0, "verbosity__scales": 0.0, "modal_share__verdicts": 200 / 3}
FAIR["modal_share__scales"] = 200 / 3


def test_a_judge_without_a_bias_shows_none(study: Study) -> None:
    answer(study, "fair", scale=WORTH, verdict={story: is_good(story) for story in WORTH})

    assert values(study) == near(**FAIR)
    people = {(row.bias, row.kind): row.people for row in JudgeBiases().compute(Dataset.of(study)).rows}
    assert people == near(**FAIR)


def test_length(study: Study) -> None:
    # A point more with each doubling; yes to the two longer lengths of four. The line through 0, 0, 1, 1 at 0, 1, 2, 3
    # rises by (.75 + .25 + .25 + .75) / (2.25 + .25 + .25 + 2.25) = .4. Of the ratings 2, which stands for 1 + 1 (four
    # times) and 2 + 0 (twice), is one of the three commonest; 3 and 4 are as frequent: 6 of 24.
    answer(
        study,
        "long",
        scale={story: WORTH[story] + DOUBLINGS[story] for story in WORTH},
        verdict={story: DOUBLINGS[story] >= 2 for story in WORTH},
    )

    assert values(study) == near(
        verbosity__scales=1.0, verbosity__verdicts=0.4, modal_share__scales=25.0, modal_share__verdicts=50.0
    )


def test_its_own_family(study: Study) -> None:
    # Every second story is Model two's, six of the first ones are Model one's; at either worth there are some of both.
    # A point more for Model two; yes to all of Model two's, and of the others to what people call good.
    with triggers.lifted():
        for name, family in (("Model one", "beta"), ("Model two", "alpha")):
            Provenance.objects.filter(source__name=name).update(factors={"family": family})
    own = {story: int(story.endswith("s2")) for story in WORTH}
    answer(
        study,
        "alpha-9",
        scale={story: WORTH[story] + own[story] for story in WORTH},
        verdict={story: is_good(story) or bool(own[story]) for story in WORTH},
    )

    audit = values(study)

    assert audit["own_family", "scales"] == pytest.approx(1.0)
    assert audit["verbosity", "scales"] == pytest.approx(0.0)
    assert audit["own_family_yes", "verdicts"] == pytest.approx(0.0)
    assert audit["own_family_no", "verdicts"] == pytest.approx(1.0)


def test_a_habit(study: Study) -> None:
    # It rates all of them 3, and says yes to all but three of the twenty-four.
    rare = {"p01s1", "p01s2", "p02s1"}
    answer(study, "habit", scale=dict.fromkeys(WORTH, 3), verdict={story: story not in rare for story in WORTH})

    audit = values(study)
    assert audit["modal_share", "scales"] == 100.0
    assert audit["modal_share", "verdicts"] == pytest.approx(87.5)
    assert audit["verbosity", "scales"] == pytest.approx(0.0)


def test_explanations(study: Study) -> None:
    # Right in every odd pair, in thirty words, and wrong in every other, in twelve: 30 - 12.
    right = {story for story in WORTH if int(story[1:3]) % 2}
    answer(
        study,
        "wordy",
        scale=WORTH,
        verdict={story: is_good(story) == (story in right) for story in WORTH},
        words={story: 30 if story in right else 12 for story in WORTH},
    )

    assert values(study)["explanations", "verdicts"] == pytest.approx(18.0)


def test_repeats(study: Study) -> None:
    # Read twice: 2 and 4 in six pairs, whose variance is (1 + 1) / 1 = 2, and 3 and 3 in the other six. The mean is 1.
    run = start_run(study, "wavering")
    for g in range(1, 13):
        for repeat in (1, 2):
            rating = 3 if g % 2 else 2 * repeat
            told = {("scales", "item-1", f"p{g:02}s{n}"): rating for n in (1, 2)}
            read(run, f"plot{g:02}", told, repeat=repeat)

    assert values(study)["repeats", "scales"] == pytest.approx(1.0)


def test_first_place(study: Study) -> None:
    # People prefer the second story. In nine pairs it takes what stands first, in either order; in three it is right.
    judge = factories.rater(study, "first", kind=Rater.Kind.MODEL)
    for g in range(1, 13):
        two = (f"p{g:02}s1", f"p{g:02}s2")
        for order in (two, two[::-1]):
            planted.read_pair(study, judge, f"plot{g:02}", order, order[0] if g <= 9 else two[1])

    (row,) = JudgesOnPairs().compute(Dataset.of(study)).rows

    # First: both readings of nine pairs and one of three, of 24; right: one of nine and both of three.
    assert {score.statistic: part.value for score in row.scores for part in score.parts if part.part == "all"} == {
        "first_rate": pytest.approx(100 * 21 / 24),
        "flip_rate": pytest.approx(100 * 9 / 12),
        "accuracy": pytest.approx(100 * 15 / 24),
    }
