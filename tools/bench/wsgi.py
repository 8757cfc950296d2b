"""The application with the bare views beside its own."""

from django.conf import settings

from config.wsgi import application

settings.ROOT_URLCONF = "tools.bench.urls"

__all__ = ["application"]
