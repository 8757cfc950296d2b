"""What the pages of a report cost once they are stored, of a study of thirteen sources on ten scales with a judge."""

import time

from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from reports import results
from reports.page import fragments
from reports.page.sections import SECTIONS
from tools.bench import scale_study
from tools.bench.reports import import_libraries

N_VISITS = 9  # of a page, of which the middle one counts


def run() -> dict[str, float]:
    """CPU of the report, of each page of it and of the list of studies, and how large the pages are."""
    study = scale_study.make(has_judge=True)
    import_libraries()
    cpu = time.process_time()
    report = results.ensure_report(study, at=timezone.now(), by="bench")
    costs = {"stories": study.stories.count(), "cold report, CPU s": time.process_time() - cpu}
    cpu = time.process_time()
    fragments.prepare(report, study)
    costs["summary and sections rendered, CPU s"] = time.process_time() - cpu
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("pages"))
    costs |= _measure(client, "summary", f"/reports/{study.slug}/")
    for section in SECTIONS:
        address = f"/reports/{study.slug}/{section}/"
        if client.get(address).status_code == 200:
            costs |= _measure(client, section, address)
    return costs | _measure(client, "list of studies", "/reports/")


def _measure(client: Client, name: str, address: str) -> dict[str, float]:
    client.get(address)
    seconds, n_bytes = [], 0
    for _visit in range(N_VISITS):
        cpu = time.process_time()
        n_bytes = len(client.get(address).content)
        seconds.append(time.process_time() - cpu)
    return {f"{name}, CPU ms": 1000 * sorted(seconds)[N_VISITS // 2], f"{name}, kB": n_bytes / 1000}
