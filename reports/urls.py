"""Reports: who may see what a study amounts to is said in each view's first line."""

from django.urls import path

from reports import views

app_name = "reports"
urlpatterns = [
    path("", views.index, name="index"),
    path("<slug:slug>/", views.show, name="show"),
    path("<slug:slug>/exports/", views.exports, name="exports"),
    path("<slug:slug>/responses_long.csv", views.responses_long, name="responses_long"),
    path(
        "<slug:slug>/responses_for_spreadsheets.csv",
        views.responses_for_spreadsheets,
        name="responses_for_spreadsheets",
    ),
    path("<slug:slug>/codebook.csv", views.codebook, name="codebook"),
    path("<slug:slug>/<slug:table>.csv", views.table, name="table"),
]
