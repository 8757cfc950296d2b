"""What was sampled together, by its own name: stories, premises, or groups."""

from __future__ import annotations

from enum import Enum

from django.utils.translation import gettext as _

from reports.dataset.premises import find_clusters
from reports.dataset.sources import source_by_story
from reports.dataset.step_items import step_items
from reports.results import Results
from studies.models import Study
from studies.premises import WhyStories


class Sampled(Enum):
    """What intervals take as one. MIXED : groups, of which some are on one premise"""

    STORIES_ON_ONE_PREMISE = "stories on one premise"
    STORIES_OF_ONE_GROUP = "stories of one group"
    STORIES_IN_BATCHES = "stories in batches"
    PREMISES = "premises"
    GROUPS = "groups"
    MIXED = "groups and premises"

    @property
    def words(self) -> str:
        """As in "intervals over …"."""
        words = {
            Sampled.PREMISES: _("writing prompts"),
            Sampled.GROUPS: _("groups"),
            Sampled.MIXED: _("groups, those on one prompt as one"),
        }
        return words.get(self, _("stories"))

    @property
    def explained(self) -> str:
        """The same with the reason why stories are what varies, where they are."""
        reasons = {
            Sampled.STORIES_ON_ONE_PREMISE: _("stories (all on one prompt, so that nothing is said of other prompts)"),
            Sampled.STORIES_OF_ONE_GROUP: _("stories (all of which raters read in one group)"),
            Sampled.STORIES_IN_BATCHES: _("stories (groups were batches that all raters read)"),
        }
        return reasons.get(self, self.words)


STORIES = {
    WhyStories.ONE_PREMISE: Sampled.STORIES_ON_ONE_PREMISE,
    WhyStories.ONE_GROUP: Sampled.STORIES_OF_ONE_GROUP,
    WhyStories.BATCHES: Sampled.STORIES_IN_BATCHES,
}


def find_sampled(study: Study, results: Results) -> Sampled:
    """What was sampled in the study. Up to six queries."""
    sources = {} if results.is_sealed else source_by_story(study)
    clusters = find_clusters(study, sources, step_items(study))
    if clusters.why_stories:
        return STORIES[clusters.why_stories]
    if clusters.are_premises:
        return Sampled.PREMISES
    is_each_its_own = len(set(clusters.by_group.values())) == len(clusters.by_group)
    return Sampled.GROUPS if is_each_its_own else Sampled.MIXED
