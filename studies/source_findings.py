"""What could tell raters or a blind coordinator who wrote a story: for those alone who may see who did."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import pairwise

from django.utils.translation import gettext as _

from studies import formatting
from studies.access import Access
from studies.models import Provenance, Story, Study
from studies.protocol import Finding, Protocol, Purpose, check_deadline, collect_findings

SEES = "studies.view_provenance"
WITH_RATERS = frozenset({Purpose.LAUNCH})
LOOKED_AT = 30  # stories of a source whose typing is compared; the page of the sources compares all
SMALLEST_ORDER = 6  # stories below which an order of codes may follow their sources by chance


def collect_source_findings(study: Study) -> list[Finding]:
    """Stories without a source, telling codes, and typing or length that differ by source."""
    return [*_homeless(study), *_telling_codes(study), *_ordered_codes(study), *_formatting(study)]


def collect_draft_findings(access: Access, drafted: Protocol, *, at: datetime) -> list[Finding]:
    """Findings about a draft for everyone who sees it, without its seats."""
    study = access.study
    return add_source_findings([*collect_findings(study, drafted), *check_deadline(study, drafted, at=at)], access)


def add_source_findings(findings: Iterable[Finding], access: Access) -> list[Finding]:
    """The findings, including those that reveal sources for those who may see them."""
    return [*findings, *(collect_source_findings(access.study) if access.may(SEES) else ())]


def _warn(sentence: str, way_out: str, anchor: str = "") -> Finding:
    return Finding("warning", "", sentence, way_out, WITH_RATERS, "stories", anchor)


def _homeless(study: Study) -> Iterator[Finding]:
    codes = list(Story.objects.filter(study=study, provenance=None).order_by("code").values_list("code", flat=True))
    if codes:
        yield _warn(_("stories without a source: %(codes)s") % {"codes": _shorten(codes)}, _("say who wrote them"))


def _telling_codes(study: Study) -> Iterator[Finding]:
    for code, word in formatting.find_telling_codes(study):
        sentence = _("the code %(code)s reveals the source of its story (%(word)s)") % {"code": code, "word": word}
        yield _warn(sentence, _("give it a neutral code: coordinators see codes and should be blind too"))


def _ordered_codes(study: Study) -> Iterator[Finding]:
    rows = Provenance.objects.filter(story__study=study).order_by("story__code")
    sources = list(rows.values_list("source", flat=True))
    n_sources, n_runs = len(set(sources)), 1 + sum(a != b for a, b in pairwise(sources))
    if len(sources) >= SMALLEST_ORDER and 1 < n_sources < len(sources) and n_runs == n_sources:
        yield _warn(_("sorted by code, the stories are in order of source"), _("give them neutral codes"))


def _formatting(study: Study) -> Iterator[Finding]:
    for table in formatting.report(study, by_group=False, most=LOOKED_AT):
        for row in table.rows:
            if row.why:
                yield _typing(_(row.sign.title), row.why)
        for amount in table.amounts:
            if amount.why:
                sentence = _("%(what)s: %(why)s") % {"what": amount.title, "why": amount.why}
                yield _warn(sentence, _("raters may notice it; Quire does not change lengths"), "formatting")


def _typing(name: str, why: str) -> Finding:
    sentence = _("%(what)s: %(why)s") % {"what": name, "why": why}
    return _warn(sentence, _("make them alike, or keep the difference on purpose"), "formatting")


def _shorten(codes: list[str], *, most: int = 8) -> str:
    return ", ".join(codes[:most]) + ("" if len(codes) <= most else ", …")
