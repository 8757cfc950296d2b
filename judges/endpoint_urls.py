"""Endpoints, which belong to no study: who may see and change them is said in each view's first line."""

from django.urls import path

from judges.views import endpoints

app_name = "endpoints"
urlpatterns = [
    path("", endpoints.index, name="index"),
    path("new/", endpoints.new, name="new"),
    path("<int:endpoint>/", endpoints.show, name="show"),
    path("<int:endpoint>/bill/", endpoints.enter_bill, name="enter_bill"),
    path("<int:endpoint>/test/", endpoints.test, name="test"),
]
