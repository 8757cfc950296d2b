"""Texts as an embedding places them, kept so that nothing is embedded, or paid for, twice."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class TextVector(models.Model):
    sha256 = models.CharField(_("hash of the text"), max_length=64)
    embedding = models.CharField(_("embedding"), max_length=200)
    version = models.CharField(_("version"), max_length=120)
    # Of an embedding four bytes a number, of a surprise one number of eight; the least significant first. It can be
    # used to guess at the text, so erasing reaches it.
    vector = models.BinaryField(_("vector"))

    class Meta:
        verbose_name = _("vector of a text")
        verbose_name_plural = _("vectors of texts")
        constraints = [
            models.UniqueConstraint(fields=["sha256", "embedding", "version"], name="vector_once"),
        ]

    def __str__(self) -> str:
        return f"{self.embedding} {self.sha256[:12]}"
