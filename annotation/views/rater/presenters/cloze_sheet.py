"""A cloze as a page shows it: the running text with its blanks as fields, section by section."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from annotation.models import Response
from annotation.progress import Question
from annotation.progress.work import Work
from annotation.responses import fills
from annotation.responses.fills import BlankToCheck
from annotation.views.rater import addresses
from studies.cloze import cascade, compilation, text
from studies.documents.cloze import Blank, Constraint
from studies.layouts.cloze import Switches
from studies.models import Cloze, Item, Step
from studies.typography.paragraphs import TextRun, keeps_lines, split_runs

# Marks that touch a blank stay with it when the line breaks.
OPENS = re.compile(r"[“‘«„\"'(\[]+$")
CLOSES = re.compile(r"^[^\s\w]+")
MIN_SIZE, MAX_SIZE = 12, 40  # letters of a short field, if the browser cannot fit it to what it holds
LINE_LENGTH = 60


@dataclass(frozen=True)
class BlankField:
    """A blank on the page. before, after : the marks that touch it in the text"""

    question: Question
    blank: Blank
    url: str
    value: str
    revision: int
    problem: str = ""
    checks: Sequence[BlankToCheck] = ()
    before: str = ""
    after: str = ""

    @property
    def id(self) -> str:
        return self.question.id

    @property
    def hint(self) -> str:
        return self.blank.hint

    @property
    def is_long(self) -> bool:
        return self.blank.kind != "word"

    @property
    def size(self) -> int:
        return min(max(len(self.value), MIN_SIZE), MAX_SIZE)

    @property
    def n_lines(self) -> int:
        least = 3 if self.blank.kind == "paragraph" else 1
        return max(least, sum(math.ceil(len(line) / LINE_LENGTH) or 1 for line in self.value.split("\n")))


@dataclass(frozen=True)
class ParagraphForm:
    """A paragraph on the page. keeps_lines : its line breaks are its author's, as in verse"""

    parts: list[TextRun | BlankField]
    keeps_lines: bool


@dataclass(frozen=True)
class SectionForm:
    """A section on the page: paragraphs of words and fields, and how far its blanks are filled."""

    number: int
    title: str
    paragraphs: list[ParagraphForm]
    constraints: Sequence[Constraint]
    n_blanks: int
    n_filled: int
    to_check: list[BlankField]


@dataclass(frozen=True)
class ClozeSheet:
    """A cloze as its writer works on it.

    answers : the stored response of each blank that has one
    refused, problems : by blank what was posted and could not be kept, and why; or only what is lacking
    seconds : after which what was refused may be sent again as it is; 0 if it could never be kept so
    """

    work: Work
    step: Step
    cloze: Cloze
    answers: Mapping[int, Response]
    refused: Mapping[int, str] = field(default_factory=dict)
    problems: Mapping[int, str] = field(default_factory=dict)
    seconds: int = 0

    @cached_property
    def switches(self) -> Switches:
        return Switches(**self.step.options)

    @cached_property
    def blanks(self) -> dict[int, Blank]:
        return {blank.number: blank for blank in self.cloze.parsed.blanks}

    @cached_property
    def values(self) -> dict[int, str]:
        """What is stored in each blank, open ones left out."""
        return fills.text_by_blank(self.cloze.parsed, self.answers.values())

    @cached_property
    def checks(self) -> dict[int, list[BlankToCheck]]:
        document = self.cloze.parsed
        if not self.switches.check or not fills.may_need_checks(document, self.answers.values()):
            return {}
        return fills.find_checks(document, fills.load_saves(self.work.assignment, self.cloze))

    @property
    def current(self) -> int:
        """The section to go on with: the first with an open blank, otherwise the last."""
        return cascade.find_open_section(self.cloze.parsed, self.values) or len(self.cloze.parsed.sections)

    def question(self, number: int) -> Question:
        # A stand-in for the item: addresses and names of fields need its key only.
        return Question(self.step, Item(key=compilation.blank_key(number)))

    def number(self, key: str) -> int | None:
        """The blank whose item has that key."""
        return compilation.number_by_key(self.cloze.parsed).get(key)

    def field(self, number: int, *, before: str = "", after: str = "") -> BlankField:
        question, answer = self.question(number), self.answers.get(number)
        return BlankField(
            question=question,
            blank=self.blanks[number],
            url=addresses.of_stop(self.work, question),
            value=self.refused.get(number, (answer.value or "") if answer else ""),
            revision=answer.revision if answer else 0,
            problem=self.problems.get(number, ""),
            checks=self.checks.get(number, ()),
            before=before,
            after=after,
        )

    def passages(self) -> list[SectionForm]:
        return [self.passage(passage) for passage in text.split_sections(self.cloze.parsed)]

    def passage(self, passage: text.SectionText) -> SectionForm:
        section = passage.section
        numbers = [blank.number for blank in self.cloze.parsed.blanks_of(section.number)]
        return SectionForm(
            number=section.number,
            title=section.title,
            paragraphs=[
                ParagraphForm(list(self.lay_out(paragraph)), keeps_lines(text.join_runs(paragraph)))
                for paragraph in passage.paragraphs
            ],
            constraints=section.constraints if self.switches.constraints else (),
            n_blanks=len(numbers),
            n_filled=sum(number in self.values for number in numbers),
            to_check=[self.field(number) for number in numbers if number in self.checks],
        )

    def lay_out(self, paragraph: Sequence[text.ClozeRun]) -> Iterator[TextRun | BlankField]:
        """A paragraph as words and fields, with the marks around a field taken out of the words."""
        n_leading = 0  # letters of the words to come that stand with the field before them
        is_after_box = False
        for index, run in enumerate(paragraph):
            if run.blank is None:
                follows = index + 1 < len(paragraph)
                words = OPENS.sub("", run.words[n_leading:]) if follows else run.words[n_leading:]
                if is_after_box:
                    words = words.removeprefix("\n")  # a box already ends its line
                yield from split_runs(words)
                n_leading = 0
                continue
            before = OPENS.search(paragraph[index - 1].words) if index else None
            after = CLOSES.match(paragraph[index + 1].words) if index + 1 < len(paragraph) else None
            n_leading = after.end() if after else 0
            blank = self.field(run.blank.number, before=before[0] if before else "", after=after[0] if after else "")
            is_after_box = blank.is_long
            yield blank
