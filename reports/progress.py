"""How far a study has come: seats, people, answers, and what is left out of all results."""

from collections import Counter
from typing import Any

import pandas as pd
from django.db.models import Count, Q, Sum

from annotation.models import Assignment, Rater, Response, Timing
from reports import frames
from reports.material import Material
from studies.models import Step, Study


def progress(material: Material) -> dict[str, Any]:
    """Counts for the head of a report and its first table. Nothing here tells one source from another."""
    study = material.study
    groups = _groups(material)
    n_missing = _n_expected(material, groups) - len(_owed(material, _answered(material.people)))
    return {
        "n_groups": len(groups),
        "n_stories": len({story for _, story in material.units}),
        "n_withheld": study.stories.filter(is_withheld=True).count(),
        "n_invited": study.invitations.count(),
        "n_consented": study.raters.filter(consents__isnull=False).distinct().count(),
        "n_raters": int(material.people["rater"].nunique()),
        "n_seats": sum(group["n_seats"] for group in groups),
        "n_submitted": sum(group["n_submitted"] for group in groups),
        "n_open": sum(group["n_open"] for group in groups),
        "n_answers": len(_answered(material.people)),
        "n_missing": n_missing,
        "left_out": {**_left_out(material.everything), "practice": _n_practised(material.study)},
        "raters": _raters(material),
        "median_minutes_per_story": _median_minutes(material),
        "groups": groups,
        "judges": _judges(material.judges),
    }


def _groups(material: Material) -> list[dict[str, Any]]:
    """Each group with its seats: submitted, being worked on, free."""
    of_people = Q(seats__rater_kind=Rater.Kind.PERSON)
    found = material.study.groups.order_by("code").annotate(n_seats=Count("seats", filter=of_people, distinct=True))
    n_stories = Counter(group for group, _ in material.units)
    live = Counter(
        Assignment.objects.filter(study=material.study, rater_kind=Rater.Kind.PERSON, status__in=Assignment.LIVE)
        .exclude(seat=None)
        .values_list("group__code", "status")
    )
    return [
        {
            "group": group.code,
            "n_stories": n_stories[group.code],
            "n_seats": group.n_seats,
            "n_submitted": live[(group.code, "submitted")],
            "n_open": live[(group.code, "open")],
            "n_free": group.n_seats - live[(group.code, "submitted")] - live[(group.code, "open")],
        }
        for group in found
    ]


def _answered(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["outcome"] == "answered") & (table["group"] != "")]


def _owed(material: Material, answers: pd.DataFrame) -> pd.DataFrame:
    """Those of the answers that could not be skipped."""
    owed = [a.key for a in material.asked if not a.item.is_skippable]
    return answers[pd.MultiIndex.from_frame(answers[["step", "item"]]).isin(owed)]


def _n_expected(material: Material, groups: list[dict[str, Any]]) -> int:
    """How many answers the submitted assignments that count should hold, leaving out what may be skipped."""
    n_each = sum(not a.item.is_skippable for a in material.asked if a.is_about_a_story)
    n_once = sum(not a.item.is_skippable for a in material.asked if a.step.scope == Step.Scope.GROUP)
    n_stories = {group["group"]: group["n_stories"] for group in groups}
    taken = material.people[["rater", "group"]].drop_duplicates()["group"]
    return sum(n_each * n_stories[code] + n_once for code in taken if code in n_stories)


def _left_out(table: pd.DataFrame) -> dict[str, int]:
    """Answers that people gave and that no result counts, by why."""
    people = frames.people(table)
    # Of erased answers it is still known that they were given.
    was_given = (people["status"] == "withdrawn") & people["was_given"].astype(bool)
    counts = people.loc[(people["outcome"] == "answered") | was_given, "status"].value_counts()
    return {why: int(counts.get(why, 0)) for why in ("open", "given_up", "withdrawn", "simulated")}


def _n_practised(study: Study) -> int:
    """Answers that people gave to practise on."""
    of_people = Response.objects.filter(assignment__study=study, assignment__rater_kind=Rater.Kind.PERSON)
    return of_people.filter(step__kind=Step.Kind.PRACTICE, outcome=Response.Outcome.ANSWERED).count()


def _raters(material: Material) -> str:
    """Who the people in the results are: real, simulated, or none yet."""
    if not len(material.people):
        return "none"
    simulated = material.study.raters.filter(code__in=list(material.people["rater"].unique()), is_simulated=True)
    return "simulated" if simulated.exists() else "real"


def _median_minutes(material: Material) -> float | None:
    """The median of active minutes that a rater spent on one story, where time was counted."""
    found = (
        Timing.objects.filter(assignment__study=material.study, assignment__status=Assignment.Status.SUBMITTED)
        .filter(story__isnull=False, assignment__rater_kind=Rater.Kind.PERSON, step__scope=Step.Scope.STORY)
        .values_list("assignment", "story")
        .annotate(seconds=Sum("active_seconds"))
    )
    seconds = [row[2] for row in found if row[2]]
    return float(pd.Series(seconds).median() / 60) if seconds else None


def _judges(table: pd.DataFrame) -> list[dict[str, Any]]:
    n_answered = table[table["outcome"] == "answered"].groupby("rater").size()
    kind_by_name = dict(zip(table["rater"], table["rater_kind"], strict=True))
    return [
        {"judge": name, "kind": kind, "n_answered": int(n_answered.get(name, 0))}
        for name, kind in sorted(kind_by_name.items())
    ]
