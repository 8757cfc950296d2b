"""A web process that only lists figures and shows stored reports holds no statistics library."""

import json
import subprocess
import sys
from pathlib import Path

from django.conf import settings

# Notes of each heavy library which of our modules first asked for it; what `stats` asks for is its importer's doing.
PROBE = """
import json, sys, traceback
from importlib.abc import MetaPathFinder
from pathlib import Path

HEAVY = {"numpy", "pandas", "scipy", "statsmodels", "sklearn", "krippendorff"}
base, importers = Path.cwd(), {}

class Watch(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in HEAVY and name not in importers:
            files = [Path(frame.filename) for frame in traceback.extract_stack()]
            ours = [f.relative_to(base).as_posix() for f in files if f.is_relative_to(base) and ".venv" not in f.parts]
            importers[name] = next((file for file in reversed(ours) if not file.startswith("stats/")), "")
        return None

sys.meta_path.insert(0, Watch())
import django
django.setup()
import importlib
for name in ("reports.urls", "reports.api.urls", "reports.templatetags.report", "reports.tasks", "reports.page.text"):
    importlib.import_module(name)
from reports.figures import all_figures, by_table
names = [*all_figures(), *by_table()]
from reports.figures.codec import decode
for figure in all_figures().values():
    decode(figure.result | None, None)
statistics = [name for name in sys.modules if name.startswith("stats.")]
print(json.dumps({"names": len(names), "importers": importers, "stats": statistics}))
"""


def test_nothing_of_reports_loads_a_statistics_library_before_it_computes() -> None:
    base = Path(settings.BASE_DIR)
    run = subprocess.run(
        [sys.executable, "-c", PROBE],
        cwd=base,
        env={"PATH": "", "DJANGO_SETTINGS_MODULE": "config.settings", "QUIRE_VAR": str(settings.VAR)},
        capture_output=True,
        text=True,
        check=True,
    )

    noted = json.loads(run.stdout)
    sys.stdout.write(f"loaded by others: {noted['importers']}\n")
    assert noted["names"] > 25
    assert not {name: file for name, file in noted["importers"].items() if file.startswith("reports/")}
    # Of the statistics themselves only what takes no library: why there is none, when memory is searched, what pages
    # show at once, how often intervals held.
    light = {"stats.reasons", "stats.garbage_collection", "stats.superiority", "stats.coverage"}
    assert set(noted["stats"]) == light
