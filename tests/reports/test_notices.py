"""The notices at the head of a report: each says something of its own."""

import re
import tomllib
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Rater
from studies.models import Study
from tests import triggers
from tests.reports.test_pages import full_study, sealed

pytestmark = pytest.mark.django_db
DEMO = Path(__file__).parents[2] / "studies" / "demo"


@pytest.mark.parametrize("path", sorted(DEMO.glob("*/study.toml")), ids=lambda path: path.parent.name)
@pytest.mark.parametrize("is_live", [False, True], ids=["closed", "live and sealed"])
def test_no_two_notices_at_the_head_say_one_thing(client: Client, path: Path, is_live: bool) -> None:
    study = full_study()
    if is_live:
        sealed(study)
    with triggers.lifted():
        Study.objects.update(notice=tomllib.loads(path.read_text())["notice"])
    Rater.objects.update(is_simulated=True)
    client.force_login(User.objects.create_superuser("ann"))

    page = client.get("/reports/plums/figures/all/").content.decode()

    notices = re.findall(r'<span class="sample">(.*?)</span>', page)
    assert len(notices) == 2 + is_live
    for idea in ("simulated", "finding", "demonstration", "[Ss]ealed"):
        assert len([notice for notice in notices if re.search(idea, notice)]) <= 1, idea
