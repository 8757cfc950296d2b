"""How far a rater has come, read from the database."""

from annotation.models import Assignment, Rater
from annotation.participation import claims, consents, recognition, versions
from annotation.progress.outlines import load_outline
from annotation.progress.steps import RaterProgress


def load_rater_progress(rater: Rater) -> RaterProgress:
    """How far the rater has come. The study must be open, so that there is a frozen protocol."""
    assignments = list(rater.assignments.select_related("version", "study").defer("version__document"))
    at_work = next((a for a in assignments if a.seat_id and a.status == Assignment.Status.OPEN), None)
    outline = load_outline(at_work.version if at_work else versions.find_version(rater))
    # Of several attempts the latest.
    step_taken_by_key = {
        step_taken.step.key: step_taken for step_taken in rater.steps_taken.select_related("step").order_by("attempt")
    }
    return RaterProgress(
        protocol=outline.protocol,
        has_consented=consents.has_consented(rater, outline.protocol.consent),
        passed=frozenset(key for key, step_taken in step_taken_by_key.items() if step_taken.lets_on),
        attempts={key: step_taken for key, step_taken in step_taken_by_key.items() if not step_taken.lets_on},
        at_work=at_work,
        owes_recognition=at_work is not None and recognition.is_owed(at_work, has_desk=outline.has_desk),
        n_submitted=sum(bool(a.seat_id) and a.status == Assignment.Status.SUBMITTED for a in assignments),
        n_left=claims.n_groups_left(rater),
        has_begun=any(a.seat_id for a in assignments),
        has_finished=any(a.seat_id is None and a.status == Assignment.Status.SUBMITTED for a in assignments),
    )
