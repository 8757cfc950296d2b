"""Answers that people and models explained, each with features of its explanation.

Words, and whether the plot is spoken of, are what LitBench looks at (Fein et al. 2025, section 5.2 and table 3); TTCW
asks for one to three sentences (Chakrabarty et al. 2024, design principle 3).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from annotation.models import Rater, Response
from reports.lazy import pd

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reports.dataset import Dataset

NAMES = ("words", "sentences", "first_person", "plot", "quotes", "other_items")
OF_ENGLISH = frozenset({"first_person", "plot"})  # whose words are English
SHARES = frozenset({"first_person", "plot", "quotes"})  # 1 or 0
FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself"})
PLOT = frozenset({"plot", "plots"})
WORD = re.compile(r"[^\W\d_]+")
END_OF_SENTENCE = re.compile(r"[.!?…](?=[\s\"”’»)\]]|$)")
QUOTATION = re.compile(r"[\"“„«][^\"“”„«»]+[\"”“»]")


def features_of(dataset: Dataset) -> list[str]:
    """Which features are counted: those of words in texts by their language, as the study says it."""
    is_english = dataset.study.language.split("-")[0] == "en"
    return [name for name in NAMES if is_english or name not in OF_ENGLISH]


def list_explained_answers(dataset: Dataset) -> pd.DataFrame:
    """One row an explained answer about a story or a group, of every reading: `rater` ("" of people), `group`, `story`,
    `verdict` ("yes", "no" or ""), and each of NAMES as a number. Without explanations empty. One query."""
    is_judge = dataset.all_readings["rater_kind"] == Rater.Kind.MODEL
    answers = pd.concat([dataset.people, dataset.all_readings[is_judge]])
    answers = answers[answers["outcome"] == Response.Outcome.ANSWERED]
    item_by_key = {item.key: item for item in dataset.items}
    titles = {item.item.title.casefold() for item in dataset.items} - {""}
    explained = _read_explanations(dataset)
    names = ("assignment", "rater_kind", "rater", "group", "story", "step", "item", "value")
    rows = []
    for assignment, kind, rater, group, story, step, name, value in zip(*(answers[c] for c in names), strict=True):
        rationale, n_passages = explained.get((assignment, step, name, story), ("", 0))
        item = item_by_key.get((step, name))
        if item is None or not group or not rationale.split():
            continue
        of_others = titles - {item.item.title.casefold()}
        rows.append(
            {
                "rater": "" if kind == Rater.Kind.PERSON else rater,
                "group": group,
                "story": story,
                "verdict": value if item.type.is_verdict else "",
                **measure(rationale, of_others, n_passages=n_passages),
            }
        )
    return pd.DataFrame(rows, columns=["rater", "group", "story", "verdict", *NAMES])


def measure(rationale: str, titles: Iterable[str], *, n_passages: int) -> dict[str, float]:
    """The features of one explanation. titles : of the other items, in small letters; n_passages : marked in the story

    A sentence ends with its mark before a space or the end, and there is at least one. A quotation stands in double
    quotation marks, or is a passage marked in the story.
    """
    words = rationale.casefold()
    different = set(WORD.findall(words))
    return {
        "words": float(len(rationale.split())),
        "sentences": float(max(1, len(END_OF_SENTENCE.findall(rationale)))),
        "first_person": float(bool(different & FIRST_PERSON)),
        "plot": float(bool(different & PLOT)),
        "quotes": float(n_passages > 0 or bool(QUOTATION.search(rationale))),
        "other_items": float(sum(bool(re.search(rf"\b{re.escape(title)}\b", words)) for title in titles)),
    }


def _read_explanations(dataset: Dataset) -> dict[tuple[int, str, str, str], tuple[str, int]]:
    """Each explanation with how many passages are marked beside it, by assignment, step, item and story. One query."""
    responses = Response.objects.filter(assignment__study=dataset.study, outcome=Response.Outcome.ANSWERED).exclude(
        rationale=""
    )
    fields = ("assignment_id", "step__key", "item__key", "story__code", "rationale", "quotes")
    return {
        (assignment, step, item, story or ""): (rationale, len(quotes))
        for assignment, step, item, story, rationale, quotes in responses.values_list(*fields).iterator(2000)
    }
