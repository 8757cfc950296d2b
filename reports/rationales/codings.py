"""Coding by themes: a codebook, samples of reasons, two people who code blind, and a judge's suggestion afterwards.

Coders see a reason and its question: not who gave it, about which story, nor what was answered. Until both people have
coded every reason of a sample, neither sees what the other found; from then on nothing changes any more.
"""

from __future__ import annotations

import csv
import io
import random
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Rater
from reports.models import Coder, Coding, SampledReason, Theme, ThemeSample
from reports.rationales.queries import Filters, reasons
from studies.models import Study

PEOPLE = (1, 2)
MOST_REASONS = 2000
COLUMNS = ("number", "question", "reason", "themes")
LARGEST_FILE = 5_000_000  # bytes
SEPARATOR = ";"


class CannotCode(ValueError):
    """It cannot be done; the message says why."""


@dataclass(frozen=True)
class CoderProgress:
    """How far a coder is."""

    number: int
    name: str
    n_coded: int
    user: int | None


@dataclass(frozen=True)
class SampleProgress:
    """How far a sample is. coders : those that there are, by number"""

    n_reasons: int
    coders: tuple[CoderProgress, ...]

    @property
    def is_done(self) -> bool:
        """Whether two people have coded every reason."""
        people = [coder for coder in self.coders if coder.number in PEOPLE]
        return bool(self.n_reasons) and len(people) == 2 and all(c.n_coded == self.n_reasons for c in people)

    def coder_of(self, user: int | None) -> CoderProgress | None:
        return next((coder for coder in self.coders if user is not None and coder.user == user), None)

    def may_code(self, user: int | None) -> bool:
        """Whether the account is one of the two, or can still become one."""
        is_coder = self.coder_of(user) is not None
        return not self.is_done and (is_coder or sum(coder.number in PEOPLE for coder in self.coders) < 2)


# ── the codebook ───────────────────────────────────────────────────────────────────────────────────────────────────


def is_frozen(study: Study) -> bool:
    """Whether the codebook changes no more, since somebody has coded with it. One query."""
    return Coding.objects.filter(coder__sample__study=study).exists()


@transaction.atomic
def add_theme(study: Study, *, name: str, definition: str, example: str = "") -> Theme:
    """Add a theme at the end of the codebook. Raises CannotCode if coding has begun or the name is taken."""
    Study.objects.select_for_update().get(pk=study.pk)
    _refuse_frozen(study)
    if study.themes.filter(name__iexact=name).exists():
        raise CannotCode(_("There is a theme of this name already."))
    position = (study.themes.order_by("-position").values_list("position", flat=True).first() or 0) + 1
    return Theme.objects.create(study=study, position=position, name=name, definition=definition, example=example)


@transaction.atomic
def remove_theme(study: Study, theme: int) -> None:
    """Take a theme out of the codebook. Raises CannotCode if coding has begun."""
    Study.objects.select_for_update().get(pk=study.pk)
    _refuse_frozen(study)
    study.themes.filter(pk=theme).delete()


def _refuse_frozen(study: Study) -> None:
    if is_frozen(study):
        raise CannotCode(_("Somebody has coded with this codebook, so it changes no more."))


# ── samples ────────────────────────────────────────────────────────────────────────────────────────────────────────


@transaction.atomic
def draw_sample(study: Study, *, item: str, kind: str, n: int, by: str) -> ThemeSample:
    """Draw n of the reasons to one item, or to all, in an order that says nothing. Raises CannotCode if there are none.

    item : keys of step and item, or "" for all; kind : of rater, or "" for both
    Drawn by chance from the study's seed and the samples before.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    keys = list(reasons(study, Filters(item=item, kind=kind)).order_by("pk").values_list("pk", flat=True))
    if not keys:
        raise CannotCode(_("No reason fits."))
    chance = random.Random(f"{study.seed} {study.theme_samples.count()}")  # noqa: S311
    drawn = chance.sample(keys, min(n, len(keys), MOST_REASONS))
    sample = ThemeSample.objects.create(study=study, item=item, kind=kind, made_by=by, made_at=timezone.now())
    SampledReason.objects.bulk_create(
        SampledReason(sample=sample, response_id=pk, number=number) for number, pk in enumerate(drawn, start=1)
    )
    return sample


def progress(sample: ThemeSample) -> SampleProgress:
    """How far the sample is. Two queries."""
    coders = sample.coders.annotate(n_coded=Count("codings")).order_by("number")
    return SampleProgress(
        n_reasons=sample.reasons.count(),
        coders=tuple(CoderProgress(c.number, c.name, c.n_coded, c.user_id) for c in coders),
    )


def themes_by_reason(sample: ThemeSample) -> dict[int, dict[int, frozenset[int]]]:
    """Of each coder, by number, the ids of the themes of each reason, by number. Two queries."""
    found: dict[tuple[int, int], set[int]] = defaultdict(set)
    rows = Coding.objects.filter(coder__sample=sample)
    for coder, number, theme in rows.values_list("coder__number", "reason__number", "themes"):
        found[coder, number] |= {theme} if theme else set()
    themes: dict[int, dict[int, frozenset[int]]] = defaultdict(dict)
    for (coder, number), ids in found.items():
        themes[coder][number] = frozenset(ids)
    return dict(themes)


# ── codings ────────────────────────────────────────────────────────────────────────────────────────────────────────


@transaction.atomic
def record_coding(sample: ThemeSample, number: int, *, user: User, themes: Collection[int]) -> Coding:
    """Store what the person found in the reason of that number, in place of what they found before.

    themes : ids of themes of the codebook; none is an answer
    Raises CannotCode if two others code the sample, if both are done, or if there is no such reason or theme.
    """
    # Two who begin at once must not both become the second.
    ThemeSample.objects.select_for_update().get(pk=sample.pk)
    standing = progress(sample)
    if standing.is_done:
        raise CannotCode(_("Both people have coded every reason, so nothing changes any more."))
    if not standing.may_code(user.pk):
        raise CannotCode(_("Two people code this sample already."))
    reason = sample.reasons.filter(number=number).first()
    chosen = set(sample.study.themes.filter(pk__in=themes).values_list("pk", flat=True))
    if reason is None or chosen != set(themes) or not sample.study.themes.exists():
        raise CannotCode(_("There is no such reason or theme any more."))
    coder = sample.coders.filter(user=user).first()
    if coder is None:
        taken = {row.number for row in standing.coders}
        free = next(n for n in PEOPLE if n not in taken)
        coder = Coder.objects.create(sample=sample, number=free, user=user, name=user.get_username())
    coding, _is_new = Coding.objects.update_or_create(reason=reason, coder=coder, defaults={"at": timezone.now()})
    coding.themes.set(chosen)
    return coding


def read_suggestion(data: bytes, *, theme_by_name: Mapping[str, int], numbers: Collection[int]) -> dict[int, set[int]]:
    """The themes that a judge suggests, by number of the reason, as a CSV file has them. Raises CannotCode.

    The file has the columns number and themes, names of themes with semicolons between; others are not read. It says
    something about every reason, if only that it has no theme.
    """
    if len(data) > LARGEST_FILE:
        raise CannotCode(_("The file is too large."))
    try:
        rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        if not {"number", "themes"} <= set(rows.fieldnames or ()):
            raise CannotCode(_("The file needs the columns number and themes."))
        themes: dict[int, set[int]] = {}
        for row in rows:
            number, ids = _read_row(row, theme_by_name, line=rows.line_num)
            if number in themes or number not in numbers:
                message = _("Line %(line)d: there is no reason %(number)d, or it came before.")
                raise CannotCode(message % {"line": rows.line_num, "number": number})
            themes[number] = ids
    except (UnicodeDecodeError, csv.Error):
        raise CannotCode(_("The file is no CSV in UTF-8.")) from None
    if len(themes) != len(set(numbers)):
        missing = min(set(numbers) - set(themes))
        raise CannotCode(_("Nothing is said about reason %(number)d.") % {"number": missing})
    return themes


def _read_row(row: Mapping[str, str | None], theme_by_name: Mapping[str, int], *, line: int) -> tuple[int, set[int]]:
    number = (row["number"] or "").strip()
    if not (number.isascii() and number.isdigit() and len(number) < 9):
        raise CannotCode(_("Line %(line)d: the number must be a whole number.") % {"line": line})
    names = [name.strip().casefold() for name in (row["themes"] or "").split(SEPARATOR) if name.strip()]
    for name in names:
        if name not in theme_by_name:
            message = _("Line %(line)d: “%(name)s” is no theme of the codebook.")
            raise CannotCode(message % {"line": line, "name": name[:80]})
    return int(number), {theme_by_name[name] for name in names}


@transaction.atomic
def record_suggestion(sample: ThemeSample, *, judge: str, data: bytes) -> None:
    """Store a judge's codings as the third coder's, in place of any before. Raises CannotCode.

    Only once both people are done: what a judge suggests must not be seen before.
    """
    ThemeSample.objects.select_for_update().get(pk=sample.pk)
    if not progress(sample).is_done:
        raise CannotCode(_("A judge’s suggestion is brought in once both people have coded every reason."))
    theme_by_name = {name.casefold(): pk for name, pk in sample.study.themes.values_list("name", "pk")}
    reason_by_number = dict(sample.reasons.values_list("number", "pk"))
    suggested = read_suggestion(data, theme_by_name=theme_by_name, numbers=reason_by_number)
    sample.coders.filter(number=Coder.JUDGE).delete()
    coder = Coder.objects.create(sample=sample, number=Coder.JUDGE, name=judge)
    now = timezone.now()
    Coding.objects.bulk_create(Coding(reason_id=reason_by_number[number], coder=coder, at=now) for number in suggested)
    coding_by_reason = dict(coder.codings.values_list("reason__number", "pk"))
    through = Coding.themes.through
    through.objects.bulk_create(
        through(coding_id=coding_by_reason[number], theme_id=theme)
        for number, themes in suggested.items()
        for theme in sorted(themes)
    )


def forget_reasons(rater: Rater, stories: Collection[int], **_kwargs: object) -> None:
    """Take the rater's reasons out of every sample, and those of judges about their stories, and with them the codings.

    stories : ids of the stories that were emptied with the rater's answers
    """
    sampled = SampledReason.objects.all()
    sampled.filter(response__assignment__rater=rater).delete()
    sampled.filter(response__assignment__group__stories__in=stories, response__rationale="").delete()


# ── what both found ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class CodedReason:
    """A reason that both people coded. story : its code, "" if the answer is about a whole group

    themes : ids of themes by number of the coder
    """

    story: str
    group: str
    themes: Mapping[int, frozenset[int]]


@dataclass(frozen=True)
class CodedSample:
    """A sample that both people have coded. judge : who suggested themes afterwards, "" if nobody did"""

    item: str
    kind: str
    judge: str
    reasons: tuple[CodedReason, ...]


def read_done(study: Study) -> list[CodedSample]:
    """The samples of the study that two people have coded, with what everybody found. One query; with codings three."""
    samples = list(study.theme_samples.order_by("pk").annotate(n_reasons=Count("reasons")))
    if not samples:
        return []
    fields = ("reason__response__story__code", "reason__response__assignment__group__code", "themes")
    rows = Coding.objects.filter(coder__sample__in=samples).order_by("reason__number", "coder__number")
    names = ("coder__sample_id", "reason__number", "coder__number", *fields)
    places: dict[int, dict[int, tuple[str, str]]] = defaultdict(dict)
    themes: dict[int, dict[int, dict[int, set[int]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    for sample, number, coder, story, group, theme in rows.values_list(*names):
        places[sample][number] = (story or "", group or "")
        themes[sample][number][coder] |= {theme} if theme else set()
    judges = Coder.objects.filter(sample__in=samples, number=Coder.JUDGE)
    judge_by_sample = dict(judges.values_list("sample_id", "name"))
    return [
        CodedSample(
            item=sample.item,
            kind=sample.kind,
            judge=judge_by_sample.get(sample.pk, ""),
            reasons=tuple(
                CodedReason(*places[sample.pk][n], {coder: frozenset(ids) for coder, ids in by_coder.items()})
                for n, by_coder in themes[sample.pk].items()
            ),
        )
        for sample in samples
        if _is_done(sample.n_reasons, themes[sample.pk])
    ]


def done_samples(study: Study) -> list[int]:
    """The ids of the samples in which two people have coded every reason, the earliest first. One query."""
    samples = study.theme_samples.order_by("pk").annotate(
        n_reasons=Count("reasons", distinct=True),
        n_first=Count("reasons__codings", filter=Q(reasons__codings__coder__number=PEOPLE[0]), distinct=True),
        n_second=Count("reasons__codings", filter=Q(reasons__codings__coder__number=PEOPLE[1]), distinct=True),
    )
    done = samples.filter(n_reasons__gt=0, n_first=F("n_reasons"), n_second=F("n_reasons"))
    return list(done.values_list("pk", flat=True))


def _is_done(n_reasons: int, themes: Mapping[int, Mapping[int, set[int]]]) -> bool:
    return 0 < n_reasons == len(themes) and all(set(PEOPLE) <= set(by_coder) for by_coder in themes.values())


def inputs(study: Study) -> list[object]:
    """What a report on themes depends on, beside the answers. One query."""
    codings = Coding.objects.filter(coder__sample__study=study)
    names = ("reason_id", "coder__number", "coder__name", "themes", "themes__name")
    return sorted(map(list, codings.order_by().values_list(*names)), key=repr)
