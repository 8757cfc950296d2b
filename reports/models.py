"""What results were computed, of what, when and by whom; what was taken away, and who may fetch by programme.

Report           one result of one study as JSON, with a fingerprint of everything it was computed from.
ReportFragment   a part of a report's pages as it was rendered, so that whoever looks next need not wait for it.
KeyFigures       the few figures of a day's last report by which studies are compared; they outlive the report.
SharedNorms      that a closed study's figures may enter the norms of its instruments, who said so and when.
Computation      a report that is being computed, or was asked for: how far it is, and whose turn it is.
ReportSchedule   which reports are computed every day, when, and who is written to.
Digest           that one of them was written to, and whether the mail went out.
ExportPackage    one package of a study that was asked for: by whom, when, with sources or without, and why; its sum.
PackagePiece     a stretch of a package's bytes; they go when somebody in it withdraws, the package's row stays.
PackageDownload  that somebody fetched a package, and when.
ApiToken         with which a researcher's programme reads; stored as its hash.
Theme            one theme of a study's codebook: what a reason can be about.
ThemeSample      reasons drawn to be coded by themes, by two people and afterwards a judge.
SampledReason    one of these reasons, with its number in an order that says nothing.
Coder            who codes a sample: the first person, the second, or the judge.
Coding           that a coder went through a reason, with the themes found in it; none is an answer, too.
"""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models import Response
from studies.models import Study


class Report(models.Model):
    class Kind(models.TextChoices):
        RESULTS = "results", _("what the study amounts to")
        RELEASE = "release", _("which files of a public release were brought in")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="reports")
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.RESULTS)
    fingerprint = models.CharField(
        _("fingerprint"), max_length=64, help_text=_("SHA-256 of the inputs; the same inputs are computed once.")
    )
    inputs = models.CharField(
        _("inputs"),
        max_length=64,
        blank=True,
        help_text=_("SHA-256 of the same without the editions of the figures; empty of older reports."),
    )
    editions = models.JSONField(
        _("editions"), default=dict, blank=True, help_text=_("Of each figure the edition by which it was computed.")
    )
    result = models.JSONField(_("result"))
    is_sealed = models.BooleanField(_("is sealed"), default=False, help_text=_("Nothing in it is by source."))
    readable_by = models.CharField(
        _("readable by"), max_length=64, blank=True, help_text=_("Digest of the code that read it in full last.")
    )
    made_at = models.DateTimeField(_("made at"))
    made_by = models.CharField(_("made by"), max_length=150, help_text=_("Who asked for it, or the nightly schedule."))
    is_kept = models.BooleanField(
        _("is kept"), default=False, help_text=_("Cited, exported or shared: newer ones do not replace it.")
    )

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        ordering = ["study", "kind", "-made_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["study", "kind", "fingerprint"], name="report_once_per_inputs")]
        permissions = [("see_by_source", "Can see results by source")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.study_id}, {self.made_at:%Y-%m-%d %H:%M}"


class ReportFragment(models.Model):
    report = models.ForeignKey(Report, verbose_name=_("report"), on_delete=models.CASCADE, related_name="fragments")
    name = models.CharField(_("name"), max_length=80)
    language = models.CharField(_("language"), max_length=10, blank=True, help_text=_("Empty where nothing is said."))
    source_digest = models.CharField(_("digest of the code"), max_length=64)
    content = models.TextField(_("content"))

    class Meta:
        verbose_name = _("part of a report's pages")
        verbose_name_plural = _("parts of reports' pages")
        ordering = ["report", "name", "language"]
        constraints = [models.UniqueConstraint(fields=["report", "name", "language"], name="report_fragment_once")]

    def __str__(self) -> str:
        return f"{self.name} of report {self.report_id}"


class KeyFigures(models.Model):
    """At most one row a day of those that show sources and one of those that do not. Neither holds a figure by source.

    trend : what is drawn over the days: `progress` (places submitted, places), `agreement` by outcome, `judges`
    figures : what is shown of the latest, as `reports.key_figures` writes it
    """

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="key_figures")
    day = models.DateField(_("day"), help_text=_("Of the report, in UTC."))
    is_sealed = models.BooleanField(_("is sealed"), help_text=_("Of a report that tells nothing by source."))
    fingerprint = models.CharField(_("fingerprint"), max_length=64, help_text=_("Of the report."))
    trend = models.JSONField(_("trend"))
    figures = models.JSONField(_("figures"))

    class Meta:
        verbose_name = _("key figures")
        verbose_name_plural = _("key figures")
        ordering = ["study", "day", "is_sealed"]
        constraints = [models.UniqueConstraint(fields=["study", "day", "is_sealed"], name="key_figures_once_a_day")]

    def __str__(self) -> str:
        return f"key figures of {self.study_id}, {self.day}"


class SharedNorms(models.Model):
    study = models.OneToOneField(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="shared_norms")
    by = models.CharField(_("by"), max_length=150)
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("figures shared for norms")
        verbose_name_plural = _("figures shared for norms")
        ordering = ["study"]

    def __str__(self) -> str:
        return f"norms may have study {self.study_id}"


class ComputationQuerySet(models.QuerySet["Computation"]):
    def idle(self, *, at: datetime) -> ComputationQuerySet:
        """Those that nobody is at: taken up by no worker, or by one that let its lease run out."""
        return self.filter(Q(leased_until=None) | Q(leased_until__lte=at))


class Computation(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="computations")
    is_blind = models.BooleanField(_("is blind"), default=False)
    is_anew = models.BooleanField(
        _("is anew"), default=False, help_text=_("Also where a closed study has one by earlier editions.")
    )
    asked_by = models.CharField(_("asked by"), max_length=150)
    queued_at = models.DateTimeField(_("queued at"), help_text=_("When a worker was last told."))
    leased_until = models.DateTimeField(
        _("leased until"), null=True, blank=True, help_text=_("Whoever computes it renews this; afterwards others may.")
    )
    n_figures = models.PositiveSmallIntegerField(_("figures"), default=0)
    n_figures_done = models.PositiveSmallIntegerField(_("figures computed"), default=0)
    problem = models.CharField(_("problem"), max_length=100, blank=True, help_text=_("Why it could not be computed."))

    objects = ComputationQuerySet.as_manager()

    class Meta:
        verbose_name = _("computation of a report")
        verbose_name_plural = _("computations of reports")
        ordering = ["study", "is_blind"]
        constraints = [models.UniqueConstraint(fields=["study", "is_blind"], name="computation_once")]

    def __str__(self) -> str:
        return f"computation {self.pk} of study {self.study_id}"


class ReportSchedule(models.Model):
    studies = models.ManyToManyField(
        Study, verbose_name=_("studies"), blank=True, help_text=_("None: all that are live or were closed lately.")
    )
    hour = models.PositiveSmallIntegerField(_("hour"), default=3)
    zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    is_on = models.BooleanField(_("is on"), default=True)
    recipients = models.TextField(_("recipients"), blank=True, help_text=_("E-mail addresses, one a line."))
    site = models.CharField(
        _("site"), max_length=200, blank=True, help_text=_("Where the page stood on which it was saved.")
    )
    next_at = models.DateTimeField(_("next at"), null=True, blank=True)

    class Meta:
        verbose_name = _("schedule of reports")
        verbose_name_plural = _("schedules of reports")
        ordering = ["pk"]
        constraints = [models.CheckConstraint(condition=Q(hour__lt=24), name="schedule_hour_of_a_day")]

    def __str__(self) -> str:
        return f"schedule {self.pk}"


class Digest(models.Model):
    schedule = models.ForeignKey(
        ReportSchedule, verbose_name=_("schedule"), on_delete=models.CASCADE, related_name="digests"
    )
    recipient = models.EmailField(_("recipient"))
    due_at = models.DateTimeField(_("due at"))
    sent_at = models.DateTimeField(_("sent at"), null=True, blank=True)
    problem = models.CharField(_("problem"), max_length=100, blank=True)

    class Meta:
        verbose_name = _("digest")
        verbose_name_plural = _("digests")
        ordering = ["-due_at", "recipient"]
        constraints = [models.UniqueConstraint(fields=["schedule", "recipient", "due_at"], name="digest_once")]

    def __str__(self) -> str:
        return f"digest {self.pk}"


class ExportPackage(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="packages")
    with_sources = models.BooleanField(_("with sources"), default=False)
    is_public = models.BooleanField(_("public form"), default=False, help_text=_("Without texts that may not travel."))
    reason = models.TextField(_("reason"), blank=True, help_text=_("Why sources are in it."))
    left_out = models.JSONField(_("left out"), default=list, blank=True, help_text=_("Files that were not asked for."))
    asked_by = models.CharField(_("asked by"), max_length=150)
    asked_at = models.DateTimeField(_("asked at"))
    n_files = models.PositiveSmallIntegerField(_("files"), default=0)
    n_files_done = models.PositiveSmallIntegerField(_("files written"), default=0)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    problem = models.TextField(_("problem"), blank=True, help_text=_("Why it could not be made."))
    sha256 = models.CharField(_("sha256"), max_length=64, blank=True)
    n_bytes = models.PositiveBigIntegerField(_("bytes"), default=0)
    # Of each file its name, n_bytes, sha256 and n_rows.
    files = models.JSONField(_("contents"), default=list, blank=True)
    excluded = models.JSONField(_("excluded"), default=dict, blank=True)
    raters = models.JSONField(
        _("raters"), default=list, blank=True, help_text=_("Whose answers are in it, so that a withdrawal can name it.")
    )

    class Meta:
        verbose_name = _("export package")
        verbose_name_plural = _("export packages")
        ordering = ["-asked_at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(with_sources=False) | ~Q(reason=""), name="sources_for_a_reason"),
        ]

    def __str__(self) -> str:
        return f"package {self.pk} of study {self.study_id}"

    is_kept = False  # whether its bytes are there, where a page has asked

    @property
    def is_made(self) -> bool:
        return bool(self.sha256)


class PackagePiece(models.Model):
    package = models.ForeignKey(
        ExportPackage, verbose_name=_("package"), on_delete=models.CASCADE, related_name="pieces"
    )
    number = models.PositiveIntegerField(_("number"))
    data = models.BinaryField(_("data"))

    class Meta:
        verbose_name = _("piece of a package")
        verbose_name_plural = _("pieces of packages")
        ordering = ["package", "number"]
        constraints = [models.UniqueConstraint(fields=["package", "number"], name="package_piece_once")]

    def __str__(self) -> str:
        return f"piece {self.number} of package {self.package_id}"


class PackageDownload(models.Model):
    package = models.ForeignKey(
        ExportPackage, verbose_name=_("package"), on_delete=models.CASCADE, related_name="downloads"
    )
    by = models.CharField(_("by"), max_length=150)
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("download of a package")
        verbose_name_plural = _("downloads of packages")
        ordering = ["package", "at", "pk"]

    def __str__(self) -> str:
        return f"download {self.pk} of package {self.package_id}"


class ApiToken(models.Model):
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("account"), on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(_("name"), max_length=80, help_text=_("What it is for."))
    token_sha256 = models.CharField(_("token sha256"), max_length=64, unique=True, editable=False)
    made_at = models.DateTimeField(_("made at"))
    last_used_on = models.DateField(_("last used on"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)

    class Meta:
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        ordering = ["user", "-made_at", "-pk"]

    def __str__(self) -> str:
        return f"token {self.pk}"


class Theme(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="themes")
    position = models.PositiveSmallIntegerField(_("position"))
    name = models.CharField(_("name"), max_length=80)
    definition = models.TextField(_("definition"), max_length=2000)
    example = models.TextField(_("example"), max_length=2000, blank=True)

    class Meta:
        verbose_name = _("theme")
        verbose_name_plural = _("themes")
        ordering = ["study", "position"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="theme_name_once")]

    def __str__(self) -> str:
        return self.name


class ThemeSample(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="theme_samples")
    # Keys of step and item, with a point between; empty for all items.
    item = models.CharField(_("item"), max_length=200, blank=True)
    # Of raters, person or model; empty for both.
    kind = models.CharField(_("kind"), max_length=10, blank=True)
    made_by = models.CharField(_("made by"), max_length=150)
    made_at = models.DateTimeField(_("made at"))

    class Meta:
        verbose_name = _("sample of reasons")
        verbose_name_plural = _("samples of reasons")
        ordering = ["study", "pk"]

    def __str__(self) -> str:
        return f"sample {self.pk} of study {self.study_id}"


class SampledReason(models.Model):
    sample = models.ForeignKey(ThemeSample, verbose_name=_("sample"), on_delete=models.CASCADE, related_name="reasons")
    response = models.ForeignKey(Response, verbose_name=_("response"), on_delete=models.CASCADE, related_name="+")
    number = models.PositiveIntegerField(_("number"))

    class Meta:
        verbose_name = _("sampled reason")
        verbose_name_plural = _("sampled reasons")
        ordering = ["sample", "number"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "response"], name="reason_sampled_once"),
            models.UniqueConstraint(fields=["sample", "number"], name="sampled_number_once"),
        ]

    def __str__(self) -> str:
        return f"reason {self.number} of sample {self.sample_id}"


class Coder(models.Model):
    JUDGE = 3

    sample = models.ForeignKey(ThemeSample, verbose_name=_("sample"), on_delete=models.CASCADE, related_name="coders")
    number = models.PositiveSmallIntegerField(_("number"), help_text=_("1 and 2 are people, 3 is the judge."))
    # A code stays when its coder's account goes.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("account"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    name = models.CharField(_("name"), max_length=150, help_text=_("Of the account, or of the judge."))

    class Meta:
        verbose_name = _("coder")
        verbose_name_plural = _("coders")
        ordering = ["sample", "number"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "number"], name="coder_number_once"),
            models.UniqueConstraint(fields=["sample", "user"], name="coder_once_per_sample"),
            models.CheckConstraint(condition=Q(number__gte=1, number__lte=3), name="two_people_and_a_judge"),
        ]

    def __str__(self) -> str:
        return f"coder {self.number} of sample {self.sample_id}"


class Coding(models.Model):
    reason = models.ForeignKey(
        SampledReason, verbose_name=_("reason"), on_delete=models.CASCADE, related_name="codings"
    )
    coder = models.ForeignKey(Coder, verbose_name=_("coder"), on_delete=models.CASCADE, related_name="codings")
    themes = models.ManyToManyField(Theme, verbose_name=_("themes"), related_name="codings", blank=True)
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("coding")
        verbose_name_plural = _("codings")
        ordering = ["coder", "reason"]
        constraints = [models.UniqueConstraint(fields=["reason", "coder"], name="coded_once_per_coder")]

    def __str__(self) -> str:
        return f"coding {self.pk}"
