"""Studies for those who make and run them: who may see what is said in each view's first line.

The list and the overview show places, so they stand in this app; what needs only studies is in `studies.urls`.
"""

from django.urls import include, path

from annotation.views.designer import deletion, overview, study_list

app_name = "studies"
urlpatterns = [
    path("", study_list.index, name="index"),
    path("", include("studies.urls")),
    path("<slug:slug>/", overview.overview, name="overview"),
    path("<slug:slug>/delete/", deletion.delete, name="delete"),
]
