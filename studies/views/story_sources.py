"""Who wrote the stories, for those who may know: sources, lengths, and typing that differs by source."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import fmean
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies import formatting, story_edits, typing_jobs
from studies.access import Access
from studies.formatting import TypingReport
from studies.models import Provenance, Study
from studies.protocol.subset_descriptions import describe_subset
from studies.views import study_jobs
from studies.views.guards import require_in_study
from studies.views.study_jobs import JobProgress
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
    study, by = access.study, cast(User, request.user)
    is_poll = study_jobs.is_poll(request)  # only pages of long texts ask so
    is_long = is_poll or formatting.count_letters(study) > formatting.LETTERS_AT_ONCE
    if request.method == "POST":
        _normalise(request, study, is_long=is_long)
        return redirect("studies:story_sources", slug=study.slug)
    is_asked_for = bool(request.GET.get("typing"))
    if is_long and is_asked_for:
        typing_jobs.ask_for_comparison(study, by=by, at=timezone.now())
        return redirect("studies:story_sources", slug=study.slug)
    work = _follow_work(study, by=by) if is_long else TypingWork()
    if is_poll:
        return study_jobs.answer_poll(request, work.progress)
    sources = _list_sources(study)
    ticks = _draw(sources)
    n_stories = sum(len(source.lengths) for source in sources)
    typing = work.typing
    if not is_long and (is_asked_for or n_stories <= COMPARED_AT_ONCE):
        typing = formatting.report_typing(study)
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
        "typing": typing,
        "work": work,
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


@dataclass(frozen=True)
class TypingWork:
    """What a worker does or did for the page, where texts are too long for a request.

    message : what came of making typing alike; problem : why it was not made alike; both "" if nobody asked of late
    is_outdated : whether texts were changed since they were last compared, or while they were
    """

    progress: JobProgress | None = None
    typing: TypingReport | None = None
    message: str = ""
    problem: str = ""
    is_outdated: bool = False


def _follow_work(study: Study, *, by: User) -> TypingWork:
    """First typing is made alike, if somebody asked for that, and then the texts as they are now are compared."""
    normalisation, message, problem = typing_jobs.find_normalisation(study), "", ""
    if normalisation and normalisation.is_under_way:
        return TypingWork(study_jobs.follow(normalisation, _("Typing is being made alike in all texts.")))
    comparison = typing_jobs.find_comparison(study)
    if normalisation and normalisation.problem:
        problem = normalisation.problem
    elif normalisation:
        message = _say_made_alike(typing_jobs.count_changed(normalisation))
        comparison = comparison or typing_jobs.ask_for_comparison(study, by=by, at=timezone.now())
    if comparison is None:
        return TypingWork(message=message, problem=problem, is_outdated=typing_jobs.is_comparison_outdated(study))
    typing = typing_jobs.read_comparison(comparison)
    progress = None if typing else study_jobs.follow(comparison, _("The texts of all sources are being compared."))
    return TypingWork(progress, typing, message, problem)


def _normalise(request: HttpRequest, study: Study, *, is_long: bool) -> None:
    """Make the chosen ways of typing alike, and say what came of it; where texts are long, have a worker do it."""
    kinds = request.POST.getlist("kinds")
    try:
        story_edits.require_editable(study)
        if kinds and is_long:
            typing_jobs.ask_for_normalisation(study, kinds, by=cast(User, request.user), at=timezone.now())
            return
        n = typing_jobs.normalise_texts(study, kinds, by=cast(User, request.user)) if kinds else 0
    except (formatting.CannotNormalise, story_edits.StoriesFinal) as error:
        messages.error(request, str(error))
        return
    if not kinds:
        messages.error(request, _("Nothing was changed: choose what is to be made alike."))
        return
    messages.success(request, _say_made_alike(n))


def _say_made_alike(n: int) -> str:
    sentence: str = ngettext("%(n)d text was made alike.", "%(n)d texts were made alike.", n) % {"n": n}
    return sentence + " " + _("The originals are kept.")
