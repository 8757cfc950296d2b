"""An alignment before it is sent: which groups it rests on, what the proposing model would be told, and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from judges import catalogue, lifecycle, parsing, prompts
from judges.laboratory import drafts, splits
from judges.laboratory.alignments import disagreements
from judges.laboratory.alignments.disagreements import Case
from judges.laboratory.alignments.proposals import has_been_asked
from judges.laboratory.recipes import Ask, Brief, find_recipe
from judges.laboratory.recipes.alignment_proposal import SLUG
from judges.laboratory.splits import Split
from judges.models import Alignment, Call, Draft, Generation, Judge, Prompt, PromptProposal, Run
from judges.planning import CannotRun, estimates
from judges.planning.estimates import RunEstimate
from judges.providers import Provider, Request
from judges.requests import texts
from studies import hashing, licences
from studies.documents.names import first_free
from studies.models import Story, Study

USUAL_SHARE = 0.5
MOST_PROPOSALS = 5
# Groups that share nothing, in each part: fewer held out show no gain, fewer shown are no rule.
LEAST_CLUSTERS = 5


@dataclass(frozen=True)
class AlignmentOrder:
    """What is to be asked of whom.

    judge : whose prompt is to be changed; proposer : whose endpoint, model and parameters propose
    share : of the groups whose answers are shown, between 0 and 1
    sends_reasons : somebody vouches that experts' reasons may go to an outside provider: that of the model that
        proposes, or, in what it made of them, that of the judge
    system, template : in which words a proposal is asked for; those that come with Quire if the template is empty
    """

    judge: Judge
    proposer: Judge
    share: float = USUAL_SHARE
    seed: int = 0
    n_proposals: int = 1
    sends_reasons: bool = False
    system: str = ""
    template: str = ""


@dataclass(frozen=True)
class AlignmentPlan:
    """All that proposals would be asked for with. Nothing is stored yet.

    cases : all answers of judge and experts in the first part; drawn : those that each proposal is asked for with
    requests : one of each proposal, with the stretches of it that hold a story's words
    """

    order: AlignmentOrder
    split: Split
    cases: list[Case]
    drawn: list[list[Case]]
    judge: Judge
    requests: list[tuple[Request, Ask, dict[str, Story]]]
    with_reasons: bool
    estimate: RunEstimate

    @property
    def n_disagreements(self) -> int:
        return sum(case.is_disagreement for case in self.cases)

    @property
    def first_messages(self) -> tuple[tuple[str, str], ...]:
        """The first call as it would be sent: of each message its role and its words."""
        return tuple((message["role"], message["content"]) for message in self.requests[0][0]["messages"])


def load_proposal_prompt() -> Prompt:
    """The words that come with Quire. Writes the built-in prompts where they are missing."""
    return next(prompt for prompt in catalogue.load_prompts() if prompt.name == SLUG)


def plan(study: Study, order: AlignmentOrder) -> AlignmentPlan:
    """What the alignment would ask and rest on. Raises CannotRun. Writes nothing but the built-in prompts."""
    _check_order(study, order)
    split = splits.split_groups(study, share=order.share, seed=order.seed)
    _check_size(study, split)
    cases = _find_cases(study, order, split)
    drawn = [
        disagreements.draw(cases, seed=(study.seed, order.seed, number)) for number in range(1, order.n_proposals + 1)
    ]
    proposer = _make_proposer(order)
    planned = AlignmentPlan(
        order=order,
        split=split,
        cases=cases,
        drawn=drawn,
        judge=proposer,
        requests=[],
        with_reasons=order.sends_reasons or not (_leaves_house(order.proposer) or _leaves_house(order.judge)),
        estimate=RunEstimate(0, 0, 0, None, None, 0.0),
    )
    try:
        requests = [_render(planned, of_one) for of_one in drawn]
    except prompts.InvalidPrompt as error:
        raise CannotRun(str(error)) from None
    estimate = estimates.estimate(proposer, [row[0] for row in requests], on=timezone.now().date())
    return replace(planned, requests=requests, estimate=estimate)


@transaction.atomic
def write(study: Study, planned: AlignmentPlan, *, by: str, budget: Decimal | None = None) -> Alignment:
    """The rows of an alignment whose calls are planned and not approved. Raises CannotRun."""
    if budget is not None:
        lifecycle.check_price(planned.judge)
    order, judge = planned.order, planned.judge
    if judge.required_prompt.pk is None:
        judge.required_prompt.save()
        judge.prompt = judge.required_prompt
    judge.save()
    run = _write_run(study, planned, budget=budget, by=by)
    alignment = Alignment.objects.create(
        study=study,
        judge=order.judge,
        share=order.share,
        seed=order.seed,
        first_part=list(planned.split.first),
        held_out=list(planned.split.judged),
        sends_reasons=planned.with_reasons,
        run=run,
        created_by=by,
    )
    for draft, of_one in zip(run.generation.drafts.order_by("number"), planned.drawn, strict=True):
        experts = [expert.response for case in of_one for expert in case.experts]
        PromptProposal.objects.create(
            alignment=alignment, draft=draft, calls=[case.call for case in of_one], responses=experts
        )
    return alignment


@transaction.atomic
def discard(alignment: Alignment) -> None:
    """Take back an alignment whose calls nobody has approved. Raises CannotRun if somebody has."""
    judge = alignment.run.judge
    lifecycle.discard(alignment.run)
    judge.delete()


def _check_order(study: Study, order: AlignmentOrder) -> None:
    if not 1 <= order.n_proposals <= MOST_PROPOSALS:
        message = _("Ask for 1 to %(most)d proposals, not %(n)d.")
        raise CannotRun(message % {"most": MOST_PROPOSALS, "n": order.n_proposals})
    if order.judge.prompt is None or order.proposer.prompt is None:
        raise CannotRun(_("A metric has no prompt. Choose a judge that is a model."))
    for judge in (order.judge, order.proposer):
        if judge.is_from_log:
            message = _("%(judge)s came in with a log of another tool, and cannot be asked; make a judge of its model")
            raise CannotRun(message % {"judge": judge.slug})
    if not order.proposer.required_endpoint.is_allowed:
        message = _("An administrator has not allowed the endpoint %(endpoint)s.")
        raise CannotRun(message % {"endpoint": order.proposer.required_endpoint.name})
    if PromptProposal.objects.filter(prompt=order.judge.prompt).exists():
        message = _(
            "The prompt of %(judge)s was aligned before, so that no story is left that neither part has seen. Choose "
            "the judge that it was made from."
        )
        raise CannotRun(message % {"judge": order.judge.slug})
    if has_been_asked(study, order.judge):
        message = _(
            "%(judge)s was aligned in this study before, and a changed prompt has been asked about the stories held "
            "out. Align another judge, or align this one in a study with other stories."
        )
        raise CannotRun(message % {"judge": order.judge.slug})


def _check_size(study: Study, split: Split) -> None:
    """Raise CannotRun unless both parts have enough groups that share nothing."""
    groups = list(study.groups.prefetch_related("stories").order_by("code"))
    number_by_group = splits.number_clusters(groups)
    n_first, n_held_out = (len({number_by_group[code] for code in part}) for part in (split.first, split.judged))
    if min(n_first, n_held_out) < LEAST_CLUSTERS:
        message = _(
            "Each part needs at least %(least)d groups that share no story and no writing prompt; here the first has "
            "%(n_first)d and the other %(n_other)d. Choose another share, or add groups."
        )
        raise CannotRun(message % {"least": LEAST_CLUSTERS, "n_first": n_first, "n_other": n_held_out})


def _find_cases(study: Study, order: AlignmentOrder, split: Split) -> list[Case]:
    """The answers of judge and experts about stories that may be sent. Raises CannotRun if none are told apart."""
    cases = disagreements.load_cases(study, order.judge, split.first)
    if not cases:
        message = _(
            "%(judge)s and experts have answered no common question (Yes or No, or a scale) about the stories of the "
            "first part. Start a run of the judge, or wait for the experts."
        )
        raise CannotRun(message % {"judge": order.judge.slug})
    if _leaves_house(order.proposer):
        sendable = licences.find_sendable_codes(study)
        cases = [case for case in cases if case.story.code in sendable]
    if not any(case.is_disagreement for case in cases):
        message = _(
            "%(judge)s disagrees with experts on no story of the first part that may be sent, so there is nothing to "
            "learn from. Choose another share or seed."
        )
        raise CannotRun(message % {"judge": order.judge.slug})
    return cases


def _make_proposer(order: AlignmentOrder) -> Judge:
    """The proposing model as a judge that is no judge of the study, not stored. Raises CannotRun.

    Its replies are longer than verdicts, so that no limit of those is sent.
    """
    prompt, model = _find_prompt(order), order.proposer
    limits = (model.required_endpoint.provider or Provider).reply_limits
    parameters = {name: value for name, value in model.parameters.items() if name not in limits}
    slugs = set(Judge.objects.filter(slug__startswith="proposes-").values_list("slug", flat=True))
    return Judge(
        slug=first_free(f"proposes-{model.slug}"[:76], slugs, longest=80),
        endpoint=model.endpoint,
        model=model.model,
        prompt=prompt,
        parameters=parameters,
        is_trial=True,
    )


def _find_prompt(order: AlignmentOrder) -> Prompt:
    """The words in which proposals are asked for: those of Quire, or a version that holds the edited ones, which is not
    stored if it is new. Raises CannotRun."""
    shipped = load_proposal_prompt()
    words = (order.system.strip(), order.template.strip())
    if not order.template.strip() or words == (shipped.system.strip(), shipped.template.strip()):
        return shipped
    for row in Prompt.objects.filter(name=SLUG):
        if words == (row.system.strip(), row.template.strip()):
            return row
    versions = set(Prompt.objects.filter(name=SLUG).values_list("version", flat=True))
    version = first_free(f"{shipped.version}-edited", versions, longest=40)
    prompt = Prompt(**shipped.content | {"version": version, "system": words[0], "template": words[1]})
    try:
        prompt.full_clean()
        if prompts.shape_of(prompt.template).kind != "align":
            raise ValidationError(_("template: needs {{ %(name)s }} exactly once") % {"name": "disagreements"})
    except ValidationError as error:
        raise CannotRun(" ".join(error.messages)) from None
    return prompt


def _render(planned: AlignmentPlan, cases: Sequence[Case]) -> tuple[Request, Ask, dict[str, Story]]:
    """What is sent for one proposal; and each stretch that holds a story's words, so that it can be erased."""
    base, prompt = planned.order.judge.required_prompt, planned.judge.required_prompt
    inner = prompts.new_mark()
    blocks = {
        prompts.fence(
            disagreements.describe_case(case, with_reasons=planned.with_reasons), inner, name=f"case {number}"
        ): case.story
        for number, case in enumerate(cases, start=1)
    }
    brief = Brief(
        disagreements="\n\n".join(blocks),
        summary=disagreements.summarise(planned.cases),
        system=base.system,
        template=base.template,
    )
    ask = find_recipe(SLUG).next_step(brief, [])
    if not isinstance(ask, Ask):
        raise TypeError(f"{SLUG} asks nothing")
    words = {SLUG: {"system": prompt.system, "template": prompt.template}}
    draft = Draft(n_words=2 * len(base.template.split()) + 200)
    return drafts.build_request(planned.judge, ask, words, mark=prompts.new_mark(), draft=draft), ask, blocks


def _write_run(study: Study, planned: AlignmentPlan, *, budget: Decimal | None, by: str) -> Run:
    """The run that asks for the proposals: a generation with a draft and a call for each."""
    document = hashing.canonical_json(_write_document(study, planned))
    run = Run.objects.create(
        study=study,
        judge=planned.judge,
        state=Run.State.PLANNED,
        document=document,
        sha256=hashing.sha256(document),
        created_by=by,
        n_planned=len(planned.requests),
        selection=sorted({case.story.code for of_one in planned.drawn for case in of_one}),
        budget=budget,
        estimate=planned.estimate.document,
    )
    generation = Generation.objects.create(run=run, recipe=SLUG, settings={"n_rounds": 0})
    rows = Draft.objects.bulk_create(
        Draft(generation=generation, number=number, n_words=request["schema"]["n_words"])
        for number, (request, _ask, _blocks) in enumerate(planned.requests, start=1)
    )
    shelf = texts.Shelf()
    calls = [
        Call(
            run=run,
            kind=Call.Kind.GENERATE,
            draft=draft,
            section=1,
            request=shelf.put_request(request, blocks),
            request_sha256=texts.fingerprint(request, endpoint=run.judge.endpoint_id, draft=draft.pk, section=1),
        )
        for draft, (request, _ask, blocks) in zip(rows, planned.requests, strict=True)
    ]
    shelf.store()
    Call.objects.bulk_create(calls)
    return run


def _write_document(study: Study, planned: AlignmentPlan) -> dict[str, Any]:
    """All that decides what is sent and how replies are read."""
    judge, recipe = planned.judge, find_recipe(SLUG)
    endpoint, prompt = judge.required_endpoint, judge.required_prompt
    return {
        "study": study.slug,
        "judge": judge.slug,
        "recipe": {"slug": recipe.slug, "version": recipe.version, "settings": {"n_rounds": 0}},
        "endpoint": {"name": endpoint.name, "adapter": endpoint.adapter, "base_url": endpoint.base_url},
        "model": judge.model,
        "parameters": judge.parameters,
        "parser": parsing.VERSION,
        "prompt": prompt.content,
        "prompts": {SLUG: prompt.content},
        "aligned": {
            "judge": planned.order.judge.slug,
            "prompt": planned.order.judge.required_prompt.content,
            "first_part": list(planned.split.first),
            "held_out": list(planned.split.judged),
            "seed": planned.order.seed,
            "sends_reasons": planned.with_reasons,
        },
    }


def _leaves_house(judge: Judge) -> bool:
    endpoint = judge.required_endpoint
    return endpoint.is_outside and not endpoint.is_stub
