"""Which of several prompts agrees best with people on pairs that are set apart for that, and judged no more.

As in LitBench (Fein et al., 2025), where of six templates each model gets the one that is best on a validation split.
Pairs that share a story or a premise stay on one side, so that nothing of what is judged was seen.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Rater, Response
from judges import runs
from judges.models import Judge, Prompt, Run
from judges.planning import CannotRun, Scope
from judges.prompts.examples import fold
from studies import items as item_types
from studies import protocol as protocols
from studies.models import Step, StoryGroup, Study

BOTH_ORDERS = ("planned", "reversed")


@dataclass(frozen=True)
class Split:
    """Codes of the groups on which prompts are tried, and of those that are judged with the best."""

    validation: tuple[str, ...]
    judged: tuple[str, ...]
    seed: int


@dataclass(frozen=True)
class Choice:
    """What the prompts came to, and which is the best; of equals the first by name.

    accuracy : of all answers that were asked in both orders, the share that named the story which most people chose; a
        reply without an answer counts as none that did
    n_pairs : on which it was tried
    """

    prompt: Prompt
    accuracy: dict[str, float]
    n_pairs: int
    split: Split

    @property
    def document(self) -> dict[str, object]:
        """The same for the document of the run that it decides."""
        return {
            "prompt": str(self.prompt),
            "accuracy": self.accuracy,
            "validation": list(self.split.validation),
            "seed": self.split.seed,
        }


@dataclass
class _Part:
    """Groups that share stories or premises, one with the next."""

    groups: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


def split_groups(study: Study, *, share: float, seed: int) -> Split:
    """The study's groups in two parts, the first about that share of them; the same for the same seed.

    Raises CannotRun if groups hang together by stories or premises so that one part would be empty.
    """
    groups = list(study.groups.prefetch_related("stories").order_by("code"))
    parts: list[_Part] = []
    for group in groups:
        _join(parts, group)
    import numpy as np  # here, so that web processes come without it

    order = np.random.default_rng([abs(study.seed), seed]).permutation(len(parts))
    validation: list[str] = []
    for n in order:
        if len(validation) < share * len(groups):
            validation += parts[n].groups
    judged = sorted({group.code for group in groups} - set(validation))
    if not validation or not judged:
        raise CannotRun(_("The pairs share stories or premises, so that none can be set apart for choosing a prompt."))
    return Split(tuple(sorted(validation)), tuple(judged), seed)


def _join(parts: list[_Part], group: StoryGroup) -> None:
    """Put the group with all that share a story, a text or a premise with it."""
    stories = group.stories.all()
    keys = {f"story {s.code}" for s in stories} | {f"text {s.sha256}" for s in stories if s.sha256}
    if premise := fold(group.premise):
        keys.add(f"premise {premise}")
    joined = _Part([group.code], keys)
    for part in [part for part in parts if part.keys & keys]:
        joined.groups += part.groups
        joined.keys |= part.keys
        parts.remove(part)
    parts.append(joined)


def choose_prompt(study: Study, model: Judge, candidates: Sequence[Prompt], split: Split, *, by: str) -> Choice:
    """The prompt with which the model agrees best with people on the split's validation pairs. Makes the calls.

    model : a judge whose endpoint, model and parameters are tried with each prompt
    Raises CannotRun, also if a run does not come to its end.
    """
    step = find_pair_step(study)
    majority_by_group = find_majorities(study, step, split.validation)
    if not majority_by_group:
        raise CannotRun(
            _("People have preferred no story in the pairs that are set apart; there is nothing to choose by.")
        )
    scope = Scope(selection=_codes(study, split.validation), orders=BOTH_ORDERS, steps=(step.key,))
    accuracy: dict[str, float] = {}
    for prompt in sorted(candidates, key=str):
        run = _run(study, _judge_like(model, prompt, slug=f"validation-{model.slug}-{prompt.name}"), scope, by=by)
        accuracy[str(prompt)] = _accuracy(run, step, majority_by_group)
    best = max(sorted(candidates, key=str), key=lambda prompt: accuracy[str(prompt)])
    return Choice(best, accuracy, len(majority_by_group), split)


def start_chosen(study: Study, model: Judge, choice: Choice, *, by: str) -> Run:
    """A run of the model with the chosen prompt about the pairs that were not used to choose it. Raises CannotRun."""
    step = find_pair_step(study)
    scope = Scope(
        selection=_codes(study, choice.split.judged), orders=BOTH_ORDERS, steps=(step.key,), choice=choice.document
    )
    return runs.start(study, _judge_like(model, choice.prompt, slug=f"chosen-{model.slug}"), by=by, scope=scope)


def find_pair_step(study: Study) -> Step:
    """The step that asks which story of a group is better. Raises CannotRun if there is none."""
    try:
        ratings = protocols.load_protocol(protocols.current(study)).ratings
    except protocols.NotPlannable as error:
        raise CannotRun(str(error)) from None
    for step in ratings:
        if any(item_types.find_type(item.type).chooses_story for item in protocols.items_of(step)):
            return step
    raise CannotRun(_("%(study)s has no step that asks which of two stories is better") % {"study": study.slug})


def find_majorities(study: Study, step: Step, groups: Sequence[str]) -> dict[str, str]:
    """By code of the group the story that more people chose than the other; groups without one are left out."""
    rows = Response.objects.filter(
        assignment__study=study,
        assignment__rater_kind=Rater.Kind.PERSON,
        assignment__group__code__in=groups,
        assignment__status="submitted",
        step__key=step.key,
        outcome=Response.Outcome.ANSWERED,
    )
    counts: dict[str, Counter[str]] = {}
    for group, value in rows.values_list("assignment__group__code", "value"):
        counts.setdefault(str(group), Counter())[str(value)] += 1
    majorities: dict[str, str] = {}
    for group, counter in counts.items():
        (best, n), *others = [*counter.most_common(2), ("", 0)]
        if n > others[0][1] and best != "none":
            majorities[group] = best
    return majorities


def _accuracy(run: Run, step: Step, majority_by_group: dict[str, str]) -> float:
    answers = Response.objects.filter(assignment__reading__run=run, step__key=step.key, outcome="answered")
    values = answers.filter(assignment__group__code__in=majority_by_group)
    n_right = sum(
        majority_by_group[group] == value for group, value in values.values_list("assignment__group__code", "value")
    )
    return n_right / (len(majority_by_group) * len(BOTH_ORDERS))


def _run(study: Study, judge: Judge, scope: Scope, *, by: str) -> Run:
    run = Run.objects.filter(study=study, judge=judge).first() or runs.start(study, judge, by=by, scope=scope)
    run = run if run.state == Run.State.FINISHED else runs.drain(run)
    if run.state != Run.State.FINISHED:
        raise CannotRun(f"{run}: {run.get_state_display()}. {run.note}")
    if run.frozen["selection"] != list(scope.selection):
        raise CannotRun(_("%(run)s was about other pairs than this seed and share set apart") % {"run": run})
    return run


@transaction.atomic
def _judge_like(model: Judge, prompt: Prompt, *, slug: str) -> Judge:
    """The judge of that name, made if it is missing. Raises CannotRun if the name is taken by another."""
    content = {
        "endpoint": model.endpoint,
        "model": model.model,
        "prompt": prompt,
        "parameters": dict(model.parameters),
    }
    judge, _made = Judge.objects.get_or_create(slug=slug[:80], defaults=content)
    if {name: getattr(judge, name) for name in content} != content:
        raise CannotRun(_("there is another judge called %(slug)s") % {"slug": judge.slug})
    return judge


def _codes(study: Study, groups: Sequence[str]) -> tuple[str, ...]:
    """Codes of the stories in these groups."""
    codes = study.groups.filter(code__in=groups).values_list("stories__code", flat=True)
    return tuple(sorted(set(codes)))
