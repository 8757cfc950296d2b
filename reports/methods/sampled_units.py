"""What was sampled together, by its own name: stories, premises, or groups."""

from __future__ import annotations

from enum import Enum

from django.utils.translation import gettext as _

from reports.dataset.premises import find_clusters
from reports.dataset.sources import source_by_story
from reports.dataset.step_items import step_items
from reports.results import Results
from studies.models import Study


class Sampled(Enum):
    """What intervals take as one. MIXED : groups, of which some are on one premise"""

    STORIES = "stories"
    PREMISES = "premises"
    GROUPS = "groups"
    MIXED = "groups and premises"

    @property
    def words(self) -> str:
        """As in "intervals over …"."""
        words = {
            Sampled.STORIES: _("stories"),
            Sampled.PREMISES: _("premises"),
            Sampled.GROUPS: _("groups"),
            Sampled.MIXED: _("groups, those on one premise as one"),
        }
        return words[self]


def find_sampled(study: Study, results: Results) -> Sampled:
    """What was sampled in the study. Up to six queries."""
    sources = {} if results.is_sealed else source_by_story(study)
    clusters = find_clusters(study, sources, step_items(study))
    if clusters.are_stories:
        return Sampled.STORIES
    if clusters.are_premises:
        return Sampled.PREMISES
    is_each_its_own = len(set(clusters.by_group.values())) == len(clusters.by_group)
    return Sampled.GROUPS if is_each_its_own else Sampled.MIXED
