"""What was amended since a rater began, in the words that they read before and read now."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from annotation.models import Assignment, Consent, LaterVersion, Rater
from annotation.participation import consents
from studies import hashing
from studies.models import ProtocolVersion, Step
from studies.typography.differences import Passage, find_differences, shorten

WORDS = ("title", "text")


@dataclass(frozen=True)
class AmendedWords:
    """A wording that is another one now. at : since when; step_title : of the step in which it stands"""

    at: datetime
    step_title: str
    passages: list[Passage]


def find_amended_consent(rater: Rater, step: Step) -> AmendedWords | None:
    """How the consent text differs from what the rater agreed to last; None if they agreed to nothing else, or nothing
    is known of it. Two queries."""
    agreed = Consent.objects.filter(rater=rater).exclude(text_sha256=consents.text_sha256(step)).order_by("-at").first()
    versions = list(rater.study.frozen_versions) if agreed else []
    for version in reversed(versions):
        text = _texts(version).get((step.key, "text"), "")
        if agreed and hashing.sha256(text) == agreed.text_sha256:
            later = [v for v in versions if v.number > version.number and v.frozen_at]
            since = next((v for v in later if _texts(v).get((step.key, "text")) == step.text), version)
            return AmendedWords(since.frozen_at or agreed.at, step.title, shorten(find_differences(text, step.text)))
    return None


def list_amended_words(assignment: Assignment) -> list[AmendedWords]:
    """The texts that were amended while the rater was at work on this, latest first. One query."""
    rows = LaterVersion.objects.filter(assignment=assignment).select_related("before", "version").order_by("-at", "-pk")
    return [words for row in rows for words in _compare(row)]


def _compare(row: LaterVersion) -> Iterator[AmendedWords]:
    old_texts, new_texts = _texts(row.before), _texts(row.version)
    for (key, name), text in new_texts.items():
        if old_texts.get((key, name), "") != text:
            passages = shorten(find_differences(old_texts.get((key, name), ""), text))
            yield AmendedWords(row.at, new_texts[key, "title"] or text, passages)


def _texts(version: ProtocolVersion) -> dict[tuple[str, str], str]:
    """Every title and text of the frozen version, by the key of its step."""
    return {(step["key"], name): step[name] for step in json.loads(version.document)["steps"] for name in WORDS}
