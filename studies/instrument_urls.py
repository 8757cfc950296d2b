"""Instruments, which belong to no study."""

from django.urls import path

from studies.views import instrument_scores, instruments

app_name = "instruments"
urlpatterns = [
    path("", instruments.shelf, name="shelf"),
    path("new/", instruments.new, name="new"),
    path("<int:instrument>/", instruments.show, name="show"),
    path("<int:instrument>/new-question/", instruments.question, name="new_question"),
    path("<int:instrument>/questions/<slug:item>/", instruments.question, name="question"),
    path("<int:instrument>/new-score/", instrument_scores.edit, name="new_score"),
    path("<int:instrument>/scores/<slug:score>/", instrument_scores.edit, name="score"),
    path("<int:instrument>/preview/", instruments.preview, name="preview"),
    path("<int:instrument>/publish/", instruments.publish, name="publish"),
    path("<int:instrument>/copy/", instruments.copy, name="copy"),
    path("<int:instrument>/delete/", instruments.delete, name="delete"),
    path("<int:instrument>/instrument.toml", instruments.export, name="export"),
]
