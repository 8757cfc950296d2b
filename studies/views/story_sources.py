"""Who wrote the stories, for those who may know: sources, lengths, and typing that differs by source."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies import formatting, story_edits
from studies.access import Access
from studies.action_log import log_action
from studies.models import Provenance, Study
from studies.protocol.subset_descriptions import describe_subset
from studies.views.guards import require_in_study
from studies.vocabulary import SourceKind

SEES = "studies.view_provenance"
MAY_CHANGE = "studies.change_provenance"
# More texts are compared only when somebody asks for it: it takes seconds.
COMPARED_AT_ONCE = 300
MOST_DOTS = 80
LEFT, RIGHT, TOP, STEP = 264.0, 776.0, 24, 40


@dataclass
class StudySource:
    """One source in this study. dots, mean_x : of the drawing of lengths"""

    name: str
    kind: str
    lengths: list[int] = field(default_factory=list)
    licences: set[str] = field(default_factory=set)
    factors: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    n_to_models: int = 0
    n_in_exports: int = 0
    dots: list[tuple[float, int]] = field(default_factory=list)
    mean_x: float = 0
    y: int = 0

    @property
    def mean(self) -> float:
        return fmean(self.lengths)

    @property
    def shortest(self) -> int:
        return min(self.lengths)

    @property
    def longest(self) -> int:
        return max(self.lengths)

    @property
    def properties(self) -> list[str]:
        return [f"{name}: {', '.join(sorted(values)[:6])}" for name, values in sorted(self.factors.items())]


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"), query=("typing",))
def story_sources(request: HttpRequest, access: Access) -> HttpResponse:
    """For those who may know who wrote: sources, words by source, and typing that differs by source."""
    study = access.study
    if request.method == "POST":
        _normalise(request, study)
        return redirect("studies:story_sources", slug=study.slug)
    sources = _list_sources(study)
    ticks = _draw(sources)
    n_stories = sum(len(source.lengths) for source in sources)
    is_asked_for = bool(request.GET.get("typing"))
    is_compared = is_asked_for or (
        n_stories <= COMPARED_AT_ONCE and formatting.count_letters(study) <= formatting.LETTERS_AT_ONCE
    )
    tables = formatting.report(study, by_group=False) if is_compared else []
    obstacle = story_edits.find_obstacle(study)
    context = {
        "study": study,
        "access": access,
        "sources": sources,
        "subset_sentence": describe_subset(study, with_strata=True),
        "ticks": ticks,
        "bottom": TOP + STEP * len(sources),
        "height": TOP + STEP * len(sources) + 10,
        "n_stories": n_stories,
        "is_compared": is_compared,
        "table": tables[0] if tables else None,
        "effects": [effect for effect in formatting.list_effects(study) if effect.n_stories] if is_compared else [],
        "obstacle": obstacle,
        "may_change": not obstacle and access.may(MAY_CHANGE),
    }
    return render(request, "studies/story_sources.html", context)


def _list_sources(study: Study) -> list[StudySource]:
    names = ("source__name", "source__kind", "licence", "factors", "may_send_out", "may_redistribute", "story__n_words")
    rows: dict[str, StudySource] = {}
    kinds = dict(SourceKind.choices)
    for name, kind, licence, factors, to_models, in_exports, n_words in Provenance.objects.filter(
        story__study=study
    ).values_list(*names):
        row = rows.setdefault(name, StudySource(name, str(kinds[kind])))
        row.lengths.append(n_words)
        row.licences |= {licence} if licence else set()
        row.n_to_models += to_models
        row.n_in_exports += in_exports
        for factor, value in factors.items():
            row.factors[factor].add(str(value))
    return [rows[name] for name in sorted(rows)]


def _draw(sources: list[StudySource]) -> list[tuple[float, int]]:
    """Put places into the sources' rows; the ticks of the axis as place and number of words."""
    if not sources:
        return []
    least, most = min(s.shortest for s in sources), max(s.longest for s in sources)
    unit = next((u for u in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000) if (most - least) <= 5 * u), 50_000)
    low = least // unit * unit
    high = max(-(-most // unit) * unit, low + unit)

    def place(n_words: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (n_words - low) / (high - low), 1)

    for n, source in enumerate(sources):
        ordered = sorted(source.lengths)
        source.y = TOP + 20 + STEP * n
        source.dots = [(place(length), length) for length in ordered[:: max(1, -(-len(ordered) // MOST_DOTS))]]
        source.mean_x = place(source.mean)
    return [(place(n_words), n_words) for n_words in range(low, high + 1, unit)]


def _normalise(request: HttpRequest, study: Study) -> None:
    """Make the chosen ways of typing alike, and say what came of it."""
    kinds = request.POST.getlist("kinds")
    try:
        story_edits.require_editable(study)
        n = formatting.normalise(study, kinds) if kinds else 0
    except (formatting.CannotNormalise, story_edits.StoriesFinal) as error:
        messages.error(request, str(error))
        return
    if not kinds:
        messages.error(request, _("Nothing was changed: choose what is to be made alike."))
        return
    log_action(study, f"normalised: {', '.join(kinds)}", by=request.user)
    sentence: Any = ngettext("%(n)d text was made alike.", "%(n)d texts were made alike.", n)
    messages.success(request, sentence % {"n": n} + " " + _("What they were is kept."))
