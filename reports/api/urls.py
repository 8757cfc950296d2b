"""The read API, its description, and the tokens for it."""

from django.urls import path

from reports.api import token_page, views
from reports.api.description import Description

app_name = "api"
urlpatterns = [
    path("", Description.as_view(), name="schema"),
    path("tokens/", token_page.tokens, name="tokens"),
    path("studies/", views.studies, name="studies"),
    path("studies/<slug:slug>/", views.study, name="study"),
    path("studies/<slug:slug>/progress/", views.progress, name="progress"),
    path("studies/<slug:slug>/amendments/", views.amendments, name="amendments"),
    path("studies/<slug:slug>/responses/", views.responses, name="responses"),
    path("studies/<slug:slug>/rationales/", views.rationales, name="rationales"),
    path("studies/<slug:slug>/report/", views.report, name="report"),
    path("studies/<slug:slug>/exports/", views.packages, name="packages"),
    path("studies/<slug:slug>/exports/<slug:sha256>.zip", views.package, name="package"),
]
