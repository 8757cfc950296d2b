"""A preference model as a judge: it chooses in the pairs of a study, by the reward of either text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from annotation.models import Rater
from annotation.responses import Answer, imports
from judges.laboratory.embeddings import CannotEmbed, Occasion, find_embedding
from judges.laboratory.preference_models import storage
from judges.laboratory.preference_models.storage import StoredPreference, digest
from judges.laboratory.prompt_choices import validation
from judges.models import PreferenceModel
from judges.planning import CannotRun
from studies import protocol as protocols
from studies.incoming_tables.problems import InvalidRow
from studies.models import StoryGroup, Study
from studies.typography.prompts import fold_prompt

EVEN = 1e-9  # rewards that differ by less differ by rounding


class CannotAnswer(ValueError):
    """The model cannot choose in these pairs; the message says why and what would do."""


@dataclass(frozen=True)
class PairAnswers:
    """n_answered : pairs; n_seen : left out since the model learnt from their texts or prompt; n_even : no choice"""

    n_answered: int
    n_seen: int
    n_even: int


def answer_pairs(model: PreferenceModel, study: Study, *, at: datetime, embeds: bool = True) -> PairAnswers:
    """Have the model choose in every pair of the study that it did not learn from, as a rater of kind metric.

    It has no order: its choice does not depend on which story stands first.
    embeds : whether texts that it has not met may be embedded, which can take long; else they are refused
    Raises CannotAnswer; then nothing is recorded.
    """
    if model.state != PreferenceModel.State.TRAINED:
        raise CannotAnswer(
            _("The model “%(model)s” is not trained yet: train it first, or choose another.") % {"model": model.slug}
        )
    try:
        question = validation.find_pair_question(study)
        stored = storage.unpack(model)
    except (CannotRun, storage.Altered) as error:
        raise CannotAnswer(str(error)) from None
    groups = list(study.groups.prefetch_related("stories").order_by("code"))
    groups = [g for g in groups if len(g.stories.all()) == 2 and not any(s.is_withheld for s in g.stories.all())]
    fresh = [group for group in groups if not _is_seen(group, stored)]
    if not fresh:
        message = _(
            "The model “%(model)s” learnt from every pair of this study, so it cannot judge them. Choose a model "
            "trained on other pairs."
        )
        raise CannotAnswer(message % {"model": model.slug})
    texts = list(dict.fromkeys(story.text for group in fresh for story in group.stories.all()))
    rewards = _find_rewards(model, stored, texts, study, embeds=embeds)
    rows = [
        imports.Row(
            location=f"{model.slug}, {group.code}",
            rater=model.slug,
            group=group.code,
            story="",
            step=question.step.key,
            item=question.item.key,
            answer=Answer(value=best),
            kind=Rater.Kind.METRIC,
        )
        for group in fresh
        if (best := _find_best(group, rewards))
    ]
    try:
        imports.import_rows(study, rows, version=protocols.current(study), at=at)
    except (InvalidRow, protocols.NotPlannable) as error:
        raise CannotAnswer(str(error)) from None
    return PairAnswers(n_answered=len(rows), n_seen=len(groups) - len(fresh), n_even=len(fresh) - len(rows))


def _is_seen(group: StoryGroup, stored: StoredPreference) -> bool:
    """Whether the model learnt from one of its texts, or from its prompt."""
    premise = fold_prompt(group.premise)
    if premise and digest(premise) in stored.training_prompts:
        return True
    return any(digest(story.text) in stored.training_texts for story in group.stories.all())


def _find_best(group: StoryGroup, rewards: Mapping[str, float]) -> str:
    """The code of the story with the higher reward; "" if they are even."""
    first, second = sorted(group.stories.all(), key=lambda story: rewards[story.text])
    return second.code if rewards[second.text] - rewards[first.text] > EVEN else ""


def _find_rewards(
    model: PreferenceModel, stored: StoredPreference, texts: Sequence[str], study: Study, *, embeds: bool
) -> dict[str, float]:
    """The reward of each text: kept for those that the model was tried on, embedded for others. Raises CannotAnswer."""
    rewards = {text: stored.reward_by_text[key] for text in texts if (key := digest(text)) in stored.reward_by_text}
    others = [text for text in texts if text not in rewards]
    if not others:
        return rewards
    name, version = model.card["embedding"]["name"], model.card["embedding"]["version"]
    if model.card["embedding"]["is_fitted"]:
        message = _(
            "The model “%(model)s” is based on %(embedding)s, which is fitted to the texts it was "
            "trained and tried on, and %(n)s texts of this study are none of them. Train one with an "
            "embedding of the text alone: sentence-transformers:MODEL or endpoint:ENDPOINT/MODEL"
        )
        raise CannotAnswer(message % {"model": model.slug, "embedding": name, "n": len(others)})
    if not embeds:
        message = _("%(n)s texts must be embedded first, which can take long: run manage.py answer_pairs.")
        raise CannotAnswer(message % {"n": len(others)})
    try:
        embedding = find_embedding(name, occasion=Occasion(study, f"answer_pairs {model.slug}"))
        if embedding.version != version:
            message = _(
                "The embedding %(embedding)s has changed since the model “%(model)s” was trained. Train it again."
            )
            raise CannotAnswer(message % {"embedding": name, "model": model.slug})
        vectors = embedding.vectors(others)
    except CannotEmbed as error:
        raise CannotAnswer(str(error)) from None
    if vectors.shape[1] != len(stored.weights):
        message = _(
            "The embedding %(embedding)s gave vectors of %(n)s numbers, and the model “%(model)s” was trained on "
            "%(m)s. Train it again."
        )
        sizes = {"n": vectors.shape[1], "m": len(stored.weights)}
        raise CannotAnswer(message % {"embedding": name, "model": model.slug, **sizes})
    return rewards | dict(zip(others, (vectors @ stored.weights).tolist(), strict=True))
