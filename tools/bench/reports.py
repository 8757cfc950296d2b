"""What a report costs that was not computed before, and one that was: seconds, CPU and memory of one process."""

import os
import time
from pathlib import Path

from django.utils import timezone

from reports import results
from tools.bench import large_study


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
    _import_libraries()
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak of writing the study; Linux only
    figures: dict[str, float] = {"answers": n_answers, "load of the machine before": os.getloadavg()[0]}
    for name in ("cold report", "warm report"):
        began, cpu = time.perf_counter(), time.process_time()
        results.ensure_report(study, at=timezone.now(), by="bench")
        figures |= {f"{name} s": time.perf_counter() - began, f"{name}, CPU s": time.process_time() - cpu}
    return figures | {"peak memory MB": _peak_mb()}


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _import_libraries() -> None:
    """What a worker has imported when it computes its second report."""
    import krippendorff  # noqa: F401
    import pandas  # noqa: F401
    import sklearn.metrics  # noqa: F401
    import statsmodels.stats.multitest  # noqa: F401
