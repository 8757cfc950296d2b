"""Who answers where."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("reports/", include("reports.urls")),
    path("api/", include("reports.api_urls")),
    path("", include("annotation.urls")),
]
