"""Surprise by a language model: what a reply with log-probabilities says of a story, kept, and at the end its scores.

Source: Brito da Silva & Marcacini, section 3.2, equation 2: the mean negative log-probability a token.
"""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.answer_import.files import hash_content
from judges import parsing, reasons, score_import
from judges.models import Call, Run, ScoreCard, TextVector
from judges.providers import CallFailed, Completion, read_likelihoods
from judges.score_import import CardText
from judges.settlement.handlers import CannotFinish, ReplyHandler, SettledReply
from studies import hashing
from studies.incoming_tables.errors import ImportRefused
from studies.protocol import NotPlannable

if TYPE_CHECKING:
    from studies.models import Story, Study

RULE = "1"  # raised whenever a text could get another value by the same model
BETWEEN = "\n\n"  # premise and story
KEPT = struct.Struct("<d")
HASHES_A_QUERY = 500
NOTE = "Mean negative log-probability a token, in nats, given the writing prompt of the group."
NO_SCORES = gettext_noop("no score came in: %(reason)s")


class SurpriseHandler(ReplyHandler):
    kind = Call.Kind.LIKELIHOOD

    def read(self, call: Call, completion: Completion) -> dict[str, Any] | parsing.Failure:
        return read_reply(call.request, completion.raw)

    def follow(self, replies: Sequence[SettledReply]) -> None:
        keep((reply.call, reply.findings) for reply in replies if reply.state == Call.State.OK)

    def finish(self, run: Run, *, at: datetime) -> None:
        is_of_surprise = run.judge.is_measurer and "metric" in run.frozen
        if is_of_surprise and (obstacle := take_scores(run, at=at)):
            raise CannotFinish(NO_SCORES, reason=obstacle)


@dataclass(frozen=True)
class PlacedText:
    """A story where it stands. group : its code; premise : "" if the group has none"""

    group: str
    story: Story
    premise: str

    @property
    def prefix(self) -> str:
        """What is sent before the story."""
        return f"{self.premise.strip()}{BETWEEN}" if self.premise.strip() else ""

    @property
    def key(self) -> tuple[str, str]:
        """By what its value is kept: the version of the measure, which holds the premise, and the text's hash."""
        return f"{RULE}+{hashing.sha256(self.prefix)[:16]}", hashing.sha256(self.story.text)


def list_passages(study: Study) -> list[PlacedText]:
    """Every story of the study that is not withheld, in each of its groups. Two queries."""
    groups = study.groups.order_by("code").prefetch_related("stories")
    return [
        PlacedText(group.code, story, group.premise)
        for group in groups
        for story in sorted(group.stories.all(), key=lambda story: story.code)
        if not story.is_withheld
    ]


def name_measure(endpoint_name: str, model: str) -> str:
    """Under what name the values of a model are kept."""
    return f"surprise:{endpoint_name}/{model}"


def read_kept(measure: str, passages: Sequence[PlacedText]) -> dict[PlacedText, float]:
    """The passages that were measured before, with their values. One query for every 500."""
    passages_by_key: dict[tuple[str, str], list[PlacedText]] = {}
    for passage in passages:
        passages_by_key.setdefault(passage.key, []).append(passage)
    hashes = list({sha256 for _version, sha256 in passages_by_key})
    values: dict[PlacedText, float] = {}
    for start in range(0, len(hashes), HASHES_A_QUERY):
        rows = TextVector.objects.filter(embedding=measure, sha256__in=hashes[start : start + HASHES_A_QUERY])
        for version, sha256, vector in rows.values_list("version", "sha256", "vector"):
            (value,) = KEPT.unpack(vector)
            values |= dict.fromkeys(passages_by_key.get((version, sha256), ()), value)
    return values


def read_reply(request: Mapping[str, Any], body: str) -> dict[str, Any] | parsing.Failure:
    """The surprise of the story in nats a token, and of how many tokens; or why there is none."""
    n_before, n = request["of"]["n_before"], request["of"]["n"]
    try:
        reply = read_likelihoods(body, n=n)
    except CallFailed as failure:
        return parsing.Failure("unreadable", str(failure))
    pairs = zip(reply.starts, reply.logprobs, strict=True)
    of_story = [logprob for start, logprob in pairs if start >= n_before and logprob is not None]
    if not of_story:
        return parsing.Failure("unreadable", reasons.ONE_TOKEN)
    return {"surprise": -sum(of_story) / len(of_story), "n_tokens": len(of_story)}


def keep(values: Iterable[tuple[Call, Mapping[str, Any]]]) -> None:
    """Keep what was read in replies, by the text: erasing a text reaches it."""
    rows = [
        TextVector(
            embedding=call.request["of"]["measure"],
            version=call.request["of"]["version"],
            sha256=call.request["of"]["sha256"],
            vector=KEPT.pack(findings["surprise"]),
        )
        for call, findings in values
    ]
    if rows:
        TextVector.objects.bulk_create(rows, ignore_conflicts=True)


def take_scores(run: Run, *, at: datetime) -> str:
    """Why the values of an ended run were not imported as scores; "" if they were."""
    document = run.frozen
    passages = list_passages(run.study)
    values = read_kept(document["measure"], passages)
    content = _write_table(passages, values)
    model = f"{document['endpoint']['name']}/{document['model']}"
    card = CardText(
        metric=document["metric"],
        better=ScoreCard.Better.HIGHER,
        scored_by=model,
        scored_on=at.date(),
        note=NOTE,
    )
    if not values:
        return _("no story has a value")
    try:
        row = score_import.import_scores(
            run.study,
            score_import.read_scores("surprise.csv", content),
            card,
            may_be_missing=True,
            sha256=hash_content(content),
            by=run.approved_by,
            at=at,
        )
    except (ImportRefused, NotPlannable) as error:
        return str(error)
    ScoreCard.objects.filter(pk=row.pk).update(run=run)
    return ""


def _write_table(passages: Sequence[PlacedText], values: Mapping[PlacedText, float]) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["story", "group", "value"])
    writer.writerows((p.story.code, p.group, f"{values[p]:.12g}") for p in passages if p in values)
    return file.getvalue().encode()
