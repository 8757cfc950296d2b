"""What is computed again: of each module here the parts of the report that it has a function for.

Nothing is imported here, so that whoever writes a package can name what is not computed again.
"""

FIGURES = {
    "people": (
        *("pass_rates", "ratings", "shares", "tests_passed", "dimensions", "distributions", "story_ratings", "trends"),
        *("human_likeness", "surveys", "checks", "amendments"),
    ),
    "choices": ("preferences", "rankings", "places", "authorship"),
    "contrasts": ("comparisons", "exclusions", "factors", "variance_components"),
    "specifications": ("specifications",),
    "raters": ("agreement", "panel", "reliability", "item_analysis"),
    "dawid_skene": ("dawid_skene",),
    "missingness": ("missing_answers", "rater_questions"),
    "judges": (
        *("judges", "judges_on_scores", "judges_on_scales", "judges_on_choices", "judges_on_pairs"),
        *("judges_on_rankings", "human_line"),
    ),
    "standard": ("judges_on_standard",),
    "pairs": ("strengths", "pair_lengths", "pair_accuracies"),
    "explained_choices": ("explained_choices",),
    "explanation_features": ("explanation_features",),
    "judges_as_raters": (
        *("judges_share_of_yes", "judges_calibration", "judges_among_themselves", "alternative_annotator"),
        *("judge_biases", "doubtful_verdicts"),
    ),
    "aligned_judges": ("alignment",),
    "work": ("sources", "study", "progress", "judge_costs", "explanations", "pace", "repeats", "cloze"),
    "texts": ("measures", "measures_beside_people", "novelty", "near_copies", "themes"),
    "altered_answers": ("interventions",),
    "prompts": ("personas", "wordings", "people_and_judge"),
    "ideas": ("nsv", "nsv_feedback"),
    "cloze": (
        *("cloze_scores", "cloze_surprise", "cloze_variants", "cloze_constraints", "cloze_edges", "cloze_judges"),
        *("cloze_factorial", "cloze_scales"),
    ),
}
MODULE_BY_FIGURE = {figure: module for module, figures in FIGURES.items() for figure in figures}
