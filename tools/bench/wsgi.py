"""The application with the bare views beside its own, and no end to saves: a bench makes more than any page would."""

from django.conf import settings

from config.wsgi import application  # isort: skip - sets Django up
from annotation.responses import holds

holds.BURST = 1_000_000
settings.ROOT_URLCONF = "tools.bench.urls"

__all__ = ["application"]
