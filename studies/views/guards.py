"""The door of every page about one study: who may see it, who may change something there."""

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_http_methods

from studies.access import Access, access_to
from studies.models import Study

P = ParamSpec("P")
View = Callable[..., HttpResponseBase]
InStudy = Callable[Concatenate[HttpRequest, Access, P], HttpResponseBase]


def require_in_study(
    permission: str, *, change: str = "", methods: Collection[str] = ("GET", "HEAD"), query: Collection[str] = ()
) -> Callable[[InStudy[P]], View]:
    """View decorator: requires that permission in the study that the address names by `slug`.

    The view gets the account's access in place of the slug. Others of the staff are refused, whether there is such a
    study or not; strangers are sent to sign in.
    change : what a POST requires in its place
    query : the query parameters that the page reads; any other is refused
    """

    def guard(view: InStudy[P]) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: Any, slug: str, **kwargs: Any) -> HttpResponseBase:
            required = change if change and request.method == "POST" else permission
            study = Study.objects.filter(slug=slug).first()
            if study is None:
                if request.user.has_perm(required):
                    raise Http404
                raise PermissionDenied
            access = access_to(study, request.user)
            if not access.may(required):
                raise PermissionDenied
            refuse_unknown(request, query)
            response = view(request, access, *args, **kwargs)
            patch_cache_control(response, no_store=True)
            return response

        return require_http_methods(list(methods))(staff_member_required(guarded))

    return guard


def refuse_unknown(request: HttpRequest, query: Collection[str]) -> None:
    """Raise BadRequest for a query parameter that nothing of ours sends."""
    if unknown := sorted(set(request.GET) - set(query)):
        raise BadRequest(f"This page takes no {', '.join(unknown)}.")
