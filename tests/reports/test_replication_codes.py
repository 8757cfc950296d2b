"""Codes of a release's stories stand in blind packages, and nobody makes them from the names that a release gives."""

import hashlib
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from reports.replications import load_reader, load_spec
from studies.models import Provenance, Story
from tests.reports import litbench_generated, pds_generated
from tests.reports.test_replicate_ttcw import replicate, small

__all__ = ["small"]

pytestmark = pytest.mark.django_db

HASHES = ("md5", "sha1", "sha256", "sha512", "blake2b")


def guesses(names: list[str]) -> set[str]:
    """What anybody can make of these names: digests by every usual function, of every length from 6 digits."""
    spelled = {
        f"{prefix}{name}".encode()
        for name in names
        for prefix in ("", "ttcw ", "pds ", "quiet ", "litbench ", "reports.replications")
    }
    digests = {hashlib.new(function, name).hexdigest() for function in HASHES for name in spelled}
    return {digest[:n] for digest in digests for n in range(6, 65)}


def test_hashes_of_a_releases_names_give_no_code_back(small: Path, tmp_path: Path) -> None:
    pds, quiet, litbench = (tmp_path / name for name in ("pds", "quiet", "litbench"))
    for folder in (pds, quiet, litbench):
        folder.mkdir()
    pds_generated.at_random(pds / "human_annotations.csv", n_by_author={"Human-1": 2, "GPT-4": 2})
    (quiet / "published_groups.csv").write_text("model,group,satisfy,surprise\nalpha,G1,.5,.5\nbeta,G1,.25,.5\n")
    litbench_generated.write_pairs(litbench / litbench_generated.FILE, n_stories=2)
    replicate(small)
    for name, folder in (("pds", pds), ("quiet", quiet), ("litbench", litbench)):
        with suppress(CommandError):  # other figures than the published
            call_command("replicate", name, data=folder, stdout=StringIO(), stderr=StringIO())

    n_of_pairs = Story.objects.filter(study__slug="litbench-release").count()
    told = list(Provenance.objects.values_list("story__code", "factors", "source__name"))
    guessed = guesses([str(factors.get("release_id", source)) for _code, factors, source in told])

    assert len(told) == 8 + 4 + 2 + n_of_pairs
    assert n_of_pairs > 2
    assert [code for code, _factors, _source in told if code.rpartition("-")[2] in guessed] == []


def test_another_key_gives_other_codes_and_a_judge_comes_in_under_those_of_the_study(small: Path) -> None:
    spec = load_spec("ttcw")
    replicate(small, judges=small)  # no judges there
    codes = set(Story.objects.values_list("code", flat=True))

    with override_settings(SECRET_KEY="another " * 8):
        of_other = {story.code for story in load_reader("ttcw").read_release(small, small / "judges", spec).stories}
        status, _said, complaints = replicate(small)

    assert of_other.isdisjoint(codes)
    assert (status, "Not replicated." in complaints) == (1, True)
    of_judge = Story.objects.filter(response__assignment__rater__code="one")
    assert set(of_judge.values_list("code", flat=True)) == codes
