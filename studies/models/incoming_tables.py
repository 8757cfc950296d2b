"""Tables that somebody brought and that wait to be confirmed."""

from __future__ import annotations

from typing import TypeVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class WaitingTable(models.Model):
    """It may say who wrote the stories, or hold what raters wrote: seen by the account that brought it alone, in no
    export, gone when it is done or a day old."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("account"), on_delete=models.CASCADE, related_name="+"
    )
    created_at = models.DateTimeField(_("created at"))
    file_name = models.CharField(_("file name"), max_length=200)
    # As text: nobody asks the database what stands in it, and it may be 50 MB.
    table = models.TextField(_("table"))
    choices = models.JSONField(_("choices"), default=dict)

    class Meta:
        abstract = True


AnyFile = TypeVar("AnyFile", bound=models.Model)


class WaitingFiles(models.Manager[AnyFile]):
    """The manager of such tables, which fetches a file only where it is asked for."""

    def get_queryset(self) -> models.QuerySet[AnyFile]:
        return super().get_queryset().defer("content")


class WaitingFile(WaitingTable):
    """A table that can be read from its file otherwise until it is confirmed. Its manager is `WaitingFiles`."""

    reading = models.JSONField(_("how it was read"), default=dict)
    content = models.BinaryField(_("file, compressed"), default=b"")

    class Meta:
        abstract = True
