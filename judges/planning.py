"""What a run will ask: every call of it, rendered, before anything is written. Reads, and writes nothing."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import design, responses
from judges import estimates, fills, parsing, prompts, readings
from judges.estimates import RunEstimate
from judges.models import Endpoint, Judge, Reading
from judges.prompts import StoryText
from judges.providers import Request
from judges.readings import Pass
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
    stories : the story whose words each stretch of the messages holds, by that stretch
    """

    step: Step
    item: Item | None
    story: Story | None
    request: Request
    stories: dict[str, Story] = field(default_factory=dict)


@dataclass(frozen=True)
class Scope:
    """What of a study a run is about, and how often it reads it.

    selection : codes of stories; empty for all whose texts are there
    orders : of readings, "planned" among them or not
    """

    selection: tuple[str, ...] = ()
    orders: tuple[str, ...] = (Reading.Order.PLANNED.value,)
    n_repeats: int = 1


@dataclass(frozen=True)
class PlannedSeat:
    """A further reading of a group, with all that is asked in it."""

    group: StoryGroup
    reading: Pass
    order: list[str]
    calls: list[PlannedCall]


@dataclass(frozen=True)
class Plan:
    """All that a run will do, and the document that freezes it.

    orders : for each group the codes of its stories, as the judge gets them in its first reading
    calls : for each group what is asked in that reading
    first : which reading that is
    further : all other readings
    """

    protocol: Protocol
    orders: dict[StoryGroup, list[str]]
    calls: dict[StoryGroup, list[PlannedCall]]
    document: str
    judge: Judge
    first: Pass = field(default_factory=Pass)
    further: list[PlannedSeat] = field(default_factory=list)

    @property
    def seats(self) -> list[PlannedSeat]:
        """Every reading of every group."""
        first = [PlannedSeat(group, self.first, self.orders[group], calls) for group, calls in self.calls.items()]
        return first + self.further

    @property
    def all_calls(self) -> list[PlannedCall]:
        """Every call of every reading."""
        return [call for seat in self.seats for call in seat.calls]

    @property
    def n_calls(self) -> int:
        return sum(len(seat.calls) for seat in self.seats)

    @property
    def withheld(self) -> list[str]:
        """Codes of the stories that are left out, since their texts are not there."""
        return list(json.loads(self.document).get("withheld", []))

    @property
    def sha256(self) -> str:
        return hashing.sha256(self.document)


def plan_run(study: Study, judge: Judge, scope: Scope | None = None) -> Plan:
    """Everything that the judge would be asked. Raises CannotRun.

    Stories whose texts are withheld are left out, and with them what is asked about their group as a whole.
    """
    scope = scope or Scope()
    groups = list(study.groups.prefetch_related("stories").order_by("code"))
    codes, withheld = select_codes(study, groups, scope.selection)
    check_judge(study, judge, groups, codes)
    try:
        protocol = protocols.load_protocol(protocols.current(study))
    except protocols.NotPlannable as error:
        raise CannotRun(str(error)) from None
    drawn = zip(groups, draw_reading_orders(study, judge, groups), strict=True)
    arranged_orders = ((group, [code for code in order if code in codes]) for group, order in drawn)
    orders = {group: order for group, order in arranged_orders if order}
    first, *others = readings.find_passes(scope.orders, None, scope.n_repeats)
    try:
        of_first = {
            group: list(_calls(study, judge, protocol, group, first.arrange(order))) for group, order in orders.items()
        }
        further = [
            PlannedSeat(group, reading, arranged, list(_calls(study, judge, protocol, group, arranged)))
            for reading in others
            for group, order in orders.items()
            for arranged in [reading.arrange(order)]
        ]
    except prompts.InvalidPrompt as error:
        raise CannotRun(f"{judge.prompt}: {error}") from None
    if not any(of_first.values()):
        message = _("%(study)s: no step of its protocol asks anything about stories or groups")
        raise CannotRun(message % {"study": study.slug})
    document = write_document(study, judge, protocol, orders, scope=scope, withheld=withheld)
    arranged_first = {group: first.arrange(order) for group, order in orders.items()}
    return Plan(protocol, arranged_first, of_first, document, judge, first, further)


def estimate(plan: Plan) -> RunEstimate:
    """What it will take to run the plan of a model, from what it took so far and today's prices. Two queries."""
    requests = [call.request for call in plan.all_calls]
    return estimates.estimate(plan.judge, requests, on=timezone.now().date())


def select_codes(study: Study, groups: list[StoryGroup], selection: Iterable[str]) -> tuple[set[str], list[str]]:
    """Codes of the stories to be read, and of those selected whose texts are withheld. Raises CannotRun."""
    stories = {story.code: story for group in groups for story in group.stories.all()}
    selected = set(selection) or set(stories)
    if unknown := sorted(selected - set(stories)):
        message = _("%(study)s has no story %(codes)s in its groups")
        raise CannotRun(message % {"study": study.slug, "codes": _some(unknown)})
    withheld = sorted(code for code in selected if stories[code].is_withheld)
    if len(withheld) == len(selected):
        message = ngettext(
            "%(study)s: %(n)d story (%(codes)s) is withheld; a judge cannot read what is not there",
            "%(study)s: %(n)d stories (%(codes)s) are withheld; a judge cannot read what is not there",
            len(withheld),
        )
        raise CannotRun(message % {"study": study.slug, "n": len(withheld), "codes": _some(withheld)})
    return selected - set(withheld), withheld


def check_judge(study: Study, judge: Judge, groups: list[StoryGroup], codes: Iterable[str]) -> None:
    """Raise CannotRun if the judge may not be asked, or not about these stories."""
    endpoint = judge.required_endpoint
    if not endpoint.is_allowed:
        message = _("%(judge)s: an administrator has not allowed its endpoint, %(endpoint)s")
        raise CannotRun(message % {"judge": judge.slug, "endpoint": endpoint.name})
    check_sendable(study, codes, endpoint)
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


def write_document(
    study: Study,
    judge: Judge,
    protocol: Protocol,
    orders: dict[StoryGroup, list[str]],
    *,
    scope: Scope,
    withheld: list[str],
) -> str:
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
            "selection": list(scope.selection),
            "readings": {"orders": list(scope.orders), "n_repeats": scope.n_repeats},
            "withheld": withheld,
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
                    block = _fenced(text_by_code[code], mark, n_stories=1)
                    yield PlannedCall(step, item, story_by_code[code], request, {block: story_by_code[code]})
    if len(order) < len(story_by_code):
        return  # what is asked of the whole group is another question about a part of it
    mark = prompts.new_mark()
    blocks = {_fenced(story, mark, n_stories=len(order)): story_by_code[code] for code, story in text_by_code.items()}
    for step in protocol.ratings:
        if step.layout_type.answers_at_once:
            yield PlannedCall(step, None, None, _fill_request(judge, step))
        elif step.scope == Step.Scope.GROUP:
            for item in protocols.items_of(step):
                stories = list(text_by_code.values())
                yield PlannedCall(step, item, None, _request(judge, step, item, stories, mark, premise), blocks)


def _request(judge: Judge, step: Step, item: Item, stories: list[StoryText], mark: str, premise: str) -> Request:
    prompt = judge.required_prompt
    messages = prompts.render(
        prompt.system, prompt.template, item=item, stories=stories, mark=mark, premise=premise, step_text=step.text
    )
    schema = items.find_type(item.type).schema(item, stories=[StoryLabel(story.letter) for story in stories])
    return {"model": judge.model, "messages": prompts.join(messages), "parameters": judge.parameters, "schema": schema}


def _fenced(story: StoryText, mark: str, *, n_stories: int) -> str:
    """The story as it stands in a prompt about so many."""
    return prompts.fenced(story.text, mark, name="story" if n_stories == 1 else f"story {story.letter}")


def _fill_request(judge: Judge, step: Step) -> Request:
    cloze = Cloze.objects.get(filling=step.instrument_id)
    mark = prompts.new_mark()
    request = fills.build_request(cloze.parsed, Switches(**step.options), mark=mark, step_text=step.text)
    request["messages"] = prompts.join(request["messages"])
    return {"model": judge.model, "parameters": judge.parameters} | request


def _some(codes: list[str]) -> str:
    """The codes, but no more than five."""
    return ", ".join(codes[:5]) + (", …" if len(codes) > 5 else "")
