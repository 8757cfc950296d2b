"""Every study of the demonstration and every instrument that comes with Quire, asked of somebody with a browser."""

from itertools import product
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import design
from annotation.design import balance, launches
from annotation.models import Assignment, Rater, Response
from annotation.participation import claims, invitations
from reports import figures, results
from reports.management.commands.demo import FOLDER
from reports.models import Report
from reports.page import csv
from studies import items, lifecycle, loader, protocol
from studies.documents.errors import DocumentError
from studies.documents.instrument import read_instrument
from studies.models import Instrument, Step, Study
from tests.annotation.plain_browser import Visitor

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

STUDIES = sorted(path.parent for path in FOLDER.glob("*/study.toml"))
INSTRUMENTS = sorted((FOLDER.parent / "instruments").glob("*.toml"))
STORY = "A lamp was lit in the ferry house.\n\nNobody had crossed since noon, and nobody would."


def live(folder: Path) -> Study:
    """The study in that folder, loaded, planned and launched."""
    study = loader.load_study(folder)
    design.plan(study)
    return launches.launch(study, by="tests", at=timezone.now())


def walked(client: Client, study: Study, *, n_groups: int = 99) -> tuple[Rater, list[str]]:
    """A rater who has come by a link and answered everything in so many groups, and the pages on the way."""
    invitation, token = invitations.issue(study)
    visitor = Visitor(client, reverse("annotation:invitation", args=[token]), n_groups=n_groups, right=key(study))
    seen = visitor.walk("done")
    invitation.refresh_from_db()
    assert invitation.rater is not None
    return invitation.rater, seen


def key(study: Study) -> dict[str, str]:
    """The right answers of checks, by the name of their field."""
    steps = protocol.load_protocol(protocol.current(study)).steps
    every = [(step, item) for step in steps for item in protocol.items_of(step) if "correct" in item.settings]
    return {f"answer-{step.key}-{item.key}": item.settings["correct"] for step, item in every}


def asked(study: Study) -> set[tuple[str, str]]:
    steps = protocol.load_protocol(protocol.current(study)).steps
    return {(step.key, item.key) for step in steps for item in protocol.items_of(step)}


def answered(rater: Rater) -> set[tuple[str, str]]:
    given = Response.objects.filter(assignment__rater=rater, outcome="answered")
    return set(given.values_list("step__key", "item__key"))


def test_the_folders_are_found() -> None:
    assert {"depth", "harbour", "ideas", "measures", "mystery", "orchard", "pairs", "workshop"} <= {
        f.name for f in STUDIES
    }
    assert len(INSTRUMENTS) >= 14


@pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)
def test_a_study_can_be_walked_from_the_link_to_the_end_and_reported(client: Client, folder: Path) -> None:
    study = live(folder)

    # Of the long ones a group, which takes as many pages as all the others together.
    n_groups = 1 if folder.name in ("harbour", "orchard", "workshop") else study.groups.count()

    rater, seen = walked(client, study, n_groups=n_groups)

    assert seen[0] == "invitation"
    assert claims.n_groups_left(rater) == study.groups.count() - n_groups
    assert answered(rater) == asked(study)
    statuses = Assignment.objects.filter(rater=rater, seat__isnull=False).values_list("status", flat=True)
    assert set(statuses) == {"submitted"}
    assert len(statuses) == n_groups
    lifecycle.close(study, at=timezone.now())
    found = results.ensure_report(study, at=timezone.now(), by="tests").result
    assert (found["progress"]["n_missing"], found["is_sealed"], Report.objects.count()) == (0, False, 1)
    shown = results.read_results(found)
    assert all(csv.find_table(shown, name) for name in figures.by_table())


@pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)
def test_orders_are_balanced_to_one_in_every_group(folder: Path) -> None:
    study = loader.load_study(folder)
    design.plan(study)

    planned = balance.load_balance(study)

    assert len(planned.groups) == study.groups.count()
    assert all(group.is_even for group in planned.groups)
    assert planned.is_even_over_groups


def test_each_story_of_a_pair_stands_first_in_half_of_the_seats() -> None:
    study = loader.load_study(FOLDER / "pairs")
    design.plan(study)

    counts = [n for group in balance.load_balance(study).groups for row in group.positions.values() for n in row]

    assert counts == [5] * 12


def loaded(path: Path) -> Instrument:
    return loader.load_instrument(read_instrument(path))


def slugs(study: Study) -> set[str]:
    return {f"{i.slug}@{i.version}" for i in Instrument.objects.filter(step__version__study=study)}


def test_the_demo_asks_every_instrument_but_those_that_its_readme_names() -> None:
    used = set().union(*(slugs(loader.load_study(folder)) for folder in STUDIES))
    readme = (FOLDER / "README.md").read_text()

    unused = {f"{i.slug}@{i.version}" for i in map(loaded, INSTRUMENTS)} - used

    assert unused == {"ttcw@section-4.2", "ttcw@paper", "preference-ranking@ties", "rubric-feedback@1"}
    assert all(f"`{name.removesuffix('@1')}`" in readme for name in unused)


def generated(folder: Path, instrument: Instrument, scope: str) -> Path:
    """A study of two stories in one group that asks this instrument and, if it is asked once only, another one too."""
    also = "[[steps]]\nkey='also'\nkind='rating'\ninstrument='litbench-preference'\nscope='group'\n"
    (folder / "study.toml").write_text(
        "slug='ferry'\ntitle='Ferry'\nseats_per_group=1\n"
        "[[steps]]\nkey='consent'\nkind='consent'\ntext='You can stop at any time.'\n"
        f"[[steps]]\nkey='asked'\nkind='rating'\ninstrument='{instrument.slug}@{instrument.version}'\nscope='{scope}'\n"
        + (also if scope == "once" else "")
    )
    rows = [f'{code},plot,"{STORY}",Manner {code},other' for code in ("a", "b")]
    (folder / "stories.csv").write_text("\n".join(["story,group,text,source,source_kind", *rows]))
    return folder


def cases() -> list[tuple[Path, str]]:
    """Each instrument about a story, as most are meant; in the other scopes, the shortest that has a type of item.

    What a page of a scope does with an item rests on the item's type, not on which instrument it came with.
    """
    shortest: dict[str, Path] = {}
    for path in sorted(INSTRUMENTS, key=lambda path: len(read_instrument(path).items)):
        for item in read_instrument(path).items:
            shortest.setdefault(item.type, path)
    others = [scope for scope in Step.Scope.values if scope != Step.Scope.STORY]
    about_story = [(path, Step.Scope.STORY.value) for path in INSTRUMENTS]
    return about_story + [(path, scope) for path in sorted(set(shortest.values())) for scope in others]


CASES = cases()


def test_every_type_of_an_instrument_is_asked_in_every_scope() -> None:
    types = {item.type for path in INSTRUMENTS for item in read_instrument(path).items}

    asked = {(item.type, scope) for path, scope in CASES for item in read_instrument(path).items}

    assert asked == set(product(types, Step.Scope.values))


@pytest.mark.parametrize(("path", "scope"), CASES, ids=lambda part: getattr(part, "stem", part))
def test_an_instrument_can_be_asked_in_every_scope_that_fits_it(
    client: Client, tmp_path: Path, path: Path, scope: str
) -> None:
    instrument = loaded(path)
    compares = any(items.find_type(item.type).about_stories for item in instrument.items.all())
    folder = generated(tmp_path, instrument, scope)
    if compares and scope != Step.Scope.GROUP:
        with pytest.raises((DocumentError, protocol.NotPlannable), match="must be asked about each group"):
            live(folder)
        return
    study = live(folder)

    rater, _ = walked(client, study)

    assert answered(rater) == asked(study)
    lifecycle.close(study, at=timezone.now())
    assert results.compute(study)["progress"]["n_missing"] == 0
