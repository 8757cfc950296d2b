"""The doors of pages: who may see one, who may change something there, which query parameters it reads."""

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from config import roles
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
                raise PermissionDenied(explain_refusal(required))
            access = access_to(study, request.user)
            if not access.may(required):
                raise PermissionDenied(explain_refusal(required))
            refuse_unknown(request, query)
            response = view(request, access, *args, **kwargs)
            patch_cache_control(response, no_store=True)
            return response

        return require_http_methods(list(methods))(staff_member_required(guarded))

    return guard


def require(
    may: Callable[[HttpRequest], bool], *, methods: Collection[str] = ("GET", "HEAD"), query: Collection[str] = ()
) -> Callable[[View], View]:
    """View decorator of a page about what belongs to no study: requires that the account may what it asks.

    query : as for `require_in_study`
    """

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not may(request):
                raise PermissionDenied
            refuse_unknown(request, query)
            return view(request, *args, **kwargs)

        return require_http_methods(list(methods))(staff_member_required(guarded))

    return guard


def explain_refusal(permission: str) -> str:
    """Who may do what that permission allows, as a sentence for somebody who may not."""
    everywhere = [roles.title(role) for role in roles.TABLE if permission in roles.permissions(role)]
    in_study = [roles.title(role) for role in roles.MEMBER_TABLE if permission in roles.member_permissions(role)]
    names = {"here": ", ".join(in_study), "everywhere": ", ".join(everywhere)}
    if permission.startswith("studies.add_study"):
        return _("Only accounts with one of these roles can create studies: %(everywhere)s.") % names
    if in_study:
        sentence = _("It is for these roles in the study: %(here)s; or in all studies: %(everywhere)s.")
        return sentence % (names | {"everywhere": names["everywhere"] or "–"})
    return _("It is for accounts with one of these roles: %(everywhere)s.") % names if everywhere else ""


def refuse_unknown(request: HttpRequest, query: Collection[str]) -> None:
    """Raise BadRequest for a query parameter that nothing of ours sends, or a value that PostgreSQL cannot look up."""
    if unknown := sorted(set(request.GET) - set(query)):
        raise BadRequest(f"This page takes no {', '.join(unknown)}.")
    if any("\x00" in value for _name, values in request.GET.lists() for value in values):
        raise BadRequest("The address holds a character that no database keeps.")
