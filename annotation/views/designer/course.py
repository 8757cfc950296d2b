"""The buttons that pause, resume and close a study, on the launch page and on the monitor."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext as _

from annotation.design import actions
from studies.lifecycle import NotReady
from studies.models import Study

MAY_CHANGE = "studies.change_study"

_DONE = {
    "pause": lambda: _("The study is paused. What was saved is kept, and raters are told."),
    "resume": lambda: _("The study is live again. Raters find what they saved."),
    "close": lambda: _("The study is closed. What was saved is kept, and results can be read."),
}


def change_course(request: HttpRequest, study: Study) -> str:
    """Do what the button says; "" if it is done, or else why not, in a sentence."""
    action, by = request.POST.get("action", ""), cast(User, request.user)
    if action not in _DONE:
        return _("Nothing was done: this page has no such button. Load it again.")
    if action == "close" and request.POST.get("title", "").strip() != study.title.strip():
        return _("Not closed: that is not the title of the study. Closing cannot be undone, so type the title exactly.")
    try:
        actions.run(action, study, by=by)
    except NotReady:
        study.refresh_from_db()
        state = str(study.get_state_display()).lower()
        return _("This was not done: someone else has just changed the study, and it is %(state)s now.") % {
            "state": state
        }
    messages.success(request, _DONE[action]())
    return ""
