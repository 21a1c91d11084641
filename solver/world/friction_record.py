"""Record of friction in mechanisms that did not converge, for the end of the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..parts.joints.interface import ConstraintSolution, Unsettled

CONTACTS, BEARINGS = "contacts", "bearings"  #: kinds of friction whose iterations may not converge
UNSETTLED = ((BEARINGS, "Friction inside joints", "raise Passes of the joint friction or lower the step"),
             (CONTACTS, "Contact with friction", "lower the step"))
GROUND = "what stands"  #: name of an obstacle in messages


class FrictionRecord:
    """Numbers of steps with constraints, and of steps whose friction did not converge, by kind of friction."""

    def __init__(self, bodies: Sequence[str]) -> None:
        """bodies: names of all rigid bodies."""
        self._bodies = bodies
        self.steps, self.unsettled = 0, Counter[str]()
        self._worst: tuple[Unsettled, float] | None = None  #: largest error of contacts and its time [s]

    def note(self, solution: ConstraintSolution, time: float) -> None:
        """Count a step that ended at a time [s]. solution: of its constraints."""
        self.steps += 1
        self.unsettled.update(solution.unsettled)
        worst = solution.worst
        if worst is not None and (self._worst is None or worst.off > self._worst[0].off):
            self._worst = worst, time

    @property
    def sentences(self) -> list[str]:
        """Return a sentence for each kind of friction that did not converge in some steps."""
        return [f"{what} did not converge in {self.unsettled[key]} of {self.steps} steps"
                f"{self._location(key)}: {remedy}" for key, what, remedy in UNSETTLED if self.unsettled[key]]

    def _location(self, key: str) -> str:
        """Return a text that locates the largest error of a kind of friction."""
        if key != CONTACTS or self._worst is None:
            return ""
        worst, time = self._worst
        first, second = (f'"{self._bodies[body]}"' if body >= 0 else GROUND for body in worst.bodies)
        where = ", ".join(f"{c:.4g}" for c in worst.position)
        return f", least where {first} touches {second} near ({where}) m at {time:.4g} s, by {worst.off:.2g} m/s"
