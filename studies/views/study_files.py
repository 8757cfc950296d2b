"""A study as a file, to be kept or opened on another Quire."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from studies.access import Access
from studies.action_log import log_action
from studies.study_files import NotWritable, write_study_file
from studies.tool_exports import all_tools
from studies.tool_exports.files import write_for_tool
from studies.views.guards import require_in_study

SEES_SOURCES = "studies.view_provenance"


@require_in_study(SEES_SOURCES)
def study_file(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may see who wrote the stories, which the file says: the study's folder in one ZIP file."""
    try:
        content = write_study_file(access.study)
    except NotWritable as error:
        messages.error(request, str(error))
        return redirect("studies:overview", slug=access.study.slug)
    log_action(access.study, "study file saved", by=request.user)
    return _zip_file(content, access.study.slug)


@require_in_study(SEES_SOURCES)
def tool_file(request: HttpRequest, access: Access, tool: str) -> HttpResponse:
    """For those who may take the study along: its questions and stories for another tool, in one ZIP file."""
    if tool not in all_tools():
        raise Http404
    content = write_for_tool(access.study, all_tools()[tool])
    log_action(access.study, f"study written for {tool}", by=request.user)
    return _zip_file(content, f"{access.study.slug}-{tool}")


def _zip_file(content: bytes, name: str) -> HttpResponse:
    disposition = f'attachment; filename="{name}.zip"'
    return HttpResponse(content, content_type="application/zip", headers={"Content-Disposition": disposition})
