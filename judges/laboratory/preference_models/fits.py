"""A preference model from its pairs to its row: embedded, fitted, held against what it has not seen, stored."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from celery import current_app
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from judges.laboratory.embeddings import CannotEmbed, Embedding, EmptyText, Occasion, find_embedding
from judges.laboratory.preference_models import storage
from judges.laboratory.preference_models.training_pairs import CannotTrain, TrainingMaterial, collect_study
from judges.models import PreferenceModel
from stats import reasons
from studies.documents import reader
from studies.documents.errors import InvalidValue
from studies.documents.names import first_free
from studies.models import Study

if TYPE_CHECKING:
    from stats.intervals import Interval
    from stats.preference_model import HeldOut, TrainedPreference
    from stats.reasons import Incomputable

EDITION = 2  # of the card; 1 did not say which preferences it learnt from
LONGEST_SLUG, LARGEST_SEED = 80, 2**31 - 1  # as their columns keep
LOST_SECONDS = 600  # longer than training takes; then the workers are told again


def request(
    study: Study | None, *, embedding: str, seed: int, at: datetime, by: str, slug: str = ""
) -> PreferenceModel:
    """The row of a model that waits to be trained. Raises CannotTrain if one of these cannot be, or a name is taken."""
    try:
        find_embedding(embedding)
        if slug:
            reader.slug(LONGEST_SLUG)(slug)
    except CannotEmbed as error:
        raise CannotTrain(str(error)) from None
    except InvalidValue as error:
        raise CannotTrain(_("%(field)s: %(why)s") % {"field": _("name"), "why": error}) from None
    if not 0 <= seed <= LARGEST_SEED:
        message = _("%(seed)s is not a seed; enter a whole number from 0 to %(largest)s")
        raise CannotTrain(message % {"seed": seed, "largest": LARGEST_SEED})
    slugs = set(PreferenceModel.objects.values_list("slug", flat=True))
    if slug in slugs:
        message = _("there is a preference model “%(slug)s” already; choose another name")
        raise CannotTrain(message % {"slug": slug})
    if not slug:
        slug = first_free(f"preference-{study.slug}" if study else "preference", slugs, longest=LONGEST_SLUG)
    return PreferenceModel.objects.create(
        slug=slug, study=study, embedding=embedding, seed=seed, created_at=at, created_by=by
    )


def queue(pk: int) -> None:
    """Tell the workers that this model waits; a message that comes too late is none."""
    current_app.send_task("judges.tasks.train_preference_model", args=[pk], expires=LOST_SECONDS)


def find_due(*, at: datetime) -> QuerySet[PreferenceModel]:
    """Models that wait although the workers were told a while ago: the message was lost, or its worker died."""
    waiting = PreferenceModel.objects.filter(state=PreferenceModel.State.QUEUED, study__isnull=False)
    return waiting.filter(created_at__lt=at - timedelta(seconds=LOST_SECONDS))


def train_row(model: PreferenceModel, *, at: datetime) -> PreferenceModel:
    """Train a queued model of a study; why it could not be stands in its row."""
    if model.state != PreferenceModel.State.QUEUED or model.study is None:
        return model
    try:
        return train(model, collect_study(model.study), at=at)
    except CannotTrain as error:
        model.state, model.reason = PreferenceModel.State.FAILED, str(error)
        model.save(update_fields=["state", "reason"])
        return model


def train(
    model: PreferenceModel, material: TrainingMaterial, *, run_in: Study | None = None, at: datetime
) -> PreferenceModel:
    """Fit the model to the pairs and store it. Raises CannotTrain; then the row is as it was. Loads scikit-learn.

    run_in : in whose runs the requests of an endpoint's embedding stand; the model's own study if None
    """
    import numpy as np

    from stats import preference_model
    from stats.reasons import Incomputable

    study = run_in or model.study
    occasion = Occasion(study, model.created_by) if study else None
    embedding = find_embedding(model.embedding, occasion=occasion)
    try:
        vectors, version = embedding.vectors(material.texts), embedding.version
    except EmptyText as error:
        message = _("%(place)s has no words; take it out, or give it its text")
        raise CannotTrain(message % {"place": material.locations[error.number - 1]}) from None
    except CannotEmbed as error:
        raise CannotTrain(str(error)) from None
    chosen = np.array([pair.chosen for pair in material.pairs])
    rejected = np.array([pair.rejected for pair in material.pairs])
    log_words = np.log([len(text.split()) for text in material.texts])
    held_out = [pair.is_held_out for pair in material.pairs if pair.is_held_out is not None]
    try:
        trained = preference_model.train(
            vectors[chosen] - vectors[rejected],
            log_words[chosen] - log_words[rejected],
            [pair.prompt for pair in material.pairs],
            rng=np.random.default_rng(model.seed),
            shares=[pair.share for pair in material.pairs],
            is_held_out=held_out or None,
        )
    except Incomputable as reason:
        raise CannotTrain(_say_too_little(len(material.pairs), reason)) from None
    training_pairs = [pair for pair, is_held in zip(material.pairs, trained.is_held_out, strict=True) if not is_held]
    model.content = storage.pack(
        trained.model.weights,
        vectors @ trained.model.weights,
        material.texts,
        trained_on={place for pair in training_pairs for place in (pair.chosen, pair.rejected)},
        prompts={pair.premise for pair in training_pairs if pair.premise},
    )
    model.card = {**_card(model, material, trained, embedding, version), "trained_at": at.isoformat()}
    model.state, model.sha256 = PreferenceModel.State.TRAINED, model.fingerprint()
    with transaction.atomic():
        model.save()
    return model


def _say_too_little(n_pairs: int, reason: Incomputable) -> str:
    message = _("%(n)s pairs are not enough: %(reason)s Add more pairs, on more prompts.")
    return message % {"n": n_pairs, "reason": _(reasons.SENTENCES[reason.code]) % reason.values}


def _card(
    model: PreferenceModel, material: TrainingMaterial, trained: TrainedPreference, embedding: Embedding, version: str
) -> dict[str, Any]:
    return {
        "edition": EDITION,
        "trained_on": dict(material.source),
        "pairs": len(material.pairs),
        "pairs_trained_on": int((~trained.is_held_out).sum()),
        "votes": material.n_votes,
        "preferences_sha256": material.fingerprint(),
        "prompts": len({pair.prompt for pair in material.pairs}),
        "texts": len(material.texts),
        "embedding": {"name": embedding.name, "version": version, "is_fitted": embedding.is_fitted},
        "dimensions": len(trained.model.weights),
        "leniency": trained.model.leniency,
        "temperature": trained.model.temperature,
        "seed": model.seed,
        "held_out": _describe(trained.held_out),
        "length": _describe(trained.length),
        "shuffled": asdict(trained.shuffled),
    }


def _describe(held_out: HeldOut | Incomputable) -> dict[str, Any]:
    """What a model does on pairs that it has not seen, as JSON; or why there is no such thing."""
    from stats.reasons import Incomputable

    if isinstance(held_out, Incomputable):
        return {"why": held_out.code, "values": held_out.values}
    numbers = asdict(held_out)
    interval: Interval | Incomputable = held_out.interval
    numbers["interval"] = None if isinstance(interval, Incomputable) else [interval.low, interval.high]
    numbers["note"] = "" if isinstance(interval, Incomputable) else interval.note
    numbers["bins"] = [asdict(part) for part in held_out.bins]
    return numbers
