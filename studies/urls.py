"""Studies for those who make and run them: who may see what is said in each view's first line."""

from django.urls import path

from studies.views import members, studies

app_name = "studies"
urlpatterns = [
    path("", studies.index, name="index"),
    path("<slug:slug>/", studies.overview, name="overview"),
    path("<slug:slug>/access/", members.members, name="members"),
]
