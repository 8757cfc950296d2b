"""Pairs to learn from: the votes of a study, or a folder that `build_pairs` made."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from judges.planning import CannotRun
from judges.prompt_choices import validation
from studies import hashing
from studies.documents import reader
from studies.models import Study
from studies.typography.words import fold_prompt
from studies.vote_pairs import TEST


class CannotTrain(ValueError):
    """Nothing can be learnt as things stand; the message says why and what would do."""


@dataclass(frozen=True)
class TrainingPair:
    """One pair. chosen, rejected : places of its texts; share : of votes for the chosen one, above .5

    prompt : pairs of one prompt stay together; premise : its words, folded, "" if it has none
    is_held_out : None: whoever trains decides
    """

    chosen: int
    rejected: int
    prompt: str
    premise: str
    share: float = 1.0
    is_held_out: bool | None = None


@dataclass(frozen=True)
class TrainingMaterial:
    """Pairs with their texts. source : what the card says of where they come from

    locations : of each text, the story's code or the row in its file
    """

    texts: Sequence[str]
    pairs: Sequence[TrainingPair]
    n_votes: int
    source: Mapping[str, Any]
    locations: Sequence[str]

    def fingerprint(self) -> str:
        """SHA-256 of who is preferred to whom, by which share: another one once votes were withdrawn or came in."""
        digests = [hashing.sha256(text) for text in self.texts]
        rows = sorted((digests[pair.chosen], digests[pair.rejected], f"{pair.share:.9f}") for pair in self.pairs)
        return hashing.sha256(hashing.canonical_json([self.n_votes, rows]))


def collect_study(study: Study) -> TrainingMaterial:
    """The pairs of which more than half of the people preferred one story. Raises CannotTrain.

    All texts of its pairs are there, those of pairs without votes too: so a model of an embedding that is fitted to
    texts can be asked about them.
    """
    try:
        question = validation.find_pair_question(study)
    except CannotRun as error:
        raise CannotTrain(str(error)) from None
    groups = list(study.groups.prefetch_related("stories").order_by("code"))
    groups = [g for g in groups if len(g.stories.all()) == 2 and not any(s.is_withheld for s in g.stories.all())]
    cluster_by_group = validation.number_clusters(groups)
    votes_by_group = validation.count_votes(study, question, list(cluster_by_group))
    place_by_text: dict[str, int] = {}
    code_by_text: dict[str, str] = {}
    pairs, n_votes = [], 0
    for group in groups:
        places = {story.code: place_by_text.setdefault(story.text, len(place_by_text)) for story in group.stories.all()}
        code_by_text |= {story.text: story.code for story in group.stories.all()}
        votes = {code: votes_by_group.get(group.code, Counter())[code] for code in places}
        chosen, rejected = sorted(votes, key=votes.__getitem__, reverse=True)
        n = votes[chosen] + votes[rejected]
        if votes[chosen] > votes[rejected] and places[chosen] != places[rejected]:
            prompt = str(cluster_by_group[group.code])
            premise = fold_prompt(group.premise)
            pairs.append(TrainingPair(places[chosen], places[rejected], prompt, premise, share=votes[chosen] / n))
            n_votes += n
    if not pairs:
        message = _("People have preferred no story in the pairs of %(study)s yet, so there is nothing to learn from.")
        raise CannotTrain(message % {"study": study.slug})
    source = {"study": study.slug, "question": f"{question.step.key}/{question.item.key}"}
    locations = [_("story %(story)s") % {"story": code_by_text[text]} for text in place_by_text]
    return TrainingMaterial(list(place_by_text), pairs, n_votes, source, locations)


def collect_folder(folder: Path) -> TrainingMaterial:
    """The pairs in a folder of `build_pairs`, its test part held out if it has one. Raises CannotTrain."""
    places: dict[str, int] = {}
    texts: list[str] = []
    prompts: list[str] = []
    for row in _read_texts(folder / "texts.jsonl"):
        places[row["story"]] = len(texts)
        texts.append(row["text"])
        prompts.append(fold_prompt(row["prompt"]))
    rows = list(_read_pairs(folder / "pairs.csv"))
    parts = {row["part"] for row in rows}
    try:
        pairs = [
            TrainingPair(
                places[row["chosen"]],
                places[row["rejected"]],
                prompts[places[row["chosen"]]],
                prompts[places[row["chosen"]]],
                is_held_out=row["part"] == TEST if len(parts) > 1 else None,
            )
            for row in rows
        ]
    except KeyError as error:
        message = _("%(folder)s: story %(story)s stands in pairs.csv and not in texts.jsonl; build the pairs anew")
        raise CannotTrain(message % {"folder": folder.name, "story": error}) from None
    if not pairs:
        raise CannotTrain(_("%(folder)s: pairs.csv holds no pairs; build the pairs anew") % {"folder": folder.name})
    source = {"folder": folder.name, "pairs_sha256": hashing.sha256((folder / "pairs.csv").read_text("utf-8"))}
    locations = [_("%(file)s: row %(n)d") % {"file": "texts.jsonl", "n": n} for n in range(1, len(texts) + 1)]
    return TrainingMaterial(texts, pairs, len(pairs), source, locations)


def _read_texts(path: Path) -> Iterator[dict[str, str]]:
    try:
        reader.check_file(path)
        with path.open(encoding="utf-8") as file:
            for n, line in enumerate(file, start=1):
                row = json.loads(line)
                if not {"story", "prompt", "text"} <= set(row):
                    raise CannotTrain(_bad_row(path, n))
                yield row
    except (OSError, ValueError, TypeError) as error:
        raise _not_built(path, error) from None


def _read_pairs(path: Path) -> Iterator[dict[str, str]]:
    try:
        reader.check_file(path)
        with path.open(encoding="utf-8", newline="") as file:
            for n, row in enumerate(csv.DictReader(file), start=2):
                if not {"part", "chosen", "rejected"} <= set(row):
                    raise CannotTrain(_bad_row(path, n))
                yield row
    except (OSError, ValueError, csv.Error) as error:
        raise _not_built(path, error) from None


def _bad_row(path: Path, n: int) -> str:
    message = _("%(file)s: row %(n)s is not as build_pairs writes it; build the pairs anew")
    return message % {"file": path.name, "n": n}


def _not_built(path: Path, error: Exception) -> CannotTrain:
    if isinstance(error, CannotTrain):
        return error
    message = _("%(file)s cannot be read (%(error)s); name a folder that build_pairs has made")
    return CannotTrain(message % {"file": path, "error": getattr(error, "strerror", None) or error})
