"""The sections of a report, each about a question that a reader has; a figure says in which it stands."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

FINDINGS, METHODS = "findings", "methods"


@dataclass(frozen=True)
class SectionKind:
    """key : in its address; question : what it answers"""

    key: str
    title: Promise
    question: Promise


SECTIONS = {
    kind.key: kind
    for kind in (
        SectionKind(
            FINDINGS,
            pgettext_lazy("section of a report", "Findings"),
            pgettext_lazy("section of a report", "What was found, sentence by sentence?"),
        ),
        SectionKind(
            "sources",
            pgettext_lazy("section of a report", "Sources"),
            pgettext_lazy("section of a report", "Which sources are ahead, by how much, and how sure is that?"),
        ),
        SectionKind(
            "agreement",
            pgettext_lazy("section of a report", "Agreement"),
            pgettext_lazy("section of a report", "How far do raters agree?"),
        ),
        SectionKind(
            "raters",
            pgettext_lazy("section of a report", "Raters"),
            pgettext_lazy("section of a report", "Who rated, how far have they come, and what should they be asked?"),
        ),
        SectionKind(
            "items",
            pgettext_lazy("section of a report", "Items and scores"),
            pgettext_lazy("section of a report", "What was answered, and do the items belong together?"),
        ),
        SectionKind(
            "stories",
            pgettext_lazy("section of a report", "Stories"),
            pgettext_lazy("section of a report", "Where does each story stand?"),
        ),
        SectionKind(
            "pairs",
            pgettext_lazy("section of a report", "Pairs and rankings"),
            pgettext_lazy("section of a report", "Which story was preferred to which?"),
        ),
        SectionKind(
            "judges",
            pgettext_lazy("section of a report", "Judges"),
            pgettext_lazy("section of a report", "Do judges answer as people do, and what do they cost?"),
        ),
        SectionKind(
            "texts",
            pgettext_lazy("section of a report", "Texts and metrics"),
            pgettext_lazy("section of a report", "What do the texts themselves show?"),
        ),
        SectionKind(
            "cloze",
            pgettext_lazy("section of a report", "Cloze"),
            pgettext_lazy("section of a report", "Who filled the blanks, and how well?"),
        ),
        SectionKind(
            METHODS,
            pgettext_lazy("section of a report", "Methods"),
            pgettext_lazy("section of a report", "What do the findings depend on?"),
        ),
    )
}
