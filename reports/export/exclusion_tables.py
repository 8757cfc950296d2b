"""The table of a package that says which readings the exclusion rules of the analysis plan leave out."""

from __future__ import annotations

from collections.abc import Iterator

from reports.dataset import Dataset
from reports.dataset.exclusions import open_exclusions
from reports.export.content import PackageContent, PackageTable, Row, TableField
from reports.lazy import np
from studies import protocol
from studies.models import Study

EXCLUSION = {
    "rule": TableField("The rule of the plan: failed_checks, fast, straight_lining, recognised, raters or stories."),
    "planned": TableField("Whether the plan has the rule; of a plan without rules it might have been.", "boolean"),
    "rater": TableField("Code of the rater."),
    "group": TableField("Code of the group."),
    "story": TableField("Code of the story."),
}


def has_plan(study: Study) -> bool:
    """Whether a plan was frozen. One query."""
    return protocol.frozen_plan(study) is not None


def exclusion_rows(content: PackageContent) -> Iterator[Row]:
    """Every reading of a story that a rule leaves out, rule by rule; none in a blind package."""
    plan = protocol.frozen_plan(content.study) if content.with_sources else None
    if plan is None:
        return
    dataset = Dataset.of(content.study)
    people = dataset.people[["rater", "group"]].drop_duplicates()
    has_read = set(zip(people["rater"], people["group"], strict=True))
    for exclusion in open_exclusions(dataset, plan):
        for row, column in np.argwhere(exclusion.readings).tolist():
            rater, (group, story) = dataset.raters[row], dataset.units[column]
            if (rater, group) in has_read:
                about = {"rater": rater, "group": group, "story": story}
                yield {"rule": exclusion.rule, "planned": bool(plan.rules), **about}


TABLES = (
    PackageTable(
        "exclusions.csv",
        "With sources: which answers about which stories exclusion rules leave out, of the plan or as it might have.",
        lambda content: EXCLUSION,
        exclusion_rows,
        lambda content: sum(1 for _row in exclusion_rows(content)),
        is_needed=True,
        needs_sources=has_plan,
    ),
)
