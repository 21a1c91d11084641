"""Step of the reduced unknowns along their own modes, on a factor at positions midway. [ConJac 11, changed: exact]

With V at the body's midway positions, its dependence on x and v frozen through the step, the reduced unknowns obey

    Vᵀ M V ẍ = Vᵀ (f + K (x − x_mid)),    Vᵀ M v as it was at the start,

whose modes are those of two small dense matrices: each advances by its angle ω h exactly, so that nothing is
dissipated. Modes with an angle above `FASTEST` take Euler's step, which damps them.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ...state import Vec
from .posed import PosedConJac

FASTEST = 2.0  #: [rad] that a mode may advance by in a step: a larger angle returns before the step ends


def advance_modes(angle: Vec, h: float, start: Vec, accelerations: Vec, fastest: float = FASTEST) -> tuple[Vec, Vec]:
    """Return velocities after a step of h seconds and displacements in it, both (r,), of modes that advance by angles ω
    h [rad].

    start: velocities of the modes at its start. accelerations: theirs at its start. fastest: largest angle [rad] of a
    mode that does not take Euler's step.
    """
    u = np.cos(angle) * start + h * np.sinc(angle / np.pi) * accelerations
    moved = h * np.sinc(angle / np.pi) * start + 0.5 * (h * np.sinc(0.5 * angle / np.pi)) ** 2 * accelerations
    by_euler = (start + h * accelerations) / (1.0 + angle**2)
    fast = angle > fastest
    return np.where(fast, by_euler, u), np.where(fast, h * by_euler, moved)


class ModalStepPropagator:
    """Propagator of the reduced unknowns of one posed stage along their modes."""

    def __init__(self, posed: PosedConJac) -> None:
        stage, lin = posed.stage, posed.lin
        self._posed, self._order = posed, posed.owner.pattern.order
        self._velocities = posed.velocities  #: V, (3 (q + k), r)
        self._mass = np.repeat(lin.mass[self._order], 3)  #: of the rows [kg]
        product = posed.motion.product
        if lin.damped is None:
            mass = posed.reduced + stage.stiffness_factor * product
        else:
            mass = self._velocities.T @ (self._mass[:, None] * self._velocities)
        squares, self._modes = np.zeros(0), np.zeros((0, 0))
        if len(mass):
            squares, self._modes = scipy.linalg.eigh(-0.5 * (product + product.T), 0.5 * (mass + mass.T))
        self._squares = np.maximum(squares, 0.0)  #: ω² [1/s²], (r,)
        # −h D in these modes: half of the damping acts before they oscillate and half of it after
        drag = posed.reduced - mass + stage.stiffness_factor * product
        self._drag = None if lin.damped is None else self._modes.T @ drag @ self._modes

    def step(self, h: float, posed_at: float, is_exact: bool) -> tuple[Vec, Vec]:
        """Return displacements of all nodes through h seconds [m], and velocities at the end [m/s], (n, 3); zero where
        prescribed.

        posed_at: time of the posed stage after the start [s]. is_exact: whether modes advance exactly; else all by
        Euler's step.
        """
        posed, lin = self._posed, self._posed.lin
        force, carrier_motion = lin.force[self._order].ravel(), np.zeros(len(self._velocities))
        if posed.follow is not None:
            carrier_motion = posed.follow.rows
            force = force + (0.5 * h - posed_at) * posed.follow.left
        start = self._in_modes(lin.v[self._order].ravel() - carrier_motion)
        accelerations = self._modes.T @ (self._velocities.T @ force) + posed_at * self._squares * start
        damp = None if self._drag is None else np.eye(len(start)) + 0.5 * h / posed.stage.h * self._drag
        if damp is not None:
            start = np.linalg.solve(damp, start)
        u, moved = advance_modes(h * np.sqrt(self._squares), h, start, accelerations, FASTEST if is_exact else -1.0)
        if damp is not None:
            u = np.linalg.solve(damp, u)
        v = self._on_nodes(self._velocities @ (self._modes @ u) + carrier_motion)
        residual_shift = self._on_nodes(posed.correction_of_rows(posed.on_free(v[self._order].ravel())))
        moved = self._on_nodes(self._velocities @ (self._modes @ moved) + h * carrier_motion)
        return moved + posed.owner.limit_fraction(1.0, residual_shift) * residual_shift, v

    def without_momentum(self, change: Vec) -> Vec:
        """Return a change of velocities on the rows, (3 (q + k),) [m/s], less the part that changes the momentum of the
        reduced unknowns."""
        out: Vec = change - self._velocities @ (self._modes @ self._in_modes(change))
        return out

    def _in_modes(self, v: Vec) -> Vec:
        """Return velocities of the modes, (r,), with the momentum Vᵀ M v of velocities on the rows, (3 (q + k),)."""
        out: Vec = self._modes.T @ (self._velocities.T @ (self._mass * v))
        return out

    def _on_nodes(self, rows: Vec) -> Vec:
        out = np.zeros(self._posed.lin.x.shape)
        out[self._order] = rows.reshape(-1, 3)
        return out
