"""The choices that documents and tables share: which kinds of steps, sources and orders there are.

No tables here, so that a document can be read and checked without a database.
"""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class SourceKind(TextChoices):
    EXPERT = "expert_writer", _("expert writer")
    AMATEUR = "amateur_writer", _("amateur writer")
    MODEL = "language_model", _("language model")
    OTHER = "other", _("other")


class IntakeStage(TextChoices):
    """How far a file's stories are on their way into a study. All is counted but the last, which is one transaction."""

    READING = "reading", _("rows are read")
    EXAMINING = "examining", _("rows are examined")
    WRITING = "writing", _("stories are put into the study")


class TextKind(TextChoices):
    STORY = "story", _("story")
    IDEA = "idea", _("idea")
    TEXT = "text", _("text")


class Rationale(TextChoices):
    NONE = "none", pgettext_lazy("rationale", "None")
    OPTIONAL = "optional", _("Optional")
    REQUIRED = "required", _("Required")


class RationaleUnit(TextChoices):
    WORDS = "words", _("Words")
    SENTENCES = "sentences", _("Sentences")


class OrderPolicy(TextChoices):
    BALANCED = "balanced", _("counterbalanced: every story equally often at every position")
    RANDOM = "random", _("shuffled anew for every place")
    FIXED = "fixed", _("as listed in the file")


class StepKind(TextChoices):
    CONSENT = "consent", _("Consent")
    BRIEFING = "briefing", _("Briefing")
    PRACTICE = "practice", _("Practice story")
    RATING = "rating", _("Questions")
    METRIC = "metric", _("Values of a metric")


class StepScope(TextChoices):
    STORY = "story", _("each story by itself, on the reading desk")
    STORIES = "stories", _("each story, all on one page")
    GROUP = "group", _("the group as a whole")
    ONCE = "once", _("once for every rater")


class OnFailure(TextChoices):
    """What becomes of somebody who has not passed a comprehension check in any of its attempts."""

    END = "end", _("is thanked and goes no further")
    CONTINUE = "continue", _("goes on, and the failure is recorded")


class StepBackground(TextChoices):
    ABOVE = "above", _("always above the question")
    FOLDED = "folded", _("above the question, folded after the first story")
    ON_DEMAND = "on_demand", _("folded until asked for")


class StepLayout(TextChoices):
    ITEMS = "", _("one item after another")
    CLOZE = "cloze", _("fields in the running text")
