"""Who may have another group: not raters who have read as many as the study gives, nor those who took part before."""

from django.db.models import Q
from django.utils import timezone

from annotation.models import Assignment, Rater


def count_groups_read(rater: Rater) -> int:
    """How many groups the rater has read or begun to read: all but those that they knew and gave back unread."""
    return rater.assignments.exclude(group=None).exclude(read_before=True).count()


def has_read_most(rater: Rater) -> bool:
    """Whether the rater has had as many groups as one person may read. No query where the study sets no limit."""
    most = rater.study.groups_per_rater
    return bool(most) and count_groups_read(rater) >= (most or 0)


def has_expired(rater: Rater) -> bool:
    """Whether the hours of the rater's invitation are over. At most one query."""
    invitation = getattr(rater, "invitation", None)
    return invitation is not None and invitation.expires_at is not None and invitation.expires_at <= timezone.now()


def took_part_before(rater: Rater) -> bool:
    """Whether the person had a group in one of the studies whose raters this one excludes, as far as is known.

    Known by the identity that stewards keep: the same one, or another with the same e-mail or platform id. Nobody is
    known who came by a link alone. No query where the study excludes none.
    """
    slugs = rater.study.excluded_studies
    if not slugs or rater.identity is None:
        return False
    identity = rater.identity
    is_same = Q(rater__identity=identity)
    if identity.email:
        is_same |= Q(rater__identity__email__iexact=identity.email)
    if identity.platform_id:
        is_same |= Q(rater__identity__platform=identity.platform, rater__identity__platform_id=identity.platform_id)
    return Assignment.objects.filter(is_same, study__slug__in=slugs).exclude(seat=None).exists()
