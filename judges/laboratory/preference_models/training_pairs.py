"""Pairs to learn from: the votes of a study, or a folder that `build_pairs` made."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from judges.laboratory import splits
from judges.laboratory.prompt_choices import validation
from judges.planning import CannotRun
from studies import hashing
from studies.documents import reader
from studies.documents.errors import InvalidValue, quote
from studies.models import Study
from studies.typography.prompts import fold_prompt
from studies.vote_pairs import PARTS, TEST


class CannotTrain(ValueError):
    """Nothing can be learnt as things stand; the message says why and what would do."""


@dataclass(frozen=True)
class TrainingPair:
    """One pair. chosen, rejected : places of its texts; share : of votes for the chosen one, above .5

    prompt : pairs of one prompt stay together; premise : its words, folded, "" if it has none
    is_held_out : None: decided in training
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
        """SHA-256 of who is preferred to whom, by which share: it changes when votes are withdrawn or arrive."""
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
    cluster_by_group = splits.number_clusters(groups)
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
        message = _("People have preferred no story in the pairs of “%(study)s” yet, so nothing can be learned.")
        raise CannotTrain(message % {"study": study.slug})
    source = {"study": study.slug, "question": f"{question.step.key}/{question.item.key}"}
    locations = [_("story %(story)s") % {"story": code_by_text[text]} for text in place_by_text]
    return TrainingMaterial(list(place_by_text), pairs, n_votes, source, locations)


def collect_folder(folder: Path) -> TrainingMaterial:
    """The pairs in a folder of `build_pairs`, its test part held out if it has one. Raises CannotTrain."""
    rows = list(_read_texts(folder / "texts.jsonl"))
    texts, prompts = [row["text"] for row in rows], [fold_prompt(row["prompt"]) for row in rows]
    pairs = list(_read_pairs(folder / "pairs.csv", {row["story"]: n for n, row in enumerate(rows)}, prompts))
    if not pairs:
        raise CannotTrain(_("%(folder)s: pairs.csv holds no pairs; build the pairs again") % {"folder": folder.name})
    if len({pair.is_held_out for pair in pairs}) == 1:
        pairs = [replace(pair, is_held_out=None) for pair in pairs]
    source = {"folder": folder.name, "pairs_sha256": hashing.sha256((folder / "pairs.csv").read_text("utf-8"))}
    locations = [_("%(file)s: row %(n)d") % {"file": "texts.jsonl", "n": n} for n in range(1, len(texts) + 1)]
    return TrainingMaterial(texts, pairs, len(pairs), source, locations)


def _read_texts(path: Path) -> Iterator[dict[str, str]]:
    """Key, prompt and text of every story, each key once. Raises CannotTrain with the first row that is wrong."""
    row_by_story: dict[str, int] = {}
    try:
        reader.check_file(path)
        with path.open("rb") as file:
            for n, line in enumerate(file, start=1):
                row = _read_text(path, n, line)
                if (first := row_by_story.setdefault(row["story"], n)) != n:
                    reason = _("%(story)s stands in row %(n)d already")
                    raise _bad_row(path, n, reason % {"story": quote(row["story"]), "n": first})
                yield row
    except (OSError, InvalidValue) as error:
        raise _not_built(path, error) from None


def _read_text(path: Path, n: int, line: bytes) -> dict[str, str]:
    """The values of one row of `texts.jsonl`. Raises CannotTrain."""
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _bad_row(path, n, _("it is not UTF-8")) from None
    except (ValueError, RecursionError):
        raise _bad_row(path, n, _("it is not JSON")) from None
    if not isinstance(row, dict):
        raise _bad_row(path, n, _("it is no object"))
    values = {}
    for name in ("story", "prompt", "text"):
        if name not in row:
            raise _bad_row(path, n, _("%(field)s is missing") % {"field": name})
        try:
            values[name] = str(reader.text(row[name]))
        except InvalidValue as error:
            raise _bad_row(path, n, f"{name} {error}") from None
    return values


def _read_pairs(path: Path, place_by_story: Mapping[str, int], prompts: Sequence[str]) -> Iterator[TrainingPair]:
    """Every pair of the folder. Raises CannotTrain with the first row that is wrong.

    place_by_story : of its texts; prompts : of each of them
    """
    part_by_prompt: dict[str, str] = {}
    n = 1
    try:
        reader.check_file(path)
        with path.open(encoding="utf-8", newline="") as file:
            for n, row in enumerate(csv.DictReader(file), start=2):
                part = row.get("part")
                if part not in PARTS:
                    reason = _("part is %(part)s, and none of %(parts)s")
                    raise _bad_row(path, n, reason % {"part": quote(part or ""), "parts": ", ".join(PARTS)})
                chosen = _find_place(path, n, row.get("chosen"), place_by_story)
                rejected = _find_place(path, n, row.get("rejected"), place_by_story)
                prompt = prompts[chosen]
                if chosen == rejected or prompt != prompts[rejected]:
                    raise _bad_row(path, n, _("they are not two stories on one prompt"))
                if part_by_prompt.setdefault(prompt, part) != part:
                    raise _bad_row(path, n, _("its prompt stands in the other part, too"))
                yield TrainingPair(chosen, rejected, prompt, prompt, is_held_out=part == TEST)
    except UnicodeDecodeError:
        raise _bad_row(path, n + 1, _("it is not UTF-8")) from None
    except (OSError, InvalidValue, csv.Error) as error:
        raise _not_built(path, error) from None


def _find_place(path: Path, n: int, story: str | None, place_by_story: Mapping[str, int]) -> int:
    """The place of the story's text. Raises CannotTrain if it has none."""
    place = place_by_story.get(story or "")
    if place is None:
        raise _bad_row(path, n, _("story %(story)s is not in texts.jsonl") % {"story": quote(story or "")})
    return place


def _bad_row(path: Path, n: int, why: str) -> CannotTrain:
    message = _("%(file)s: row %(n)s is not as build_pairs writes it: %(why)s; build the pairs again")
    return CannotTrain(message % {"file": path.name, "n": n, "why": why})


def _not_built(path: Path, error: Exception) -> CannotTrain:
    message = _("%(file)s cannot be read (%(error)s); name a folder that build_pairs has made")
    return CannotTrain(message % {"file": path, "error": getattr(error, "strerror", None) or error})
