"""The facts of a study: what it says of itself in a line, each declared once.

From this list follow the forms, the study file, the frozen document, amendments, copies and names in braces; for a fact
without a column also the protocol in words, the pages that raters arrive on, the methods and the README of packages.
No tables here, so that a study file can be read without a database.
"""

from dataclasses import dataclass
from enum import Enum, auto

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

MOST_MINUTES = 1440


class FactKind(Enum):
    LINE = auto()
    ADDRESS = auto()
    MINUTES = auto()


@dataclass(frozen=True, kw_only=True)
class StudyFact:
    """One fact. Only what differs from an ordinary line of words is said.

    key : in study files, frozen documents and amendments
    label : on pages, in prose and in packages; hint : below its field
    hint_when_new : below its field on the page of a new study, which asks for it if there is one
    has_column : code reads it by name, and pages have words of their own for it; all others are kept together in one
        column and said as "label: value", so that a new one needs neither migration nor template
    is_frozen_if_empty : stands in frozen documents also where it is empty, as those had it that are frozen already
    in_texts : its key in braces stands for it in the texts of steps
    is_copied : a study made like another takes it over and need not enter it again
    is_passed_to_fills : a study of what was written in this one takes it over
    sample : what stands in a study file that somebody is to fill in
    """

    key: str
    label: str | Promise
    hint: str | Promise = ""
    hint_when_new: str | Promise = ""
    kind: FactKind = FactKind.LINE
    longest: int = 200
    has_column: bool = False
    is_frozen_if_empty: bool = False
    in_texts: bool = False
    is_copied: bool = True
    is_passed_to_fills: bool = True
    sample: str = ""


FACTS = (
    StudyFact(
        key="organiser",
        label=_("Who runs it"),
        hint=_("A person and an institution. Where a text says {organiser}, it is filled in."),
        hint_when_new=_("A person and an institution, as they should stand in the consent."),
        has_column=True,
        is_frozen_if_empty=True,
        in_texts=True,
        is_copied=False,
        sample="NAME WHO RUNS THE STUDY",
    ),
    StudyFact(
        key="contact",
        label=_("Who raters can write to"),
        hint=_("An e-mail address. Where a text says {contact}, it is filled in."),
        hint_when_new=_("An e-mail address. This and who runs it can be said later, too."),
        kind=FactKind.ADDRESS,
        has_column=True,
        is_frozen_if_empty=True,
        in_texts=True,
        is_copied=False,
        sample="name@example.org",
    ),
    StudyFact(
        key="minutes",
        label=_("Minutes for a group"),
        kind=FactKind.MINUTES,
        has_column=True,
        is_frozen_if_empty=True,
        is_passed_to_fills=False,
    ),
    StudyFact(
        key="pay",
        label=_("Pay"),
        hint=_("With the currency, or that nothing is paid. Where a text says {pay}, it is filled in."),
        has_column=True,
        in_texts=True,
        is_passed_to_fills=False,
        sample="Nothing",
    ),
    StudyFact(
        key="pay_for_part",
        label=_("Pay for a part"),
        hint=_("What people are paid if they stop before the end."),
        has_column=True,
        is_passed_to_fills=False,
    ),
    StudyFact(
        key="notice",
        label=_("Notice"),
        hint=_("Shown on every page of the study and on its report."),
        longest=300,
        has_column=True,
        is_frozen_if_empty=True,
        is_copied=False,
    ),
    StudyFact(
        key="ethics_approval",
        label=_("Ethics approval"),
        hint=_("By whom and under which number. Where a text says {ethics_approval}, it is filled in."),
        in_texts=True,
        # An approval belongs to one study: another study needs its own.
        is_copied=False,
        is_passed_to_fills=False,
    ),
)
KEYS = tuple(fact.key for fact in FACTS)
COLUMNS = tuple(fact.key for fact in FACTS if fact.has_column)
PLAIN_FACTS = tuple(fact for fact in FACTS if not fact.has_column)
ASKED_WHEN_NEW = tuple(fact for fact in FACTS if fact.hint_when_new)
LABEL_BY_KEY = {fact.key: fact.label for fact in FACTS}
