"""Prompts that were changed by what experts answered: about which stories a judge with such a prompt is never asked."""

from judges.models import Prompt, PromptProposal
from studies.models import Study
from studies.typography.prompts import fold_prompt


def find_first_part(study: Study, prompt: Prompt) -> frozenset[str]:
    """Codes of the study's stories whose experts' answers the prompt was made from, and of all that share a text, a
    group or a writing prompt with one of them, in whichever study it was aligned. One query for all other prompts.
    """
    proposal = PromptProposal.objects.filter(prompt=prompt).select_related("alignment__study").first()
    if proposal is None:
        return frozenset()
    alignment = proposal.alignment
    shown = alignment.study.groups.filter(code__in=alignment.first_part)
    texts = {sha for sha in shown.values_list("stories__sha256", flat=True) if sha}
    premises = {folded for premise in shown.values_list("premise", flat=True) if (folded := fold_prompt(premise))}
    codes = set(study.stories.filter(sha256__in=texts).values_list("code", flat=True))
    for group in study.groups.prefetch_related("stories"):
        own = {story.code for story in group.stories.all()}
        if own & codes or fold_prompt(group.premise) in premises:
            codes |= own
    return frozenset(codes)
