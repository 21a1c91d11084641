"""Quasi-Newton sweeps over a stage that ConJac has condensed, on a factor at positions nearby.

At the root of a stage positions x are in equilibrium, velocities v obey the condensation, and momentum changes by
forces. With Π the quasistatic rows, m = M (v − v̂) − a h (f(x) + D v) and V the velocities of the reduced unknowns,

    Π (f(x) − M a) = 0,   Π K(x) v = 0,   Π (m − K(x) p) = 0,   Ṽᵀ (m − K(x) p) = 0

for any Ṽ near V that equals it on the dynamic unknowns: p [m s], zero on them, replaces K⁻¹ m, so that J need not be
computed again where the body has rotated a little. A sweep needs K at the last iterate in products only, and costs one
solve of three columns. The factor need not be computed again either: with R the rotation of each node's neighbourhood
since it was made, solutions are R K⁻¹ Rᵀ and R Ṽ Rᵀ, where each dynamic unknown is a node of its own and nothing but K
acts.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dgetrs

from ...assembly.products import Products
from ...state import State, Vec
from ..stage import NodeStage
from .modes_of_step import ModalStepPropagator
from .posed import PosedConJac
from .sweeps_kernels import load, rotate, rotate_back, spread, write_momentum


class ReusedFactorSweeps:
    """Quasi-Newton sweeps on the factor of one posed stage, over stages of equal inertia and β a b h²."""

    #: a factor serves until an edge has changed by the first fraction of its length, or one that turns with the nodes
    #: until an edge is stretched by the second: from there on the passes that it takes more cost as much as a new one
    largest_edge_change, largest_stretch = 0.2, 0.25

    def __init__(self, posed: PosedConJac) -> None:
        self.posed, self._order, self._stamp = posed, posed.owner.pattern.order, posed.owner.linear.factored
        self._velocities = posed.velocities  #: Ṽ, (3 (q + k), r)
        self._positions = self._velocities if posed.positions is None else posed.positions
        # six digits suffice for a direction; the constraint of patches would cancel most of them
        self._solve = posed.owner.in_single() if posed.motion.patches is None else None
        self._inert = posed.stage.inertia * np.repeat(posed.lin.mass[self._order], 3)
        self._loads, self._momentum = np.zeros((*posed.lin.x.shape, 3)), np.zeros(3 * len(self._order))
        self._slope = None
        if len(posed.reduced):
            self._slope = scipy.linalg.lu_factor(posed.reduced if posed.slope is None else posed.slope)

    @cached_property
    def _rotations(self) -> Vec | None:
        """Return R, (n, 3, 3); None where the factor cannot be rotated with the nodes."""
        posed = self.posed
        if len(posed.lin.contacts) or posed.frames or posed.hold.holds or posed.motion.patches is not None:
            return None
        self._turning = posed.owner.edges.rotations
        self._turning.follow(posed.lin.x)
        self._initial_frames = self._turning.frames.transpose(0, 2, 1).copy()
        rotations: Vec = self._turning.frames @ self._initial_frames
        return rotations

    @property
    def includes_contacts(self) -> bool:
        """Whether contacts were in the factored matrix; velocities then follow by its copy without contacts."""
        return self.posed.response_without_contact is not None

    def serves(self, x: Vec, stage: NodeStage, start: State, exactly: bool) -> bool:
        """Whether the factor still exists, fits the stage, was made near positions x, (n, 3) [m], and has the dynamic
        nodes of `start`.

        exactly: whether the stage is solved to its root. Only then is a rotated factor used, whose error is larger than
        the last change of a sweep shows.
        """
        posed, owner = self.posed, self.posed.owner
        own = posed.stage
        same = stage.inertia == own.inertia and stage.stiffness_factor == own.stiffness_factor
        if not same or owner.linear.factored != self._stamp or owner.hold_of(start.memory) is not posed.hold:
            return False
        if self._rotations is None or not exactly:
            return owner.edges.largest_change(x - posed.lin.x) <= self.largest_edge_change
        self._turning.follow(x)
        np.matmul(self._turning.frames, self._initial_frames, out=self._rotations)
        return owner.edges.largest_stretch(posed.lin.x, x) <= self.largest_stretch

    def change(self, at: Products, stage: NodeStage) -> Vec:
        """Return the change by a sweep of x − b h v, b h v and p, (3, n, 3) [m], [m], [m s].

        at: the iterate x, v, with K v and K p. [ConJac 11, changed: iterated on one factor]
        """
        ah, bh = stage.a * stage.h, stage.b * stage.h
        loads, momentum = self._loads, self._momentum
        load(at.mass, stage.inertia, ah, at.v, stage.v_hat, at.force, at.columns[1], at.columns[0], loads)
        if at.damped is not None:
            loads[:, :, 1] += ah * at.damped.force(at.v)
        if self.posed.frames:
            loads[:, :, 2] -= self._compute_rigid_inertia(at, stage)

        if self._rotations is not None:
            rotate_back(self._rotations, loads)
        responses = self._balance(loads)
        # the rest of m, and its change by those of v and x
        write_momentum(self._order, loads, self._inert, responses, momentum)
        rhs = self._velocities.T @ momentum
        if self._positions is not self._velocities:
            rhs += ah * (self._velocities - self._positions).T @ loads[self._order, :, 2].ravel()
        change = np.zeros(len(rhs)) if self._slope is None else -dgetrs(*self._slope, rhs)[0]

        in_v = in_x = self._velocities @ change
        if self._positions is not self._velocities:
            in_x = self._positions @ change
        out = np.zeros((3, *at.x.shape))
        spread(self._order, responses, in_v, in_x, bh, out)
        if self.posed.frames:
            out[0, self._order] -= self._carries(responses[:, 0] + in_v, at, stage).reshape(-1, 3)
        if self._rotations is not None:
            rotate(self._rotations, out)
        return out

    @cached_property
    def _modal_step(self) -> ModalStepPropagator:
        return ModalStepPropagator(self.posed)

    @property
    def force(self) -> Vec:
        """Return the forces at the positions of the factor, (n, 3) [N]."""
        return self.posed.lin.force

    def modal_motion(self, h: float, posed_at: float, is_exact: bool) -> tuple[Vec, Vec]:
        """Return displacements of all nodes through h seconds [m] and velocities at their end [m/s], (n, 3), by
        `ModalStepPropagator.step`."""
        return self._modal_step.step(h, posed_at, is_exact)

    def compute_quasistatic_correction(self, at: Products) -> Vec:
        """Return the corrections of positions [m] and velocities [m/s], (2, n, 3), to Π f(x) = Π M a and Π K(x) v = 0,
        with the momentum in the reduced unknowns unchanged. at: the iterate x, v, with K v."""
        stage, out = self.posed.stage, np.zeros((2, *at.x.shape))
        loads = np.stack([at.force, at.columns[0]], axis=2)
        if self.posed.frames:
            loads[:, :, 0] -= self._compute_rigid_inertia(at, stage)
        rows = self.posed.owner.response(self.posed, loads, self._solve)
        out[0, self._order] = rows[:, 0].reshape(-1, 3)
        out[1, self._order] = self._modal_step.without_momentum(rows[:, 1]).reshape(-1, 3)
        return out

    def strain(self, change: Vec) -> float:
        """Return the largest relative change of an edge by the change of a sweep, (3, n, 3), in positions or by
        velocities."""
        edges = self.posed.owner.edges
        return max(edges.largest_change(change[0] + change[1]), edges.largest_change(change[1]))

    def _balance(self, loads: Vec) -> Vec:
        """Return −K⁻¹ times loads, (n, 3, 3), with dynamic unknowns fixed, (3 (q + k), 3); all but the last column
        without contacts."""
        owner, without_contact = self.posed.owner, self.posed.response_without_contact
        if without_contact is None:
            return owner.response(self.posed, loads, self._solve)
        parts = without_contact(loads[:, :, :2]), owner.response(self.posed, loads[:, :, 2:], self._solve)
        return np.concatenate(parts, axis=1)

    def _compute_rigid_inertia(self, at: Products, stage: NodeStage) -> Vec:
        """Return M a, (n, 3) [N], a the rigid part of the acceleration from v̂ to the velocities of `at`."""
        frames = self.posed.owner.frames
        return frames.inertia(frames.at(at.x), at.mass, stage.acceleration(at, at.v))

    def _carries(self, change: Vec, at: Products, stage: NodeStage) -> Vec:
        """Return −K⁻¹ of the change of M a by a change of velocities, (3 (q + k),) [m/s], with the frames of the
        factor."""
        posed, order = self.posed, self._order
        rate = np.zeros_like(at.v)
        rate[order] = change.reshape(-1, 3) / (stage.a * stage.h)
        if at.damped is not None:
            rate *= 1.0 + stage.a * stage.h * at.damped.drag_rate(at.mass)[:, None]
        amplitudes = posed.owner.frames.amplitudes(posed.frames, at.mass, rate)[order]
        by_modes = posed.residual_shift[:, 1:].reshape(len(order), 3, -1)
        shift: Vec = np.einsum("pak,pk->pa", by_modes, amplitudes).ravel()
        return shift
