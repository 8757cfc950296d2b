"""What a run will ask: every call of it, rendered, before anything is written. Reads, and writes nothing."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from annotation import responses
from judges import parsing, prompts
from judges.interventions import Intervention
from judges.models import Endpoint, Judge, Prompt
from judges.planning import altered_readings, estimates, readings
from judges.planning.estimates import RunEstimate
from judges.planning.readings import Pass
from judges.planning.scopes import CannotRun, Scope
from judges.providers import Request
from judges.requests import CallWords, PlannedCall, aligned_prompts, fills, recognition_probes
from judges.requests.expert_answers import ExampleSource
from studies import hashing, licences
from studies import protocol as protocols
from studies.models import Step, StoryGroup, Study
from studies.protocol import Protocol

# Stories that may not be sent are named one by one, but not a whole corpus.
MOST_NAMED = 100
NOT_SENDABLE = ngettext_lazy(
    "%(study)s: %(n)d story (%(codes)s) is not marked as free to be sent to an outside provider, "
    "which %(endpoint)s is. Choose others, or ask the person responsible for the licences to mark it",
    "%(study)s: %(n)d stories (%(codes)s) are not marked as free to be sent to an outside provider, "
    "which %(endpoint)s is. Choose others, or ask the person responsible for the licences to mark them",
    "n",
)


@dataclass(frozen=True)
class PlannedSeat:
    """A further reading of a group, with all that is asked in it."""

    group: StoryGroup
    reading: Pass
    order: list[str]
    calls: list[PlannedCall]


# Takes each seat once its calls are set, with the run's canary, and gives it back as it is to be kept.
OnSeat: TypeAlias = Callable[[PlannedSeat, str], PlannedSeat]


def keep(seat: PlannedSeat, _canary: str) -> PlannedSeat:
    """The seat as it is, with all that is sent in it."""
    return seat


@dataclass(frozen=True)
class Plan:
    """All that a run will do, and the document that freezes it.

    orders : for each group the codes of its stories, as the judge gets them in its first reading
    calls : for each group what is asked in that reading
    first : which reading that is
    further : all other readings
    guards : what is asked beside the stories' questions: whether a text is known, and what is said of fixed ones
    canary : the run's code that must not come back
    is_afresh : whether what the study has a reply to already is asked again
    """

    protocol: Protocol
    orders: dict[StoryGroup, list[str]]
    calls: dict[StoryGroup, list[PlannedCall]]
    document: str
    judge: Judge
    first: Pass = field(default_factory=Pass)
    further: list[PlannedSeat] = field(default_factory=list)
    guards: list[PlannedCall] = field(default_factory=list)
    canary: str = ""
    is_afresh: bool = False

    @property
    def seats(self) -> list[PlannedSeat]:
        """Every reading of every group."""
        first = [PlannedSeat(group, self.first, self.orders[group], calls) for group, calls in self.calls.items()]
        return first + self.further

    @property
    def all_calls(self) -> list[PlannedCall]:
        """Every call of every reading, and those that guard the run."""
        return [call for seat in self.seats for call in seat.calls] + self.guards

    @property
    def n_calls(self) -> int:
        return sum(len(seat.calls) for seat in self.seats) + len(self.guards)

    @property
    def withheld(self) -> list[str]:
        """Codes of the stories that are left out, since their texts are not there."""
        return list(json.loads(self.document).get("withheld", []))

    @property
    def sha256(self) -> str:
        return hashing.sha256(self.document)


def plan_run(
    study: Study, judge: Judge, scope: Scope | None = None, *, protocol: Protocol | None = None, on_seat: OnSeat = keep
) -> Plan:
    """Everything that the judge would be asked, by the frozen protocol unless another is given. Raises CannotRun.

    Stories whose texts are withheld are left out, and with them what is asked about their group as a whole.
    """
    scope = scope or Scope()
    groups = list(study.groups.prefetch_related("stories").order_by("code"))
    codes, withheld = select_codes(study, groups, scope.selection)
    first_part = codes & aligned_prompts.find_first_part(study, judge.required_prompt)
    if not (codes := codes - first_part):
        message = _("%(judge)s: its prompt was made from experts’ answers about these stories. Choose others")
        raise CannotRun(message % {"judge": judge.slug})
    check_judge(study, judge, groups, codes)
    check_personas(judge, scope)
    try:
        protocol = protocol or protocols.load_protocol(protocols.current(study))
    except protocols.NotPlannable as error:
        raise CannotRun(str(error)) from None
    steps = select_steps(study, judge, protocol, scope)
    drawn = zip(groups, readings.draw_reading_orders(study, judge, groups), strict=True)
    arranged_orders = ((group, [code for code in order if code in codes]) for group, order in drawn)
    orders = {group: order for group, order in arranged_orders if order}
    wording = word(study, judge, scope, canary=prompts.new_canary())
    kinds = altered_readings.find_kinds(study, steps, scope)
    try:
        first, *further = _plan_seats(steps, orders, scope, wording, on_seat, kinds)
        guards = list(_plan_guards(study, steps, orders, scope, wording))
    except prompts.InvalidPrompt as error:
        raise CannotRun(f"{judge.prompt}: {error}") from None
    calls = {seat.group: seat.calls for seat in first}
    if not any(calls.values()):
        message = _("%(study)s: no step of its protocol asks anything about stories or groups")
        raise CannotRun(message % {"study": study.slug})
    seats = first + [seat for reading in further for seat in reading]
    document = write_document(
        study, judge, protocol, orders, scope=scope, withheld=withheld, seats=seats, first_part=first_part
    )
    return Plan(
        protocol,
        {seat.group: seat.order for seat in first},
        calls,
        document,
        judge,
        first[0].reading,
        [seat for reading in further for seat in reading],
        guards,
        wording.canary,
        scope.afresh,
    )


def check_personas(judge: Judge, scope: Scope) -> None:
    """Raise CannotRun unless the prompt takes the personas that the run asks as."""
    if scope.persona_set and scope.persona_set.name != judge.required_prompt.personas:
        message = _("%(prompt)s does not take the personas %(personas)s")
        raise CannotRun(message % {"prompt": judge.prompt, "personas": scope.persona_set})


def word(study: Study, judge: Judge, scope: Scope, *, canary: str) -> CallWords:
    """In which words the judge is asked, as nobody yet. Reads experts' answers if its prompt shows any."""
    try:
        takes_examples = prompts.shape_of(judge.required_prompt.template).takes_examples
    except prompts.InvalidPrompt as error:
        raise CannotRun(f"{judge.prompt}: {error}") from None
    examples = None
    if takes_examples:
        endpoint = judge.required_endpoint
        is_inside = not endpoint.is_outside or endpoint.is_stub
        readable = study.stories.filter(is_withheld=False).values_list("code", flat=True)
        sendable = set(readable) if is_inside else licences.find_sendable_codes(study)
        examples = ExampleSource(study, codes=sendable, n=scope.n_examples)
    return CallWords(judge, premise=study.shows_premise, canary=canary, examples=examples)


def _plan_seats(
    steps: list[Step],
    orders: dict[StoryGroup, list[str]],
    scope: Scope,
    wording: CallWords,
    on_seat: OnSeat,
    kinds: Mapping[str, Intervention],
) -> list[list[PlannedSeat]]:
    """Reading by reading what is asked in each group. kinds : of interventions, by name. Raises InvalidPrompt."""
    text_by_persona = scope.persona_set.text_by_name if scope.persona_set else {}
    seats: list[list[PlannedSeat]] = []
    for reading in readings.find_passes(scope.orders, scope.persona_set, scope.n_repeats, list(kinds)):
        as_persona = replace(wording, persona=text_by_persona.get(reading.persona, ""), repeat=reading.repeat)
        seats.append([])
        for group, order in orders.items():
            arranged, is_whole = reading.arrange(order), len(order) == len(group.stories.all())
            if kind := kinds.get(reading.intervention):
                arranged, calls = altered_readings.ask(as_persona, steps, group, arranged, kind)
            else:
                calls = list(as_persona.ask_about_group(steps, group, arranged, is_whole=is_whole))
            if calls or not kind:
                seats[-1].append(on_seat(PlannedSeat(group, reading, arranged, calls), wording.canary))
    return seats


def _plan_guards(
    study: Study, steps: list[Step], orders: dict[StoryGroup, list[str]], scope: Scope, wording: CallWords
) -> Iterator[PlannedCall]:
    """Whether each story is known, and all that is asked about stories about the fixed texts. Raises InvalidPrompt."""
    if scope.probes:
        codes = {code for order in orders.values() for code in order}
        for story in study.stories.filter(code__in=codes).order_by("code"):
            yield recognition_probes.plan_probe(wording.judge, story, canary=wording.canary)
    if scope.anchors:
        for text in prompts.load_anchors().texts:
            yield from replace(wording, examples=None).ask_about_text(steps, text.key, text.text.strip())


def select_steps(study: Study, judge: Judge, protocol: Protocol, scope: Scope) -> list[Step]:
    """The steps that a run asks. Raises CannotRun if the protocol has no such step, or the prompt cannot ask it."""
    steps = {step.key: step for step in protocol.ratings}
    if unknown := sorted(set(scope.steps) - set(steps)):
        message = _("%(study)s has no step %(key)s that asks for answers")
        raise CannotRun(message % {"study": study.slug, "key": _some(unknown)})
    chosen = [step for key, step in steps.items() if key in scope.steps]
    chosen = chosen or find_usual_steps(judge.required_prompt, protocol.ratings)
    if unasked := [step.key for step in chosen if not can_ask(judge.required_prompt, step)]:
        message = _(
            "%(prompt)s cannot ask what these steps ask: %(keys)s. Choose other steps, or a judge with another prompt"
        )
        raise CannotRun(message % {"prompt": judge.prompt, "keys": ", ".join(unasked)})
    return chosen


def find_usual_steps(prompt: Prompt, steps: Sequence[Step]) -> list[Step]:
    """The steps that are asked unless others are chosen: all but those that ask an earlier one's items in another form.

    Such a step is a control, as QUIET's constraints in three steps: a prompt that can ask the earlier one asks that.
    """
    usual: list[Step] = []
    for step in steps:
        keys = {item.key for item in protocols.items_of(step)}
        is_control = any(
            other.instrument_id != step.instrument_id
            and keys
            and keys <= {item.key for item in protocols.items_of(other)}
            and other.scope == step.scope
            and can_ask(prompt, other)
            for other in usual
        )
        usual += [] if is_control else [step]
    return usual


def can_ask(prompt: Prompt, step: Step) -> bool:
    """Whether the prompt can ask every item of the step. A cloze is filled in words of its own, or in the built-in's.

    Prompts for probes and for writing stories ask no step.
    """
    try:
        shape = prompts.shape_of(prompt.template)
    except prompts.InvalidPrompt:
        return True  # what is wrong with it is said when it is filled
    if step.layout_type.answers_at_once:
        return shape.kind == "answer" or shape.kind == "fill"
    types = {item.type for item in protocols.items_of(step)}
    return shape.kind == "answer" and (not prompt.item_types or types <= set(prompt.item_types))


def estimate(plan: Plan, render: Callable[[PlannedCall], Request] = lambda call: call.request) -> RunEstimate:
    """What it will take to run the plan of a model, from what it took so far and today's prices. Two queries.

    render : gives what is sent for a call
    """
    return estimates.estimate(plan.judge, map(render, plan.all_calls), on=timezone.now().date())


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
        names = {
            "study": study.slug,
            "n": len(codes_withheld),
            "codes": _some(codes_withheld, most=MOST_NAMED),
            "endpoint": endpoint.name,
        }
        raise CannotRun(str(NOT_SENDABLE % names))


def write_document(
    study: Study,
    judge: Judge,
    protocol: Protocol,
    orders: dict[StoryGroup, list[str]],
    *,
    scope: Scope,
    withheld: list[str],
    seats: Sequence[PlannedSeat] = (),
    first_part: Iterable[str] = (),
) -> str:
    """The run as canonical JSON: all that decides what is sent and how replies are read, but the fences' numbers."""
    endpoint = judge.required_endpoint
    asks_for_fills = any(step.layout_type.answers_at_once for step in protocol.ratings)
    shown = {call.examples: call for seat in seats for call in seat.calls if call.examples}
    return hashing.canonical_json(
        ({"fill_prompt": fills.prompt_document()} if asks_for_fills else {})
        | ({"probe_prompt": recognition_probes.prompt_document()} if scope.probes else {})
        | ({"anchors": prompts.load_anchors().version} if scope.anchors else {})
        | ({"afresh": True} if scope.afresh else {})
        | ({"interventions": altered_readings.list_names(scope)} if scope.interventions else {})
        | ({"choice": scope.choice} if scope.choice else {})
        | ({"aligned_on": sorted(first_part)} if first_part else {})
        | ({"persona_set": scope.persona_set.content} if scope.persona_set else {})
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
            "steps": list(scope.steps),
            "readings": {"orders": list(scope.orders), "n_repeats": scope.n_repeats},
            # Ids of the experts' answers that stand in its prompts, and the stories that they are about.
            "examples": sorted({pk for pks in shown for pk in pks}),
            "example_stories": sorted({story.code for call in shown.values() for story in call.example_stories}),
            "withheld": withheld,
        }
    )


def _some(codes: list[str], *, most: int = 5) -> str:
    """The codes, but no more than so many."""
    return ", ".join(codes[:most]) + (", …" if len(codes) > most else "")
