"""Why a statistic has no value: a code with its values, and of each code one English sentence."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def gettext_noop(sentence: str) -> str:
    """The same sentence, marked for the translation catalogue of the code that shows it."""
    return sentence


SENTENCES = {
    "no_ratings": gettext_noop("There are no ratings."),
    "no_shared_unit": gettext_noop("Nothing was rated by both."),
    "both_constant": gettext_noop("Both give everything the same value, so Cohen's kappa is 0/0."),
    "no_unit_with_two_ratings": gettext_noop("Nothing has two ratings."),
    "all_ratings_alike": gettext_noop(
        "All ratings are the same, so agreement by chance is certain and %(name)s is 0/0."
    ),
    "no_shuffle_with_value": gettext_noop("No shuffle of the ratings gives the statistic a value."),
    "no_scores": gettext_noop("There are no scores."),
    "no_unit_with_two_totals": gettext_noop("Nothing has two totals."),
    "truth_constant": gettext_noop("The truth holds fewer than two values, so there is nothing to balance."),
    "fewer_than_two_pairs": gettext_noop("Fewer than two pairs of values."),
    "one_side_constant": gettext_noop("One side does not vary, so there is no correlation."),
    "group_too_small": gettext_noop("One of the two has fewer than two values."),
    "groups_constant": gettext_noop("Neither group varies, so there is nothing to compare their difference with."),
    "fewer_than_three_clusters": gettext_noop("There are fewer than three clusters."),
    "fewer_than_two_clusters": gettext_noop("There are fewer than two clusters to resample."),
    "no_resample_with_value": gettext_noop("No resample gives the statistic a value."),
    "no_value_without_a_cluster": gettext_noop(
        "Without one of the clusters or raters it has no value, so leaving out each in turn cannot tell how sure it is."
    ),
    "clusters_alike": gettext_noop("All clusters have the same mean, so they cannot tell how sure it is."),
    "resamples_alike": gettext_noop("Every resample gives the same value, so resampling cannot tell how sure it is."),
    "no_unit_with_verdict_and_majority": gettext_noop("Nothing has both a verdict of the judge and a majority."),
    "fewer_than_two_raters": gettext_noop("Fewer than two raters ranked every story."),
    "all_rank_alike": gettext_noop("Every rater ranks all stories the same, so Kendall's W is 0/0."),
    "no_rankings": gettext_noop("There are no rankings."),
    "nobody_to_leave_out": gettext_noop(
        "No person answered %(least)s questions that another person and the judge answered, too."
    ),
    "fewer_than_two_rated_stories": gettext_noop("Fewer than two stories were rated by people and the judge."),
    "no_story_for_the_judge_alone": gettext_noop("Fewer than two stories were rated by the judge alone."),
    "no_verdicts": gettext_noop("There are no verdicts."),
    "no_unit_with_judge_and_people": gettext_noop("Nothing was answered by both the judge and people."),
    "judge_or_people_constant": gettext_noop("The judge or people always give the same answer here."),
    "independent_of_order": gettext_noop(
        "It does not depend on which story has which answer, so there is no chance floor."
    ),
    "shares_alike": gettext_noop("The judge gave every verdict the same share of Yes, so there is no slope."),
    "stories_alike_in_it": gettext_noop("The stories do not differ in it."),
    "too_few_to_compare": gettext_noop(
        "Fewer than %(least)s stories (of two kinds: of each), or fewer than %(least)s clusters: too few to compare."
    ),
    "too_few_raters_for_error": gettext_noop(
        "With fewer than %(least)s people their error cannot be told from what stories are worth to them."
    ),
    "people_agree_too_little": gettext_noop(
        "People agree too little about these stories for what stories are worth to them to be held equal."
    ),
    "people_rate_alike": gettext_noop("Apart from it, people rate these stories alike, so nothing can be held equal."),
    "scales_differ": gettext_noop("The scales do not have the same ends, so their points cannot be taken together."),
    "judge_constant": gettext_noop("The judge gives every story the same answer."),
    "nothing_read_twice": gettext_noop("The judge read nothing twice in the same order."),
    "nobody_beside_the_rest": gettext_noop(
        "No person answered a question that both the judge and other people answered."
    ),
    "not_read_as_nobody": gettext_noop("The judge did not read these stories without a persona."),
    "raters_not_crossed": gettext_noop(
        "No two raters rated several stories in common, so what raters add cannot be separated from the rest."
    ),
    "pairs_not_turned": gettext_noop("No pair was judged in both orders."),
    "one_answer_possible": gettext_noop("Only one answer is possible, so there is nothing to agree on."),
    "fewer_than_two_units_rated_twice": gettext_noop("Fewer than two of the things rated have two ratings."),
    "units_alike": gettext_noop("The stories’ means hardly differ, so the correlation of a mean has no value."),
    "ratings_do_not_vary": gettext_noop("The ratings do not vary, so no part of their variance can be told."),
    "nothing_compared": gettext_noop("No two of them were compared."),
    "not_all_compared": gettext_noop(
        "They fall into %(n)s sets that were never compared with one another, so they have no common scale."
    ),
    "always_or_never_preferred": gettext_noop(
        "Some are preferred always, or never, to all others: then no strength is large enough to say so."
    ),
    "too_many_to_resample": gettext_noop("They are too many for an interval by resampling."),
    "fewer_than_three_complete": gettext_noop("Fewer than three sets of answers (one rater, one story) are complete."),
    "too_few_prompts": gettext_noop(
        "There are fewer than %(least)s prompts, too few to learn from some and try others."
    ),
    "no_differences": gettext_noop("The two texts of every pair are alike, so there is nothing to learn from."),
    "no_deviation": gettext_noop(
        "Half or more of the ideas that are learnt from have the same %(name)s, so that its median "
        "absolute deviation is 0 and it has no scale. Use a measure of it that distinguishes more of "
        "them."
    ),
    "all_weight_on_one": gettext_noop("All weight is on %(name)s, so nothing is left without it."),
    "no_prompt_with_correlation": gettext_noop(
        "No prompt has two ideas that differ in score and in ratings, so no correlation within a prompt has a value."
    ),
    "too_few_rated_prompts": gettext_noop(
        "Ideas on %(n)s prompts can be used, and at least %(least)s are needed: half to learn from and half to try it "
        "on. Have ideas on more prompts rated."
    ),
    "no_pair_to_learn_from": gettext_noop(
        "No idea is preferred to another of its prompt where value is learnt, so there is no pair to learn from. Ask "
        "for finer ratings or more raters, or bring in preferences."
    ),
    "pairs_of_one_length": gettext_noop("The two texts of every pair are of one length."),
    "nothing_rated_twice": gettext_noop("Nobody rated a story twice."),
    "too_few_neighbours": gettext_noop(
        "Others to be near to: %(n)s, and %(k)s are asked for. Bring in more texts of reference."
    ),
    "no_words": gettext_noop("There are no words."),
    "language_unknown": gettext_noop(
        "%(n)s of its %(n_words)s words are not in the texts it is compared with, as if it were in another language. "
        "Compare it with texts in its own."
    ),
    "sources_not_linked": gettext_noop("No rater read both, nor does a chain of other sources join them."),
    "pilot_of_few_raters": gettext_noop(
        "Only %(n)s people answered, and %(least)s are needed to see how far raters differ."
    ),
    "pilot_of_few_stories": gettext_noop(
        "Only %(n)s stories were judged, and %(least)s are needed to see how far stories differ."
    ),
    "pilot_read_by_one": gettext_noop(
        "Hardly any story was read by two people, so differences between stories cannot be separated "
        "from chance. At least %(least)s must be."
    ),
    "pilot_without_variation": gettext_noop("The answers are all alike, or too much alike to say how far they vary."),
    "one_rater": gettext_noop("One rater read them, so nothing can be said of other raters."),
    "no_shared_premise": gettext_noop("No prompt has stories by both, nor does a chain of other sources join them."),
    "too_few_stories": gettext_noop(
        "There are no more stories than sources and prompts, so how much stories of one source differ is not known."
    ),
    "values_explained": gettext_noop("Answers do not vary within sources, so they cannot tell how sure it is."),
    "log_odds_unlimited": gettext_noop(
        "Source, prompt, rater or story settles nearly every answer, so no log odds are large enough to say so."
    ),
    "log_odds_not_found": gettext_noop("The model of log odds did not come to an end on these answers."),
    "too_many_to_check": gettext_noop(
        "The model of log odds is fitted to %(most)d answers at most, here are %(n)d; ordinal.R and verdicts.R in a "
        "package fit it in R."
    ),
    "too_many_steps": gettext_noop(
        "The model of log odds is for scales of at most %(most)d steps; here are %(n)d different answers."
    ),
    "two_items_no_factor": gettext_noop("McDonald’s omega needs three items or more."),
    "no_interval_of_omega": gettext_noop("Simulated intervals of omega held the truth too seldom, so it has none."),
    "items_repeat": gettext_noop("Some items say exactly what others say, so one factor cannot be fitted to them."),
    "heywood": gettext_noop(
        "One factor leaves an item no variance of its own (a Heywood case), so one factor does not fit these items."
    ),
    "too_few_ratings_of_units": gettext_noop(
        "Fewer than half of the stories have %(least)s ratings, so ratings do not tell which of two raters to believe."
    ),
    "too_few_units_of_raters": gettext_noop(
        "Raters rated fewer than %(least)s stories with each of the answers on average, too few to "
        "say how well they recognise it."
    ),
    "answers_exchanged": gettext_noop(
        "Raters give one of the answers no more often where it is probable than where another is, so "
        "the model cannot separate the two."
    ),
    "not_settled": gettext_noop("The estimate had not settled after %(n)s steps."),
    "item_constant": gettext_noop("All answers to the item, or to the others, are the same."),
}


class Incomputable(ArithmeticError):
    """A statistic has no value for these data; the reason is to stand where the number would.

    code : of the reason; the code that shows it has the words
    values : what the words name, by name
    """

    def __init__(self, code: str, **values: str | int | float) -> None:
        super().__init__(code)
        self.code = code
        self.values = values

    def __str__(self) -> str:
        return SENTENCES.get(self.code, self.code) % self.values


class TooFewRaters(Incomputable):
    """No unit has two ratings, so there is nothing to agree on."""


def value_or_reason(compute: Callable[[], T]) -> T | Incomputable:
    """What is computed, or the reason why it has no value, to stand in its place."""
    try:
        return compute()
    except Incomputable as reason:
        return reason
