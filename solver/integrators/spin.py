"""Angular momentum of free bodies, restored after a linearised step.

Internal forces have no moment, Σ x × f(x) = 0 at every rotation, so Σ x × K w = Σ f × w for any motion w. A linearised
step applies f + β h K v¹ at the body's start and moves on by h v¹: β h² Σ f × v¹ is added to its angular momentum. That
dissipates, most for a stiff body: the straight paths of a rotating body's nodes stretch it by (h ω)²/2 each step, and f
is the reaction to this.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..coordinates.free_nodes import FreeNodes
from ..coordinates.inertia import moments
from ..state import Index, State, Vec

if TYPE_CHECKING:
    from ..assembly.damping import Damped

ROUNDS = 3  #: of computing a body's rotation: its inertia depends on its orientation after it


class SpinningNodes(Protocol):
    """Bodies of nodes that may rotate freely, with their masses."""

    coordinates: FreeNodes
    mass: Vec  #: lumped [kg], (n,)

    def velocity(self, state: State) -> Vec:
        """Return velocities of all nodes at a state, (n, 3) [m/s]."""

    def touching(self, state: State) -> Index:
        """Return the nodes in contact at a state, (k,), ascending."""


def keep_spin(system: SpinningNodes, parts: list[Index], before: State, after: State, h: float,
              damped: Damped | None) -> State:
    """Return the state at the end of a step of h seconds with the angular momentum that each part had before it, about
    its centre of mass.

    A part's positions are rotated as a whole, and a rigid rotation is added to its velocities, so neither momentum nor
    deformation changes. Parts that touch the ground before or after stay as they are. parts: nodes of each, all free.
    damped: damping, whose drag acts on the spin too; None where nothing is damped.
    """
    touching = np.zeros(len(system.mass), dtype=bool)
    touching[system.touching(before)] = touching[system.touching(after)] = True
    free_parts = [part for part in parts if not touching[part].any()]
    if not free_parts:
        return after
    coordinates = system.coordinates
    x0 = coordinates.positions(before.q, before.time, before.carrier_motion)
    x1 = coordinates.positions(after.q, after.time, after.carrier_motion)
    v0, v1 = system.velocity(before), system.velocity(after)
    for part in free_parts:
        mass = system.mass[part]
        target = spin(mass, x0[part], v0[part])
        if damped is not None:
            target = target / (1.0 + h * damped.drag[part].sum() / mass.sum())
        correction = spin_correction(mass, x0[part], x1[part], v1[part], target, h)
        x1[part], v1[part] = correction.rotate_points(x1[part]), correction.moving(x1[part], v1[part])
    free = coordinates.free
    return replace(after, q=x1[free].ravel(), u=v1[free].ravel())


def spin(mass: Vec, x: Vec, v: Vec) -> Vec:
    """Return the angular momentum of points about their centre of mass, (3,) [kg m²/s]. mass: (k,) [kg]. x, v: (k, 3)
    [m], [m/s]."""
    return _moment(x, mass, mass[:, None] * v)


@dataclass(frozen=True)
class SpinCorrection:
    """A rotation of a body as a whole, and the rigid motion that is added to its velocities."""

    angle: Vec  #: rotation vector [rad], (3,)
    centre: Vec  #: of mass [m], (3,)
    drift: Vec  #: velocity of the centre [m/s], (3,)
    lacking: Vec  #: angular velocity that is added [rad/s], (3,)
    shift: Vec = field(default_factory=lambda: np.zeros(3))  #: displacement of the centre [m]
    gain: Vec = field(default_factory=lambda: np.zeros(3))  #: change of the centre's velocity [m/s]

    @property
    def rotation(self) -> Vec:
        """Return the rotation matrix, (3, 3)."""
        return _rotation(self.angle)

    def rotate_points(self, x: Vec) -> Vec:
        """Return points x of the body after the rotation, both (k, 3) [m]."""
        out: Vec = self.centre + self.shift + (x - self.centre) @ self.rotation.T
        return out

    def moving(self, x: Vec, v: Vec) -> Vec:
        """Return the velocities after the rotation, (k, 3) [m/s], of points that were at x (k, 3) [m] with velocities v
        (k, 3) [m/s]."""
        turning: Vec = np.cross(self.lacking, (x - self.centre) @ self.rotation.T)
        out: Vec = self.drift + self.gain + (v - self.drift) @ self.rotation.T + turning
        return out


def spin_correction(mass: Vec, x0: Vec, x: Vec, v: Vec, target: Vec, h: float) -> SpinCorrection:
    """Return the rotation after which points of a body have the angular momentum `target`, (3,) [kg m²/s], through the
    last h seconds.

    mass: (k,) [kg]. x0: positions at the start, (k, 3) [m]. x, v: positions and velocities at the end, (k, 3) [m],
    [m/s].
    """
    centre, drift = mass @ x / mass.sum(), mass @ v / mass.sum()
    arm, old = x - centre, x0 - mass @ x0 / mass.sum()
    at_first = moments(mass, old)
    # rotated by `so_far`; the mean of the rotations required before and after neither adds nor dissipates energy
    so_far = np.linalg.solve(at_first, _moment(old, mass, mass[:, None] * (arm - old))) / h
    first, step_start = np.linalg.solve(at_first, target), arm
    for _ in range(ROUNDS):
        mean = 0.5 * (first + np.linalg.solve(moments(mass, arm), target))
        angle = h * (mean - so_far)
        rotation = _rotation(angle)
        arm = step_start @ rotation.T
    moving = (v - drift) @ rotation.T
    lacking = np.linalg.solve(moments(mass, arm), target - spin(mass, arm, moving))
    return SpinCorrection(angle, centre, drift, lacking)


def _moment(x: Vec, mass: Vec, momentum: Vec) -> Vec:
    """Return Σ of arms about the centre of mass times momentum or force, (3,)."""
    total: Vec = np.cross(x - mass @ x / mass.sum(), momentum).sum(axis=0)
    return total


def _rotation(angle: Vec) -> Vec:
    """Return the rotation matrix, (3, 3), of a rotation vector [rad]."""
    size = float(np.linalg.norm(angle))
    cross: Vec = np.cross(np.eye(3), angle)
    # sin(a)/a and (1 − cos a)/a², also at a = 0
    first, second = np.sinc(size / np.pi), 0.5 * np.sinc(0.5 * size / np.pi) ** 2
    rotation: Vec = np.eye(3) + first * cross + second * cross @ cross
    return rotation
