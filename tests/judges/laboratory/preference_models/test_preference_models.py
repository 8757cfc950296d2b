"""A preference model from its pairs to a judge in the report: learnt, stored, refused where it would have seen."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rater, Response
from annotation.responses import Answer, imports, submission
from judges.laboratory import embeddings, preference_models
from judges.laboratory.embeddings import Embedding
from judges.models import PreferenceModel
from reports import results
from stats.arrays import FloatArray
from studies import protocol
from studies.models import Step, Study
from tests import factories
from tests.factories import NOON
from tests.replay import replayed

pytestmark = pytest.mark.django_db
N_PAIRS = 20
OBJECTS = ("door", "lamp", "boat", "coat", "well", "road", "clock")


def pairs(slug: str = "plums", *, n: int = N_PAIRS, n_unread: int = 1) -> Study:
    """Pairs of which people prefer the story with a sea in it; of the last n_unread there are no votes."""
    study = factories.study(slug, n_groups=n, n_stories=2, k=1, comparative=False, planned=False)
    for number, story in enumerate(study.stories.order_by("pk")):
        place = "sea" if story.code.endswith("s1") else "hill"
        words = [OBJECTS[(number * step) % len(OBJECTS)] for step in range(1, 4)]
        story.text = f"A {words[0]} by the {place} and a {words[1]} near a {words[2]}, the {place} of {slug} {number}."
        story.save()
    better = factories.instrument(f"{slug}-better", n_items=1, type="pair", rationale="none", rationale_least=0)
    study.versions.get().steps.filter(key="tests").update(instrument=better, scope=Step.Scope.GROUP)
    factories.plan(study)
    for number in range(n - n_unread):
        work = factories.assignment(study, factories.rater(study, f"reader-{number}"))
        letter = "A" if work.seat.order[0].endswith("s1") else "B"
        factories.answer(work, value=letter, why="")
        submission.submit(work, at=NOON)
    return study


class LetterCounts(Embedding):
    """How often each letter stands in a text: depends on the text alone, and tells s1 from s2."""

    kind = "letters"
    takes_model = False
    number: ClassVar[str] = "1"

    @property
    def version(self) -> str:
        return self.number

    def embed(self, texts: Sequence[str]) -> FloatArray:
        return np.array([[1.0 + text.count(letter) for letter in "12345aeiou"] for text in texts])


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> type[LetterCounts]:
    kinds = {**embeddings.all_kinds(), "letters": LetterCounts}
    monkeypatch.setattr(embeddings, "all_kinds", lambda: kinds)
    return LetterCounts


@pytest.fixture
@replayed
def study() -> Study:
    return pairs()


def trained(study: Study, *, embedding: str = "tfidf-svd") -> PreferenceModel:
    model = preference_models.request(study, embedding=embedding, seed=1, at=NOON, by="ann", slug="taste")
    return preference_models.train(model, preference_models.collect_study(study), at=NOON)


def test_a_study_trains_a_model_that_judges_what_it_has_not_seen(study: Study) -> None:
    out = io.StringIO()

    call_command("train_preference", study.slug, name="taste", seed=1, embedding="tfidf-svd", stdout=out)
    call_command("answer_pairs", study.slug, model="taste", stdout=out)

    model = PreferenceModel.objects.get()
    card = model.card
    assert (card["pairs"], card["pairs_trained_on"], card["votes"], card["texts"]) == (19, 15, 19, 40)
    assert (card["held_out"]["n_pairs"], card["held_out"]["accuracy"], card["held_out"]["auc"]) == (4, 100, 1)
    assert card["embedding"] == {"name": "tfidf-svd", "version": "3", "is_fitted": True}
    assert card["trained_on"] == {"study": "plums", "question": "tests/item-1"}
    assert "Fewer than 1,000 pairs: it says little" in out.getvalue()
    assert "taste chose in 5 pairs of plums.\n15 were left out: it learnt from their texts or prompt." in out.getvalue()
    rater = Rater.objects.get(code="taste")
    answers = Response.objects.filter(assignment__rater=rater)
    assert (rater.kind, answers.count()) == (Rater.Kind.METRIC, 5)
    assert all(answer.value.endswith("s1") for answer in answers)


def test_the_report_has_it_beside_people_and_the_longer_story(study: Study) -> None:
    preference_models.answer_pairs(trained(study), study, at=NOON)

    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED)
    document = results.compute(Study.objects.get(pk=study.pk))
    row = document["pair_accuracies"][0]

    accuracies = {a["name"] or a["who"]: (a["value"], a["n_pairs"]) for a in row["accuracies"]}
    assert accuracies["taste"] == (100, 4)  # the fifth pair has no votes
    assert set(accuracies) == {"person", "longer", "taste"}
    (beside,) = document["judges_on_pairs"]
    assert (beside["judge"], beside["n_pairs"]) == ("taste", 5)
    outcomes = {name: beside["outcomes"][name] for name in ("answered", "missing", "expected")}
    assert outcomes == {"answered": 5, "missing": 15, "expected": 20}
    assert document["judges"]["not_analysed"] == []


def test_votes_count_by_their_share_and_even_pairs_are_left_out() -> None:
    study = pairs(n=3, n_unread=3)
    votes = {"plot1": "121", "plot2": "12", "plot3": "22"}
    rows = [
        imports.Row("test", f"E{n}", group, "", "tests", "item-1", Answer(value=f"p{group[-1]}s{letter}"))
        for group, letters in votes.items()
        for n, letter in enumerate(letters)
    ]
    imports.import_rows(study, rows, version=protocol.current(study), at=NOON)

    material = preference_models.collect_study(study)

    text_by_code = dict(study.stories.values_list("code", "text"))
    assert [(material.texts[pair.chosen], pair.share, pair.premise) for pair in material.pairs] == [
        (text_by_code["p1s1"], 2 / 3, "premise 1"),
        (text_by_code["p3s2"], 1, "premise 3"),
    ]
    assert material.n_votes == 5


def test_a_model_is_the_same_for_a_seed_and_known_by_its_hash(study: Study) -> None:
    model = trained(study)
    sha256, content = model.sha256, bytes(model.content)
    model.delete()

    again = trained(study)

    assert (again.sha256, bytes(again.content)) == (sha256, content)
    again.card["held_out"]["accuracy"] = 99
    again.save()
    with pytest.raises(
        preference_models.CannotAnswer, match=r"^The model “taste” is not what it was .* Train it again\.$"
    ):
        preference_models.answer_pairs(again, study, at=NOON)


def test_other_texts_need_an_embedding_that_depends_on_the_text_alone(
    study: Study, letters: type[LetterCounts], monkeypatch: pytest.MonkeyPatch
) -> None:
    pears = pairs("pears")
    fitted = trained(study)

    with pytest.raises(
        preference_models.CannotAnswer,
        match=r"^The model “taste” is based .* is fitted to the texts .* and 10 texts of this study",
    ):
        preference_models.answer_pairs(fitted, pears, at=NOON)
    fitted.delete()
    model = trained(study, embedding="letters")
    with pytest.raises(preference_models.CannotAnswer, match="10 texts must be embedded first"):
        preference_models.answer_pairs(model, pears, at=NOON, embeds=False)
    monkeypatch.setattr(letters, "number", "2")
    with pytest.raises(
        preference_models.CannotAnswer, match=r"^The embedding letters has changed since the model “taste” was trained"
    ):
        preference_models.answer_pairs(model, pears, at=NOON)
    monkeypatch.setattr(letters, "number", "1")
    assert not Rater.objects.filter(study=pears, code="taste").exists()
    answers = preference_models.answer_pairs(model, pears, at=NOON)

    # Premises are the same in both studies: those of training pairs are left out here, too.
    assert (answers.n_answered, answers.n_seen) == (5, 15)


def test_it_judges_a_study_once(study: Study) -> None:
    model = trained(study)
    preference_models.answer_pairs(model, study, at=NOON)

    with pytest.raises(preference_models.CannotAnswer, match=r"taste has had group plot.* in this study already"):
        preference_models.answer_pairs(model, study, at=NOON)


def test_a_folder_of_pairs_is_learnt_from_and_its_study_judged(tmp_path: Path) -> None:
    folder = built(tmp_path)
    out = io.StringIO()

    call_command("train_preference", pairs=folder, name="votes", stdout=out)
    call_command("load_study", folder, stdout=out)
    factories.plan(Study.objects.get(slug="doors"))
    call_command("answer_pairs", "doors", model="votes", stdout=out)

    card = PreferenceModel.objects.get().card
    counts = json.loads((folder / "card.json").read_text())["parts"]
    assert (card["pairs_trained_on"], card["held_out"]["n_pairs"]) == tuple(
        counts[part]["pairs"] for part in ("training", "test")
    )
    assert card["held_out"]["accuracy"] == 100
    assert card["trained_on"]["folder"] == "doors"
    assert Response.objects.filter(assignment__rater__code="votes").count() == counts["test"]["pairs"]


def built(tmp_path: Path, *, capitals: bool = False) -> Path:
    """A folder of pairs on doors, of which those by the sea have more votes.

    capitals : whether the test part has prompts of the training part, in capitals
    """
    rng = np.random.default_rng(2)
    with (tmp_path / "votes.jsonl").open("w") as file:
        for number in range(240):
            is_by_sea = bool(rng.integers(0, 2))
            words = [*rng.choice(OBJECTS, 60), *(["sea" if is_by_sea else "hill"] * 5)]
            story = {
                "prompt": f"DOOR {number % 24 - 16}" if capitals and number % 24 >= 16 else f"Door {number % 24}",
                "text": " ".join(rng.permutation(words)) + f" {number}",
                "upvotes": 60 if is_by_sea else 20,
                "date": f"{2022 if number % 24 < 16 else 2023}-01-{int(rng.integers(1, 28)):02}",
            }
            file.write(json.dumps(story) + "\n")
    call_command(
        "build_pairs", tmp_path / "votes.jsonl", to=tmp_path / "doors", test_from="2023-01-01", stdout=io.StringIO()
    )
    return tmp_path / "doors"


TEXT = {"story": "row1", "prompt": "Door 0", "text": "A lamp by the sea."}


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("texts.jsonl", "{oops", "it is not JSON"),
        ("texts.jsonl", '["story", "prompt", "text"]', "it is no object"),
        ("texts.jsonl", json.dumps(TEXT | {"story": "new", "text": 5}), "text must be text, not a whole number"),
        ("texts.jsonl", '{"story": "new", "prompt": "Door 0"}', "text is missing"),
        ("texts.jsonl", json.dumps(TEXT), "“row1” stands in row 1 already"),
        ("pairs.csv", "p,training,row1,nobody", "story “nobody” is not in texts.jsonl"),
        ("pairs.csv", "p,trainng,row1,row25", "part is “trainng”, and none of training, test"),
        ("pairs.csv", "p,training,row1,row1", "they are not two stories on one prompt"),
        ("pairs.csv", "p,test,row1,row25", "its prompt stands in the other part, too"),
    ],
)
def test_a_row_of_a_folder_that_is_wrong_is_named_with_the_way_out(
    tmp_path: Path, file: str, line: str, message: str
) -> None:
    texts = [TEXT, TEXT | {"story": "row25", "text": "A boat by the hill."}]
    (tmp_path / "texts.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in texts))
    (tmp_path / "pairs.csv").write_text("pair,part,chosen,rejected\np,training,row1,row25\n")
    with (tmp_path / file).open("a") as rows:
        rows.write(f"{line}\n")

    with pytest.raises(CommandError) as error:
        call_command("train_preference", pairs=tmp_path)

    assert str(error.value) == f"{file}: row 3 is not as build_pairs writes it: {message}; build the pairs again"
    assert not PreferenceModel.objects.exists()


def test_prompts_that_differ_in_capitals_are_on_one_side(tmp_path: Path) -> None:
    folder = built(tmp_path, capitals=True)

    call_command("train_preference", pairs=folder, stdout=io.StringIO())

    assert PreferenceModel.objects.get().card["held_out"]["accuracy"] == 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "My model"}, "name: “My model” will not do; use small letters"),
        ({"name": "a" * 81}, "name: has 81 characters; at most 80 are allowed"),
        ({"seed": -1}, "-1 is not a seed; enter a whole number from 0 to 2147483647"),
    ],
)
def test_a_name_or_seed_that_cannot_be_kept_is_refused(options: dict[str, Any], message: str) -> None:
    pairs(n=6)

    with pytest.raises(CommandError, match=message):
        call_command("train_preference", "plums", **options)


def test_a_training_that_breaks_off_leaves_no_row(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_off(*_arguments: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(preference_models, "train", break_off)

    with pytest.raises(KeyboardInterrupt):
        call_command("train_preference", study.slug)
    assert not PreferenceModel.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pairs", "nowhere"], "name a folder that build_pairs has made"),
        (["plums", "--embedding", "word2vec"], "“word2vec” is not an embedding; there are"),
        (["plums"], "People have preferred no story in the pairs of “plums” yet, so nothing can be learned"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused_with_the_way_out(arguments: list[str], message: str) -> None:
    pairs(n=6, n_unread=6 if arguments == ["plums"] else 0)
    with pytest.raises(CommandError) as error:
        call_command("train_preference", *arguments)

    assert message in str(error.value)
    assert not PreferenceModel.objects.exists()


def test_too_few_pairs_are_refused_and_a_queued_row_says_why() -> None:
    study = pairs(n=4)
    model = preference_models.request(study, embedding="tfidf-svd", seed=0, at=NOON, by="ann")

    preference_models.train_row(model, at=NOON)

    model.refresh_from_db()
    assert model.state == "failed"
    assert model.reason == (
        "3 pairs are not enough: There are fewer than 6 prompts, too few to learn from some and try others. "
        "Add more pairs, on more prompts."
    )
