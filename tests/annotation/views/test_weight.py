"""What a process that serves raters carries: no library of statistics, which a worker would hold for nothing."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.test import Client

from tests import factories
from tests.annotation import walk
from tests.worker import database_url

HEAVY = {"krippendorff", "numpy", "pandas", "scipy", "sklearn", "statsmodels"}

# A rater's page and a save, in a process whose only addresses are the raters'; and who imported what is heavy.
VISIT = """
import json, sys, types, traceback
HEAVY, page, cookie = set(json.loads(sys.argv[1])), sys.argv[2], sys.argv[3]
importers = set()

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name in HEAVY:
            ours = [f.f_globals["__name__"] for f, _ in traceback.walk_stack(None)]
            ours = [n for n in ours if n.partition(".")[0] in OURS]
            importers.add(ours[0] if ours else "")
        return None

OURS = {"stats", "studies", "annotation", "judges", "reports", "config"}
sys.meta_path.insert(0, Watch())
import django
django.setup()
before = set(importers)
from django.conf import settings
from django.test import Client
from django.urls import include, path
urls = types.ModuleType("raters_urls")
urls.urlpatterns = [path("", include("annotation.urls"))]
sys.modules["raters_urls"] = urls
settings.ROOT_URLCONF = "raters_urls"
settings.ALLOWED_HOSTS = ["testserver"]
client = Client()
client.cookies[settings.SESSION_COOKIE_NAME] = cookie
form = {"answer-tests-A-item-1": "yes", "rationale": "It is so.", "base": "0"}
statuses = [client.get(page).status_code, client.post(page, form, headers={"HX-Request": "true"}).status_code]
print(json.dumps([statuses, sorted(before), sorted(importers - before)]))
"""


@pytest.mark.usefixtures("committed")
def test_a_page_and_a_save_load_no_library_of_statistics(client: Client) -> None:
    mine = walk.begin(client, factories.study())
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value

    visit = subprocess.run(
        [sys.executable, "-c", VISIT, json.dumps(sorted(HEAVY)), walk.address(mine), cookie],
        env=os.environ | {"DATABASE_URL": database_url(), "SECRET_KEY": settings.SECRET_KEY},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )

    statuses, at_start, by_pages = json.loads(visit.stdout.splitlines()[-1])
    assert statuses == [200, 200]
    assert by_pages == []
    assert at_start == []
