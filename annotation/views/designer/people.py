"""The people of a study by label and code: how far each is, what can be done, and who else is noted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Invitation, InvitationMail, MailKind
from annotation.participation import invitations, mails, people, replacements, roster, waiting_list
from studies import lifecycle
from studies.access import Access
from studies.action_log import log_action
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

SEES = "annotation.view_invitation"
MAY_ADD = "annotation.add_invitation"
MAY_CHANGE = "annotation.change_invitation"
MAY_WITHDRAW = "annotation.add_withdrawal"
FINAL_ACTS = ("replace", "take_back")  # done only once somebody has read what follows
PAGE_SIZE = 50
LARGEST = 1_000_000  # bytes of a table of people


class PeopleForm(forms.Form):
    """People, one a line, pasted or as a file; what is wrong with a line is said by `people.read_people`."""

    lines = forms.CharField(
        label=gettext_lazy("People, one a line"),
        required=False,
        widget=forms.Textarea({"rows": 8}),
        help_text=gettext_lazy(
            "A label; or a label and an e-mail address; or a label, a name and an address, with commas between. You "
            "will see labels only, so write no name into a label."
        ),
    )
    table = forms.FileField(
        label=gettext_lazy("Or a table as a CSV file"),
        required=False,
        help_text=gettext_lazy("Columns label, name, e-mail. At most 1 MB, UTF-8."),
    )

    def clean(self) -> None:
        text = self.cleaned_data.get("lines", "")
        text = f"{text}\n" if text.strip() else ""  # so that lines of a table alone have the numbers that it gives them
        if table := self.cleaned_data.get("table"):
            if table.size > LARGEST:
                raise ValidationError(_("The file is larger than 1 MB."))
            try:
                text += table.read().decode("utf-8-sig")
            except UnicodeDecodeError:
                raise ValidationError(_("The file is not UTF-8. Save it as “CSV UTF-8”.")) from None
        try:
            self.cleaned_data["people"] = people.read_people(text)
        except people.CannotNote as error:
            raise ValidationError([*error.problems]) from None


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"), query=("state", "page"))
def people_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For those who run the study: its people by label and code; for those who may, to send, remind and top up."""
    if request.method == "POST":
        return _act(request, access)
    now = timezone.now()
    rows = roster.list_people(access.study, at=now)
    state = request.GET.get("state", "")
    chosen = [row for row in rows if row.state == state] if state in roster.TITLES else rows
    page = Paginator(chosen, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "study": access.study,
        "access": access,
        "rows": rows,
        "page": page,
        "acts": [(row, list(roster.list_acts(row, at=now))) for row in page],
        "may_withdraw": access.may(MAY_WITHDRAW),
        "state": state if state in roster.TITLES else "",
        "states": roster.count_states(rows),
        "n_unknown": mails.find_latest(access.study, InvitationMail.State.UNKNOWN, at=now).count(),
        "n_refused": mails.find_latest(access.study, InvitationMail.State.REFUSED, at=now).count(),
        "n_to_send": sum(row.state == roster.NOTED and row.has_address and not row.mails for row in rows),
        "n_to_hand_over": sum(row.waits_for_link for row in rows),
        "demand": invitations.count_demand(access.study, at=now),
        "n_waiting": waiting_list.list_waiting(access.study.pk, at=timezone.now()).count(),
        "lack": replacements.measure_lack(access.study, at=now),
        "sends_mail": mails.sends_mail(),
        "may_change": access.may(MAY_CHANGE) and lifecycle.may_invite(access.study),
        "may_add": access.may(MAY_ADD) and lifecycle.may_invite(access.study),
        "sees_addresses": access.may("annotation.view_identity"),
        "form": PeopleForm(),
    }
    return render(request, "annotation/designer/people.html", context)


def _act(request: HttpRequest, access: Access) -> HttpResponse:
    """What the button that was pressed says; then back to the list, or to the links, which are shown this once."""
    actions: dict[str, Callable[[HttpRequest, Access], HttpResponse | None]] = {
        "top_up": _top_up,
        "links": _show_links,
        "send_all": _send_all,
        "retry": _retry,
        "resend": _resend,
    }
    action = actions.get(request.POST.get("act", ""))
    if action is None:
        messages.error(request, _("Nothing was chosen."))
    elif not lifecycle.may_invite(access.study):
        messages.error(request, _("The study is closed: nobody can be invited any more."))
    elif response := action(request, access):
        return response
    return redirect("designer:people", slug=access.study.slug)


def _top_up(request: HttpRequest, access: Access) -> HttpResponse | None:
    if not access.study.is_live:
        messages.error(request, _("The study is not live yet, so a link would not work."))
        return None
    links = replacements.top_up(access.study, at=timezone.now())
    if not links:
        messages.info(request, _("No more people are needed: every place is taken or has been offered."))
        return None
    return _links_page(request, access, links)


def _show_links(request: HttpRequest, access: Access) -> HttpResponse | None:
    noted = roster.select_waiting_for_link(access.study).select_related("study", "rater")
    with transaction.atomic():
        links = [(row, invitations.hand_over(row, at=timezone.now())) for row in noted]
    if not links:
        messages.info(request, _("Nobody is waiting for a link."))
        return None
    return _links_page(request, access, links)


def _links_page(request: HttpRequest, access: Access, links: list[tuple[Invitation, str]]) -> HttpResponse:
    for invitation, _token in links:
        log(request, invitation, "link shown")
    rows = [(invitation, link_of(request, token)) for invitation, token in links]
    context = {"study": access.study, "access": access, "links": rows}
    return render(request, "annotation/designer/links.html", context)


def _send_all(request: HttpRequest, access: Access) -> None:
    # Who was written to before is written to again by the buttons that say what came of it.
    noted = access.study.invitations.filter(handed_over_at=None, revoked_at=None, rater=None, mails=None)
    noted = noted.exclude(identity=None)
    n_asked, problems = 0, set()
    for invitation in noted.select_related("study", "rater", "identity").order_by("pk"):
        try:
            mails.ask_for(invitation, MailKind.INVITATION, site=site_of(request), at=timezone.now())
            n_asked += 1
        except mails.CannotWrite as error:
            problems.add(str(error))
    _say_asked(request, n_asked)
    for problem in sorted(problems):
        messages.warning(request, problem)


def _retry(request: HttpRequest, access: Access) -> None:
    _ask_again(request, access, InvitationMail.State.REFUSED)


def _resend(request: HttpRequest, access: Access) -> None:
    _ask_again(request, access, InvitationMail.State.UNKNOWN)


def _ask_again(request: HttpRequest, access: Access, state: str) -> None:
    now = timezone.now()
    rows = mails.find_latest(access.study, state, at=now)
    rows = rows.select_related("invitation__study", "invitation__rater", "invitation__identity")
    _say_asked(request, mails.send_again(list(rows), site=site_of(request), at=now))


def _say_asked(request: HttpRequest, n_asked: int) -> None:
    sentence = ngettext("%(n)d mail is on its way.", "%(n)d mails are on their way.", n_asked)
    messages.success(request, sentence % {"n": n_asked})


@require_in_study(MAY_ADD, methods=("GET", "HEAD", "POST"))
@makes_once
def add_people(request: HttpRequest, access: Access) -> HttpResponse:
    """For those who invite: people noted from pasted lines or a table, all of them or none; nothing is sent."""
    form, status = PeopleForm(), 200
    is_open = lifecycle.may_invite(access.study)
    if request.method == "POST" and is_open:
        form = PeopleForm(request.POST, request.FILES)
        if form.is_valid():
            try:
                rows = people.note(access.study, form.cleaned_data["people"])
            except people.CannotNote as error:
                form.add_error(None, ValidationError([*error.problems]))
            else:
                sentence = ngettext("%(n)d person is added.", "%(n)d people are added.", len(rows)) % {"n": len(rows)}
                messages.success(request, _("%(sentence)s Nothing is sent yet.") % {"sentence": sentence})
                return redirect("designer:people", slug=access.study.slug)
        status = 400
    elif request.method == "POST":
        status = 409
    context = {"study": access.study, "access": access, "form": form, "is_open": is_open}
    return render(request, "annotation/designer/add_people.html", context, status=status)


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
def person(request: HttpRequest, access: Access, person: int) -> HttpResponse:
    """For those who run the study: one person, with every mail and all that can be done, each act with what follows."""
    now = timezone.now()
    row = _find_row(access, person, at=now)
    invitation = access.study.invitations.select_related("study", "rater", "identity").get(pk=person)
    link, successor = "", None
    if request.method == "POST" and request.POST.get("act") in FINAL_ACTS and "confirmed" not in request.POST:
        act = request.POST["act"]
        context = {"study": access.study, "access": access, "row": row, "invitation": invitation, "act": act}
        return render(request, "annotation/designer/confirmation.html", context)
    if request.method == "POST":
        try:
            link, successor = _act_on(request, invitation)
        except (mails.CannotWrite, invitations.CannotReplace, replacements.CannotLeave) as error:
            messages.error(request, str(error))
        if not link:
            return redirect("designer:person", slug=access.study.slug, person=person)
        row = _find_row(access, person, at=now)  # as it is after the act
        invitation.refresh_from_db(fields=("revoked_at", "handed_over_at"))
    context = {
        "study": access.study,
        "access": access,
        "row": row,
        "invitation": invitation,
        "link": link,
        "successor": successor,
        "obstacle_to_link": invitations.find_obstacle(invitation, at=now),
        "acts": list(roster.list_acts(row, at=now)),
        "replaced_by": invitation.replaced_by.first(),
        "mails": [(mail, roster.is_unknown(mail, at=now)) for mail in row.mails],
        "may_change": access.may(MAY_CHANGE),
        "may_withdraw": access.may(MAY_WITHDRAW),
        "is_live": access.study.is_live,
    }
    return render(request, "annotation/designer/person.html", context)


def _find_row(access: Access, person: int, *, at: datetime) -> roster.RosterRow:
    """The person as the roster has them. Raises Http404."""
    rows = roster.list_people(access.study, at=at)
    row = next((row for row in rows if row.invitation and row.invitation.pk == person), None)
    if row is None:
        raise Http404
    return row


def _act_on(request: HttpRequest, invitation: Invitation) -> tuple[str, Invitation | None]:
    """Do what the button says; a link if one is to be shown, and whose it is if it is somebody else's."""
    now, act = timezone.now(), request.POST.get("act", "")
    if act in MailKind.values:
        mails.ask_for(invitation, act, site=site_of(request), at=now)
        messages.success(request, _("The mail is on its way."))
    elif act == "link":
        token = invitations.hand_over(invitation, at=now)
        log(request, invitation, "link shown")
        return link_of(request, token), None
    elif act == "new_link":
        token = invitations.replace_link(invitation, at=now)
        log(request, invitation, "replaced by a new link")
        return link_of(request, token), None
    elif act == "replace":
        successor, token = replacements.replace(invitation, at=now)
        log(request, invitation, "replaced by another person")
        return link_of(request, token), successor
    elif act == "take_back":
        people.take_back(invitation, at=now)
        log(request, invitation, "revoked")
        messages.success(request, _("The invitation is revoked. Its link no longer works."))
    else:
        messages.error(request, _("Nothing was chosen."))
    return "", None


def link_of(request: HttpRequest, token: str) -> str:
    """The address of a link as its holder is to open it."""
    return request.build_absolute_uri(reverse("annotation:invitation", args=[token]))


def site_of(request: HttpRequest) -> str:
    """The address of this Quire, without a slash at the end."""
    return request.build_absolute_uri("/").rstrip("/")


def log(request: HttpRequest, row: Any, message: str) -> None:
    """Into the admin's log, which is one for all languages."""
    log_action(row, message, by=request.user)
