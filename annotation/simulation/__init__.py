"""Simulated raters: they claim seats and answer through the same functions as people, and say everywhere what they are.

The caller gives what each story deserves; nothing here knows where a story comes from.
"""

from annotation.simulation.kinds import KINDS, RaterKind, count_kinds
from annotation.simulation.opinions import LABEL, TEXT, Profile, Simulation, Tendency
from annotation.simulation.readings import answer_steps, read_and_stop, read_and_submit, simulate

__all__ = [
    "KINDS",
    "LABEL",
    "TEXT",
    "Profile",
    "RaterKind",
    "Simulation",
    "Tendency",
    "answer_steps",
    "count_kinds",
    "read_and_stop",
    "read_and_submit",
    "simulate",
]
