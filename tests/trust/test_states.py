"""At the wrong time: whatever a rater sends then is refused, and nothing has changed.

In every state every address of the raters is sent a form; a new address is tried unasked. Only what a state is there
for may change something in it.
"""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import responses
from annotation.models import Assignment, Rater
from annotation.participation import claims, invitations
from annotation.responses import submission
from studies import lifecycle
from studies.models import Study
from tests import factories, triggers
from tests.annotation import walk
from tests.trust import crawl
from tests.trust import world as worlds
from tests.trust.addresses import Pattern, patterns

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
NOON = factories.NOON
Digests = dict[str, tuple[int, str]]


def study(**more: bool) -> Study:
    made = factories.study(n_groups=2)
    version = made.versions.get()
    with triggers.lifted():
        version.steps.filter(key="ranking").update(locks=True)
        Study.objects.filter(pk=made.pk).update(**more)
        factories.freeze_anew(made)
    return Study.objects.get(pk=made.pk)


def begun(client: Client, **more: bool) -> Assignment:
    mine = walk.begin(client, study(**more))
    if not more:
        factories.answer(mine)
    return mine


def read_all(mine: Assignment) -> None:
    for letter in responses.letters(mine.seat.order):
        for item in (1, 2):
            factories.answer(mine, letter=letter, item=item)


# ── states: each leaves a rater in front of what they may not do ───────────────────────────────────────────────────


def before_consent(client: Client) -> Assignment:
    rater = walk.come_in(client, study())
    return factories.assignment(rater.study, rater)


def before_recognition(client: Client) -> Assignment:
    return begun(client, asks_recognition=True)


def before_the_part_is_opened(client: Client) -> Assignment:
    return begun(client)


def after_a_lock(client: Client) -> Assignment:
    mine = begun(client)
    read_all(mine)
    client.post(reverse("annotation:part", args=[mine.code, "ranking"]))
    return mine


def after_submission(client: Client) -> Assignment:
    mine = begun(client)
    factories.answer_all(mine)
    submission.submit(mine, at=timezone.now())
    return mine


def after_giving_up(client: Client) -> Assignment:
    mine = begun(client)
    claims.give_up(mine, at=timezone.now())
    return mine


def after_withdrawal(client: Client) -> Assignment:
    mine = begun(client)
    session = client.session["rater"]
    client.post(reverse("annotation:withdraw"), {"sure": "yes"})
    assert hasattr(Rater.objects.get(pk=mine.rater_id), "withdrawal")
    # Another browser of theirs, whose session knows nothing of it.
    kept = client.session
    kept["rater"] = session
    kept.save()
    return mine


def after_closing(client: Client) -> Assignment:
    mine = begun(client)
    lifecycle.close(mine.study, at=timezone.now())
    return mine


def after_the_last_day(client: Client) -> Assignment:
    mine = begun(client)
    Study.objects.update(closes_at=timezone.now() - timedelta(seconds=1))
    return mine


def after_revoking(client: Client) -> Assignment:
    mine = begun(client)
    invitations.revoke(mine.rater.invitation, at=timezone.now())
    return mine


# What may change something in a state. Everywhere: leaving, and opening a link.
ALWAYS = {"annotation:withdraw", "annotation:invitation"}
MAY: dict[Callable[[Client], Assignment], set[str]] = {
    before_consent: {"annotation:consent"},
    before_recognition: {"annotation:recognition"},
    before_the_part_is_opened: set(),
    after_a_lock: set(),
    after_submission: {"annotation:begin", "annotation:done"},
    after_giving_up: {"annotation:begin"},
    after_withdrawal: set(),
    after_closing: set(),
    after_the_last_day: set(),
    after_revoking: set(),
}
# Where the question is not whether there is work at all, but which part of it is open.
STEP_BY_STATE = {before_the_part_is_opened: ("ranking", "guess"), after_a_lock: ("tests",)}


PROLIFIC = {"key": "nowhere", "reason": "declined"}


def attempts(mine: Assignment, state: Callable[[Client], Assignment]) -> list[tuple[Pattern, str]]:
    """Every address of the raters, under the steps that are shut; of the rest those that send nothing are left out."""
    steps = STEP_BY_STATE.get(state, ("consent", "tests", "ranking", "guess"))
    found = []
    for each in patterns():
        if each.name.startswith("annotation:") and (state not in STEP_BY_STATE or "step" in each.parameters):
            values = {"code": mine.code, "item": "item-1", "letter": "A", "token": "nowhere"} | PROLIFIC
            for step in steps if "step" in each.parameters else steps[:1]:
                found.append((each, each.address(values | {"step": step})))
    return found


def tried(client: Client, address: str, before: Digests, *, htmx: bool) -> tuple[int, bool]:
    """The status, and whether anything is not as before; which is taken back."""
    form = crawl.form_for(address) | {"knows": "no"}
    with transaction.atomic(), worlds.watched() as statements:
        status = client.post(address, form, headers=walk.HTMX if htmx else {}).status_code
        has_changed = bool(statements) and worlds.digests() != before
        transaction.set_rollback(True)
    return status, has_changed


@pytest.mark.parametrize("state", MAY, ids=lambda state: state.__name__)
@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_nothing_is_changed_at_the_wrong_time(
    client: Client, state: Callable[[Client], Assignment], htmx: bool
) -> None:
    mine = state(client)
    before = worlds.digests()

    found = [
        (each.name, address, *tried(client, address, before, htmx=htmx)) for each, address in attempts(mine, state)
    ]

    assert worlds.digests() == before, "what an attempt changed was not taken back"
    assert [each for each in found if each[3] and each[0] not in ALWAYS | MAY[state]] == []
    assert {status for _, _, status, _ in found} <= {204, 302, 400, 401, 404, 405, 409, 200}
    items = {status for name, address, status, _ in found if name in ("annotation:item", "annotation:story_item")}
    assert items <= {401, 404, 409}
    assert items & {401, 409}


@pytest.mark.parametrize(
    ("state", "status", "said"),
    [
        (before_consent, 409, "Please give your consent first; nothing was saved."),
        (before_recognition, 409, "Please first say whether you know any of these texts; nothing was saved."),
        (after_a_lock, 409, "These answers were locked when the next part was opened"),
        (after_submission, 409, responses.ENDED),
        (after_giving_up, 409, responses.ENDED),
        (after_withdrawal, 401, "Your session has ended."),
        (after_closing, 409, "The study has closed"),
        (after_the_last_day, 409, "The study has closed"),
        (after_revoking, 401, "Your session has ended."),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_who_is_refused_is_told_why(
    client: Client, state: Callable[[Client], Assignment], status: int, said: str
) -> None:
    mine = state(client)

    answer = walk.give(client, mine, "no", htmx=True)

    assert answer.status_code == status
    assert said in answer.content.decode()


def test_at_the_right_time_the_same_form_is_kept(client: Client) -> None:
    mine = begun(client)
    address = walk.address(mine, item=2)

    status, has_changed = tried(client, address, worlds.digests(), htmx=True)

    assert (status, has_changed) == (200, True)
    assert walk.give(client, mine, "no", item=2, htmx=True).status_code == 200
