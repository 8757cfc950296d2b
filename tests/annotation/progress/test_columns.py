"""What is begun, opened and consented to stands in columns: they say what the rows say, whatever was done."""

import random
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotation import simulation
from annotation.models import Assignment, Rater
from annotation.participation import claims, consents, withdrawal
from annotation.responses import imports, submission
from studies import protocol
from studies.models import Step, Study
from tests import factories
from tests.annotation import walk
from tests.annotation.responses.test_imports import row
from tests.annotation.test_simulation import even
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def differences() -> list[tuple[object, ...]]:
    """Each rater or assignment whose columns are not what follows from the rows, with both."""
    different: list[tuple[object, ...]] = []
    for rater in Rater.objects.all():
        texts = sorted(rater.consents.values_list("text_sha256", flat=True))
        if rater.consented_to != texts:
            different.append((rater, rater.consented_to, texts))
    for mine in Assignment.objects.all():
        on_desk = mine.responses.filter(step__scope=Step.Scope.STORY)
        begun = set(on_desk.values_list("story", flat=True))
        opened = mine.timings.filter(step__locks=True).values_list("step__position", flat=True)
        columns, rows = (set(mine.begun), mine.locked_before), (begun, max(opened, default=0))
        if columns != rows or len(mine.begun) != len(begun):
            different.append((mine, columns, rows))
    return different


def locking(**more: bool) -> Study:
    made = factories.study(n_groups=2, n_stories=2, planned=False, **more)
    Step.objects.filter(key="ranking").update(locks=True)
    factories.plan(made)
    return made


@pytest.mark.parametrize("seed", range(6))
def test_after_any_walk_the_columns_say_what_the_rows_say(client: Client, seed: int) -> None:
    rng = random.Random(seed)
    study = locking(recognition=bool(seed % 2))
    rater = walk.come_in(client, study)
    acts = _acts(client, rater, rng)

    seen: set[tuple[int, int]] = set()
    for _ in range(80):
        rng.choice(acts)()
        assert differences() == []
        seen |= {(len(mine.begun), mine.locked_before) for mine in rater.assignments.all()}

    assert len(seen) > 1, "the walk came to no answer"
    withdrawal.withdraw(rater, at=NOON)
    assert differences() == []


def _acts(client: Client, rater: Rater, rng: random.Random) -> list[Callable[[], object]]:
    """What a rater may try at any moment, most of it saving; the pages refuse what is too early or too late."""

    def mine() -> Assignment | None:
        return rater.assignments.exclude(seat=None).order_by("-pk").first()

    def save() -> None:
        if at_work := mine():
            letter, item = rng.choice("AB"), rng.choice([1, 2])
            base = 0
            for response in at_work.responses.filter(story__code=at_work.seat.order["AB".index(letter)]):
                base = response.revision if response.item.key == f"item-{item}" else base
            walk.give(client, at_work, rng.choice(["yes", "no", ""]), letter=letter, item=item, base=base)

    def look(name: str, **form: str) -> None:
        if at_work := mine():
            steps = ["ranking"] if name == "annotation:part" else []
            client.post(reverse(name, args=[at_work.code, *steps]), form)

    def recognise() -> None:
        look("annotation:recognition", knows=rng.choice(["no", "no", "no", "yes"]))

    return [
        *[save] * 12,
        *[lambda: look("annotation:part")] * 3,
        *[lambda: client.post(reverse("annotation:consent"), {"agrees": "yes"})] * 3,
        *[lambda: client.post(reverse("annotation:begin"))] * 3,
        lambda: client.get("/", follow=True),
        *[recognise] * 2,
        lambda: look("annotation:check"),
    ]


def test_a_changed_consent_is_asked_for_anew_and_then_both_are_kept() -> None:
    study = factories.study()
    rater, step = factories.rater(study), study.versions.get().steps.get(key="consent")
    consents.record_consent(rater, step)
    step.text = "You can stop at any time, and we pay all the same."

    before = consents.has_consented(rater, step)
    consents.record_consent(rater, step)
    consents.record_consent(rater, step)

    rater.refresh_from_db()
    assert (before, consents.has_consented(rater, step), len(rater.consented_to)) == (False, True, 2)
    assert differences() == []


def test_a_simulation_keeps_them() -> None:
    study = locking()

    simulation.simulate(study, even(study), seed=3, begins=NOON)

    assert {len(mine.begun) for mine in Assignment.objects.all()} == {2}
    assert {mine.locked_before for mine in Assignment.objects.all()} == {3}
    assert differences() == []


def test_the_columns_of_progress_are_true_after_an_import() -> None:
    study = factories.study(state="closed")

    imports.import_rows(
        study,
        [row(), row(item="item-2"), row(story="p1s2"), row(rater="E02")],
        version=protocol.current(study),
        at=NOON,
    )

    assert sorted(len(mine.begun) for mine in Assignment.objects.all()) == [1, 2]
    assert differences() == []


def test_the_columns_of_progress_are_true_of_a_judge() -> None:
    study = factories.study()
    group = study.groups.get()
    judge = factories.rater(study, "M01", kind=Rater.Kind.MODEL)
    order = sorted(story.code for story in group.stories.all())
    seat = factories.judge_seat(study, group, order)
    mine = Assignment.objects.create(
        study=study, rater=judge, rater_kind=judge.kind, seat=seat, group=group, version=protocol.current(study)
    )

    factories.answer_all(mine)
    submission.submit(mine, at=NOON)

    mine.refresh_from_db()
    assert len(mine.begun) == 4
    assert differences() == []


def test_a_seat_given_back_keeps_what_was_begun() -> None:
    mine = factories.assignment(factories.study())
    factories.answer(mine)

    claims.give_up(mine, at=NOON)

    assert [len(each.begun) for each in Assignment.objects.all()] == [1]
    assert differences() == []
