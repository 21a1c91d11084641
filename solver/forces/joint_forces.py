"""Stiffness, damping and motors of joints: forces that act on rates directly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..coordinates.joints.rotations import jacobian, logarithm, product, quaternion
from ..coordinates.prescribed import OverTime, has_ended
from ..coordinates.tree import Posture, Tree
from ..state import Index, Vec
from .joint_kernels import (
    DAMPING,
    MOTOR_DAMPING,
    MOTOR_LIMIT,
    MOTOR_STIFFNESS,
    REST,
    STIFFNESS,
    TARGET,
    TARGET_RATE,
    joint_forces,
)
from .rigid_structs import ForceWeights, JointPoint, JointTable, RateSystem

COLUMNS = 8


@dataclass(frozen=True)
class MotorOverTime:
    """Motor of a joint with targets over time."""

    rates: Index  #: (k,)
    target: OverTime  #: (k,) at a time: coordinates, or rates where it has no stiffness
    stiffness: float
    damping: float
    until: float  #: [s] from which on it is inactive
    is_ball: bool  #: whether its first three rates are charted


class JointForces:
    """Forces on the rates of joints with stiffness, damping or motors; their K and D are negative semi-definite.

    [Thesis 3.6]
    """

    def __init__(self, tree: Tree, law: Vec, motors: Sequence[MotorOverTime] = ()) -> None:
        """law: (m, 8), columns as in joint_kernels; `at` writes the columns of motors, except for their limits."""
        self.law, self.motors = law, list(motors)
        self._tree = tree
        self.chart: Index = np.full(tree.count, -1, dtype=np.int32)
        for batch in tree.batches:
            if batch.centres.shape[1]:
                self.chart[batch.bodies] = batch.centres[:, 0]
        at_work = (law[:, [STIFFNESS, DAMPING]] != 0.0).any(axis=1)
        for motor in self.motors:
            at_work[motor.rates] = True
        owner = np.repeat(np.arange(tree.count, dtype=np.int32), np.diff(tree.dof))
        self.bodies: Index = np.unique(owner[at_work]).astype(np.int32)  #: below joints with forces
        self.unmoved: Vec = np.zeros(tree.rates)
        self.effort: Vec = np.zeros(tree.rates)  #: of motors at the last call [N m, N], (m,)
        self._scratch = np.zeros(tree.rates)
        self._blocks = np.zeros((tree.count, 6, 6))

    def at(self, time: float, active_time: float | None = None) -> None:
        """Set the targets of the motors to those at `time` [s], and switch off the motors that are inactive at
        `active_time` [s].

        active_time: `time` where None. A stage that ends when a motor is switched off has the motor all along, so its
        active time is before its end.
        """
        active_time = time if active_time is None else active_time
        for motor in self.motors:
            rates = motor.rates
            if has_ended(active_time, motor.until):
                self.law[rates, MOTOR_STIFFNESS] = self.law[rates, MOTOR_DAMPING] = 0.0
                continue
            self.law[rates, MOTOR_STIFFNESS], self.law[rates, MOTOR_DAMPING] = motor.stiffness, motor.damping
            target = motor.target.at(time)
            if motor.stiffness == 0.0:
                self.law[rates, TARGET_RATE] = target
                continue
            rate = motor.target.velocity(time)
            if motor.is_ball:  # angular velocity about axes that turn with the target
                rate[:3] = jacobian(target[None, :3])[0] @ rate[:3]
            self.law[rates, TARGET], self.law[rates, TARGET_RATE] = target, rate

    def at_work(self, time: float) -> list[bool]:
        """Return whether each motor is active from `time` [s] on, in the order of the motors."""
        return [not has_ended(time, motor.until) for motor in self.motors]

    def add(self, posture: Posture, q: Vec, u: Vec, centres: Vec, moved: Vec | None, ah: float, scale: float,
            damped: float, force: Vec, reduced: Vec) -> None:
        """Write ah (f + K moved) into force (m,) and −ah D − scale K into blocks of reduced (n, 6, 6).

        Entries of joints without forces do not change. posture: at q (m,). u: (m,). centres: of the charts of rotation.
        moved: coordinates at the base of the stage minus q, (m,); None for zero. ah: a h [s]. scale: [s²]. damped: 1 if
        f includes damping, else 0.
        """
        if len(self.bodies):
            at = JointPoint(q, u, centres, posture.subspace, self.unmoved if moved is None else moved)
            joint_forces(self._tree.dof, JointTable(self.bodies, self.chart, self.law), at,
                         ForceWeights(ah, scale, damped), RateSystem(force, reduced, self.effort))

    def forces(self, posture: Posture, q: Vec, u: Vec, centres: Vec, ah: float) -> Vec:
        """Return ah f, damping included, (m,) [N m s, N s]. ah: a h [s]. The next call overwrites the result."""
        self.add(posture, q, u, centres, None, ah, 0.0, 1.0, self._scratch, self._blocks)
        return self._scratch

    def efforts(self, posture: Posture, q: Vec, u: Vec, centres: Vec, time: float) -> Vec:
        """Return the efforts of servos and speed motors at `time` [s], (m,) [N m, N]; of balls torques about axes of
        the child."""
        self.at(time)
        self.forces(posture, q, u, centres, 0.0)
        return self.effort.copy()

    def energy(self, q: Vec, centres: Vec) -> float:
        """Return ½ k (q − rest)² of all rates [J]; of balls ½ rᵀ K r, r the rotation vector from their rest."""
        readings, rest = self.readings(q, centres), self.law[:, REST]
        off = readings - rest
        for batch in self._tree.batches:
            if batch.centres.shape[1]:
                ball = batch.entries[:, :3]
                back = quaternion(-rest[ball])
                off[ball] = logarithm(product(back, quaternion(readings[ball])))
        return 0.5 * float(np.sum(self.law[:, STIFFNESS] * off**2))

    def readings(self, q: Vec, centres: Vec) -> Vec:
        """Return the coordinates of the joints' springs, (m,) [rad, m]: q, and of charted rotations the whole rotation
        vector."""
        return self._tree.absolute(q, centres)


def no_law(rates: int) -> Vec:
    """Return the law of m rates without stiffness, damping and motor, (m, 8)."""
    law = np.zeros((rates, COLUMNS))
    law[:, MOTOR_LIMIT] = np.inf
    return law
