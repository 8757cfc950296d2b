"""Who answers: raters, their seats, what they answered, and the history of it.

Rater          who answers in one study, by code (E01): a person, a model or a metric.
Identity       who a person is. Kept apart; spans studies; nothing that serves or reports answers reads it.
Invitation     a secret link, stored as its hash; the same link always finds the same rater.
ReplacedLink   the hash of a link that was replaced by a new one of the same invitation, so that its page can say so.
InvitationMail one mail to one invited person, written before the attempt; an outcome nobody knows waits for a person.
ProlificRecruitment  the address, codes and limits by which people come from Prolific.
ProlificArrival  that somebody came from Prolific, when, and how it ended if not by submission.
WaitingPerson  that somebody who found no place wants to be written to when one is free.
ApplicationCall  the page on which people apply, the questions of eligibility, and how long applications are kept.
Application    what somebody answered there, and what became of it.
PayRate        what a study pays for a group and for a part, in amounts.
Payment        what somebody was paid; rows are only added, a correction is the difference.
MailTemplate   the wording of a study's mails, where it is not the one that comes along.
Consent        which version of the consent text a rater agreed to, and when.
Withdrawal     that a rater left, and when.
StepTaken      that a rater went through a step that is met once, a text or questions; of a check, each attempt.
Seat           one planned reading of one group, with its order of stories and its position in a row. Decided before
               anyone arrives. A row holds every group once, for one person to read along.
Assignment     a rater in a seat; or, without a seat, the one visit that holds what is asked once of a rater.
LaterVersion   from when on somebody at work has had a later version of the protocol, by an amendment for everybody.
Response       a rater's answer to one item about one story, about the group, or about neither.
ResponseEvent  every version of a response, chained by hashes; rows are only added.
Timing         active seconds per assignment, step and story; of a cloze per section.
Fill           what became of a cloze that somebody filled: given up, submitted, or shortlisted by an editor.
BroughtFile    a file of answers or scores that somebody brought, until it is confirmed.
AnswerImport   answers that came in from a file: who brought it, when, its hash, and how its columns were read.
Recognition    that a rater recognised a story at work; who knew one before reading has `read_before` in the assignment.
"""

from annotation.models.applications import Application, ApplicationCall
from annotation.models.imports import AnswerImport, BroughtFile
from annotation.models.mails import InvitationMail, MailKind, MailTemplate
from annotation.models.payments import Payment, PayRate
from annotation.models.raters import Consent, Identity, Invitation, Rater, ReplacedLink, StepTaken, Withdrawal
from annotation.models.recruitment import ProlificArrival, ProlificRecruitment, WaitingPerson
from annotation.models.responses import Fill, Recognition, Response, ResponseEvent, Timing
from annotation.models.seats import Assignment, LaterVersion, Seat, new_code

__all__ = [
    "AnswerImport",
    "Application",
    "ApplicationCall",
    "Assignment",
    "BroughtFile",
    "Consent",
    "Fill",
    "Identity",
    "Invitation",
    "InvitationMail",
    "LaterVersion",
    "MailKind",
    "MailTemplate",
    "PayRate",
    "Payment",
    "ProlificArrival",
    "ProlificRecruitment",
    "Rater",
    "Recognition",
    "ReplacedLink",
    "Response",
    "ResponseEvent",
    "Seat",
    "StepTaken",
    "Timing",
    "WaitingPerson",
    "Withdrawal",
    "new_code",
]
