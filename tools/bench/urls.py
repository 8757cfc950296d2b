"""The site's addresses, and those of the bare views that it is compared with."""

from django.urls import include, path

from tools.bench import bare

urlpatterns = [
    path("bare/save/<int:response>/", bare.save),
    path("bare/page/<slug:code>/<slug:step>/<str:letter>/<slug:item>/", bare.page),
    path("", include("config.urls")),
]
