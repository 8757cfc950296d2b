"""What NSV says of a study, as it is stored."""

from __future__ import annotations

from dataclasses import dataclass

from reports.document.values import Estimate, IntervalEstimate, Reason


@dataclass(frozen=True, kw_only=True)
class IdeaPanelAgreement(IntervalEstimate):
    """Krippendorff's alpha of the panel on what stands for creativity.

    distance : "ordinal" of one scale, "interval" of a mean over several
    """

    titles: tuple[str, ...]
    distance: str
    n_ideas: int


@dataclass(frozen=True, kw_only=True)
class NsvSetting:
    """With what it was computed, and on which prompts, by the codes of their groups.

    surprise, value, pairs : as planned, "" for ours
    n_near_copies, n_gone : left out of the n_stored references; n_without_… : left out of the ideas
    """

    references: str
    corpus: str
    embedding: str
    version: str
    sha256: str
    surprise: str
    value: str
    pairs: str
    k: int
    alpha: float
    seed: int
    development: tuple[str, ...]
    held_out: tuple[str, ...]
    n_development: int
    n_held_out: int
    n_references: int
    n_near_copies: int
    n_gone: int
    n_on_several_prompts: int
    n_without_neighbours: int
    n_without_surprise: int
    n_without_value: int


@dataclass(frozen=True, kw_only=True)
class ComponentWeight:
    component: str
    weight: float
    median: float
    deviation: float


@dataclass(frozen=True, kw_only=True)
class PanelCorrelation:
    """How a method goes with people on hold-out, by Spearman's correlation: over all ideas, and within prompts."""

    method: str
    n: int
    n_prompts: int
    pooled: IntervalEstimate
    within: IntervalEstimate


@dataclass(frozen=True, kw_only=True)
class PanelTopPrecision(IntervalEstimate):
    """In percent: of the k ideas of a prompt that the score ranks first, how many the panel does; chance : likewise"""

    k: int
    chance: float
    n_prompts: int


@dataclass(frozen=True, kw_only=True)
class Ablation(IntervalEstimate):
    """The score's correlation less that without a component, or with a worse one. by : "removed", or what is worse

    p : of a sign test over prompts
    """

    component: str
    by: str
    p: float | None


@dataclass(frozen=True, kw_only=True)
class Stability(Estimate):
    """The confirmatory correlation when something is done otherwise; of several settings their mean, with the ends."""

    what: str
    setting: str
    n: int = 1
    sd: float | None = None
    lowest: float | None = None
    highest: float | None = None


@dataclass(frozen=True, kw_only=True)
class LearntPreferences:
    """How many pairs value was learnt from, 0 if it was brought in, and how it does on others. accuracy : in percent"""

    n_pairs: int
    n_held_out: int | None
    accuracy: float | None
    auc: float | None
    why: Reason | None


@dataclass(frozen=True, kw_only=True)
class NsvScores:
    """All that is said where a score can be fitted.

    confirmatory : "within" or "pooled"; verdict : of H1, "met", "not_met" or "open"
    ceiling : √ICC(k) of the panel on hold-out, None if it is not known
    """

    setting: NsvSetting
    weights: tuple[ComponentWeight, ...]
    development_rho: float
    confirmatory: str
    verdict: str
    ceiling: float | None
    methods: tuple[PanelCorrelation, ...]
    top: tuple[PanelTopPrecision, ...]
    preferences: LearntPreferences
    ablations: tuple[Ablation, ...]
    stability: tuple[Stability, ...]


@dataclass(frozen=True, kw_only=True)
class NsvResult:
    """panel : None if nobody rated; why : there is no score, and none of its parts is shown"""

    panel: IdeaPanelAgreement | None
    why: Reason | None
    scores: NsvScores | None
