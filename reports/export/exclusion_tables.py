"""The table of a package that says which readings the exclusion rules of the analysis plan leave out."""

from __future__ import annotations

from collections.abc import Iterator

from reports.dataset import Dataset
from reports.export.content import PackageContent, PackageTable, Row, TableField
from reports.lazy import np
from studies import protocol
from studies.models import Study

EXCLUSION = {
    "rule": TableField("The rule of the plan: failed_checks, fast, straight_lining, recognised, raters or stories."),
    "rater": TableField("Code of the rater."),
    "group": TableField("Code of the group."),
    "story": TableField("Code of the story."),
}


def has_rules(study: Study) -> bool:
    """Whether a plan with exclusion rules was frozen. One query."""
    plan = protocol.frozen_plan(study)
    return plan is not None and bool(plan.rules)


def exclusion_rows(content: PackageContent) -> Iterator[Row]:
    """Every reading of a story that a rule leaves out, rule by rule; none in a blind package."""
    if not content.with_sources or not has_rules(content.study):
        return
    dataset = Dataset.of(content.study)
    people = dataset.people[["rater", "group"]].drop_duplicates()
    has_read = set(zip(people["rater"], people["group"], strict=True))
    for exclusion in dataset.exclusions:
        for row, column in np.argwhere(exclusion.readings).tolist():
            rater, (group, story) = dataset.raters[row], dataset.units[column]
            if (rater, group) in has_read:
                yield {"rule": exclusion.rule, "rater": rater, "group": group, "story": story}


TABLES = (
    PackageTable(
        "exclusions.csv",
        "With sources: which readings the exclusion rules of the analysis plan leave out of its comparisons.",
        lambda content: EXCLUSION,
        exclusion_rows,
        lambda content: sum(1 for _row in exclusion_rows(content)),
        is_needed=True,
        needs_sources=has_rules,
    ),
)
