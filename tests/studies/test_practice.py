"""A practice in a study file: what belongs to it, and what is refused."""

from pathlib import Path

import pytest

from studies import loader, protocol
from studies.documents.errors import DocumentError
from studies.models import Step, Study

STUDY = """
slug = "ferry"
title = "Ferry"

[[steps]]
key = "consent"
kind = "consent"
text = "You can stop at any time."

[[steps]]
key = "practice"
kind = "practice"
instrument = "pds"
story = "The ferry stopped running."

[steps.samples.empathy]
value = 4
why = "One comes to it by oneself."

[[steps]]
key = "depth"
kind = "rating"
instrument = "pds"
scope = "story"
"""
SAMPLE = '[steps.samples.empathy]\nvalue = 4\nwhy = "One comes to it by oneself."\n'
RATING = STUDY[STUDY.index('[[steps]]\nkey = "depth"') :]


def folder(tmp_path: Path, study: str) -> Path:
    (tmp_path / "study.toml").write_text(study)
    (tmp_path / "stories.csv").write_text(
        "story,group,text,source,source_kind\ns1,g1,Once.,Ann,expert_writer\ns2,g1,Twice.,Bob,language_model\n"
    )
    return tmp_path


@pytest.mark.django_db
def test_a_practice_asks_the_items_that_have_a_sample_answer(tmp_path: Path) -> None:
    (tmp_path / "ferry.txt").write_text("The ferry stopped.\r\n")
    from_file = STUDY.replace('story = "The ferry stopped running."', 'story_file = "ferry.txt"')

    study = loader.load_study(folder(tmp_path, from_file))

    practice, depth = protocol.load_protocol(study.versions.get()).steps[1:]
    assert (practice.kind, practice.scope, practice.story) == ("practice", Step.Scope.ONCE, "The ferry stopped.")
    assert [item.key for item in protocol.items_of(practice)] == ["empathy"]
    assert len(protocol.items_of(depth)) == 7


@pytest.mark.django_db
def test_its_story_and_samples_are_part_of_what_is_frozen(tmp_path: Path) -> None:
    study = loader.load_study(folder(tmp_path, STUDY))
    before = protocol.write_document(protocol.load_protocol(study.versions.get()))

    assert '"story":"The ferry stopped running."' in before
    Step.objects.filter(key="practice").update(samples={"empathy": {"value": 3, "why": "So."}})

    assert protocol.write_document(protocol.load_protocol(study.versions.get())) != before


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("samples", "said"),
    [
        ({}, "“Psychological Depth Scale” has no sample answers, so it asks nothing"),
        ([], "“Psychological Depth Scale” has no sample answers, so it asks nothing"),
        (4, "“Psychological Depth Scale” has no sample answers, so it asks nothing"),
        (
            {"empathy": 4},
            "“Psychological Depth Scale”, the sample answer to “empathy”: must have value and why, and nothing else",
        ),
    ],
)
def test_what_was_edited_into_nonsense_is_not_planned(tmp_path: Path, samples: object, said: str) -> None:
    study = loader.load_study(folder(tmp_path, STUDY))
    Step.objects.filter(key="practice").update(samples=samples, story="")

    found = protocol.collect_findings(study, protocol.load_protocol(study.versions.get()))

    errors = protocol.select_errors(found, protocol.Purpose.PLAN)
    assert list(map(str, errors)) == ["“Psychological Depth Scale” has no story to practise on", said]


BAD = {
    "no story": (
        STUDY.replace('story = "The ferry stopped running."', ""),
        "study.toml: step 2, story: is missing or empty",
    ),
    "a story of two origins": (
        STUDY.replace("story =", 'story_file = "ferry.txt"\nstory ='),
        "study.toml: step 2, story_file: story is given as well; keep one of the two",
    ),
    "no sample answers": (STUDY.replace(SAMPLE, ""), "study.toml: step 2, samples: is missing or empty"),
    "a sample without reasons": (
        STUDY.replace('why = "One comes to it by oneself."', ""),
        "study.toml: step 2, samples: “empathy” must be a table with value and why, and nothing else",
    ),
    "a sample to what is not asked": (
        STUDY.replace("samples.empathy", "samples.sympathy"),
        "study.toml: steps: “Psychological Depth Scale” has a sample answer to “sympathy”, which pds 3 does not ask",
    ),
    "a sample out of range": (
        STUDY.replace("value = 4", "value = 6"),
        "study.toml: steps: “Psychological Depth Scale”, the sample answer to “empathy”: "
        "Please choose a whole number from 1 to 5.",
    ),
    "a comparison": (
        STUDY.replace('instrument = "pds"', 'instrument = "preference-ranking"', 1).replace(
            "samples.empathy", "samples.preference"
        ),
        "study.toml: steps: “Which do you value most?” practises “preference”, which compares stories, "
        "but a practice has only one",
    ),
    "a scope": (
        STUDY.replace('kind = "practice"', 'kind = "practice"\nscope = "once"'),
        "study.toml: step 2, scope: belongs to a step of kind rating, not practice",
    ),
    "a story in a rating": (
        STUDY + 'story = "Once."\n',
        "study.toml: step 3, story: belongs to a step of kind practice, not rating",
    ),
    "after the first group": (
        STUDY.replace(RATING, "").replace('[[steps]]\nkey = "practice"', RATING + '\n[[steps]]\nkey = "practice"'),
        "study.toml: steps: “Psychological Depth Scale” is a practice, which belongs before the first group",
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize(("study", "said"), BAD.values(), ids=BAD)
def test_a_bad_practice_is_refused_whole(tmp_path: Path, study: str, said: str) -> None:
    (tmp_path / "ferry.txt").write_text("The ferry stopped.")
    with pytest.raises(DocumentError) as caught:
        loader.load_study(folder(tmp_path, study))

    assert str(caught.value) == said
    assert not Study.objects.exists()
