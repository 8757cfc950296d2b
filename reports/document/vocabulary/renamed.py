"""What columns were called before the vocabulary gave each idea one name: by table, from the old name to the new."""

from collections.abc import Mapping

_FLOOR = {"floor_mean": "chance_mean", "floor_upper": "chance_upper"}
_AGREEMENT = {"percent_agreement": "agreement_percent"}
_PARTS = {"satisfies": "satisfied", "surprises": "surprising"}
_JUDGES = {"chance_end": "chance_upper", "chance_within_source_end": "chance_within_source_upper"}
_LOSSES = {name: f"n_{name}" for name in ("answered", "declined", "unreadable", "missing", "expected")}

RENAMED: Mapping[str, Mapping[str, str]] = {
    "agreement": _AGREEMENT,
    "alternative-annotator": {"people_tested": "n_people_tested", "people": "n_people", "units": "n_units"},
    "authorship": {"of": "n_all"},
    "checks": {"percent_right": "right_percent"},
    "cloze-alphas": {"distance": "level"},
    "cloze-constraint-alphas": {"section": "section_title"},
    "cloze-constraints": {"section": "section_title"},
    "cloze-difficulty": _PARTS,
    "cloze-fills": {"surprise": "surprising"},
    "cloze-people-beside-models": _PARTS,
    "cloze-scores": {
        **_PARTS,
        "without_judge_low": "without_judge_lowest",
        "without_judge_high": "without_judge_highest",
    },
    "cloze-section-scores": {"section": "section_title", "distance": "raw_distance"},
    "cloze-surprise": {"surprises": "surprising"},
    "cloze-variant-correlations": {"spearman": "rho"},
    "distributions": {"percent_at_or_below": "at_or_below_percent"},
    "explanations": {"value": "option"},
    "gwet": _AGREEMENT,
    "human-line": {"people": "n_people"},
    "judges-among-themselves": _AGREEMENT,
    **{f"judges-on-{kind}": _JUDGES for kind in ("verdicts", "scales", "choices", "pairs", "rankings")},
    **{f"lost-{kind}": _LOSSES for kind in ("verdicts", "ratings", "choices", "pairs", "rankings")},
    "measures-beside-people": _FLOOR,
    "measures-on-pairs": _FLOOR,
    "nsv-feedback": {"percent_with": "with_percent", "percent_without": "without_percent"},
    "pace-by-place": {"percent_of_own": "own_median_percent"},
    "pairs": _AGREEMENT,
    "pairs-of-judges": _AGREEMENT,
    "personas": {"personas": "n_personas"},
    "repeats": {"percent_same": "same_percent"},
    "shares": {"of": "n_all"},
    "strengths": {"percent_beside_average": "beside_average_percent"},
    "theme-shares": {"percent_of_stories": "stories_percent"},
    "themes": {**_AGREEMENT, **_FLOOR, "cohen_kappa": "kappa"},
    "trends": {"spearman": "rho", "chance_end": "chance_upper"},
    "wordings": {"chance_end": "chance_upper"},
}
