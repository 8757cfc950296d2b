"""Proposals of changed prompts: what a model replied, whether it can be used, and what a person decided about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Response
from judges import prompts
from judges.laboratory.recipes.alignment_proposal import read_proposal
from judges.models import Call, Draft, Judge, Prompt, PromptProposal
from judges.prompts import InvalidPrompt
from studies.documents.names import first_free
from studies.models import Story, Study
from studies.typography.paragraphs import normalise_line_ends

# A form of reply that a prompt shows, as {"answer": …}: models are read by it, so that it must not change.
FORM_OF_REPLY = re.compile(r'\{"[^{}]*\}')
LONGEST_TEMPLATE = 20_000
# So many words of a story or an expert in a row are a quotation.
N_QUOTED = 12


class UndecidableProposal(ValueError):
    """Nothing was accepted or refused; the message says why, and what would do."""


@dataclass(frozen=True)
class PromptWording:
    """A prompt's words. changes : what was changed and why, as the model says"""

    system: str
    template: str
    changes: str = ""


def load_wording(proposal: PromptProposal) -> PromptWording | None:
    """What was proposed; None while no reply that can be read is there. Reads the draft's text."""
    text = proposal.draft.texts.first()
    content = read_proposal(text.text) if text else None
    return PromptWording(**content) if content else None


def check(base: Prompt, wording: PromptWording, *, stories: Iterable[Story] = (), reasons: Iterable[str] = ()) -> None:
    """Raise InvalidPrompt unless the wording asks what the prompt asks, in the same form, in other words.

    stories, reasons : which it must not quote
    """
    if (wording.system.split(), wording.template.split()) == (base.system.split(), base.template.split()):
        raise InvalidPrompt(_("the prompt is the same as before; change its words, or refuse the proposal"))
    if len(wording.template) + len(wording.system) > LONGEST_TEMPLATE:
        raise InvalidPrompt(_("the prompt is longer than %(most)d characters") % {"most": LONGEST_TEMPLATE})
    if missing := sorted(prompts.names_in(base.template) - prompts.names_in(wording.template)):
        message = _("template: the place {{ %(name)s }} is missing")
        raise InvalidPrompt(message % {"name": missing[0]})
    prompts.check_templates(wording.system, wording.template)
    if prompts.shape_of(wording.template) != prompts.shape_of(base.template):
        raise InvalidPrompt(_("template: it has other places than the present prompt"))
    for form in FORM_OF_REPLY.findall(base.template):
        if form not in wording.template:
            raise InvalidPrompt(_("template: the form of the reply, %(form)s, is missing") % {"form": form})
    own = _sequences(f"{wording.system} {wording.template}") - _sequences(f"{base.system} {base.template}")
    for story in stories:
        if own & _sequences(story.text):
            message = _("template: it quotes the story %(code)s; a prompt states rules, since it outlives the stories")
            raise InvalidPrompt(message % {"code": story.code})
    if any(own & _sequences(reason) for reason in reasons):
        raise InvalidPrompt(_("template: it quotes an expert; a prompt states rules, since it outlives the answers"))


def find_shown(proposal: PromptProposal) -> list[Story]:
    """The stories that the proposing model was shown. One query."""
    return list(Story.objects.filter(pk__in=Call.objects.filter(pk__in=proposal.calls).values("story")))


def find_reasons(proposal: PromptProposal) -> list[str]:
    """What the experts wrote whose answers the proposing model was shown. One query."""
    rows = Response.objects.filter(pk__in=proposal.responses).exclude(rationale="")
    return list(rows.values_list("rationale", flat=True))


def has_been_asked(study: Study, judge: Judge) -> bool:
    """Whether a version of the judge's prompt has a run in the study, so that what comes next could rest on it."""
    rows = PromptProposal.objects.filter(alignment__study=study, alignment__judge=judge)
    return rows.filter(run__isnull=False).exists()


@transaction.atomic
def accept(proposal: PromptProposal, wording: PromptWording, *, by: str, at: datetime) -> Judge:
    """The judge with a new version of the prompt in these words, as they were proposed or edited. Sends nothing.

    Raises UndecidableProposal.
    """
    row = _hold(proposal)
    if (proposed := load_wording(row)) is None:
        raise UndecidableProposal(_("This proposal cannot be read. Refuse it."))
    base = row.alignment.judge
    if has_been_asked(row.alignment.study, base):
        message = _(
            "A version of this prompt has been asked about the held-out stories already, and what is accepted now "
            "could depend on its results. Refuse the proposal."
        )
        raise UndecidableProposal(message)
    wording = PromptWording(*map(normalise_line_ends, (wording.system.strip(), wording.template.strip())))
    try:
        check(base.required_prompt, wording, stories=find_shown(row), reasons=find_reasons(row))
    except InvalidPrompt as error:
        raise UndecidableProposal(str(error)) from None
    # Of two that are accepted at once, the second waits here until the first has its version and its name.
    Prompt.objects.select_for_update(no_key=True).get(pk=base.required_prompt.pk)
    row.prompt = _make_prompt(base.required_prompt, wording)
    row.judge = _make_judge(row, base, row.prompt)
    row.is_edited = (proposed.system, proposed.template) != (wording.system, wording.template)
    _decide(row, PromptProposal.State.ACCEPTED, by=by, at=at)
    return row.judge


@transaction.atomic
def refuse(proposal: PromptProposal, *, by: str, at: datetime) -> None:
    """Note that the proposal is not used; it is kept. Raises UndecidableProposal."""
    _decide(_hold(proposal), PromptProposal.State.REFUSED, by=by, at=at)


def _hold(proposal: PromptProposal) -> PromptProposal:
    rows = PromptProposal.objects.select_for_update(no_key=True, of=("self",))
    row = rows.select_related("draft", "alignment__study", "alignment__judge__prompt").get(pk=proposal.pk)
    if row.state != PromptProposal.State.OPEN:
        raise UndecidableProposal(_("This proposal has been decided already. Load the page again."))
    if row.draft.state == Draft.State.OPEN:
        raise UndecidableProposal(_("The model has not replied yet."))
    return row


def _decide(row: PromptProposal, state: PromptProposal.State, *, by: str, at: datetime) -> None:
    row.state, row.decided_by, row.decided_at = state, by, at
    row.save()


def _make_prompt(base: Prompt, wording: PromptWording) -> Prompt:
    """A version of its own beside those that Quire may still bring under later numbers."""
    versions = set(Prompt.objects.filter(name=base.name).values_list("version", flat=True))
    content = base.content | {
        "version": first_free(f"{base.version}-aligned"[:36], versions, longest=40),
        "system": wording.system,
        "template": wording.template,
        "source": Prompt.Source.OWN,
        "is_verbatim": False,
    }
    prompt = Prompt(**content)
    prompt.full_clean()
    prompt.save()
    return prompt


def _make_judge(row: PromptProposal, base: Judge, prompt: Prompt) -> Judge:
    slugs = set(Judge.objects.values_list("slug", flat=True))
    slugs |= set(row.alignment.study.raters.values_list("code", flat=True))
    judge = Judge(
        slug=first_free(f"{base.slug}-aligned"[:76], slugs, longest=80),
        endpoint=base.endpoint,
        model=base.model,
        prompt=prompt,
        parameters=dict(base.parameters),
    )
    judge.full_clean()
    judge.save()
    return judge


def _sequences(text: str) -> set[tuple[str, ...]]:
    """Every stretch of `N_QUOTED` words, in small letters without marks."""
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[n : n + N_QUOTED]) for n in range(len(words) - N_QUOTED + 1)}
