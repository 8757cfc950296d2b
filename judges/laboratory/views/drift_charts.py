"""How far each check of a watched judge lay from those before it, as a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

WIDTH, HEIGHT = 480.0, 96.0
STEP = 0.1


@dataclass(frozen=True)
class DrawnCheck:
    """x, y : in user units; percent : of comparisons that differ; has_moved : more than by chance"""

    at: datetime
    x: float
    y: float
    percent: float
    has_moved: bool


@dataclass(frozen=True)
class DriftChart:
    """line, floor : paths of the distances from earlier checks and of those among them; top : of the scale, percent"""

    points: Sequence[DrawnCheck]
    line: str
    floor: str
    top: int

    @property
    def begins(self) -> datetime:
        return self.points[0].at

    @property
    def ends(self) -> datetime:
        return self.points[-1].at


def draw(checks: Sequence[tuple[datetime, float, float | None, bool]]) -> DriftChart | None:
    """Of checks in the order of their days: when, distance, floor, whether it moved; None of fewer than two."""
    if len(checks) < 2:
        return None
    highest = max(max(distance, floor or 0.0) for _at, distance, floor, _moved in checks)
    top = next(n * STEP for n in range(1, 11) if highest <= n * STEP + 1e-9)
    step = WIDTH / (len(checks) - 1)

    def y(value: float) -> float:
        return round(HEIGHT * (1 - value / top), 1)

    points = [
        DrawnCheck(at, round(n * step, 1), y(distance), round(100 * distance, 1), has_moved)
        for n, (at, distance, _floor, has_moved) in enumerate(checks)
    ]
    floors = [
        (round(n * step, 1), y(floor)) for n, (_at, _distance, floor, _moved) in enumerate(checks) if floor is not None
    ]
    return DriftChart(
        points=points,
        line=_path([(point.x, point.y) for point in points]),
        floor=_path(floors),
        top=round(100 * top),
    )


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in places) if len(places) > 1 else ""
