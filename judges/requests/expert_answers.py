"""Experts' answers that a prompt shows before it asks: from the study's own people, never about what is judged.

What is shown is the story and the value. What people wrote beside it stays here: nobody was asked whether their words
may go to a provider.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max, QuerySet, Sum

from annotation.models import Rater, Response
from judges import prompts
from judges.prompts import Candidate, Example, JudgedStory
from studies.models import Item, Story, StoryGroup, Study
from studies.typography.prompts import fold_prompt


@dataclass(frozen=True)
class ChosenExample:
    """An answer that is shown: which response, about which story, and in which words."""

    response: int
    story: Story
    example: Example


class ExampleSource:
    """The answers of a study's people that may be shown, and so many of them for each call."""

    def __init__(self, study: Study, *, codes: Collection[str], n: int) -> None:
        """codes : of the stories whose texts may be sent. Three queries."""
        self._n, self._seed = n, study.seed
        groups = study.groups.prefetch_related("stories")
        self._groups = [(fold_prompt(g.premise), {story.code for story in g.stories.all()}) for g in groups]
        self._row_by_candidate: dict[Candidate, Response] = {}
        self._candidates_by_item: dict[str, list[Candidate]] = defaultdict(list)
        answers = find_answers(study).filter(story__code__in=codes)
        for row in answers.select_related("item", "story").order_by("pk"):
            if (story := row.story) is None:
                continue
            candidate = Candidate(row.item.key, story.code, "", "", str(row.value), "", story.text, story.sha256)
            self._row_by_candidate.setdefault(candidate, row)
            self._candidates_by_item[row.item.key].append(candidate)

    def choose(self, items: Sequence[Item], story: Story, group: StoryGroup) -> list[ChosenExample]:
        """What is shown before these items are asked about the story; nothing where several are asked at once."""
        if len(items) != 1:
            return []
        judged = JudgedStory(items[0].key, story.code, group.code, group.premise, story.sha256)
        related = self._find_related(judged)
        candidates = [c for c in self._candidates_by_item[judged.item] if c.story not in related]
        chosen = prompts.choose_examples(candidates, judged, n=self._n, seed=self._seed)
        rows = [(candidate, self._row_by_candidate[candidate]) for candidate in chosen]
        return [ChosenExample(row.pk, row.story, candidate.example) for candidate, row in rows if row.story]

    def _find_related(self, judged: JudgedStory) -> set[str]:
        """Codes of all stories that share one of its groups, or one of its prompts, with the story that is judged."""
        own = {premise for premise, codes in self._groups if premise and judged.story in codes}
        return {c for premise, codes in self._groups if premise in own or judged.story in codes for c in codes}


def summarise_answers(study: Study) -> list[str]:
    """Another list once an answer that may be shown came, went or was changed. One query."""
    numbers = {"n": Count("pk"), "latest": Max("pk"), "n_edits": Sum("revision"), "edited_at": Max("last_edited_at")}
    return [str(number) for number in find_answers(study).order_by().aggregate(**numbers).values()]


def find_answers(study: Study) -> QuerySet[Response]:
    """What the study's own people answered and submitted, first readings alone."""
    return Response.objects.filter(
        assignment__study=study,
        assignment__rater_kind=Rater.Kind.PERSON,
        assignment__rater__is_simulated=False,
        assignment__status="submitted",
        assignment__repeats=None,
        outcome=Response.Outcome.ANSWERED,
    )


def find_blocks(chosen: Sequence[ChosenExample], mark: str) -> dict[str, Story]:
    """The stretches of the messages that hold a shown story's words, with the story."""
    return {
        prompts.fence_example(shown.example, number, mark): shown.story for number, shown in enumerate(chosen, start=1)
    }
