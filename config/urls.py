"""Which app serves which addresses."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("studies/", include("studies.urls")),
    path("studies/<slug:slug>/", include("judges.urls")),
    path("endpoints/", include("judges.endpoint_urls")),
    path("reports/", include("reports.urls")),
    path("api/", include("reports.api_urls")),
    path("", include("annotation.urls")),
]
