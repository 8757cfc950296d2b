"""Subsets: a draft like a study with some of its stories, drawn with a seed, in strata or not; the study stays.

Only for those who may know who wrote the stories: strata count them by source, and the account that draws leads the
draft.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from studies import construction, creation
from studies.creation import NewStudy
from studies.facts import ASKED_WHEN_NEW
from studies.models import Provenance, StoryGroup, Study, Subset
from studies.strata import DOUBT, CannotDraw, Criterion, DrawableStory, StratumDraw, SubsetDraw, SubsetRule
from studies.typography.prompts import fold_prompt

Membership = StoryGroup.stories.through
LONGEST_LABEL = 200


@dataclass(frozen=True)
class Population:
    """What can be drawn from a study.

    pairs : (group, story) by primary key; n_withheld, n_in_no_group : of stories that cannot be drawn
    """

    candidates: tuple[DrawableStory, ...]
    pairs: tuple[tuple[int, int], ...]
    n_withheld: int
    n_in_no_group: int

    def count_split_groups(self, drawn: SubsetDraw) -> int:
        """How many groups would keep only some of their stories."""
        chosen = set(drawn.keys)
        n_of = Counter(group for group, _story in self.pairs)
        n_kept = Counter(group for group, story in self.pairs if story in chosen)
        return sum(n < n_of[group] for group, n in n_kept.items())


def read_population(study: Study) -> Population:
    """The study's stories that raters could read. Raises CannotDraw. Four queries, which read no text."""
    if study.has_blanks():
        raise CannotDraw(_("The study is a cloze: raters fill one text, so there are no stories to draw from."))
    pairs, prompts = [], defaultdict[int, dict[str, str]](dict)
    groups = Membership.objects.filter(storygroup__study=study).order_by("storygroup__code", "story__code")
    for group, code, premise, story in groups.values_list(
        "storygroup_id", "storygroup__code", "storygroup__premise", "story_id"
    ):
        pairs.append((group, story))
        # A group without a premise is a prompt of its own, whose name no premise has.
        prompts[story].setdefault(fold_prompt(premise) or f"\0{code}", " ".join(premise.split()) or code)
    origins = Provenance.objects.filter(story__study=study).values_list("story_id", "source__name", "factors")
    origin_by_story = {story: (source, factors) for story, source, factors in origins}
    rows = study.stories.order_by("code").values_list("pk", "code", "sha256", "n_words", "is_withheld")
    candidates, n_withheld, n_in_no_group = [], 0, 0
    for key, code, sha256, n_words, is_withheld in rows:
        source, factors = origin_by_story.get(key, ("", {}))
        if is_withheld:
            n_withheld += 1
        elif key not in prompts:
            n_in_no_group += 1
        else:
            candidates.append(DrawableStory(key, sha256, code, n_words, source, prompts[key], factors))
    return Population(tuple(candidates), tuple(pairs), n_withheld, n_in_no_group)


def hold_population(study: Study) -> Population:
    """The same, which nobody changes until the transaction is over, so that what is drawn is what is copied."""
    # Without the key: raters of a live study are not kept waiting.
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    return read_population(study)


def choose_doubtful(population: Population, codes: Sequence[str]) -> SubsetDraw:
    """The stories of these codes, on which judges are in doubt, as a draw. Raises CannotDraw if none can be read."""
    key_by_code = {candidate.code: candidate.key for candidate in population.candidates}
    keys = tuple(key_by_code[code] for code in codes if code in key_by_code)
    if not keys:
        raise CannotDraw(_("None of these stories can be read any more."))
    rule = SubsetRule(len(keys), seed=0, criteria=(Criterion(DOUBT),))
    return SubsetDraw(rule, (StratumDraw((DOUBT,), len(population.candidates), len(keys), keys),), {})


@transaction.atomic
def create_subset(original: Study, population: Population, drawn: SubsetDraw, title: str, *, by: User | None) -> Study:
    """A draft like the study with the stories drawn from its population, and how they were drawn.

    population : as `hold_population` gives it, in the transaction of the caller
    by : becomes its lead; None for a command, which nobody is signed in to
    """
    rule = drawn.rule
    said = {fact.key: getattr(original, fact.key) for fact in ASKED_WHEN_NEW}
    new = NewStudy(title, original.language, said)
    study = creation.copy_without_lead(original, new)
    chosen = set(drawn.keys)
    pairs = [(group, story) for group, story in population.pairs if story in chosen]
    groups = StoryGroup.objects.in_bulk({group for group, _story in pairs})
    construction.copy_groups(study, list(groups.values()), pairs, with_origins=True)
    Subset.objects.create(
        study=study,
        original=original.slug,
        title=original.title,
        seed=rule.seed,
        n=rule.n,
        is_each=rule.is_each,
        criteria=[str(criterion) for criterion in rule.criteria],
        strata=[
            {
                "parts": [label[:LONGEST_LABEL] for label in stratum.labels],
                "n_there": stratum.n_there,
                "n_asked": stratum.n_asked,
                "n_taken": stratum.n_taken,
            }
            for stratum in drawn.strata
        ],
        left_out=dict(drawn.left_out),
    )
    # All of the staff can read the log: how it was drawn stands with the subset alone.
    return creation.appoint_lead(study, by, f"subset of {original.slug}") if by else study
