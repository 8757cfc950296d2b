"""The raters' addresses. A story is a letter, an assignment a random code: nothing here counts or dates."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from annotation.participation.recruitment import Ending
from annotation.views.rater import (
    applications,
    arrival,
    assignments,
    completion,
    once,
    overview,
    positions,
    prolific,
    recognition,
    timing,
    waiting_list,
    withdrawal,
)


class Letter(StringConverter):
    regex = "[A-Z]"


class Secret(StringConverter):
    """What is looked up as it stands. No key holds a NUL, and PostgreSQL fails at being asked for one."""

    regex = "[^/\\x00]+"


class ReasonToStop(StringConverter):
    """How somebody from Prolific ends their part themselves."""

    regex = "|".join((Ending.DECLINED, Ending.SCREENED_OUT, Ending.NO_PLACE, Ending.TIMED_OUT))


register_converter(Letter, "letter")
register_converter(ReasonToStop, "reason")
register_converter(Secret, "secret")

app_name = "annotation"
urlpatterns = [
    path("", arrival.home, name="home"),
    path("r/<secret:token>/", arrival.open_invitation, name="invitation"),
    path("p/<secret:key>/", prolific.arrive, name="prolific"),
    path("join/<secret:key>/", applications.apply, name="application"),
    path("join/<secret:key>/thanks/", applications.applied, name="applied"),
    path("join/<secret:key>/sorry/", applications.not_eligible, name="not_eligible"),
    path("stop/<reason:reason>/", prolific.stop, name="stop_prolific"),
    path("ended/", prolific.ended, name="ended"),
    path("time/", prolific.time_over, name="time_over"),
    path("again/", arrival.session_ended, name="again"),
    path("reading/", arrival.save_reading_preferences, name="reading"),
    path("consent/", arrival.consent, name="consent"),
    path("consent/copy/", arrival.consent_copy, name="consent_copy"),
    path("briefing/<slug:step>/", once.briefing, name="briefing"),
    path("once/<slug:step>/", once.once, name="once"),
    path("group/", arrival.begin, name="begin"),
    path("full/", waiting_list.full, name="full"),
    path("closed/", arrival.closed, name="closed"),
    path("done/", completion.done, name="done"),
    path("withdraw/", withdrawal.withdraw, name="withdraw"),
    path("withdrawn/", withdrawal.withdrawn, name="withdrawn"),
    path("a/<slug:code>/", assignments.resume, name="assignment"),
    path("a/<slug:code>/check/", completion.check, name="check"),
    path("a/<slug:code>/timing/", timing.add, name="timing"),
    path("a/<slug:code>/overview/", overview.overview, name="overview"),
    path("a/<slug:code>/rest/", overview.dismiss_break, name="rest"),
    path("a/<slug:code>/receipt/", completion.receipt, name="receipt"),
    path("a/<slug:code>/stopped/", completion.stopped, name="stopped"),
    path("a/<slug:code>/stop/<slug:step>/", completion.stop, name="stop"),
    path("a/<slug:code>/recognition/", recognition.ask, name="recognition"),
    path("a/<slug:code>/story/<letter:letter>/", assignments.story, name="story"),
    path("a/<slug:code>/story/<letter:letter>/position/", positions.remember, name="position"),
    path("a/<slug:code>/story/<letter:letter>/recognised/", recognition.flag, name="recognised"),
    path("a/<slug:code>/s/<slug:step>/", assignments.part, name="part"),
    path("a/<slug:code>/s/<slug:step>/<slug:item>/", assignments.item, name="item"),
    path("a/<slug:code>/s/<slug:step>/<letter:letter>/<slug:item>/", assignments.item, name="story_item"),
]
