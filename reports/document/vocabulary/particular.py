"""Names that mean something narrower, or hold something else, in one table: by table and name their kind, their unit
and what they mean there."""

from collections.abc import Mapping

from reports.document.vocabulary.measured import COEFFICIENT, PERCENT, POINTS

_BOTH_CODERS = "In how many reasons the second coder found the theme."

PARTICULAR: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "agreement": {
        "n_all": (
            "integer",
            "",
            "How many units (what is rated: stories or groups) could have two ratings, which n_units have.",
        ),
        "p": ("number", "probability", "The p-value for alpha above 0 and above what shuffled answers reach."),
        "p_adjusted": ("number", "probability", "The same, corrected by Holm over all scales."),
    },
    "alignment": {
        "gain": ("number", POINTS, "By how much the change of the prompt brings the judge nearer to people."),
        "winning_rate": ("number", "share", "The same after the change, p values multiplied by the prompts tried."),
    },
    "alternative-annotator": {
        "score": ("string", "", "How near answers are: accuracy of verdicts, neg_rmse (minus the error) of ratings."),
    },
    "amendments": {
        "place": ("string", "", "What was changed: a field of the study, or the words of a step."),
        "version": ("integer", "", "The version of the protocol."),
    },
    "cloze": {
        "outcome": ("string", "", "What became of the text: submitted, shortlisted or dropped_out."),
    },
    "cloze-effects": {
        "alpha": ("number", COEFFICIENT, "By how much the change raises Krippendorff's alpha."),
        "effect": ("string", "", "What was changed in how judges are asked."),
        "mean": ("number", "share", "By how much the change raises the mean of the ratings."),
        "span": ("number", "share", "By how much the change moves the means of the texts apart."),
    },
    "cloze-variants": {
        "form": ("string", "", "The formula that makes a score of satisfied and surprising."),
    },
    "dawid-skene": {
        "n": ("integer", "", "How many stories have an answer, of all items together how many stories and items."),
        "n_tied": ("integer", "", "On how many stories two answers or more share the most votes."),
    },
    "explanation-features": {
        "feature": ("string", "", "What is counted: words, sentences, first_person, plot, quotes or other_items."),
        "of": ("string", "", "The source, or the verdict yes or no; all for all explanations."),
        "part": ("string", "", "By what explanations are divided: all, source or verdict."),
        "rater": ("string", "", "The judge, by code; people for people."),
        "value": ("number", "", "The mean; of first_person, plot and quotes the share of explanations, in percent."),
    },
    "exclusions": {
        "n_left_out": ("integer", "", "How many of the outcome's ratings are left out."),
        "n_ratings": ("integer", "", "How many of the outcome's ratings are left."),
        "p": ("number", "probability", "The p-value for no difference, for other stories and raters, not corrected."),
        "planned": ("boolean", "", "Whether this is the planned analysis: without all that the rules leave out."),
    },
    "factors": {
        "level": ("string", "", "The level of the property."),
    },
    "human-line": {
        "difference": ("number", COEFFICIENT, "The judge less the expert in the same place."),
    },
    "nsv-ablations": {
        "difference": ("number", COEFFICIENT, "Spearman's rho of the score, less that without the component."),
    },
    "nsv-feedback": {
        "difference": ("number", POINTS, "Creative ideas with feedback less those without."),
        "n_people": ("integer", "", "How many ideas of people the threshold is based on."),
    },
    "nsv-top": {
        "chance_percent": ("number", PERCENT, "What any order of the ideas gives on average."),
        "k": ("integer", "", "How many ideas of a prompt are ranked first."),
        "percent": ("number", PERCENT, "How many of those are among the first k of the panel, the mean over prompts."),
    },
    "novelty": {
        "k": ("integer", "", "To how many nearest references the distance is."),
        "mean": ("number", "cosine distance", "Mean distance to the k nearest references."),
    },
    "pair-lengths": {
        "difference": ("number", "words", "Length of the preferred story less that of the other."),
    },
    "specifications": {
        "measure": ("string", "", "What is compared: the outcome, or the mean of the answered scales of its score."),
        "n_ratings": ("integer", "", "How many ratings are left."),
        "planned": ("boolean", "", "Whether this is the analysis of the plan."),
        "raters_as": ("string", "", "Whether raters are taken as drawn at random, or as these very ones (fixed)."),
        "stories_as": ("string", "", "Which stories: all, or those of prompts that hold both sources (shared)."),
    },
    "tests-passed": {
        "value": ("number", "", "How many tests the story passes, the mean over raters."),
    },
    "themes": {
        "n_second": ("integer", "", _BOTH_CODERS),
    },
    "near-copies-by-story": {
        "percent": ("number", PERCENT, "Of 100 word sequences of the story, how many the nearest reference has."),
    },
    "wordings": {
        "level": ("number", "", "Percent Yes of verdicts, the mean of ratings."),
    },
}
