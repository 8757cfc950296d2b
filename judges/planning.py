"""What a run will ask: every call of it, rendered, before anything is written. Reads, and writes nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import design, responses
from judges import fills, parsing, prompts
from judges.models import Endpoint, Judge
from judges.prompts import StoryText
from studies import hashing, items, licences
from studies import protocol as protocols
from studies.items import StoryLabel
from studies.layouts.cloze import Switches
from studies.models import Cloze, Item, Step, Story, StoryGroup, Study
from studies.protocol import Protocol


class CannotRun(Exception):
    """The judge cannot run in the study; the message says what stands in the way."""


@dataclass(frozen=True)
class PlannedCall:
    """One item about one story, or about the group if there is none, with what will be sent.

    item : None where the whole step is answered at once, as a cloze is
    """

    step: Step
    item: Item | None
    story: Story | None
    request: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """All that a run will do, and the document that freezes it.

    orders : for each group the codes of its stories, as the judge gets them
    """

    protocol: Protocol
    orders: dict[StoryGroup, list[str]]
    calls: dict[StoryGroup, list[PlannedCall]]
    document: str

    @property
    def n_calls(self) -> int:
        return sum(map(len, self.calls.values()))

    @property
    def sha256(self) -> str:
        return hashing.sha256(self.document)


def plan_run(study: Study, judge: Judge) -> Plan:
    """Everything that the judge would be asked. Raises CannotRun."""
    groups = list(study.groups.prefetch_related("stories").order_by("code"))
    check_judge(study, judge, groups)
    try:
        protocol = protocols.load_protocol(protocols.current(study))
    except protocols.NotPlannable as error:
        raise CannotRun(str(error)) from None
    orders = dict(zip(groups, draw_reading_orders(study, judge, groups), strict=True))
    try:
        calls = {group: list(_calls(study, judge, protocol, group, orders[group])) for group in groups}
    except prompts.InvalidPrompt as error:
        raise CannotRun(f"{judge.prompt}: {error}") from None
    if not any(calls.values()):
        message = _("%(study)s: no step of its protocol asks anything about stories or groups")
        raise CannotRun(message % {"study": study.slug})
    return Plan(protocol, orders, calls, write_document(study, judge, protocol, orders))


def check_judge(study: Study, judge: Judge, groups: list[StoryGroup]) -> None:
    """Raise CannotRun if the judge may not be asked, or not about these stories."""
    endpoint = judge.required_endpoint
    if not endpoint.is_allowed:
        message = _("%(judge)s: an administrator has not allowed its endpoint, %(endpoint)s")
        raise CannotRun(message % {"judge": judge.slug, "endpoint": endpoint.name})
    stories = {story.code: story for group in groups for story in group.stories.all()}
    withheld = sorted(code for code, story in stories.items() if story.is_withheld)
    if withheld:
        message = ngettext(
            "%(study)s: %(n)d story (%(codes)s) is withheld; a judge cannot read what is not there",
            "%(study)s: %(n)d stories (%(codes)s) are withheld; a judge cannot read what is not there",
            len(withheld),
        )
        raise CannotRun(message % {"study": study.slug, "n": len(withheld), "codes": _some(withheld)})
    check_sendable(study, stories, endpoint)
    if any(len(group.stories.all()) > len(responses.LETTERS) for group in groups):
        message = _("%(study)s: a group has more stories than there are letters to name them")
        raise CannotRun(message % {"study": study.slug})


def check_sendable(study: Study, codes: Iterable[str], endpoint: Endpoint) -> None:
    """Raise CannotRun if the endpoint is outside and one of the stories may not be sent out. A stub sends nothing."""
    if not endpoint.is_outside or endpoint.is_stub:
        return
    if codes_withheld := sorted(set(codes) - licences.find_sendable_codes(study)):
        message = ngettext(
            "%(study)s: %(n)d story (%(codes)s) is not marked as free to be sent to an outside provider, "
            "which %(endpoint)s is",
            "%(study)s: %(n)d stories (%(codes)s) are not marked as free to be sent to an outside provider, "
            "which %(endpoint)s is",
            len(codes_withheld),
        )
        names = {
            "study": study.slug,
            "n": len(codes_withheld),
            "codes": _some(codes_withheld),
            "endpoint": endpoint.name,
        }
        raise CannotRun(message % names)


def draw_reading_orders(study: Study, judge: Judge, groups: list[StoryGroup]) -> list[list[str]]:
    """For each group the order in which the judge gets its stories, by the study's policy.

    Seeded by study and judge, so that two judges meet the stories in different orders.
    """
    import numpy as np  # here, so that web processes come without it

    rng = np.random.default_rng([abs(study.seed), *judge.slug.encode()])
    codes = [sorted(story.code for story in group.stories.all()) for group in groups]
    readings = design.draw_orders([len(c) for c in codes], 1, policy=study.order_policy, rng=rng)
    return [[names[i] for i in rows[0]] for names, rows in zip(codes, readings, strict=True)]


def write_document(study: Study, judge: Judge, protocol: Protocol, orders: dict[StoryGroup, list[str]]) -> str:
    """The run as canonical JSON: all that decides what is sent and how replies are read, but the fences' numbers."""
    endpoint = judge.required_endpoint
    asks_for_fills = any(step.layout_type.answers_at_once for step in protocol.ratings)
    return hashing.canonical_json(
        ({"fill_prompt": fills.prompt_document()} if asks_for_fills else {})
        | {
            "study": study.slug,
            "protocol": {"number": protocol.version.number, "sha256": protocol.version.sha256},
            "judge": judge.slug,
            "endpoint": {"name": endpoint.name, "adapter": endpoint.adapter, "base_url": endpoint.base_url},
            "model": judge.model,
            "parameters": judge.parameters,
            "prompt": judge.required_prompt.content,
            "parser": parsing.VERSION,
            "order_policy": study.order_policy,
            "orders": {group.code: order for group, order in orders.items()},
        }
    )


def _calls(
    study: Study, judge: Judge, protocol: Protocol, group: StoryGroup, order: list[str]
) -> Iterator[PlannedCall]:
    """Story by story all that is asked about it, so that its text is sent in a row; then what is asked of the group."""
    story_by_code = {story.code: story for story in group.stories.all()}
    text_by_code = {
        code: StoryText(letter, story_by_code[code].text) for letter, code in responses.letters(order).items()
    }
    premise = group.premise if study.shows_premise else ""
    for code in order:
        mark = prompts.new_mark()
        for step in protocol.ratings:
            if step.scope in (Step.Scope.STORY, Step.Scope.STORIES):
                for item in protocols.items_of(step):
                    request = _request(judge, step, item, [text_by_code[code]], mark, premise)
                    yield PlannedCall(step, item, story_by_code[code], request)
    mark = prompts.new_mark()
    for step in protocol.ratings:
        if step.layout_type.answers_at_once:
            yield PlannedCall(step, None, None, _fill_request(judge, step))
        elif step.scope == Step.Scope.GROUP:
            for item in protocols.items_of(step):
                stories = list(text_by_code.values())
                yield PlannedCall(step, item, None, _request(judge, step, item, stories, mark, premise))


def _request(judge: Judge, step: Step, item: Item, stories: list[StoryText], mark: str, premise: str) -> dict[str, Any]:
    prompt = judge.required_prompt
    messages = prompts.render(
        prompt.system,
        prompt.template,
        item=item,
        stories=stories,
        mark=mark,
        premise=premise,
        step_text=step.text,
        title=item.title,
    )
    schema = items.find_type(item.type).schema(item, stories=[StoryLabel(story.letter) for story in stories])
    return {"model": judge.model, "messages": messages, "parameters": judge.parameters, "schema": schema}


def _fill_request(judge: Judge, step: Step) -> dict[str, Any]:
    cloze = Cloze.objects.get(filling=step.instrument_id)
    mark = prompts.new_mark()
    request = fills.build_request(cloze.parsed, Switches(**step.options), mark=mark, step_text=step.text)
    return {"model": judge.model, "parameters": judge.parameters} | request


def _some(codes: list[str]) -> str:
    """The codes, but no more than five."""
    return ", ".join(codes[:5]) + (", …" if len(codes) > 5 else "")
