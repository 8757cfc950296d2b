"""Every request to a judge of one study and what came back, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from judges.models import Attempt, Call, Text
from judges.requests import texts
from reports.export.content import PackageContent
from reports.export.long_table_columns import iso
from reports.export.redistribution import find_redistributable_codes

AT_ONCE = 200


def count_calls(content: PackageContent) -> int:
    return content.calls.count()


def call_lines(content: PackageContent) -> Iterator[str]:
    """The calls in the order in which they were planned. Read from the database as it goes."""
    withheld = _withheld_stories(content)
    rows = (
        content.calls.select_related(
            "run__judge", "assignment__seat", "assignment__group", "assignment__reading", "step", "item", "story"
        )
        .defer("run__document", "story__text")
        .order_by("run_id", "pk")
        .prefetch_related("attempts__parses")
    )
    batch: list[Call] = []
    for call in rows.iterator(chunk_size=AT_ONCE):
        batch.append(call)
        if len(batch) == AT_ONCE:
            yield from _lines(batch, withheld)
            batch = []
    yield from _lines(batch, withheld)


def _withheld_stories(content: PackageContent) -> dict[str, int]:
    """Ids of the stories by code whose words may not stand in the file."""
    pk_by_code = dict(content.study.stories.values_list("code", "pk"))
    if not content.may_tell_texts_apart:
        return pk_by_code
    if not content.is_public:
        return {}
    codes = find_redistributable_codes(content.study, with_sources=content.with_sources)
    return {code: pk for code, pk in pk_by_code.items() if code not in codes}


def _lines(batch: list[Call], withheld: dict[str, int]) -> Iterator[str]:
    text_by_hash = texts.load_texts([call.request for call in batch])
    of_withheld = Text.objects.filter(pk__in=text_by_hash, story_id__in=withheld.values())
    hidden = set(of_withheld.values_list("pk", flat=True))
    for call in batch:
        yield json.dumps(_document(call, text_by_hash, hidden, withheld), ensure_ascii=False, sort_keys=True) + "\n"


def _document(call: Call, text_by_hash: dict[str, str], hidden: set[str], withheld: dict[str, int]) -> dict[str, Any]:
    is_hidden = bool(hidden & set(texts.hashes_of(call.request))) or (call.story and call.story.code in withheld)
    shown = {
        sha: f"[text {sha} is not in this package]" if sha in hidden else text_by_hash[sha] for sha in text_by_hash
    }
    seat = call.assignment.seat if call.assignment else None
    return {
        "judge": call.run.judge.slug,
        "run_sha256": call.run.sha256,
        "kind": call.kind,
        "group": call.assignment.group.code if call.assignment and call.assignment.group else "",
        "seat": seat.number if seat else None,
        "intervention": call.assignment.reading.intervention if seat and call.assignment else "",
        "story": call.story.code if call.story else "",
        "step": call.step.key if call.step else "",
        "items": call.items or ([call.item.key] if call.item else []),
        "section": call.section,
        "anchor": call.anchor,
        "state": call.state,
        "request": texts.render_with(call.request, shown),
        "answered_at": iso(call.answered_at),
        "attempts": [
            {
                "number": attempt.number,
                "sent_at": iso(attempt.sent_at),
                "ended_at": iso(attempt.ended_at),
                "outcome": attempt.outcome,
                "status": attempt.status,
                "model": attempt.model,
                "finish_reason": attempt.finish_reason,
                "n_tokens_in": attempt.n_tokens_in,
                "n_tokens_out": attempt.n_tokens_out,
                "cost": None if attempt.cost is None else str(attempt.cost),
                # A reply may quote the text that it is about.
                "body": "" if is_hidden else attempt.body,
                "reason": "" if is_hidden else attempt.reason,
                "probabilities": _read_probabilities(attempt),
            }
            for attempt in call.attempts.all()
        ],
    }


def _read_probabilities(attempt: Attempt) -> dict[str, Any]:
    """How probable each answer was, by item, as it was read last."""
    parse = max(attempt.parses.all(), key=lambda row: row.pk, default=None)
    return parse.grades if parse else {}
