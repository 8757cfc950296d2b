"""Forms of the staff that made something, so that none of them makes it twice."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class PostedForm(models.Model):
    """That somebody posted this form with these values, and the address to which it led.

    FIELD : of such a form, what tells it from the same form of another page
    """

    FIELD = "once"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("account"), on_delete=models.CASCADE, related_name="+"
    )
    sha256 = models.CharField(_("hash"), max_length=64, help_text=_("Of the page that had the form, and its values."))
    address = models.CharField(_("address"), max_length=500, blank=True)
    posted_at = models.DateTimeField(_("posted at"))

    class Meta:
        verbose_name = _("posted form")
        verbose_name_plural = _("posted forms")
        constraints = [models.UniqueConstraint(fields=["user", "sha256"], name="form_posted_once")]

    def __str__(self) -> str:
        return f"form {self.pk}"
