"""What may be done with the texts of a study. Answers in codes, so that whoever asks learns nothing else of a story."""

from studies.models import Provenance, Study


def find_sendable_codes(study: Study) -> set[str]:
    """Codes of the stories whose text may be sent to an outside provider. No word about it means no."""
    allowed = Provenance.objects.filter(story__study=study, story__is_withheld=False, may_send_out=True)
    return set(allowed.values_list("story__code", flat=True))
