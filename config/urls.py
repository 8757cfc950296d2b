"""Which app serves which addresses."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("studies/", include("annotation.study_urls")),
    path("studies/<slug:slug>/", include("annotation.designer_urls")),
    path("studies/<slug:slug>/", include("judges.urls")),
    path("instruments/", include("studies.instrument_urls")),
    path("endpoints/", include("judges.endpoint_urls")),
    path("reports/", include("reports.urls")),
    path("api/", include("reports.api.urls")),
    path("", include("annotation.urls")),
]
