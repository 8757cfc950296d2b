"""The laboratory in a study: included by `judges.urls`, whose namespace it shares."""

from django.urls import path

from judges.laboratory.views import (
    alignments,
    generations,
    measures,
    new_generations,
    preference_models,
    prompt_choices,
    scores,
    watches,
)

urlpatterns = [
    path("runs/alignment/", alignments.new, name="new_alignment"),
    path("runs/alignment/<int:alignment>/", alignments.show, name="alignment"),
    path("runs/prompt/", prompt_choices.new, name="new_prompt_choice"),
    path("runs/prompt/<int:choice>/", prompt_choices.show, name="prompt_choice"),
    path("runs/drift/", watches.index, name="watches"),
    path("generations/", generations.index, name="generations"),
    path("generations/new/", new_generations.new, name="new_generation"),
    path("generations/<int:run>/", generations.show, name="generation"),
    path("judges/preference/", preference_models.index, name="preference_models"),
    path("stories/measures/", measures.index, name="measures"),
    path("scores/", scores.index, name="scores"),
    path("scores/<int:file_id>/", scores.show, name="score_upload"),
]
