"""What came of trying an endpoint, by a worker and so with the keys that workers have."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from judges.models.endpoints import Endpoint
from judges.providers import ConnectionCheck, FailureKind


class ConnectionTest(models.Model):
    endpoint = models.ForeignKey(
        Endpoint, verbose_name=_("endpoint"), on_delete=models.CASCADE, related_name="connection_tests"
    )
    model = models.CharField(_("model"), max_length=200)
    asked_by = models.CharField(_("asked by"), max_length=150)
    asked_at = models.DateTimeField(_("asked at"), default=timezone.now)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    kind = models.CharField(_("kind of failure"), max_length=40, blank=True)
    detail = models.TextField(_("detail"), blank=True)
    answered_by = models.CharField(_("model that answered"), max_length=200, blank=True)
    is_asked_model = models.BooleanField(_("is the model that was asked"), default=True)

    class Meta:
        verbose_name = _("test of a connection")
        verbose_name_plural = _("tests of connections")
        ordering = ["-asked_at", "-pk"]

    def __str__(self) -> str:
        return f"test {self.pk} of endpoint {self.endpoint_id}"

    @property
    def result(self) -> ConnectionCheck | None:
        """What came out; None while no worker has answered."""
        if self.ended_at is None:
            return None
        kind = FailureKind(self.kind) if self.kind else None
        return ConnectionCheck(kind, detail=self.detail, model=self.answered_by, is_asked_model=self.is_asked_model)
