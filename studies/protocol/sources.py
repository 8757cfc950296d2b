"""Who wrote which story, for those who may know it while a study is planned; nothing that serves raters reads it."""

from studies.models import Provenance, Study


def source_by_story(study: Study) -> dict[str, str]:
    """The names of those who wrote the stories, by the story's code. One query."""
    rows = Provenance.objects.filter(story__study=study).values_list("story__code", "source__name")
    return dict(rows)
