"""What may be done with the texts of a study. Answers in codes, so that the caller learns nothing else of a story."""

from collections.abc import Collection

from studies.models import Provenance, Story, Study


def find_sendable_codes(study: Study) -> set[str]:
    """Codes of the stories whose text may be sent to an outside provider. No word about it means no."""
    allowed = Provenance.objects.filter(story__study=study, story__is_withheld=False, may_send_out=True)
    return set(allowed.values_list("story__code", flat=True))


def find_leave(hashes: Collection[str]) -> dict[str, bool]:
    """Of the texts with these hashes that are stories of any study, whether every one of those may be sent to an
    outside provider; a story without provenance may not. Texts that are no story have no entry."""
    stories = Story.objects.filter(sha256__in=hashes, is_withheld=False)
    leave: dict[str, bool] = {}
    for sha, may_send_out in stories.values_list("sha256", "provenance__may_send_out"):
        leave[sha] = leave.get(sha, True) and bool(may_send_out)
    return leave
