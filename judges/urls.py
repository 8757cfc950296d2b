"""Judges in a study: who may see and change what is said in each view's first line."""

from django.urls import path

from judges.views import (
    calls,
    generations,
    judges,
    measures,
    new_generations,
    new_runs,
    panels,
    preference_models,
    prompt_choices,
    prompts,
    releases,
    runs,
    scores,
)

app_name = "judges"
urlpatterns = [
    path("runs/", runs.index, name="runs"),
    path("runs/new/", new_runs.new, name="new_run"),
    path("runs/prompt/", prompt_choices.new, name="new_prompt_choice"),
    path("runs/prompt/<int:choice>/", prompt_choices.show, name="prompt_choice"),
    path("runs/texts/", releases.index, name="releases"),
    path("runs/<int:run>/", runs.show, name="run"),
    path("runs/<int:run>/calls/", calls.index, name="calls"),
    path("runs/<int:run>/calls/<int:call>/", calls.show, name="call"),
    path("runs/<int:run>/<slug:action>/", runs.act, name="act"),
    path("generations/", generations.index, name="generations"),
    path("generations/new/", new_generations.new, name="new_generation"),
    path("generations/<int:run>/", generations.show, name="generation"),
    path("judges/", judges.index, name="judges"),
    path("judges/new/", judges.new, name="new_judge"),
    path("judges/panel/", panels.new, name="new_panel"),
    path("judges/metric/", judges.add_metric, name="add_metric"),
    path("judges/preference/", preference_models.index, name="preference_models"),
    path("judges/<int:judge>/", judges.show, name="judge"),
    path("stories/measures/", measures.index, name="measures"),
    path("scores/", scores.index, name="scores"),
    path("scores/<int:file_id>/", scores.show, name="score_upload"),
    path("prompts/", prompts.index, name="prompts"),
    path("prompts/new/", prompts.new, name="new_prompt"),
    path("prompts/<int:prompt>/", prompts.show, name="prompt"),
]
