"""What a score is made of, in the reader's words."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from studies.documents.scores import MEAN, ScoreDocument


def score_words(score: ScoreDocument, title_by_item: Mapping[str, str]) -> str:
    """As “mean of Authenticity, Empathy, Engagement”. title_by_item : by its key"""
    parts = [_part(score, key, title_by_item[key]) for key in score.items]
    words = {"items": ", ".join(parts)}
    return _("mean of %(items)s") % words if score.how == MEAN else _("sum of %(items)s") % words


def _part(score: ScoreDocument, key: str, title: str) -> str:
    weighted = f"{score.weights[key]:g} × {title}" if key in score.weights else title
    return _("%(item)s (reversed)") % {"item": weighted} if key in score.reversed else weighted
