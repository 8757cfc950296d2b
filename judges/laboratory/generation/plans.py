"""A generation before it is sent: what is written from what, every call of it, what it takes; and its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import product
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from judges import catalogue, lifecycle, parsing, planning, prompts
from judges.laboratory import drafts
from judges.laboratory.recipes import Ask, Brief, Recipe, rehearse
from judges.models import Call, Draft, Endpoint, Generation, Judge, Prompt, Run
from judges.planning import CannotRun, estimates
from judges.planning.estimates import RunEstimate
from judges.providers import Request
from judges.requests import texts
from studies import hashing, licences, story_edits
from studies.documents.names import first_free
from studies.models import Instrument, Item, Story, StoryGroup, Study

# A mistyped number must not plan a million calls.
MOST_DRAFTS, MOST_CALLS = 2_000, 20_000
HOTTEST = 2.0


@dataclass(frozen=True)
class GenerationOrder:
    """What is to be written, by whom, and how often.

    parameters : sent along with every call
    groups : codes of groups whose premises are taken; premises : others, as they were typed
    may_send_premises : somebody vouches that these premises may go to an outside provider
    stories : codes of stories to write from; instrument : whose questions are explained
    sizes : lengths in words, the recipe's own if there are none
    temperatures : None for the model's own
    n_texts : so many of each premise, length and temperature
    n_rounds : the recipe's usual number if None
    reference : code of the story that is shown as a measure
    """

    recipe: Recipe
    endpoint: Endpoint
    model: str
    parameters: dict[str, Any] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()
    may_send_premises: bool = False
    stories: tuple[str, ...] = ()
    instrument: Instrument | None = None
    sizes: tuple[int, ...] = ()
    temperatures: tuple[float | None, ...] = (None,)
    n_texts: int = 1
    n_rounds: int | None = None
    reference: str = ""

    @property
    def n_rounds_at_most(self) -> int:
        """How many rounds a text may take; 0 where the recipe has none. Raises CannotRun."""
        rounds = self.recipe.rounds
        if rounds is None:
            return 0
        n = rounds.usual if self.n_rounds is None else self.n_rounds
        if not 1 <= n <= rounds.most:
            message = _("“%(recipe)s” takes 1 to %(most)d rounds, not %(n)d")
            raise CannotRun(message % {"recipe": self.recipe.title, "most": rounds.most, "n": n})
        return n


@dataclass(frozen=True)
class GenerationPlan:
    """All that a generation would ask at first and at most, and the document that freezes it.

    drafts : not stored yet; asks : what is asked first of each, and how many calls it may take
    estimate : of as many calls as are needed if every reply has its length; at most, of all that are planned
    """

    order: GenerationOrder
    judge: Judge
    drafts: list[Draft]
    asks: list[tuple[Ask, int]]
    reference: Story | None
    settings: dict[str, Any]
    document: dict[str, Any]
    estimate: RunEstimate

    @property
    def n_calls(self) -> int:
        """How many calls are planned: as many as may be needed."""
        return sum(n for _ask, n in self.asks)

    @cached_property
    def first_messages(self) -> tuple[tuple[str, str], ...]:
        """The first call as it would be sent: of each message its role and its words."""
        ask, _n = self.asks[0]
        request = _render(self, self.drafts[0], ask, mark=prompts.new_mark())
        return tuple((message["role"], message["content"]) for message in request["messages"])


def plan(study: Study, order: GenerationOrder) -> GenerationPlan:
    """What the order comes to; writes nothing but the built-in prompts. Raises CannotRun."""
    if obstacle := story_edits.find_obstacle(study):
        raise CannotRun(obstacle)
    _check_order(order)
    reference = _find_reference(study, order)
    rows = list(_make_drafts(study, order))
    if len(rows) > MOST_DRAFTS:
        message = _("That would be %(n)d texts; one run writes at most %(most)d. Ask for fewer.")
        raise CannotRun(message % {"n": len(rows), "most": MOST_DRAFTS})
    prompt_by_name = {row.name: row for row in catalogue.load_prompts()}
    judge = _find_writer(order, prompt_by_name[order.recipe.prompts[0]])
    settings = {
        "n_rounds": order.n_rounds_at_most,
        "sizes": list(_sizes(order)),
        "temperatures": list(order.temperatures),
        "n_texts": order.n_texts,
        "may_send_premises": order.may_send_premises,
    }
    document = _write_document(study, order, judge, rows, settings) | {
        "prompts": {name: prompt_by_name[name].content for name in order.recipe.prompts},
        "prompt": judge.required_prompt.content,
    }
    planned = GenerationPlan(
        order, judge, rows, [], reference, settings, document, RunEstimate(0, 0, 0, None, None, 0.0)
    )
    try:
        return _estimate(planned)
    except prompts.InvalidPrompt as error:
        raise CannotRun(str(error)) from None


def write(study: Study, planned: GenerationPlan, *, budget: Decimal | None, by: str) -> Run:
    """The rows of a run that is planned and not approved: its writer, drafts and calls. Raises CannotRun."""
    if budget is not None:
        lifecycle.check_price(planned.judge)
    try:
        with transaction.atomic():
            story_edits.require_editable(Study.objects.select_for_update().get(pk=study.pk))
            if planned.judge.pk is None:
                planned.judge.save()
            return _write(study, planned, budget=budget, by=by)
    except story_edits.StoriesFinal as error:
        raise CannotRun(str(error)) from None
    except IntegrityError:
        message = _("%(model)s has an unfinished run of “%(recipe)s” here; resume, close or discard it first")
        raise CannotRun(message % {"model": planned.judge.model, "recipe": planned.order.recipe.title}) from None


def _write(study: Study, planned: GenerationPlan, *, budget: Decimal | None, by: str) -> Run:
    document = hashing.canonical_json(planned.document)
    run = Run.objects.create(
        study=study,
        judge=planned.judge,
        state=Run.State.PLANNED,
        document=document,
        sha256=hashing.sha256(document),
        created_by=by,
        n_planned=planned.n_calls,
        selection=list(planned.order.stories),
        budget=budget,
        estimate=planned.estimate.document,
    )
    generation = Generation.objects.create(
        run=run, recipe=planned.order.recipe.slug, settings=planned.settings, reference=planned.reference
    )
    for row in planned.drafts:
        row.generation = generation
    rows, shelf = Draft.objects.bulk_create(planned.drafts, batch_size=200), texts.Shelf()
    calls: list[Call] = []
    for row, (ask, n_calls) in zip(rows, planned.asks, strict=True):
        calls += _make_calls(planned, run, row, ask, n_calls, shelf)
    shelf.store()
    Call.objects.bulk_create(calls, batch_size=200)
    return run


def _make_calls(
    planned: GenerationPlan, run: Run, draft: Draft, ask: Ask, n_calls: int, shelf: texts.Shelf
) -> Iterator[Call]:
    """The calls of a draft: the first with its words, the others waiting for the one before."""
    mark = prompts.new_mark()
    request = _render(planned, draft, ask, mark=mark)
    unsent = {name: part for name, part in request.items() if name != "messages"}
    stored = drafts.store_request(shelf, request, ask, mark=mark, draft=draft, reference=planned.reference)
    sha256 = texts.fingerprint(request, endpoint=run.judge.endpoint_id, draft=draft.pk, section=1)
    for section in range(1, n_calls + 1):
        yield Call(
            run=run,
            kind=Call.Kind.GENERATE,
            draft=draft,
            section=section,
            request=stored if section == 1 else unsent,
            request_sha256=sha256 if section == 1 else "",
        )


def _render(planned: GenerationPlan, draft: Draft, ask: Ask, *, mark: str) -> Request:
    return drafts.build_request(planned.judge, ask, planned.document["prompts"], mark=mark, draft=draft)


def _estimate(planned: GenerationPlan) -> GenerationPlan:
    """The plan with what is asked first, how many calls it may take, and what that costs. Raises InvalidPrompt."""
    order, on = planned.order, timezone.now().date()
    reference = planned.reference.text if planned.reference else ""
    rehearsed: dict[tuple[Brief, float | None], tuple[list[Request], list[Request], Ask]] = {}
    asks: list[tuple[Ask, int]] = []
    usual: list[Request] = []
    longest: list[Request] = []
    for draft in planned.drafts:
        brief = drafts.make_brief(draft, n_rounds=planned.settings["n_rounds"], reference=reference)
        if (key := (brief, draft.temperature)) not in rehearsed:
            mark = prompts.new_mark()
            chains = [rehearse(order.recipe, brief, is_longest=is_longest) for is_longest in (False, True)]
            requests = [[_render(planned, draft, ask, mark=mark) for ask in chain] for chain in chains]
            rehearsed[key] = (requests[0], requests[1], chains[0][0])
        fewest, most, first = rehearsed[key]
        asks.append((first, len(most)))
        usual += fewest
        longest += most
        if len(longest) > MOST_CALLS:
            message = _(
                "That could take more than %(most)d calls, the most for one run. Ask for fewer texts or rounds."
            )
            raise CannotRun(message % {"most": MOST_CALLS})
    worst = estimates.estimate(planned.judge, longest, on=on)
    estimate = replace(estimates.estimate(planned.judge, usual, on=on), worst_cost=worst.worst_cost)
    return replace(planned, asks=asks, estimate=estimate)


def _check_order(order: GenerationOrder) -> None:
    """Raise CannotRun for numbers that nothing can be made of, and for an endpoint that nobody has allowed."""
    if not order.endpoint.is_allowed:
        message = _("An administrator has not allowed the endpoint %(endpoint)s.")
        raise CannotRun(message % {"endpoint": order.endpoint.name})
    if order.recipe.makes == "prompt":
        message = _("“%(recipe)s” writes no text; it has a page of its own under Runs of judges.")
        raise CannotRun(message % {"recipe": order.recipe.title})
    if not order.model.strip():
        raise CannotRun(_("Enter the model that writes, by its name at the endpoint."))
    if order.n_texts < 1:
        raise CannotRun(_("Ask for at least one text."))
    if any(size < 1 for size in order.sizes):
        raise CannotRun(_("A length is a number of words, at least 1."))
    if not order.temperatures:
        raise CannotRun(_("Enter at least one temperature, or leave the field empty for the model’s default."))
    if wrong := [t for t in order.temperatures if t is not None and not 0 <= t <= HOTTEST]:
        raise CannotRun(_("A temperature is a number from 0 to 2, not %(value)s.") % {"value": wrong[0]})
    if order.reference and not order.recipe.takes_reference:
        raise CannotRun(_("“%(recipe)s” shows no idea of reference.") % {"recipe": order.recipe.title})


def _sizes(order: GenerationOrder) -> tuple[int, ...]:
    """The lengths that are asked for; (0,) where the recipe sets it."""
    if not order.recipe.sizes:
        if order.sizes:
            message = _("“%(recipe)s” sets the length itself; leave the lengths empty.")
            raise CannotRun(message % {"recipe": order.recipe.title})
        return (0,)
    return tuple(dict.fromkeys(order.sizes)) or order.recipe.sizes


def _make_drafts(study: Study, order: GenerationOrder) -> Iterator[Draft]:
    """Every text that is to be written, not stored yet. Raises CannotRun."""
    find = {"premise": _find_premises, "story": _find_originals, "item": _find_items}[order.recipe.works_on]
    subjects = find(study, order)
    combinations = product(subjects, _sizes(order), dict.fromkeys(order.temperatures), range(order.n_texts))
    for number, (subject, size, temperature, _n) in enumerate(combinations, start=1):
        yield Draft(number=number, n_words=size, temperature=temperature, **subject)


def _find_premises(study: Study, order: GenerationOrder) -> list[dict[str, Any]]:
    """The premises to write on, each with its group if it has one. Raises CannotRun."""
    groups = {group.code: group for group in study.groups.prefetch_related("stories")}
    if unknown := sorted(set(order.groups) - set(groups)):
        raise CannotRun(_("%(study)s has no group %(code)s.") % {"study": study.slug, "code": unknown[0]})
    chosen = [groups[code] for code in dict.fromkeys(order.groups)]
    if empty := [group.code for group in chosen if not group.premise.strip()]:
        message = _("Group %(code)s has no writing prompt. Choose other groups, or enter the writing prompt.")
        raise CannotRun(message % {"code": empty[0]})
    typed = [text.strip() for text in order.premises if text.strip()]
    if not chosen and not typed:
        raise CannotRun(_("There is no writing prompt to write about: choose groups, or enter writing prompts."))
    _check_premises(study, order, chosen, typed)
    of_groups = [{"premise": group.premise, "group": group} for group in chosen]
    return of_groups + [{"premise": text} for text in dict.fromkeys(typed)]


def _check_premises(study: Study, order: GenerationOrder, groups: Sequence[StoryGroup], typed: Sequence[str]) -> None:
    """Raise CannotRun if premises would leave the house and nothing says that they may."""
    if not _leaves_house(order.endpoint) or order.may_send_premises:
        return
    sendable = licences.find_sendable_codes(study)
    closed = [group.code for group in groups if any(story.code not in sendable for story in group.stories.all())]
    names = {"endpoint": order.endpoint.name, "codes": ", ".join(closed[:5])}
    if closed:
        message = _(
            "%(endpoint)s is an outside provider, and stories of these groups are not marked as free to "
            "be sent: %(codes)s. Confirm that the writing prompts may be sent, or mark the stories."
        )
        raise CannotRun(message % names)
    if typed:
        message = _(
            "%(endpoint)s is an outside provider. Confirm that the writing prompts you entered may be sent there."
        )
        raise CannotRun(message % names)


def _find_originals(study: Study, order: GenerationOrder) -> list[dict[str, Any]]:
    """The stories to write from. Raises CannotRun."""
    stories = {story.code: story for story in study.stories.prefetch_related("groups").order_by("code")}
    if unknown := sorted(set(order.stories) - set(stories)):
        raise CannotRun(_("%(study)s has no story %(code)s.") % {"study": study.slug, "code": unknown[0]})
    codes = list(dict.fromkeys(order.stories)) or [code for code, story in stories.items() if not story.is_withheld]
    if withheld := [code for code in codes if stories[code].is_withheld]:
        message = _("The text of %(code)s is withheld, so nothing can be made from it. Choose another story.")
        raise CannotRun(message % {"code": withheld[0]})
    if not codes:
        raise CannotRun(_("%(study)s has no story to make ideas from.") % {"study": study.slug})
    planning.check_sendable(study, codes, order.endpoint)
    pairs = [(stories[code], next(iter(stories[code].groups.all()), None)) for code in codes]
    return [{"original": story, "group": group, "premise": group.premise if group else ""} for story, group in pairs]


def _find_items(study: Study, order: GenerationOrder) -> list[dict[str, Any]]:
    """The questions to explain. Raises CannotRun."""
    instrument = order.instrument
    if instrument is None:
        raise CannotRun(_("Choose the instrument whose questions are to be explained."))
    if instrument.status != Instrument.Status.DRAFT:
        message = _("%(instrument)s is published, so its words are final. Copy it as a draft first.")
        raise CannotRun(message % {"instrument": instrument.title})
    items = list(Item.objects.filter(instrument=instrument).order_by("position"))
    if not items:
        raise CannotRun(_("%(instrument)s has no question yet.") % {"instrument": instrument.title})
    return [{"item": item} for item in items]


def _find_reference(study: Study, order: GenerationOrder) -> Story | None:
    """The story that is shown as a measure. Raises CannotRun."""
    if not order.reference:
        return None
    story = study.stories.filter(code=order.reference, is_withheld=False).first()
    if story is None:
        raise CannotRun(_("%(study)s has no story %(code)s.") % {"study": study.slug, "code": order.reference})
    planning.check_sendable(study, [story.code], order.endpoint)
    return story


def _leaves_house(endpoint: Endpoint) -> bool:
    return endpoint.is_outside and not endpoint.is_stub


def _find_writer(order: GenerationOrder, prompt: Prompt) -> Judge:
    """The writer that is asked so: the row that is there, or one not stored yet. Raises CannotRun."""
    like = {"endpoint": order.endpoint, "model": order.model.strip(), "prompt": prompt, "is_writer": True}
    rows = Judge.objects.filter(**like).select_related("endpoint", "prompt")
    if row := next((row for row in rows if row.parameters == order.parameters), None):
        return row
    name = slugify(f"{'stub ' if order.endpoint.is_stub else ''}writer {order.model} {order.recipe.slug}")
    slugs = set(Judge.objects.filter(slug__startswith=name[:40]).values_list("slug", flat=True))
    judge = Judge(slug=first_free(name, slugs, longest=80), parameters=order.parameters, **like)
    try:
        judge.full_clean()
    except ValidationError as error:
        raise CannotRun(" ".join(error.messages)) from None
    return judge


def _write_document(
    study: Study, order: GenerationOrder, judge: Judge, rows: Sequence[Draft], settings: dict[str, Any]
) -> dict[str, Any]:
    """All that decides what is sent and how replies are read; by it the run goes on whatever is changed later."""
    endpoint = order.endpoint
    return {
        "study": study.slug,
        "judge": judge.slug,
        "recipe": {"slug": order.recipe.slug, "version": order.recipe.version, "settings": settings},
        "endpoint": {"name": endpoint.name, "adapter": endpoint.adapter, "base_url": endpoint.base_url},
        "model": judge.model,
        "parameters": judge.parameters,
        "parser": parsing.VERSION,
        "premises": list(dict.fromkeys(row.premise for row in rows if row.premise and not row.original_id)),
        "stories": list(dict.fromkeys(row.original.code for row in rows if row.original)),
        "items": [row.item.key for row in rows if row.item],
        "reference": order.reference,
    }


def split_premises(text: str) -> tuple[str, ...]:
    """The premises of a text in which a blank line stands between two."""
    return tuple(part.strip() for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n")) if part.strip())
