"""What one call asks: an item about a story or a group, or all items of a step at once, as it will be sent."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from annotation import responses
from judges import prompts
from judges.models import Call, Judge
from judges.prompts import PromptContext, StoryText
from judges.providers import Request
from judges.requests import cloze_sections, expert_answers, fills
from judges.requests.expert_answers import ChosenExample, ExampleSource
from studies import items as item_types
from studies import protocol as protocols
from studies.layouts.cloze import Switches
from studies.models import Cloze, Item, Step, Story, StoryGroup

__all__ = ["CallWords", "PlannedCall"]


@dataclass(frozen=True)
class PlannedCall:
    """One item about one story, or about the group if there is none, with what will be sent.

    item : None where several are answered at once; keys : of the items that are asked
    stories : the story whose words each stretch of the messages holds, by that stretch
    anchor : the fixed text that it is about
    section : of a cloze that is filled section by section; waits : until the one before it is filled
    examples : ids of the experts' answers that it shows; example_stories : what those are about
    stored : the request with the hashes of its texts, which stand elsewhere; None while they stand in the request
    sha256 : the hash of what it asks, once its texts stand elsewhere; "" of what is not sent yet
    """

    step: Step | None
    item: Item | None
    story: Story | None
    request: Request
    stories: dict[str, Story] = field(default_factory=dict)
    kind: Call.Kind = Call.Kind.ANSWER
    keys: tuple[str, ...] = ()
    anchor: str = ""
    section: int = 0
    waits: bool = False
    examples: tuple[int, ...] = ()
    example_stories: tuple[Story, ...] = ()
    stored: dict[str, Any] | None = None
    sha256: str = ""


@dataclass(frozen=True)
class CallWords:
    """In which words a judge is asked in one reading, the same for every call of it.

    premise : whether raters see the one that was given for the writing
    persona : what the model is told to be; "" for nobody
    repeat : which reading of the same it is, from 1
    canary : the run's code that must not come back
    examples : where experts' answers come from, if the prompt shows any
    text_by_code : what is read in place of these stories' own texts
    """

    judge: Judge
    premise: bool = True
    persona: str = ""
    repeat: int = 1
    canary: str = ""
    examples: ExampleSource | None = None
    text_by_code: Mapping[str, str] = field(default_factory=dict)

    def ask_about_group(
        self, steps: Sequence[Step], group: StoryGroup, order: Sequence[str], *, is_whole: bool
    ) -> Iterator[PlannedCall]:
        """Story by story all that is asked about it, so that its text is sent in a row; then what is asked of all.

        order : codes of the stories as they are read
        is_whole : whether these are all; what is asked of a group is another question about a part of it
        """
        story_by_code = {story.code: story for story in group.stories.all()}
        letter_by_code = {code: letter for letter, code in responses.letters(order).items()}
        read = {code: story_by_code[code].text for code in order} | dict(self.text_by_code)
        text_by_code = {code: StoryText(letter_by_code[code], text) for code, text in read.items()}
        for code in order:
            mark, stories = prompts.new_mark(), {code: text_by_code[code]}
            for step in steps:
                if step.scope in (Step.Scope.STORY, Step.Scope.STORIES):
                    for asked in self._portions(step):
                        yield self._ask(step, asked, group, stories, story_by_code, mark, story=story_by_code[code])
        mark = prompts.new_mark()
        for step in steps if is_whole else ():
            if step.layout_type.answers_at_once:
                yield from self._ask_for_fills(step)
            elif step.scope == Step.Scope.GROUP:
                for asked in self._portions(step):
                    yield self._ask(step, asked, group, text_by_code, story_by_code, mark, story=None)

    def ask_about_text(self, steps: Sequence[Step], key: str, text: str) -> Iterator[PlannedCall]:
        """All that is asked about a story, asked about a fixed text."""
        mark = prompts.new_mark()
        for step in steps:
            if step.scope in (Step.Scope.STORY, Step.Scope.STORIES):
                for asked in self._portions(step):
                    request = self._request(step, asked, [StoryText("A", text)], mark)
                    yield PlannedCall(
                        step,
                        asked[0] if self._asks_items else None,
                        None,
                        request,
                        kind=Call.Kind.TEST,
                        keys=tuple(item.key for item in asked),
                        anchor=key,
                    )

    @property
    def _asks_items(self) -> bool:
        prompt = self.judge.required_prompt
        return prompt.asks == prompt.Asks.ITEM

    def _portions(self, step: Step) -> list[list[Item]]:
        """The items of the step as calls ask them: one by one, or all at once."""
        items = protocols.items_of(step)
        return [[item] for item in items] if self._asks_items else [items] if items else []

    def _ask(
        self,
        step: Step,
        items: Sequence[Item],
        group: StoryGroup,
        texts: dict[str, StoryText],
        story_by_code: dict[str, Story],
        mark: str,
        *,
        story: Story | None,
    ) -> PlannedCall:
        chosen = self.examples.choose(items, story, group) if self.examples and story else []
        premise = group.premise if self.premise else ""
        request = self._request(step, items, list(texts.values()), mark, premise=premise, chosen=chosen)
        blocks = {self._fence(text, mark, n_stories=len(texts)): story_by_code[code] for code, text in texts.items()}
        blocks |= expert_answers.find_blocks(chosen, mark)
        return PlannedCall(
            step,
            items[0] if self._asks_items else None,
            story,
            request,
            blocks,
            keys=tuple(item.key for item in items),
            examples=tuple(example.response for example in chosen),
            example_stories=tuple(example.story for example in chosen),
        )

    def _request(
        self,
        step: Step,
        items: Sequence[Item],
        stories: list[StoryText],
        mark: str,
        *,
        premise: str = "",
        chosen: Sequence[ChosenExample] = (),
    ) -> Request:
        """What is sent. Raises InvalidPrompt."""
        prompt = self.judge.required_prompt
        context = PromptContext(
            stories,
            mark,
            premise=premise,
            step_text=step.text,
            persona=self.persona,
            examples=[example.example for example in chosen],
            canary=self.canary,
        )
        if self._asks_items:
            (item,) = items
            rendered = prompts.render(prompt.system, prompt.template, context, item=item)
            schema = item_types.find_type(item.type).schema(item, stories=context.labels)
        else:
            rendered = prompts.render_all(prompt.system, prompt.template, context, items=items)
            schema = prompts.schema_of(items, context.labels, by_key=True)
        request = {
            "model": self.judge.model,
            "messages": prompts.join(rendered),
            "parameters": self.judge.parameters_of(self.repeat),
            "schema": schema,
        }
        if not self._asks_items:
            _check_complete(items, request, [self._fence(story, mark, n_stories=len(stories)) for story in stories])
        return request | {"structured": True} if prompt.is_structured else request

    def _ask_for_fills(self, step: Step) -> Iterator[PlannedCall]:
        """One call for the whole cloze, or for each of its sections if the prompt asks so."""
        cloze = Cloze.objects.get(filling=step.instrument_id)
        document, prompt = cloze.parsed, self.judge.required_prompt
        shape = prompts.shape_of(prompt.template)
        if shape.by_section:
            numbers = [section.number for section in document.sections if document.blanks_of(section.number)]
            for number in numbers:
                request = cloze_sections.build_request(
                    self.judge, step, cloze, section=number, text_by_blank={}, repeat=self.repeat, canary=self.canary
                )
                waits = number != numbers[0]
                yield PlannedCall(step, None, None, request, kind=Call.Kind.FILL, section=number, waits=waits)
            return
        words = prompt if shape.kind == "fill" else None
        mark = prompts.new_mark()
        request = fills.build_request(
            document, Switches(**step.options), mark=mark, step_text=step.text, prompt=words, canary=self.canary
        )
        request["messages"] = prompts.join(request["messages"])
        request = {"model": self.judge.model, "parameters": self.judge.parameters_of(self.repeat)} | request
        yield PlannedCall(step, None, None, request, kind=Call.Kind.FILL)

    def _fence(self, story: StoryText, mark: str, *, n_stories: int) -> str:
        """The story as it stands in a prompt about so many."""
        name = "story" if n_stories == 1 else f"story {story.letter}"
        return prompts.fence(story.text, mark, name=name, canary=self.canary)


def _check_complete(items: Sequence[Item], request: Request, blocks: Iterable[str]) -> None:
    """Raise InvalidPrompt if a question does not stand in the messages: a template can leave some out.

    blocks : the stories inside their fences; a question that stands there, or in a longer one, is not asked
    """
    content = request["messages"][-1]["content"]
    for block in blocks:
        content = content.replace(block, "")
    for item in sorted(items, key=lambda item: len(item.question), reverse=True):
        question = item.question.strip()
        if question not in content:
            message = _("the template leaves out the question “%(key)s”; choose a judge with a prompt that asks it")
            raise prompts.InvalidPrompt(message % {"key": item.key})
        content = content.replace(question, "", 1)
