"""The read API."""

from django.urls import path

from reports import api

app_name = "api"
urlpatterns = [path("studies/<slug:slug>/responses/", api.responses, name="responses")]
