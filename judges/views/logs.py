"""Finished logs of other tools: a file, what its replies are about and how they read; then all of them, or nothing."""

from __future__ import annotations

import hashlib
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from judges import foreign_logs
from judges.foreign_logs.base import ForeignLog
from judges.foreign_logs.imports import check_judge, import_log
from judges.foreign_logs.matches import LogChoices, match
from judges.models import BroughtLog, Prompt
from studies import protocol
from studies.access import Access
from studies.action_log import log_action
from studies.incoming_tables import uploads
from studies.incoming_tables.errors import ImportRefused, UnreadableFile
from studies.incoming_tables.files import LARGEST
from studies.models import Study
from studies.protocol import NotPlannable
from studies.views.guards import require_in_study
from studies.views.incoming_tables import ImportPage, RolesForm, TableReport
from studies.views.posted_forms import makes_once

SEES, MAY_BRING = "judges.view_run", "judges.add_run"
N_PREVIEWED = 8
MOST_REPLIES = 2_000  # that come in while somebody waits
LONGEST_NAME = 80


class LogUploadForm(forms.Form):
    """A log of another tool. When it is valid it has that log, and the file's hash."""

    log: ForeignLog
    sha256 = ""

    file = forms.FileField(label=gettext_lazy("File"), allow_empty_file=True)

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > LARGEST:
            raise forms.ValidationError(_("The file is larger than 50 MB. Split it."))
        content = file.read()
        self.sha256 = hashlib.sha256(content).hexdigest()
        try:
            self.log = foreign_logs.read_log(file.name, content)
        except UnreadableFile as error:
            raise forms.ValidationError(str(error)) from None
        return file


class LogForm(RolesForm):
    """What is said of a log: whose replies come in, under which name, and what names stories and items."""

    model = forms.ChoiceField(label=gettext_lazy("Model"), help_text=gettext_lazy("Whose replies come in."))
    judge = forms.SlugField(
        label=gettext_lazy("Name of the judge"),
        max_length=LONGEST_NAME,
        help_text=gettext_lazy("In lower case with hyphens; its rater in this study is called so."),
    )
    protocol = forms.ChoiceField(
        label=gettext_lazy("In each reply"),
        choices=Prompt.Protocol.choices,
        help_text=gettext_lazy("How the replies are read."),
    )
    story_key = forms.ChoiceField(label=gettext_lazy("The story is named by"), required=False)
    item_key = forms.ChoiceField(label=gettext_lazy("The item is named by"), required=False)
    may_be_left_out = forms.BooleanField(
        label=gettext_lazy("Leave out replies that fit no story or item"), required=False
    )

    def __init__(self, data: Any, *, log: ForeignLog, initial: dict[str, Any], **more: Any) -> None:
        super().__init__(data, initial=initial, **more)
        self.log = log
        by_key = [("", _("the log’s usual names, else the words that were asked")), *((key, key) for key in log.keys)]
        for name, choices in (("model", [(m, m) for m in log.models]), ("story_key", by_key), ("item_key", by_key)):
            self.fields[name].choices = choices  # type: ignore[attr-defined]


@require_in_study(SEES, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see judges: how a log comes in; for those who may start runs, a file of one."""
    study, by = access.study, cast(User, request.user)
    uploads.forget(BroughtLog.objects.filter(created_at__lt=timezone.now() - uploads.KEPT))
    form, status = LogUploadForm(), 200
    if request.method == "POST":
        form, status = LogUploadForm(request.POST, request.FILES), 400
        if form.is_valid():
            table = form.log.as_table()
            waiting = _waiting(study, by)
            fields = {"study": study, "user": by, "sha256": form.sha256, "choices": _guess(form.log)}
            row = uploads.keep(waiting, table, at=timezone.now(), **fields)
            return redirect("judges:log_upload", slug=study.slug, file_id=row.pk)
    context = {
        "study": study,
        "access": access,
        "form": form,
        "accepted": ".json,.jsonl,.eval",
        "formats": ", ".join(str(row.title) for row in foreign_logs.all_formats().values()),
        "may_bring": access.may(MAY_BRING),
        "is_frozen": protocol.is_frozen(study),
        "waiting": _waiting(study, by).defer("table").first(),
    }
    return render(request, "judges/logs.html", context, status=status)


def _waiting(study: Study, by: User) -> Any:
    return BroughtLog.objects.filter(study=study, user=by)


def _guess(log: ForeignLog) -> dict[str, Any]:
    """What is said of a log before anybody has said anything."""
    model = log.models[0]
    return {
        "model": model,
        "judge": slugify(model.rpartition("/")[2].replace(".", "-").replace(":", "-"))[:LONGEST_NAME] or "judge",
        "protocol": Prompt.Protocol.REASONING_FIRST.value,
        "story_key": "",
        "item_key": "",
        "may_be_left_out": False,
    }


def _check_number(log: ForeignLog, choices: LogChoices) -> None:
    """Raise ImportRefused if the model has more replies than a page can wait for."""
    if sum(sample.model == choices.model for sample in log.samples) > MOST_REPLIES:
        message = _("%(model)s has more than %(n)d replies, too many for this page; the command import_log takes them")
        raise ImportRefused(message % {"model": choices.model, "n": MOST_REPLIES})


@require_in_study(MAY_BRING, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
@makes_once
def show(request: HttpRequest, access: Access, file_id: int) -> HttpResponse:
    """For the uploader of the log: what its replies are about and which cannot be read; then all come in, or none."""
    row = _waiting(access.study, cast(User, request.user)).filter(pk=file_id).first()
    return LogImportPage(request, access, row).respond()


class LogImportPage(ImportPage[BroughtLog, LogForm]):
    template = "judges/log_upload.html"
    home = "judges:logs"

    def make_form(self, data: Any) -> LogForm:
        return LogForm(data, table=self.table, log=ForeignLog.of_table(self.table), initial=self.row.choices)

    def save(self, form: LogForm) -> None:
        self.row.choices = form.cleaned_data
        self.row.save(update_fields=["choices"])

    def bring_in(self) -> str:
        choices, study = LogChoices(**self.row.choices), self.access.study
        log = ForeignLog.of_table(self.table)
        by, at = self.by.get_username(), timezone.now()
        try:
            _check_number(log, choices)
            run = import_log(study, log, choices, sha256=self.row.sha256, by=by, at=at)
        except (ImportRefused, NotPlannable) as error:
            self.refusals = str(error).splitlines()
            return ""
        self.row.delete()
        n = run.frozen["log"]["n_replies"]
        sentence = ngettext("%(n)d reply of %(judge)s is in.", "%(n)d replies of %(judge)s are in.", n)
        messages.success(self.request, sentence % {"n": n, "judge": run.judge})
        log_action(study, f"{n} replies of {run.judge} brought in from a log of another tool", by=self.by)
        return reverse("judges:run", args=[study.slug, run.pk])

    def describe(self, form: LogForm) -> TableReport:
        choices = LogChoices(**self.row.choices)
        context: dict[str, Any] = {
            "format": foreign_logs.all_formats()[form.log.format].title,
            "n_samples": len(form.log.samples),
        }
        try:
            _check_number(form.log, choices)
            check_judge(self.access.study, choices, sha256=self.row.sha256)
            matches = match(self.access.study, form.log, choices)
        except (ImportRefused, NotPlannable) as error:
            return TableReport((), [str(error)], context)
        unread = [reply for reply in matches.replies if reply.reason]
        first_replies = [*unread, *(reply for reply in matches.replies if not reply.reason)][:N_PREVIEWED]
        context |= {"matches": matches, "previews": first_replies, "choices": choices}
        obstacles = [] if matches.replies else [_("No reply is about a story of this study.")]
        return TableReport(() if choices.may_be_left_out else matches.problems, obstacles, context)
