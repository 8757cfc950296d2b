"""What a run would ask and take, as its page shows it before anything is written or sent."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Self

from judges.models import Judge
from judges.planning import Scope
from judges.planning.estimates import RunEstimate
from judges.requests import PlannedCall
from judges.runs import approvals
from judges.runs.packed_calls import do_nothing
from judges.runs.preparation import PreparedRun
from judges.settlement import attempts
from studies.models import Study


@dataclass(frozen=True)
class DryRun:
    """What a run would be.

    obstacle : why it cannot be started; "" if nothing is in the way
    estimate : None of a metric
    batched : the same where calls are handed in as batches; None if they cannot be
    messages : of one call, as it would be sent
    """

    obstacle: str
    n_calls: int = 0
    n_stories: int = 0
    withheld: tuple[str, ...] = ()
    estimate: RunEstimate | None = None
    batched: RunEstimate | None = None
    about: str = ""
    messages: tuple[tuple[str, str], ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        estimates = {"estimate": self.estimate, "batched": self.batched}
        return asdict(self) | {name: row.document if row else {} for name, row in estimates.items()}

    @classmethod
    def load(cls, document: dict[str, Any]) -> Self:
        return cls(
            **document
            | {"withheld": tuple(document["withheld"]), "messages": tuple(map(tuple, document["messages"]))}
            | {name: RunEstimate.load(document[name]) for name in ("estimate", "batched")}
        )


def preview(study: Study, judge: Judge, scope: Scope, *, on_step: Callable[[], None] = do_nothing) -> DryRun:
    """What the judge would be asked, every call of it set as it would be sent. Raises CannotRun."""
    return _describe(approvals.rehearse(study, judge, scope, on_step=on_step))


def _describe(prepared: PreparedRun) -> DryRun:
    plan, estimate = prepared.plan, prepared.estimate
    first = next(iter(plan.all_calls), None)
    messages = prepared.packer.render(first).get("messages", []) if first else []
    may_be_batched = plan.judge.endpoint is not None and plan.judge.endpoint.takes_batches
    names = [first.story.code if first.story else "", _title(first)] if first else []
    return DryRun(
        "",
        n_calls=plan.n_calls,
        n_stories=len(
            {code for seat in plan.seats for code in seat.order}
            | {call.story.code for call in plan.guards if call.story}
        ),
        withheld=tuple(plan.withheld),
        estimate=estimate,
        batched=estimate.in_batches(n_alone=attempts.N_PROBES) if estimate and may_be_batched else None,
        about=", ".join(filter(None, names)),
        messages=tuple((message["role"], message["content"]) for message in messages),
    )


def _title(call: PlannedCall) -> str:
    """What the call asks: its item, or the step of which it asks all."""
    return call.item.title if call.item else call.step.title if call.step else ""
