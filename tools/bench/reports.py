"""What a report, a package and pages of the API cost of a large study: seconds, CPU and memory of one process."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment
from reports import results
from reports.api.pages import Position
from reports.export import issues
from reports.figures import all_figures
from studies.models import Study
from tools.bench import large_study

N_PAGES = 10  # of each place, of which the middle one counts


def run() -> dict[str, float]:
    """A study of 100,000 answers by people alone."""
    return _measured(100_000, has_judge=False)


def run_judged() -> dict[str, float]:
    """The same number of answers, some of them by a judge who answered all tests of every story."""
    return _measured(100_000, has_judge=True)


def run_million() -> dict[str, float]:
    """A study of 1,000,000 answers by people alone, which is written for some minutes."""
    return _measured(1_000_000, has_judge=False)


def run_million_judged() -> dict[str, float]:
    return _measured(1_000_000, has_judge=True)


def _measured(n_answers: int, *, has_judge: bool) -> dict[str, float]:
    study = large_study.make(n_answers, has_judge=has_judge)
    import_libraries()
    figures: dict[str, float] = {"answers": n_answers, "load of the machine before": os.getloadavg()[0]}
    figures |= _cost("cold report", lambda: _report(study))
    figures |= _cost("warm report", lambda: _report(study), has_peak=False)
    figures |= _cost("package", lambda: _package(study))
    return figures | _pages(study)


def _cost(name: str, run: Callable[[], None], *, has_peak: bool = True) -> dict[str, float]:
    """Seconds, CPU and the highest memory while it runs. Linux only."""
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak of what was before
    began, cpu = time.perf_counter(), time.process_time()
    run()
    costs = {f"{name} s": time.perf_counter() - began, f"{name}, CPU s": time.process_time() - cpu}
    return costs | ({f"{name}, peak memory MB": _peak_mb()} if has_peak else {})


def _report(study: Study) -> None:
    results.ensure_report(study, at=timezone.now(), by="bench")


def _package(study: Study) -> None:
    issues.make_and_keep(issues.ask(study, by="bench"))


def _pages(study: Study) -> dict[str, float]:
    """CPU of a page of 200 answers by the API at the beginning of the study and near its end."""
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("bench"))
    of_study = Assignment.objects.filter(study=study).order_by("pk").values_list("pk", flat=True)
    places = {"first": of_study[0], "last": of_study.reverse()[N_PAGES]}
    costs = {}
    for name, assignment in places.items():
        address = f"/api/studies/{study.slug}/responses/?limit=200&cursor={Position(assignment, 0).cursor}"
        seconds = []
        for _page in range(N_PAGES):
            cpu = time.process_time()
            response = client.get(address)
            seconds.append(time.process_time() - cpu)
            if response.status_code != 200 or len(response.json()["results"]) != 200:
                raise SystemExit(f"{address}: {response.status_code} {response.content[:200]!r}")
        costs[f"{name} page of the API, CPU ms"] = 1000 * sorted(seconds)[N_PAGES // 2]
    return costs


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def import_libraries() -> None:
    """What a worker has imported when it computes its second report."""
    import krippendorff  # noqa: F401
    import pandas  # noqa: F401
    import sklearn.metrics  # noqa: F401
    import statsmodels.stats.multitest  # noqa: F401

    all_figures()
