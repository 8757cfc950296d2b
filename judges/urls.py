"""Judges in a study: who may see and change what is said in each view's first line."""

from django.urls import path

from judges.laboratory import urls as laboratory_urls
from judges.views import calls, judges, logs, new_runs, panels, prompts, releases, replies, runs

app_name = "judges"
urlpatterns = [
    path("runs/", runs.index, name="runs"),
    path("runs/new/", new_runs.new, name="new_run"),
    path("runs/texts/", releases.index, name="releases"),
    path("runs/logs/", logs.index, name="logs"),
    path("runs/logs/<int:file_id>/", logs.show, name="log_upload"),
    path("runs/<int:run>/", runs.show, name="run"),
    path("runs/<int:run>/calls/", calls.index, name="calls"),
    path("runs/<int:run>/calls/<int:call>/", calls.show, name="call"),
    path("runs/<int:run>/replies/", replies.show, name="replies"),
    path("runs/<int:run>/<slug:action>/", runs.act, name="act"),
    path("judges/", judges.index, name="judges"),
    path("judges/new/", judges.new, name="new_judge"),
    path("judges/panel/", panels.new, name="new_panel"),
    path("judges/metric/", judges.add_metric, name="add_metric"),
    path("judges/<int:judge>/", judges.show, name="judge"),
    path("prompts/", prompts.index, name="prompts"),
    path("prompts/new/", prompts.new, name="new_prompt"),
    path("prompts/<int:prompt>/", prompts.show, name="prompt"),
    *laboratory_urls.urlpatterns,
]
