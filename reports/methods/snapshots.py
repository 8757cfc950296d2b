"""Which models answered for a judge, as the provider named them: a name may be moved to another snapshot in between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from django.db.models import Count
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judges.models import Attempt
from judges.providers import count_models
from reports.numbers import whole
from studies.models import Study


@dataclass
class Answering:
    """A model that answered for a judge. fingerprints : of the provider's systems, as far as it named them"""

    model: str
    n_replies: int = 0
    fingerprints: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        replies = ngettext("%(n)s reply", "%(n)s replies", self.n_replies) % {"n": whole(self.n_replies)}
        return f"{self.model} ({', '.join([replies, *self.fingerprints])})"


def load_answering(study: Study) -> Mapping[str, list[Answering]]:
    """The models that answered each judge of the study, by the judge's name. One query."""
    replies = Attempt.objects.filter(
        call__run__study=study, call__run__drift_check=None, outcome=Attempt.Outcome.ANSWERED
    ).exclude(model="")
    rows = replies.values_list("call__run__judge__slug", "model", "system_fingerprint").order_by(
        "call__run__judge__slug", "model", "system_fingerprint"
    )
    by_judge: dict[str, dict[str, Answering]] = defaultdict(dict)
    for judge, model, fingerprint, n in rows.annotate(n=Count("pk")):
        answering = by_judge[judge].setdefault(model, Answering(model))
        answering.n_replies += n
        answering.fingerprints += [fingerprint] if fingerprint else []
    return {judge: list(models.values()) for judge, models in by_judge.items()}


def describe_answering(judge: str, models: list[Answering], *, asked: str) -> Iterator[str]:
    """What answered for the judge, and that its answers are not of one judge if several models did; nothing where only
    what was asked answered and no more is known of it. asked : the model's name in the judge"""
    names = get_text_list(list(map(str, models)), _("and"))
    if count_models([answering.model for answering in models]) > 1:
        yield _("Several models answered for %(judge)s, so its answers are not all of one judge: %(models)s.") % {
            "judge": judge,
            "models": names,
        }
    elif models and (len(models) > 1 or models[0].model != asked or models[0].fingerprints):
        yield _("For %(judge)s answered %(models)s.") % {"judge": judge, "models": names}
