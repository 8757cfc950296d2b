"""A protocol as everything above reads it: the steps of one version, with their instruments and items at hand."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Prefetch

from studies.layouts.items import CheckOptions
from studies.models import Amendment, Cloze, Item, ProtocolVersion, Step

DEBRIEFING = "debriefing"  # the key of such a step, or what it begins with: “debriefing-2”
_DEBRIEFING = f"{DEBRIEFING}-"


@dataclass(frozen=True)
class Protocol:
    """The steps of one version, with their instruments and items at hand. They are read, never changed or saved."""

    version: ProtocolVersion
    steps: tuple[Step, ...]

    @cached_property
    def ratings(self) -> tuple[Step, ...]:
        """The steps that belong to a group and ask an instrument, in order."""
        return tuple(s for s in self.steps if s.kind == Step.Kind.RATING and s.scope != Step.Scope.ONCE)

    @cached_property
    def asked_once(self) -> tuple[Step, ...]:
        """The steps that ask an instrument of each rater once, outside of groups, in order."""
        return tuple(s for s in self.steps if s.kind == Step.Kind.RATING and s.scope == Step.Scope.ONCE)

    @cached_property
    def consent(self) -> Step | None:
        return next((s for s in self.steps if s.kind == Step.Kind.CONSENT), None)

    @cached_property
    def fills_text(self) -> bool:
        """Whether raters fill a text instead of reading stories: a group then holds that text and nothing else."""
        return any(step.layout_type.fills_text for step in self.ratings)

    @cached_property
    def debriefing(self) -> Step | None:
        """The first step that says what the study was about, such as that some stories are by language models."""
        return next(
            (s for s in self.steps if s.kind == Step.Kind.BRIEFING and f"{s.key}-".startswith(_DEBRIEFING)), None
        )

    @property
    def asks_reasons(self) -> bool:
        """Whether any answer, in a group or around it, has a field for reasons."""
        return any(item.rationale != Item.Rationale.NONE for step in self.steps for item in items_of(step))

    def is_check(self, step: Step) -> bool:
        """Whether the step is a comprehension check: asked before the first group, with right answers."""
        is_before = not self.ratings or step.position < self.ratings[0].position
        is_asked_once = step.kind == Step.Kind.RATING and step.scope == Step.Scope.ONCE
        return is_asked_once and is_before and has_right_answers(items_of(step))

    @cached_property
    def checks(self) -> list[tuple[Step, CheckOptions]]:
        """The comprehension checks in order, each with what becomes of who fails it."""
        return [(step, CheckOptions.read(step.options)) for step in self.steps if self.is_check(step)]

    @property
    def gate(self) -> CheckOptions | None:
        """Of the first check beyond which nobody goes who fails it; None if there is none."""
        return next((options for _step, options in self.checks if options.ends), None)

    def step(self, key: str) -> Step | None:
        return next((s for s in self.steps if s.key == key), None)

    def locked_by(self, step: Step) -> Step | None:
        """The first later step that locks this one, if there is one."""
        return next((s for s in self.steps if s.position > step.position and s.locks), None)

    def revised_by(self, step: Step) -> Step | None:
        """The earlier step whose answers stand in this one again; None if it revises none, or one that does not fit."""
        candidates = (s for s in self.steps if s.position < step.position and s.instrument_id == step.instrument_id)
        fitting = (s for s in candidates if s.kind == Step.Kind.RATING and s.scope in (Step.Scope.ONCE, step.scope))
        return next((s for s in fitting if s.key == step.revises), None)


def read_rows(version: ProtocolVersion) -> Protocol:
    """The protocol of that version as its rows have it now, frozen or not. Two queries, three if it is amended."""
    by_position = Prefetch("instrument__items", Item.objects.order_by("position"))
    rows = Step.objects.filter(version=version.asked_by_id).exclude(kind=Step.Kind.METRIC)
    steps = tuple(rows.select_related("instrument").prefetch_related(by_position).order_by("position"))
    # An amendment that is gone is found by what the document says otherwise.
    words = Amendment.objects.filter(version=version).values_list("words", flat=True) if version.amends_id else None
    return Protocol(version=version, steps=reword(steps, (words.first() if words is not None else None) or {}))


def reword(steps: tuple[Step, ...], words: Mapping[str, Mapping[str, str]]) -> tuple[Step, ...]:
    """The steps with these titles and texts, by key, in place of their own. They are changed, not saved."""
    for step in steps:
        for name, text in words.get(step.key, {}).items():
            setattr(step, name, text)
    return steps


def name_of(step: Step) -> str:
    """What a step is called on pages: its heading, its questions, or its kind."""
    return step.title or (step.instrument.title if step.instrument else str(step.get_kind_display()))


def items_of(step: Step) -> list[Item]:
    """The items that a step asks, in order: of a practice those that have a sample answer; none for a text."""
    items = list(step.instrument.items.all()) if step.instrument else []
    # Samples that were edited into something else are named by `collect_findings`.
    samples = step.samples if isinstance(step.samples, dict) else {}
    return [item for item in items if step.kind != Step.Kind.PRACTICE or item.key in samples]


def has_right_answers(items: Iterable[Item]) -> bool:
    """Whether any of these questions has one, as those of a comprehension check do."""
    return any("correct" in item.settings for item in items)


def cloze_of(step: Step) -> Cloze | None:
    """The cloze that a step asks to be filled; None if it asks for none. No query if the protocol is frozen."""
    return getattr(step.instrument, "cloze", None) if step.layout_type.fills_text else None
