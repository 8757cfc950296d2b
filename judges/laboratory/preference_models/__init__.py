"""Preference models: learnt from pairs that people chose from, stored with a card, at work as a judge on pairs.

Page and commands do the same: `request`, `train`, `answer_pairs`.
"""

from judges.laboratory.preference_models.answers import CannotAnswer, PairAnswers, answer_pairs
from judges.laboratory.preference_models.fits import find_due, queue, request, train, train_row
from judges.laboratory.preference_models.storage import ENOUGH_PAIRS
from judges.laboratory.preference_models.training_pairs import (
    CannotTrain,
    TrainingMaterial,
    collect_folder,
    collect_study,
)

__all__ = [
    "ENOUGH_PAIRS",
    "CannotAnswer",
    "CannotTrain",
    "PairAnswers",
    "TrainingMaterial",
    "answer_pairs",
    "collect_folder",
    "collect_study",
    "find_due",
    "queue",
    "request",
    "train",
    "train_row",
]
