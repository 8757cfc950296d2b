"""A study as a file, to be kept or opened on another Quire."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from studies.access import Access
from studies.action_log import log_action
from studies.study_files import NotWritable, write_study_file
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
    disposition = f'attachment; filename="{access.study.slug}.zip"'
    return HttpResponse(content, content_type="application/zip", headers={"Content-Disposition": disposition})
