"""Which texts may travel in a public package. Answers in codes, so that whoever asks learns nothing else of a story."""

from studies.models import Provenance, Study


def find_redistributable_codes(study: Study, *, with_sources: bool) -> set[str]:
    """Codes of the stories whose text may be given to everybody, as their provenance says. No word about it means no.

    In a package without sources which texts are missing would tell who wrote them, since licences go by source: there
    it is all of them, or none.
    """
    allowed = Provenance.objects.filter(story__study=study, story__is_withheld=False, may_redistribute=True)
    codes = set(allowed.values_list("story__code", flat=True))
    n_stories = study.stories.exclude(text="").count()
    return codes if with_sources or len(codes) == n_stories else set()
