"""What a run's guards saw: texts that the model knows, answers to the fixed texts, and replies by another model."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import BooleanField, Count, ExpressionWrapper, Q

from judges.models import Attempt, Call, Parse, Run
from judges.parsing import LEAKED
from judges.providers import count_models, is_same_model


@dataclass(frozen=True)
class FixedAnswer:
    """What was said of a fixed text to one item, now and in the judge's run before; None if there is none."""

    anchor: str
    item: str
    value: object
    before: object

    @property
    def has_changed(self) -> bool:
        return None not in (self.value, self.before) and self.value != self.before


@dataclass(frozen=True)
class Snapshot:
    """A model as it answered.

    model, system_fingerprint : as the provider named them
    n : replies
    is_reused : they were taken over from earlier calls
    """

    model: str
    system_fingerprint: str
    n: int
    is_reused: bool = False


@dataclass(frozen=True)
class GuardResults:
    """n_probed : stories of which the model said whether it knows them; known : codes of those that it does know
    n_leaks : replies that hold the code of the fences
    other_models : how many replies name each other model
    snapshots : what answered, by model; two models are two judges under one name
    """

    n_probed: int
    known: list[str]
    n_leaks: int
    other_models: dict[str, int]
    snapshots: list[Snapshot]
    fixed: list[FixedAnswer]

    @property
    def n_models(self) -> int:
        """How many models answered, as the provider names them; a name and its dated version are one."""
        return count_models({snapshot.model for snapshot in self.snapshots})

    @property
    def n_changed(self) -> int:
        return sum(answer.has_changed for answer in self.fixed)


def load_results(run: Run) -> GuardResults:
    """What the run's guards saw so far. Four queries; five or six if it asked about fixed texts."""
    probed = Parse.objects.filter(attempt__call__run=run, attempt__call__kind=Call.Kind.PROBE, state=Call.State.OK)
    values_by_story = dict(probed.order_by("pk").values_list("attempt__call__story__code", "values"))
    snapshots = load_snapshots(run)
    n_by_model: Counter[str] = Counter()
    for snapshot in snapshots:
        n_by_model[snapshot.model] += snapshot.n
    answers = _load_fixed(run)
    before = _find_run_before(run) if answers else None
    answers_before = _load_fixed(before) if before else {}
    return GuardResults(
        n_probed=len(values_by_story),
        known=sorted(code for code, values in values_by_story.items() if values.get("is_proven")),
        n_leaks=run.calls.filter(reason=LEAKED).count(),
        other_models={model: n for model, n in n_by_model.items() if not is_same_model(run.judge.model, model)},
        snapshots=snapshots,
        fixed=[FixedAnswer(*key, value, answers_before.get(key)) for key, value in answers.items()],
    )


def load_snapshots(run: Run) -> list[Snapshot]:
    """Which models and fingerprints answered the run, and how many times; last, of replies taken over. One query."""
    is_reused = ExpressionWrapper(Q(outcome=Attempt.Outcome.REUSED), output_field=BooleanField())
    replies = Attempt.objects.filter(call__run=run).exclude(model="").annotate(is_reused=is_reused)
    counts = replies.order_by("is_reused", "model", "system_fingerprint").values_list(
        "model", "system_fingerprint", "is_reused"
    )
    return [
        Snapshot(model, fingerprint, n, is_reused=is_reused)
        for model, fingerprint, is_reused, n in counts.annotate(n=Count("pk"))
    ]


def _load_fixed(run: Run) -> dict[tuple[str, str], object]:
    """What the run's model said of the fixed texts, by text and item."""
    rows: Iterable[tuple[str, dict[str, object]]] = (
        Parse.objects.filter(attempt__call__run=run, attempt__call__kind=Call.Kind.TEST, state=Call.State.OK)
        .order_by("pk")
        .values_list("attempt__call__anchor", "values")
    )
    return {(anchor, item): value for anchor, values in rows for item, value in values.items()}


def _find_run_before(run: Run) -> Run | None:
    """The latest earlier run that asked the same model at the same endpoint in the same words about the fixed texts."""
    judge = run.judge
    alike = Run.objects.filter(
        judge__endpoint=judge.endpoint_id,
        judge__model=judge.model,
        judge__prompt=judge.prompt_id,
        judge__parameters=judge.parameters,
        calls__kind=Call.Kind.TEST,
        pk__lt=run.pk,
    )
    return alike.order_by("-pk").first()
