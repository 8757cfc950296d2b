"""What the laboratory leaves beside a run of judges: texts that were written, prompts that were chosen or proposed."""

import json

from django.utils import timezone

from judges.models import (
    Alignment,
    Draft,
    GeneratedText,
    Generation,
    Judge,
    PromptChoice,
    PromptProposal,
    PromptTrial,
    Run,
)
from tests.trust.canaries import secret


def add_generation(run: Run) -> None:
    """A text that the run has written, for the page of such texts."""
    generation = Generation.objects.create(run=run, recipe="pds-writer-profile", settings={"n_rounds": 1})
    draft = Draft.objects.create(generation=generation, number=1, premise="A well.", state=Draft.State.COMPLETE)
    GeneratedText.objects.create(draft=draft, text="A well ran dry.")


def add_prompt_choice(run: Run) -> None:
    """A choice between prompts that has been made, of which the run is both the trial and what came of it."""
    prompt = run.judge.required_prompt
    choice = PromptChoice.objects.create(
        study=run.study,
        judge=run.judge,
        step="ranking",
        item="a",
        share=0.5,
        validation=[secret("group", 1)],
        judged=[secret("group", 2)],
        created_by="tests",
        approved_at=timezone.now(),
        prompt=prompt,
        decided_at=timezone.now(),
        run=run,
    )
    names = ("n_pairs", "n_clusters", "n_both", "n_flipped", "n_asked", "n_lost")
    result = {"accuracy": 0.5, "low": 0.25, "high": 0.75, "note": "", **dict.fromkeys(names, 2)}
    PromptTrial.objects.create(choice=choice, prompt=prompt, run=run, result=result)


def add_alignment(run: Run) -> None:
    """An alignment with a proposal that waits for a decision, made from what raters answered and wrote."""
    judge = Judge.objects.create(
        slug="proposes-stub", endpoint=run.judge.endpoint, prompt=run.judge.prompt, is_trial=True
    )
    asks = Run.objects.create(
        study=run.study, judge=judge, state="finished", document="{}", created_by="tests", n_planned=1
    )
    generation = Generation.objects.create(run=asks, recipe="alignment-proposal", settings={"n_rounds": 0})
    draft = Draft.objects.create(generation=generation, number=1, state=Draft.State.COMPLETE)
    template = f"{run.judge.required_prompt.template} {secret('answer', 'proposal')}"
    GeneratedText.objects.create(draft=draft, text=json.dumps({"changes": "It is stricter.", "template": template}))
    alignment = Alignment.objects.create(
        study=run.study,
        judge=run.judge,
        share=0.5,
        first_part=[secret("group", 1)],
        held_out=[secret("group", 2)],
        run=asks,
        created_by="tests",
    )
    PromptProposal.objects.create(alignment=alignment, draft=draft)
