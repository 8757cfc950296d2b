"""The reading plan as a designer chooses it: which of three designs it is, and saving it while nothing is frozen."""

from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.design import seats
from annotation.design.prospects import PlanChoices, Texts
from studies import lifecycle, protocol
from studies.models import Study


class Design(StrEnum):
    """SOME : so many raters for each group; EVERYBODY : the same people read everything; PAIRS : two stories a group"""

    SOME = "some"
    EVERYBODY = "everybody"
    PAIRS = "pairs"


class PlanFixed(ValueError):
    """The study is frozen or launched, and its reading plan with it; the message says so."""


@dataclass(frozen=True)
class ReadingPlan:
    """What of a study says who reads what."""

    seats_per_group: int
    groups_per_rater: int | None
    groups_per_sitting: int
    order_policy: str
    seed: int
    shows_premise: bool
    asks_recognition: bool
    excluded_studies: tuple[str, ...] = ()
    n_repeats: int = 0
    hours_per_group: int | None = None

    @property
    def choices(self) -> PlanChoices:
        return PlanChoices(
            self.seats_per_group,
            self.groups_per_rater,
            self.order_policy,
            self.seed,
            groups_per_sitting=self.groups_per_sitting,
            n_repeats=self.n_repeats,
        )


def are_pairs(texts: Texts) -> bool:
    """Whether every group has two stories."""
    return bool(texts.sizes) and set(texts.sizes) == {2}


def plan_of_study(study: Study) -> ReadingPlan:
    """The plan as it is saved."""
    return ReadingPlan(
        seats_per_group=study.seats_per_group,
        groups_per_rater=study.groups_per_rater or None,
        groups_per_sitting=study.groups_per_sitting,
        n_repeats=study.n_repeats,
        hours_per_group=study.hours_per_group,
        order_policy=study.order_policy,
        seed=study.seed,
        shows_premise=study.shows_premise,
        asks_recognition=study.asks_recognition,
        excluded_studies=tuple(study.excluded_studies),
    )


def design_of(plan: ReadingPlan, texts: Texts) -> Design:
    """Which of the three it is: pairs by the groups, everybody where nobody is stopped before the last group."""
    if are_pairs(texts):
        return Design.PAIRS
    n_different = plan.groups_per_sitting - plan.n_repeats
    is_everybody = plan.groups_per_rater is None and n_different >= len(texts.groups) > 1
    return Design.EVERYBODY if is_everybody else Design.SOME


@transaction.atomic
def save_reading_plan(study: Study, plan: ReadingPlan) -> None:
    """Plan it so. Seats planned before are deleted: the launch draws them again. Raises PlanFixed."""
    # A launch at the same moment waits for this row, or this for the launch.
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if not lifecycle.may_edit(locked, is_frozen=protocol.is_frozen(locked)):
        raise PlanFixed(
            _("Nothing was saved: the reading plan is frozen, because the study was launched or a run began.")
        )
    if plan != plan_of_study(locked):
        seats.of_people(locked).delete()
    for name, value in vars(plan).items():
        setattr(locked, name, sorted(value) if name == "excluded_studies" else value)
    locked.save(update_fields=list(vars(plan)))
    study.refresh_from_db()
