"""Walking through a rehearsal: to any step, what comes before it answered as simulated raters answer, or passed over.

Answers that are made up on the way say so, as all simulated ones do. Checks and practice are passed without any.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from annotation import progress, simulation
from annotation.design import deletion
from annotation.design.rehearsals import CODE
from annotation.models import Assignment, Rater, Seat
from annotation.participation import claims, consents, recognition, visits
from annotation.progress import Page, RaterProgress
from annotation.progress.rater_progress import load_rater_progress
from annotation.responses import submission
from annotation.simulation import Tendency
from studies import rehearsals
from studies.models import Step, Study

# How many pages there can be before the first group and up to the end of it, and more.
MOST_TURNS = 200
PLANTED = 1.2  # log-odds of Yes, for the source whose stories simulated raters like best; the reverse for the last


def ensure_rater(rehearsal: Study) -> Rater:
    """The rater of a rehearsal who is the designer."""
    return Rater.objects.get_or_create(study=rehearsal, code=CODE, defaults={"is_simulated": True})[0]


@transaction.atomic
def go_to(rehearsal: Study, step: Step | None, *, at: datetime) -> Rater:
    """The designer's rater at that step, or at the end; one who is beyond it begins anew, and gets there again."""
    rater = ensure_rater(rehearsal)
    if step is not None and is_behind(load_rater_progress(rater), step):
        deletion.delete_raters(rehearsal, code=CODE)
        rater = ensure_rater(rehearsal)
    for _turn in range(MOST_TURNS):
        rater_progress = load_rater_progress(rater)
        page = progress.next_page(rater_progress)
        if _has_arrived(rater_progress, page, step):
            break
        if rater_progress.n_submitted and not rater_progress.at_work and _is_after(rater_progress, step):
            answer_last_questions(rater, rater_progress, step, at=at)
            break
        pass_page(rater, rater_progress, page, at=at)
    if step is not None and rater_progress.at_work and is_in_group(rater_progress, step):
        _answer_up_to(rater_progress.at_work, rater_progress, step, at=at)
    return rater


def is_behind(rater_progress: RaterProgress, step: Step) -> bool:
    """Whether the rater has left this step behind, and cannot go back to it."""
    page, at_work = progress.next_page(rater_progress), rater_progress.at_work
    before, after = progress.steps_around_groups(rater_progress.protocol)
    if is_in_group(rater_progress, step):
        if at_work:
            return step.position < at_work.locked_before
        return page.name == "done" or _is_among(after, page)
    if _is_after(rater_progress, step):
        return step.kind == Step.Kind.RATING and (rater_progress.has_finished or step.key in rater_progress.passed)
    if page.name == "consent":
        return False
    return not _is_among(before, page) or step.position < next(s.position for s in before if s.key == page.args[0])


def is_in_group(rater_progress: RaterProgress, step: Step) -> bool:
    """Whether the step is met within a group."""
    return progress.find_part(progress.list_parts(rater_progress.protocol), step.key) is not None


def _is_among(steps: Sequence[Step], page: Page) -> bool:
    return page.name in ("once", "briefing") and any(step.key == page.args[0] for step in steps)


def _is_after(rater_progress: RaterProgress, step: Step | None) -> bool:
    """Whether the step comes after the last group, as the end does."""
    after = progress.steps_around_groups(rater_progress.protocol)[1]
    return step is None or any(step.key == other.key for other in after)


def _has_arrived(rater_progress: RaterProgress, page: Page, step: Step | None) -> bool:
    if page.name in ("done", "full"):
        return True
    if step is None:
        return False
    if page.name == "consent":
        return step.kind == Step.Kind.CONSENT
    if page.name == "assignment":
        return is_in_group(rater_progress, step)
    return page.args == (step.key,)


def pass_page(
    rater: Rater, rater_progress: RaterProgress, page: Page, *, at: datetime, seed: int | None = None
) -> None:
    """Do what that page asks of a rater.

    seed : of the answers; without one they are others for every rater
    """
    at_work, step = rater_progress.at_work, rater_progress.protocol.step(page.args[0]) if page.args else None
    if page.name == "consent" and rater_progress.protocol.consent:
        consents.record_consent(rater, rater_progress.protocol.consent)
    elif page.name == "begin":
        claims.claim(rater)
    elif page.name == "recognition" and at_work:
        recognition.record_none_known(at_work)
    elif page.name == "assignment" and at_work:
        of_group = at_work.pk if seed is None else seed
        simulation.answer_steps(at_work, rater_progress.protocol.ratings, seed=of_group, at=at)
        submission.submit(at_work, at=at)
    elif step is not None:
        _pass_once(rater, rater_progress, step, at=at, seed=seed)


def _pass_once(
    rater: Rater, rater_progress: RaterProgress, step: Step, *, at: datetime, seed: int | None = None
) -> None:
    """What is met once: a text is read, a question answered, a check or a practice passed over."""
    is_asked = step.kind == Step.Kind.RATING and not rater_progress.protocol.is_check(step)
    if is_asked:
        visit = visits.ensure_visit(rater)
        simulation.answer_steps(visit, [step], seed=visit.pk if seed is None else seed, at=at)
    visits.record_step_taken(rater, step)


def answer_last_questions(
    rater: Rater, rater_progress: RaterProgress, step: Step | None, *, at: datetime, seed: int | None = None
) -> None:
    """What is asked after the groups, up to that step; the visit ends if nothing of it is left.

    seed : as in `pass_page`
    """
    for other in progress.steps_around_groups(rater_progress.protocol)[1]:
        if step is not None and other.key == step.key and step.kind == Step.Kind.RATING:
            return
        if other.kind == Step.Kind.RATING and other.key not in rater_progress.passed:
            _pass_once(rater, rater_progress, other, at=at, seed=seed)
    submission.submit(visits.ensure_visit(rater), at=at)


def _answer_up_to(assignment: Assignment, rater_progress: RaterProgress, step: Step, *, at: datetime) -> None:
    """What lacks in the parts of the group before the one with that step; what they lock is locked."""
    parts = progress.list_parts(rater_progress.protocol)
    part = progress.find_part(parts, step.key)
    earlier = [
        s for other in parts[: parts.index(part) if part else 0] for s in other.steps if s.kind == Step.Kind.RATING
    ]
    simulation.answer_steps(assignment, earlier, seed=assignment.pk, at=at)
    locked_before = max((s.position for s in earlier if s.locks), default=assignment.locked_before)
    Assignment.objects.filter(pk=assignment.pk, locked_before__lt=locked_before).update(locked_before=locked_before)


# ── simulated raters ───────────────────────────────────────────────────────────────────────────────────────────────


@transaction.atomic
def fill(rehearsal: Study, *, at: datetime) -> list[Rater]:
    """Simulated raters in every seat that is free, but for one in which the designer can go on. None if all are taken.

    Where the copy says who wrote the stories, a difference between the sources is planted, for the report to find.
    """
    rater = ensure_rater(rehearsal)
    if not rater.assignments.exclude(seat=None).exists():
        claims.claim(rater)
    n_free = Seat.objects.filter(study=rehearsal, rater_kind=Rater.Kind.PERSON, is_taken=False).count()
    begins = at - timedelta(hours=30 * (n_free + 1))  # the last of them, too, has answered by now
    return simulation.simulate(rehearsal, draw_tendencies(rehearsal), seed=rehearsal.seed, begins=begins)


def draw_tendencies(rehearsal: Study) -> dict[str, Tendency]:
    """What simulated raters make of each story: by its source, if that may be known; otherwise all alike."""
    codes = rehearsal.stories.values_list("code", flat=True)
    source_by_code = rehearsals.read_sources(rehearsal)
    sources = sorted(set(source_by_code.values()))
    step = 2 * PLANTED / max(len(sources) - 1, 1)
    tendency_by_source = {source: Tendency(PLANTED - step * n) for n, source in enumerate(sources)}
    return {code: tendency_by_source.get(source_by_code.get(code, ""), Tendency(0)) for code in codes}
