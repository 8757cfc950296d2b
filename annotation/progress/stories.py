"""The stories of an assignment by the letters under which its rater knows them."""

from functools import cached_property

from annotation import responses
from annotation.models import Assignment
from annotation.progress.outlines import Outline
from studies.items import StoryLabel
from studies.models import Story
from studies.typography.openings import opening_words
from studies.typography.paragraphs import as_set


class LetteredStories:
    """The stories in their order, A first; none in the visit. Their words are read when first asked for (1 query).

    letters : the stories as their rater names them
    """

    def __init__(self, assignment: Assignment, outline: Outline) -> None:
        self._assignment = assignment
        self._code_by_letter = responses.letters(assignment.seat.order) if assignment.seat else {}
        self._outline = outline
        self.letters = list(self._code_by_letter)

    @property
    def letter_by_code(self) -> dict[str, str]:
        return {code: letter for letter, code in self._code_by_letter.items()}

    @property
    def labels(self) -> list[StoryLabel]:
        """The stories as an answer may name them."""
        return [StoryLabel(letter) for letter in self.letters]

    @cached_property
    def id_by_letter(self) -> dict[str, int]:
        return {letter: self._outline.story_id_by_code[code] for letter, code in self._code_by_letter.items()}

    @cached_property
    def story_by_letter(self) -> dict[str, Story]:
        codes = self._code_by_letter.values()
        story_by_code = {s.code: s for s in Story.objects.filter(study=self._assignment.study_id, code__in=codes)}
        return {letter: story_by_code[code] for letter, code in self._code_by_letter.items()}

    @cached_property
    def opening_by_letter(self) -> dict[str, str]:
        """The words that each story begins with, to tell it from the others by; none where it is the only one."""
        stories = self.story_by_letter.items() if len(self.letters) > 1 else ()
        return {letter: opening_words(story.text) for letter, story in stories}

    def reference(self, letter: str) -> Story | None:
        """The story of that letter for recording, which needs to know which it is and not what it says."""
        return Story(pk=self.id_by_letter[letter]) if letter else None

    def load_text(self, letter: str) -> str:
        """The words of the story of that letter; nothing for no letter. One query."""
        return Story.objects.values_list("text", flat=True).get(pk=self.id_by_letter[letter]) if letter else ""

    @property
    def premise(self) -> str:
        """What all of them were written to, if the study shows it."""
        group = self._assignment.group
        return as_set(group.premise) if group and self._assignment.study.shows_premise else ""
