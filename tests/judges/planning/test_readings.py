"""Which of a judge's readings counts where reports take one value."""

import pytest

from annotation.models import Assignment
from judges import catalogue, runs
from judges.models import PersonaSet, Reading, Run
from judges.planning import readings
from studies.models import Study
from tests import factories
from tests.replay import replayed

pytestmark = pytest.mark.django_db

PERSONAS = [{"name": "critic", "text": "You are a critic."}, {"name": "reader", "text": "You read for pleasure."}]


def read_again(run: Run, **reading: object) -> Assignment:
    """Another reading of the run's only group."""
    first = run.readings.all()[0].assignment
    seat = factories.judge_seat(run.study, first.group, first.seat.order)
    assignment = Assignment.objects.create(
        study=run.study, rater=first.rater, rater_kind="model", seat=seat, group=first.group, version=first.version
    )
    Reading.objects.create(run=run, assignment=assignment, **reading)
    return assignment


@pytest.fixture
@replayed
def run() -> Run:
    return runs.start(factories.study(comparative=False), catalogue.make_stub_judge(), by="tests")


def test_the_first_repeat_in_the_planned_order_counts(run: Run) -> None:
    read_again(run, repeat=2)
    read_again(run, order="reversed")

    assert readings.primary_assignments(run.study) == {run.readings.order_by("pk")[0].assignment_id}


def test_of_personas_the_first_of_the_set_counts(run: Run) -> None:
    Run.objects.update(persona_set=PersonaSet.objects.create(name="five", version="1", personas=PERSONAS))
    read_again(run, persona="reader")
    critic = read_again(run, persona="critic")

    assert readings.primary_assignments(run.study) == {critic.pk}


def test_answers_that_were_imported_count_and_peoples_are_no_judges(run: Run) -> None:
    study: Study = run.study
    factories.assignment(study)
    imported = read_again(run, repeat=3)
    imported.reading.delete()

    assert readings.primary_assignments(study) == {imported.pk, run.readings.get().assignment_id}


def test_a_run_with_personas_orders_and_repeats_asks_for_each_of_them_the_primary_one_first() -> None:
    personas = PersonaSet(name="five", version="1", personas=PERSONAS)

    passes = list(readings.find_passes(["planned", "reversed"], personas, 2))

    assert len(passes) == len(set(passes)) == 8
    assert passes[0] == readings.Pass(Reading.Order.PLANNED, "critic", 1)
    assert passes[3].arrange(["a", "b", "c"]) == ["c", "b", "a"]
