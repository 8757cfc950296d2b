"""Second readings: groups that somebody reads once more, unannounced, so that they can be compared with themselves.

They belong to a person and not to the plan of seats: whoever stops early leaves none behind, and whoever comes in their
place repeats what they themselves have read.
"""

from annotation.models import Assignment, Rater
from studies.protocol import repeats


def list_due(rater: Rater, *, has_more: bool) -> list[Assignment]:
    """What the rater is to read once more now, the earliest first; empty as long as other groups come before it.

    has_more : whether there is a group that they have not read; without one, repeats come at once
    At least one other group stands in between. One query, none where nothing is read twice.
    """
    study = rater.study
    if not study.n_repeats:
        return []
    rows = rater.assignments.exclude(group=None).exclude(read_before=True).select_related("seat", "group")
    readings = list(rows.order_by("position", "pk"))
    if study.groups_per_rater and len(readings) >= study.groups_per_rater:
        return []
    repeated = {row.repeats_id for row in readings if row.repeats_id}
    first = [row for row in readings if row.repeats_id is None]
    n_before = repeats.count_groups_before(study)
    if has_more and (n_before is None or len(first) < n_before):
        return []
    due = [r for r in first if r.status == Assignment.Status.SUBMITTED and r.pk not in repeated and r != readings[-1]]
    return due[: study.n_repeats - len(repeated)]
