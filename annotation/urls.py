"""The raters' addresses. A story is a letter, an assignment a random code: nothing here counts or dates."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from annotation.views import arrive, desk, finish, leave, orient, recognition, timing


class Letter(StringConverter):
    regex = "[A-Z]"


register_converter(Letter, "letter")

app_name = "annotation"
urlpatterns = [
    path("", arrive.home, name="home"),
    path("r/<str:token>/", arrive.invitation, name="invitation"),
    path("again/", arrive.again, name="again"),
    path("reading/", arrive.reading, name="reading"),
    path("consent/", arrive.consent, name="consent"),
    path("consent/copy/", arrive.consent_copy, name="consent_copy"),
    path("briefing/<slug:step>/", arrive.briefing, name="briefing"),
    path("once/<slug:step>/", arrive.once, name="once"),
    path("group/", arrive.begin, name="begin"),
    path("closed/", arrive.closed, name="closed"),
    path("done/", finish.done, name="done"),
    path("withdraw/", leave.withdraw, name="withdraw"),
    path("withdrawn/", leave.withdrawn, name="withdrawn"),
    path("a/<slug:code>/", desk.resume, name="assignment"),
    path("a/<slug:code>/check/", finish.check, name="check"),
    path("a/<slug:code>/timing/", timing.add, name="timing"),
    path("a/<slug:code>/overview/", orient.overview, name="overview"),
    path("a/<slug:code>/rest/", orient.rest, name="rest"),
    path("a/<slug:code>/receipt/", finish.receipt, name="receipt"),
    path("a/<slug:code>/stopped/", finish.stopped, name="stopped"),
    path("a/<slug:code>/stop/<slug:step>/", finish.stop, name="stop"),
    path("a/<slug:code>/recognition/", recognition.before, name="recognition"),
    path("a/<slug:code>/story/<letter:letter>/", desk.story, name="story"),
    path("a/<slug:code>/story/<letter:letter>/recognised/", recognition.flag, name="recognised"),
    path("a/<slug:code>/s/<slug:step>/", desk.part, name="part"),
    path("a/<slug:code>/s/<slug:step>/<slug:item>/", desk.item, name="item"),
    path("a/<slug:code>/s/<slug:step>/<letter:letter>/<slug:item>/", desk.item, name="story_item"),
]
