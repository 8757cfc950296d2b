"""Over a real broker: what the button queues, a worker in another process does."""

import pytest
from celery import current_app

from annotation.models import Response
from judges import catalogue, runs
from judges.models import Run
from tests import factories
from tests.worker import until, working


@pytest.mark.services
def test_a_run_that_was_queued_is_worked_off_by_a_worker_elsewhere(
    committed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the broker of these tests is the real one
    current_app.control.purge()
    study = factories.study(n_groups=2, n_items=3)

    run = runs.start(study, catalogue.make_stub_judge(), by="tests")
    with working():
        done = until(lambda: Run.objects.get(pk=run.pk).state == Run.State.FINISHED)

    assert done
    assert runs.count_calls(run) == {"ok": run.n_planned}
    assert run.n_planned == 2 * (4 * 3 + 1 + 4)
    assert Response.objects.filter(assignment__rater__kind="model", outcome="answered").count() == run.n_planned
