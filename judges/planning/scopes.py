"""What a run is about, and the error of one that cannot be."""

from dataclasses import dataclass

from judges.models import PersonaSet, Reading

MOST_EXAMPLES = 20


class CannotRun(Exception):
    """The judge cannot run in the study; the message says what stands in the way."""


@dataclass(frozen=True)
class Scope:
    """What of a study a run is about, and how often it reads it.

    selection : codes of stories; empty for all whose texts are there
    orders : of readings; the planned one is always among them and comes first, since it is the one that counts
    steps : keys of the protocol's steps that it asks; empty for all
    persona_set : one reading as each of its personas; None for a reading as nobody
    n_examples : how many experts' answers stand before a question, if the prompt shows any
    probes : whether the model is asked of each story whether it knows it
    anchors : whether the fixed texts are judged, too
    afresh : whether it asks again what the study has a reply to already
    interventions : slugs of the changes with which every story is read once more
    choice : how its prompt was chosen among others, for its document
    """

    selection: tuple[str, ...] = ()
    orders: tuple[str, ...] = (Reading.Order.PLANNED.value,)
    n_repeats: int = 1
    steps: tuple[str, ...] = ()
    persona_set: PersonaSet | None = None
    n_examples: int = 4
    probes: bool = False
    anchors: bool = False
    afresh: bool = False
    interventions: tuple[str, ...] = ()
    choice: dict[str, object] | None = None

    def __post_init__(self) -> None:
        planned = Reading.Order.PLANNED.value
        object.__setattr__(self, "orders", tuple(dict.fromkeys([planned, *self.orders])))
