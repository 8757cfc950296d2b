"""One thing to be said of a study before it is planned or launched: what it is, where it is mended, what it hinders."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from studies.facts import KEYS


class Purpose(StrEnum):
    """What a study is wanted for."""

    PLAN = "plan"
    LAUNCH = "launch"
    REHEARSAL = "rehearsal"
    RUN = "run"  # of a judge
    IMPORT = "import"  # of answers that were given elsewhere


WITH_RATERS = frozenset({Purpose.LAUNCH})
# All but bringing in answers of people who read elsewhere: what this study would tell or pay them binds nobody.
WITH_READERS = frozenset(Purpose) - {Purpose.IMPORT}
# The parts of a study, as the rail calls them, and the first word of the locations that belong to each.
PARTS = ("steps", "stories", "reading_plan", "rater_information", "analysis_plan", "launch")
PART_OF_LOCATION = {
    "step": "steps",
    "group": "stories",
    "story": "stories",
    "seats_per_group": "reading_plan",
    "n_repeats": "reading_plan",
    **dict.fromkeys(KEYS, "rater_information"),
    "analysis_plan": "analysis_plan",
    "state": "launch",
    "closes_at": "rater_information",
}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a study, or could be better.

    level : an error hinders the purposes for which it counts; a warning hinders nothing
    location : the step, group, story or field, as "step consent"; "" for the study as a whole
    way_out : what to do about it; "" where the sentence says it
    part : the part of the study where it is mended, as the rail calls it; "" where only its location says it
    anchor : the place on that part's page; "" for the page as a whole
    """

    level: Literal["error", "warning"]
    location: str
    sentence: str
    way_out: str = ""
    purposes: frozenset[Purpose] = frozenset(Purpose)
    part: str = ""
    anchor: str = ""

    def __str__(self) -> str:
        return "; ".join(filter(None, [self.sentence, self.way_out]))

    @property
    def place(self) -> str:
        """The part of the study where it is mended."""
        return self.part or PART_OF_LOCATION.get(self.location.partition(" ")[0], "steps")

    def hinders(self, purpose: Purpose) -> bool:
        return self.level == "error" and purpose in self.purposes


def select_errors(findings: Iterable[Finding], purpose: Purpose) -> list[Finding]:
    """Those that stand in the way of that purpose."""
    return [finding for finding in findings if finding.hinders(purpose)]
