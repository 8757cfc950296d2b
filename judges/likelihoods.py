"""Surprise by a language model: the mean negative log-probability a token of a story, given its group's premise.

An endpoint is asked for completions of one token that echo the premise and the story with their log-probabilities, as
vLLM gives them. The values come in as scores do (`judges.score_import`), with a card that names the model.
Source: Brito da Silva & Marcacini, section 3.2, equation 2.
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.answer_import.files import hash_content
from judges import score_import
from judges.endpoints import connections
from judges.models import Endpoint, Judge, ScoreCard, TextVector
from judges.planning import prices
from judges.providers import CallFailed, CannotConnect, LikelihoodClient, Request, is_same_model
from judges.score_import import CardText
from studies import hashing, licences
from studies.models import Study

RULE = "1"  # raised whenever a text could get another value by the same model
BETWEEN = "\n\n"  # premise and story
KEPT = np.dtype("<f8")
AT_ONCE = 16  # texts, before what came back is kept


class CannotMeasureSurprise(ValueError):
    """The endpoint says nothing of how likely these texts are; the message says why and what would do."""


@dataclass(frozen=True)
class PlacedText:
    """A story where it stands. group : its code"""

    group: str
    story: str
    premise: str
    text: str

    @property
    def prefix(self) -> str:
        return f"{self.premise.strip()}{BETWEEN}" if self.premise.strip() else ""


@dataclass(frozen=True)
class SurprisePlan:
    """What is asked of a model, and what that takes.

    kept : values of passages that were measured before
    n_tokens : about how many are sent; cost, worst_cost : in US dollars, None if the model has no price
    """

    study: Study
    endpoint: Endpoint
    model: str
    passages: Sequence[PlacedText]
    kept: Mapping[PlacedText, float]
    n_tokens: int
    cost: Decimal | None
    worst_cost: Decimal | None

    @property
    def missing(self) -> list[PlacedText]:
        """The passages that are asked for, each in a request of its own."""
        return [passage for passage in self.passages if passage not in self.kept]


def plan_surprise(study: Study, *, model: str, on: date) -> SurprisePlan:
    """What it takes to ask for every story that is not withheld. model : ENDPOINT/MODEL. Sends nothing.

    Raises CannotMeasureSurprise.
    """
    endpoint, name = _find_endpoint(model)
    passages = _list_passages(study)
    if not passages:
        raise CannotMeasureSurprise(_("%(study)s has no story to measure") % {"study": study.slug})
    if endpoint.is_outside:
        _check_sendable(passages, endpoint)
    kept = {passage: value for passage in passages if (value := _read_kept(endpoint, name, passage)) is not None}
    requests = [_as_request(passage) for passage in passages if passage not in kept]
    tariff = prices.find_tariff(Judge(endpoint=endpoint, model=name), on=on)
    n_tokens = sum(map(prices.n_tokens, requests))
    return SurprisePlan(
        study,
        endpoint,
        name,
        passages,
        kept,
        n_tokens=n_tokens,
        cost=tariff.cost(n_tokens, len(requests)) if tariff else None,
        worst_cost=sum((prices.worst_cost(tariff, request) for request in requests), Decimal(0)) if tariff else None,
    )


def _as_request(passage: PlacedText) -> Request:
    """As prices count requests: all of the text, and one token that comes back."""
    content = passage.prefix + passage.text
    return Request(messages=[{"role": "user", "content": content}], parameters={"max_tokens": 1})


def check_budget(plan: SurprisePlan, budget: Decimal) -> None:
    """Raise CannotMeasureSurprise if it could cost more US dollars than that, or if nobody knows what it costs."""
    if plan.worst_cost is None:
        message = _("%(model)s has no price, so that no budget can be kept; enter its price, or leave out the budget")
        raise CannotMeasureSurprise(message % {"model": f"{plan.endpoint.name}/{plan.model}"})
    if plan.worst_cost > budget:
        message = _("it could cost $ %(cost)s, more than the budget of $ %(budget)s")
        raise CannotMeasureSurprise(message % {"cost": f"{plan.worst_cost:,.4f}", "budget": f"{budget:,.4f}"})


def measure_surprise(plan: SurprisePlan, *, metric: str, by: str, at: datetime) -> ScoreCard:
    """Ask as planned, and store the values as scores of that metric.

    Values that came back stay, so that asking again goes on where it broke off.
    Raises CannotMeasureSurprise, or what `import_scores` raises; then no score has come in.
    """
    study, passages, model = plan.study, plan.passages, f"{plan.endpoint.name}/{plan.model}"
    content = _write_table(passages, _find_values(plan))
    table = score_import.read_scores("surprise.csv", content)
    note = "Mean negative log-probability a token, in nats, given the premise of the group."
    card = CardText(metric=metric, better=ScoreCard.Better.HIGHER, scored_by=model, scored_on=at.date(), note=note)
    return score_import.import_scores(
        study, table, card, may_be_missing=True, sha256=hash_content(content), by=by, at=at
    )


def _find_endpoint(model: str) -> tuple[Endpoint, str]:
    endpoint_name, _slash, name = model.partition("/")
    endpoint = Endpoint.objects.filter(name=endpoint_name).first()
    if endpoint is None or not name:
        message = _("“%(name)s” names no endpoint with a model: write ENDPOINT/MODEL; there are: %(names)s")
        names = ", ".join(Endpoint.objects.values_list("name", flat=True)) or "–"
        raise CannotMeasureSurprise(message % {"name": model, "names": names})
    if not endpoint.is_allowed:
        message = _("%(name)s: an administrator has not allowed the endpoint %(endpoint)s")
        raise CannotMeasureSurprise(message % {"name": model, "endpoint": endpoint.name})
    return endpoint, name


def _list_passages(study: Study) -> list[PlacedText]:
    groups = study.groups.order_by("code").prefetch_related("stories")
    return [
        PlacedText(group.code, story.code, group.premise, story.text)
        for group in groups
        for story in sorted(group.stories.all(), key=lambda story: story.code)
        if not story.is_withheld
    ]


def _check_sendable(passages: Sequence[PlacedText], endpoint: Endpoint) -> None:
    hashes = {hashing.sha256(passage.text) for passage in passages}
    leave = licences.find_leave(hashes)
    n_refused = sum(not leave.get(sha, False) for sha in hashes)
    if n_refused:
        message = ngettext(
            "%(n)d text is not marked as free to be sent to an outside provider, which %(endpoint)s is; release it in "
            "its study, or use an endpoint of your own",
            "%(n)d texts are not marked as free to be sent to an outside provider, which %(endpoint)s is; release them "
            "in their studies, or use an endpoint of your own",
            n_refused,
        )
        raise CannotMeasureSurprise(message % {"n": n_refused, "endpoint": endpoint.name})


def _find_values(plan: SurprisePlan) -> list[float]:
    """Surprise of each passage in nats a token; those kept are there, others asked for."""
    values, missing = dict(plan.kept), plan.missing
    for start in range(0, len(missing), AT_ONCE):
        fresh: dict[PlacedText, float] = {}
        try:
            asyncio.run(_ask(plan.endpoint, plan.model, missing[start : start + AT_ONCE], fresh))
        finally:
            for passage, value in fresh.items():
                _keep(plan.endpoint, plan.model, passage, value)
        values |= fresh
    return [values[passage] for passage in plan.passages]


async def _ask(endpoint: Endpoint, model: str, passages: Sequence[PlacedText], values: dict[PlacedText, float]) -> None:
    """Put the surprise of each passage into `values`, asked for one after the other."""
    try:
        client = connections.connect_likelihoods(endpoint)
        try:
            for passage in passages:
                values[passage] = await _measure(client, model, passage)
        finally:
            await client.close()
    except (CannotConnect, CallFailed) as error:
        message = _("%(name)s: %(what)s %(way_out)s (%(reason)s)")
        names = {"name": f"{endpoint.name}/{model}", "what": error.kind.sentence, "way_out": error.kind.way_out}
        raise CannotMeasureSurprise(message % {**names, "reason": error}) from None


async def _measure(client: LikelihoodClient, model: str, passage: PlacedText) -> float:
    reply = await client.echo(model, passage.prefix + passage.text)
    if not is_same_model(model, reply.model):
        message = _("%(name)s: another model answered than was asked: %(model)s")
        raise CannotMeasureSurprise(message % {"name": model, "model": reply.model})
    pairs = zip(reply.starts, reply.logprobs, strict=True)
    of_story = [logprob for start, logprob in pairs if start >= len(passage.prefix) and logprob is not None]
    if not of_story:
        raise CannotMeasureSurprise(
            _("%(story)s: the text is one token, and nothing stands before it") % {"story": passage.story}
        )
    return -sum(of_story) / len(of_story)


def _names_of(endpoint: Endpoint, model: str, passage: PlacedText) -> dict[str, str]:
    """By what a value is kept: as a vector of one number, which is erased with the text."""
    version = f"{RULE}+{hashing.sha256(passage.prefix)[:16]}"
    return {
        "embedding": f"surprise:{endpoint.name}/{model}",
        "version": version,
        "sha256": hashing.sha256(passage.text),
    }


def _read_kept(endpoint: Endpoint, model: str, passage: PlacedText) -> float | None:
    row = TextVector.objects.filter(**_names_of(endpoint, model, passage)).first()
    return float(np.frombuffer(row.vector, KEPT)[0]) if row else None


def _keep(endpoint: Endpoint, model: str, passage: PlacedText, value: float) -> None:
    row = TextVector(**_names_of(endpoint, model, passage), vector=np.array([value], KEPT).tobytes())
    TextVector.objects.bulk_create([row], ignore_conflicts=True)


def _write_table(passages: Sequence[PlacedText], values: Sequence[float]) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["story", "group", "value"])
    writer.writerows((p.story, p.group, f"{value:.12g}") for p, value in zip(passages, values, strict=True))
    return file.getvalue().encode()
