"""A form that makes something makes it once: a second click, or a repeat of what seemed lost, leads to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, cast

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from studies import hashing
from studies.models import PostedForm

IGNORED = ("csrfmiddlewaretoken",)
KEPT = timedelta(hours=1)
LONGEST_ADDRESS = PostedForm._meta.get_field("address").max_length or 0


def makes_once(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """View decorator, under the one that guards the door: the same form with the same values is carried out once.

    Posted again it leads where it led before, also while the first is under way. One that is refused, and so leads
    nowhere, can be posted again; one in which something was changed is another.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST" or not request.POST.get(PostedForm.FIELD):
            return view(request, *args, **kwargs)
        with transaction.atomic():
            form = _note(request)
            if form.address:
                return redirect(form.address)
            response = view(request, *args, **kwargs)
            address = response.headers.get("Location", "")
            if address and len(address) <= LONGEST_ADDRESS:
                PostedForm.objects.filter(pk=form.pk).update(address=address)
            else:
                form.delete()
            return response

    return guarded


def _note(request: HttpRequest) -> PostedForm:
    """The row of the form that is posted; without an address if it is new. The second waits for the first."""
    now, user, sha256 = timezone.now(), cast(User, request.user), _hash(request)
    PostedForm.objects.filter(posted_at__lt=now - KEPT).delete()
    try:
        with transaction.atomic():
            return PostedForm.objects.create(user=user, sha256=sha256, posted_at=now)
    except IntegrityError:
        return PostedForm.objects.get(user=user, sha256=sha256)


def _hash(request: HttpRequest) -> str:
    values = {name: texts for name, texts in sorted(request.POST.lists()) if name not in IGNORED}
    files = {name: [(file.name, _hash_file(file)) for file in row] for name, row in sorted(request.FILES.lists())}
    return hashing.sha256(hashing.canonical_json([request.path, values, files]))


def _hash_file(file: UploadedFile[bytes]) -> str:
    """Of what is in it: another file may have the same name and length. It is read from its beginning afterwards."""
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()
