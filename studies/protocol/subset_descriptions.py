"""How the stories of a study were drawn from those of another, in words: for methods and for the registered plan."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.models import Study, Subset
from studies.strata import DOUBT, GROUP, SOURCE, TEXT, Criterion, parse_criterion


def describe_subset(study: Study, *, with_strata: bool) -> str:
    """A sentence or two; "" for a study whose stories were not drawn. One query.

    with_strata : only for those who may know who wrote the stories
    """
    subset = Subset.objects.filter(study=study).first()
    return " ".join(_sentences(subset, with_strata=with_strata)) if subset else ""


def _sentences(subset: Subset, *, with_strata: bool) -> Iterator[str]:
    n_taken = sum(stratum["n_taken"] for stratum in subset.strata)
    if with_strata and subset.criteria == [DOUBT]:
        sentence = ngettext(
            "%(taken)d story was taken from the %(there)d of “%(title)s”, on which judges were divided most.",
            "%(taken)d stories were taken from the %(there)d of “%(title)s”, those on which judges were divided most.",
            n_taken,
        )
    elif with_strata:
        sentence = ngettext(
            "%(taken)d story was drawn from the %(there)d of “%(title)s” with the seed %(seed)d.",
            "%(taken)d stories were drawn from the %(there)d of “%(title)s” with the seed %(seed)d.",
            n_taken,
        )
    else:
        # By the seed the draw can be done again, and then what was not drawn tells the strata.
        sentence = ngettext(
            "%(taken)d story was drawn from the %(there)d of “%(title)s”.",
            "%(taken)d stories were drawn from the %(there)d of “%(title)s”.",
            n_taken,
        )
    n_there = sum(stratum["n_there"] for stratum in subset.strata)
    yield sentence % {"taken": n_taken, "there": n_there, "title": subset.title, "seed": subset.seed}
    if not (with_strata and subset.criteria) or subset.criteria == [DOUBT]:
        return
    names = get_text_list([name_criterion(parse_criterion(text)) for text in subset.criteria], _("and"))
    values = {"n": subset.n, "strata": len(subset.strata), "names": names}
    if subset.is_each:
        yield _("They were drawn in %(strata)d strata by %(names)s, %(n)d from each.") % values
    else:
        yield _("They were drawn in %(strata)d strata by %(names)s, spread over these as evenly as possible.") % values
    n_lacking = sum(stratum["n_there"] < stratum["n_asked"] for stratum in subset.strata)
    if n_lacking:
        sentence = ngettext("%(n)d stratum had fewer and gave all.", "%(n)d strata had fewer and gave all.", n_lacking)
        yield sentence % {"n": n_lacking}
    if subset.left_out:
        left_out = [
            f"{name_criterion(parse_criterion(text))} ({subset.left_out[text]})"
            for text in subset.criteria
            if text in subset.left_out
        ]
        yield _("Stories without a value were left out: %(names)s.") % {"names": ", ".join(left_out)}


def name_criterion(criterion: Criterion) -> str:
    """What pages call the criterion."""
    title_by_name = {SOURCE: _("source"), GROUP: _("prompt"), TEXT: _("length")}
    name = title_by_name.get(criterion.name, criterion.name)
    if criterion.day:
        return _("%(name)s before %(day)s and from then on") % {"name": name, "day": criterion.day.isoformat()}
    in_parts = {2: _("%(name)s in halves"), 3: _("%(name)s in thirds"), 4: _("%(name)s in quarters")}
    return in_parts[criterion.n_parts] % {"name": name} if criterion.n_parts else name
