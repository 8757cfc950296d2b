"""A panel of simulated raters of several kinds: they come one after the other, agree, read, answer, and some leave.

Each goes from page to page as a person does: the page that is due is found by the rule of the raters' pages, and what
it asks is done by the functions that its view calls (`consents.record_consent`, `claims.claim`, `responses.record`,
`submission.submit`, `claims.give_up`), without a request. A test walks the same raters through the views themselves and
compares what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from annotation import progress, walkthrough
from annotation.models import Rater
from annotation.participation import claims
from annotation.progress.rater_progress import load_rater_progress
from annotation.simulation import Profile, RaterKind, Simulation, read_and_stop, read_and_submit

MOST_PAGES = 1_000  # of one rater
HOURS_BETWEEN = (7, 30)  # two arrivals


@dataclass(frozen=True)
class SimulatedRater:
    """A simulated rater. found_place : whether there was a place left to read in"""

    rater: Rater
    kind: RaterKind
    found_place: bool


def simulate_panel(
    simulation: Simulation,
    n_by_kind: Mapping[RaterKind, int],
    *,
    begins: datetime,
    before_each: Callable[[], None] = lambda: None,
) -> list[SimulatedRater]:
    """The raters of each kind, in an order by chance, in the open study of the simulation.

    Same simulation, same raters, same answers. There is no transaction round it, or nobody else could save an answer
    for minutes where a database has one writer; what is half done must be deleted by who began it.
    Each reads as many groups as any other, give or take one, or fewer where the study says so.
    before_each : called before each rater; what it raises ends the simulation
    """
    kinds = [kind for kind, n in n_by_kind.items() for _ in range(n)]
    n_seats = simulation.study.seats.filter(rater_kind=Rater.Kind.PERSON, is_taken=False).count()
    members: list[SimulatedRater] = []
    at = begins
    for number, place in enumerate(simulation.rng.permutation(len(kinds)).tolist(), start=1):
        before_each()
        kind, code = kinds[place], f"S{number:02}"
        n_groups = n_seats * number // len(kinds) - n_seats * (number - 1) // len(kinds)
        profile = kind.draw_profile(simulation.rng, rater=code, n_groups=max(n_groups, 1))
        rater = Rater.objects.create(study=simulation.study, code=code, is_simulated=True)
        Rater.objects.filter(pk=rater.pk).update(arrived_at=at)
        members.append(SimulatedRater(rater, kind, _work(simulation, rater, kind, profile, at=at)))
        at += timedelta(hours=float(simulation.rng.uniform(*HOURS_BETWEEN)))
    return members


def _work(simulation: Simulation, rater: Rater, kind: RaterKind, profile: Profile, *, at: datetime) -> bool:
    """Whether the rater found a place; all pages of theirs are gone through, up to the end or to where they leave."""
    leaves_in = int(simulation.rng.integers(1, profile.n_groups + 1)) if kind.leaves else 0
    returns = bool(simulation.rng.random() < 0.5)
    seed = int(simulation.rng.integers(2**31))  # of what is asked once
    now, n_begun = at, 0
    for _page in range(MOST_PAGES):
        rater_progress = load_rater_progress(rater)
        page = progress.next_page(rater_progress)
        if page.name == "assignment" and rater_progress.at_work:
            n_begun += 1
            if n_begun == leaves_in:
                read_and_stop(simulation, rater_progress.at_work, profile, at=now, returns=returns)
                break
            now = read_and_submit(simulation, rater_progress.at_work, profile, at=now)
        elif page.name == "begin" and n_begun == profile.n_groups:
            walkthrough.answer_last_questions(rater, rater_progress, None, at=now, seed=seed)
            break
        elif page.name == "done":
            break
        else:
            try:
                walkthrough.pass_page(rater, rater_progress, page, at=now, seed=seed)
            except claims.NoSeat:
                break
    return n_begun > 0
