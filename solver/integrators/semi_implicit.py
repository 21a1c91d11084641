"""Linearly implicit Euler: one linear solve a step."""

from __future__ import annotations

from ..coordinates.floating import LooseParts
from ..parts.interface import Stage
from ..state import Index, State, Vec
from .interface import System, land, pose
from .spin import free_parts, keep_spin


class SemiImplicit:
    """(M − βh²K) v = M v⁰ + h f, x = x⁰ + h (v + γ b). [ConJac 10, 11, 13]"""

    order = 1
    remembers: tuple[str, ...] = ()
    equal_steps = False

    def __init__(self, params: dict[str, float]) -> None:
        """params: keep_spin, whether what flies freely keeps its angular momentum. β and γ are the method's."""
        self._keeps_spin = bool(params.get("keep_spin", False))
        self.linear_euler = not self._keeps_spin
        self._free: tuple[LooseParts, list[Index]] | None = None

    def step(self, system: System, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        lin = system.linearise(state)
        w = system.coordinates.prescribed_velocity(state.time, h)
        stage = Stage(h, 1.0, 1.0, state.time + h, None, lin.v, w, system.condensation.beta)
        after = land(system, pose(system, lin, stage), stage, state)
        if not self._keeps_spin:
            return after
        loose = system.condensation.loose
        if self._free is None or self._free[0] is not loose:
            self._free = loose, free_parts(loose)
        return keep_spin(system, self._free[1], state, after, h, lin.damped)

    def error(self, before: State, after: State, h: float) -> Vec:
        """Beside the trapezoidal rule on its velocities, without what positions gain on top, (3 f,) [m]."""
        beside: Vec = 0.5 * h * (after.u - before.u)
        return beside
