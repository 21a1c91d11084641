"""Step lengths from an admissible error: a proportional-integral controller whose steps end at frames.

A frame is divided into units, and every step is a whole number of them: times are counted, and rounding misses no
frame. The controller's history is in State.memory, so a resumed bake takes the steps that it would have taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..state import State, Vec

FINEST = 4096  #: parts of the largest step; a step of one unit is taken as it is, however it errs
SAFETY = 0.9  #: of the length whose error would be just admissible
GROWTH = 2.0  #: at most, from one step to the next
STRETCH = 0.1  #: by which the steps to the end of a frame may grow to be one less

PROPOSED, ERROR = "control.units", "control.error"


@dataclass(frozen=True)
class Controller:
    """Controller of step lengths between one unit and the largest step."""

    tolerance: float  #: largest error of a step, in the unit of the integrator's errors
    order: int  #: of the integrator: errors grow with the step's length to the power of order + 1
    equal_steps: bool  #: whether steps are halved and doubled only
    largest: int  #: number of largest steps in a frame

    @property
    def units(self) -> int:
        """Return the number of units of a frame."""
        return self.largest * FINEST

    def propose_length(self, memory: Mapping[str, Vec]) -> float:
        """Return the proposed length of the next step in units, before it is fitted into the frame. memory: of the last
        state."""
        return float(memory[PROPOSED][0]) if PROPOSED in memory else float(FINEST)

    def fit(self, proposed: float, done: int, end: int) -> int:
        """Return the number of units of a step that starts `done` units after the frame's start: no longer than the
        largest step, nor than the distance to `end`, the end of the frame or of a part of it."""
        proposed_units, left = min(max(proposed, 1.0), float(FINEST)), end - done
        if self.equal_steps:
            length = 1 << int(np.log2(proposed_units))
            # a doubled step starts at a multiple of its length, so that such steps fill the frame
            while done % length or length > left:
                length //= 2
            return length
        count = max(int(np.ceil(left / proposed_units - STRETCH)), -(-left // FINEST), 1)
        return -(-left // count)

    def accepts(self, units: int, error: float) -> bool:
        """Whether a step of this many units with this error is accepted; a step of one unit always is."""
        return error <= self.tolerance or units == 1

    def shorter(self, units: int, error: float) -> float:
        """Return the number of units to try after a step of `units` whose error is too large; half of `units` where the
        step could not be solved, which has an infinite error."""
        if error == np.inf:
            return max(1.0, 0.5 * units)
        best: float = SAFETY * (self.tolerance / error) ** (1.0 / (self.order + 1))
        return max(1.0, units * min(max(best, 0.1), 0.5))

    def longer(self, memory: Mapping[str, Vec], units: int, error: float, was_shortened: bool) -> dict[str, Vec]:
        """Return the entries of the memory after an accepted step, with the length of the next one. was_shortened:
        whether a longer step was rejected before, so that the next one is no longer."""
        ratio, power = max(error / self.tolerance, 1.0e-4), 1.0 / (self.order + 1)
        last = float(memory[ERROR][0]) if ERROR in memory else ratio
        if self.equal_steps:
            # a step that is not worth doubling keeps its length
            factor = max(SAFETY * ratio**-power, 1.0)
        else:
            factor = max(SAFETY * ratio ** (-0.7 * power) * last ** (0.4 * power), 0.2)
        factor = min(factor, 1.0 if was_shortened else GROWTH)
        return {PROPOSED: np.array([min(units * factor, float(FINEST))]), ERROR: np.array([ratio])}


def beside_trapezoid(before: State, after: State, h: float) -> Vec:
    """Return x¹ − x⁰ − h/2 (v⁰ + v¹), the deviation of a step of h seconds from the trapezoidal rule on its own
    velocities, (3 f,) [m]."""
    beside: Vec = after.q - before.q - 0.5 * h * (before.u + after.u)
    return beside
