"""A study by the slug that somebody typed."""

from studies.models import Study


class NoSuchStudy(LookupError):
    """There is no study of that slug; the message names those that there are."""


def find_study(slug: str) -> Study:
    """The study of that slug. Raises NoSuchStudy."""
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        slugs = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)) or "none"
        raise NoSuchStudy(f"there is no study “{slug}”; there are: {slugs}")
    return study
