"""The tables of a report in which nothing stands of a study that asks Yes/No of people and one judge."""

EMPTY = (
    *("shares", "surveys", "checks", "measures", "cloze", "cloze-sections", "pairs", "ratings", "preferences"),
    *(f"judges-on-{kind}" for kind in ("scores", "scales", "choices", "pairs", "rankings")),
    *("lost-in-scores", "exclusions", "specifications"),
    *(f"lost-{kind}" for kind in ("ratings", "choices", "pairs", "rankings")),
    *("judges-among-themselves", "pairs-of-judges", "judge-costs", "personas", "wordings", "judges-calibration"),
    *("factors", "factor-contrasts", "trends", "trend-means", "pace", "pace-by-place", "repeats"),
    *("distributions", "story-ratings", "spreads", "human-likeness", "human-likeness-by-source", "dimensions"),
    *("pair-lengths", "length-differences", "pair-accuracies", "explained-choices", "cloze-completion"),
    *("themes", "theme-shares", "amendments", "raters-to-ask", "doubtful-verdicts", "alignment", "interventions"),
    *("novelty", "novelty-by-story", "near-copies", "near-copies-by-story"),
    *("nsv-methods", "nsv-top", "nsv-weights", "nsv-ablations", "nsv-stability", "nsv-prompts", "nsv-feedback"),
    *("measures-beside-people", "measures-on-pairs"),
    *("standard", "judges-on-standard", "standard-measures", "standard-pairs"),
    *("cloze-scores", "cloze-section-scores", "cloze-people-beside-models", "cloze-surprise", "cloze-fills"),
    *("cloze-difficulty", "cloze-constraints", "cloze-edges", "cloze-consistency", "cloze-variants"),
    *("cloze-variant-correlations", "cloze-alphas", "cloze-constraint-alphas", "cloze-judges"),
    *("cloze-conditions", "cloze-effects", "cloze-scales", "cloze-scales-by-model"),
)
