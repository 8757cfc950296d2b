"""What is asked, about which texts, in which order of steps.

A **study** shows **stories** in **groups** and asks **instruments** made of **items**, in **steps**.

Source         who wrote: a person or a model, by name and kind.
Story          a text as raters see it, under a code that says nothing; withheld if we have answers but no right to it.
Provenance     where a story comes from. Kept apart: code that serves raters never reads this table.
Subset         how the stories of a study were drawn from those of another; kept apart as provenance is.
StoryImport    a file of stories on its way in, with who wrote them; seen by those who may know, gone after a day.
StoryIntake    how far a worker is with bringing in a long one of these files, and whose turn it is.
StoryColumns   what was said of the columns of such a file, for the next one.
StoryGroup     stories that are read together; a story can stand in several groups (pairs).
Instrument     a published questionnaire in one version; once published it never changes.
Item           one question of an instrument.
Cloze          a text with blanks, and the instruments that it becomes: one to fill it, one to judge what was filled.
Study          what runs: its stories, its groups, its design.
Rehearsal      a study that is the copy of another, for one account to walk through as a rater: `Study.every` has it,
               `Study.objects` has not.
ProtocolVersion  the steps as frozen on a day, as canonical JSON with a hash. Not frozen: the draft.
Amendment      what was changed of a launched study, with the reason and for whom it holds; rows are only added.
Step           one part of the protocol: a text to agree to or read, or an instrument to answer. A metric's values stand
               in a step of their own, which is no part of the protocol.
StudyJob       work that takes too long for a page and that a worker does, with what came of it, for a day.
PostedForm     a form that made something, for an hour: the same one sent again leads to what it made.
Membership     an account of the staff at work on one study, in one role; `studies.access` says what that allows.
"""

from studies.models.amendments import Amendment
from studies.models.facts import is_unsaid
from studies.models.forms import PostedForm
from studies.models.incoming_tables import WaitingFile, WaitingFiles, WaitingTable
from studies.models.instruments import Cloze, Instrument, Item
from studies.models.jobs import StudyJob
from studies.models.memberships import Membership
from studies.models.stories import (
    Provenance,
    Source,
    Story,
    StoryColumns,
    StoryGroup,
    StoryImport,
    StoryIntake,
    Subset,
    measure,
)
from studies.models.studies import ProtocolVersion, Step, Study

__all__ = [
    "Amendment",
    "Cloze",
    "Instrument",
    "Item",
    "Membership",
    "PostedForm",
    "ProtocolVersion",
    "Provenance",
    "Source",
    "Step",
    "Story",
    "StoryColumns",
    "StoryGroup",
    "StoryImport",
    "StoryIntake",
    "Study",
    "StudyJob",
    "Subset",
    "WaitingFile",
    "WaitingFiles",
    "WaitingTable",
    "is_unsaid",
    "measure",
]
