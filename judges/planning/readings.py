"""Readings: one pass of a judge over a seat, and which of them counts where there are several."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from annotation import design
from annotation.models import Assignment
from judges.models import Judge, PersonaSet, Reading, Run
from studies.models import StoryGroup, Study


@dataclass(frozen=True)
class Pass:
    """One reading as it is planned: in which order, as whom, for which time.

    intervention : slug and version of the change with which its stories are read; "" as they are
    """

    order: Reading.Order = Reading.Order.PLANNED
    persona: str = ""
    repeat: int = 1
    intervention: str = ""

    def arrange(self, codes: Sequence[str]) -> list[str]:
        """The codes of a seat's stories in the order of this reading."""
        return list(reversed(codes)) if self.order == Reading.Order.REVERSED else list(codes)


def find_passes(
    orders: Sequence[str], persona_set: PersonaSet | None, n_repeats: int, interventions: Sequence[str] = ()
) -> Iterator[Pass]:
    """Every reading that a run asks for of each seat, the one that counts by itself first, those of changed stories
    last.

    interventions : names of the changes
    """
    names = list(persona_set.text_by_name) if persona_set else [""]
    for repeat, order, name in product(range(1, n_repeats + 1), orders, names):
        yield Pass(Reading.Order(order), name, repeat)
    for intervention in interventions:
        yield Pass(persona=names[0], intervention=intervention)


def primary_assignments(study: Study) -> set[int]:
    """Ids of the judges' assignments of which one value a unit is taken; two queries.

    Reports take one value for each judge and unit. Of several readings it is by default the first of its kind: the
    first repeat, in the planned order, as the first persona of the run's set (or as nobody). The others are for flips,
    spread and gain, and for means over personas, which ask for all of them; one of changed stories never counts. Where
    two runs made such a reading of one
    group, both are here, and of a story that both have read the earlier counts, by the number of its seat. Assignments
    without a reading (answers of judges that were imported) count as they are.
    """
    judges = Assignment.objects.filter(study=study).exclude(rater_kind="person")
    unread = judges.filter(reading=None).values_list("pk", flat=True)
    of_runs = Reading.objects.filter(run__study=study).select_related("run__persona_set")
    return {*unread, *(reading.assignment_id for reading in of_runs if is_primary(reading, reading.run))}


def is_primary(reading: Reading, run: Run) -> bool:
    """Whether the reading is the one of its seat that counts where one value is taken: never one of changed stories."""
    names = list(run.persona_set.text_by_name) if run.persona_set else [""]
    first = (Reading.Order.PLANNED, names[0], 1, "")
    return (reading.order, reading.persona, reading.repeat, reading.intervention) == first


def draw_reading_orders(study: Study, judge: Judge, groups: list[StoryGroup]) -> list[list[str]]:
    """For each group the order in which the judge gets its stories, by the study's policy.

    Seeded by study and judge, so that two judges meet the stories in different orders.
    """
    import numpy as np  # here, so that web processes come without it

    rng = np.random.default_rng([abs(study.seed), *judge.slug.encode()])
    codes = [sorted(story.code for story in group.stories.all()) for group in groups]
    readings = design.draw_orders([len(c) for c in codes], 1, policy=study.order_policy, rng=rng)
    return [[names[i] for i in rows[0]] for names, rows in zip(codes, readings, strict=True)]
