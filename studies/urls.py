"""Pages of studies that need nothing above them; `annotation.study_urls` completes the namespace `studies`."""

from django.urls import path

from studies.views import (
    analysis_plans,
    members,
    new_studies,
    stories,
    story_imports,
    story_sources,
    study_files,
    subsets,
)

urlpatterns = [
    path("new/", new_studies.new, name="new"),
    path("<slug:slug>/access/", members.members, name="members"),
    path("<slug:slug>/study.zip", study_files.study_file, name="file"),
    path("<slug:slug>/for/<slug:tool>.zip", study_files.tool_file, name="tool_file"),
    path("<slug:slug>/stories/", stories.stories_page, name="stories"),
    path("<slug:slug>/stories/new/", story_imports.new_import, name="new_story_import"),
    path("<slug:slug>/stories/new/<int:import_id>/", story_imports.story_import, name="story_import"),
    path("<slug:slug>/stories/sources/", story_sources.story_sources, name="story_sources"),
    path("<slug:slug>/stories/subset/", subsets.subset_page, name="subset"),
    path("<slug:slug>/stories/<int:story>/", stories.story_page, name="story"),
    path("<slug:slug>/analysis-plan/", analysis_plans.analysis_plan_page, name="analysis_plan"),
    path("<slug:slug>/analysis-plan.md", analysis_plans.preregistration, name="preregistration"),
]
