"""Programs of few rows by their dual: bilateral rows are eliminated, then unilateral rows and friction cones are
solved."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..state import Vec
from .bilateral import Bilateral, Respond
from .bounded import BoundedProgram
from .names import Multipliers, Names, tangent_names
from .semismooth_kernels import UNSETTLED, semismooth_newton
from .tables import ConeRows, DenseRows, SparseRows

NO_SLIP = 1.0e-12  #: slip below which it has no direction [m/s]


@dataclass(frozen=True)
class Solution:
    """Rates under all rows, and the rows' impulses."""

    u: Vec  #: (m,)
    bilateral: Vec  #: (r,)
    unilateral: Vec  #: (p,)
    friction: Vec  #: along the rows of `ConeRows`, (2 k,)
    sweeps: int  #: of contact and friction
    #: residual of contact and friction at each contact where sweeps ran out [m/s], (k,); None: they converged
    off: Vec | None = None
    name: Names = field(default_factory=lambda: np.zeros(0, np.int64))  #: of the unilateral rows, (p,)

    @property
    def active(self) -> Multipliers:
        """Return the nonzero multipliers of unilateral rows and cones, to start another solution from."""
        along = tangent_names(self.name[:len(self.friction) // 2])
        own, loaded = np.flatnonzero(self.unilateral), np.flatnonzero(self.friction)
        return Multipliers.of((self.name[own], self.unilateral[own]), (along[loaded], self.friction[loaded]))


class DenseDual:
    """min ½ uᵀ A u − uᵀ b under all rows, posed once and solved for many b; A is known by its response A⁻¹.

    Bilateral rows are eliminated by their dual; the remaining program is small and dense in the impulses alone.
    Unilateral rows and cones are two programs that are solved in turn, each at the other's last solution (staggered
    projections), until Newton's method converges from there to a common solution. The program of the unilateral rows is
    solved last, so that nothing penetrates whatever friction does. Friction's square bounds are rotated so that one of
    their axes lies along the slip: straight sliding has the friction of the circular cone. [Thesis 3.8] [Thesis 3.9]
    """

    #: compliance of all rows, relative to the mean one: it separates redundant rows, such as four feet of one table
    indeterminate = 1.0e-9
    #: compliance relative to that without bilateral rows, up to which these prescribe a row's motion
    prescribed = 1.0e-9
    max_sweeps = 50  #: sweeps of contact and friction in turn
    tries = (1, 3, 8, 20)  #: sweeps after which Newton's method is tried from there
    newton_iterations = 12  #: iterations of Newton's method, after which sweeps go on
    #: change of velocities in a sweep, relative to the largest that impulses change, up to which both agree
    agreed = 1.0e-9

    def __init__(self, respond: Respond, bilateral: DenseRows, unilateral: DenseRows | SparseRows,
                 cones: ConeRows) -> None:
        """respond: A⁻¹ on rates, or M⁻¹ on twists with rows on twists. unilateral: contacts first, as many as `cones`
        has; sparse rows only without cones. Raises ValueError where a row is not finite."""
        self._equations, self._unilateral, self._cones = bilateral, unilateral, cones
        self._k, self._p = len(cones.friction), len(unilateral)
        r = len(bilateral)
        rows, dense = unilateral.stack(cones)
        if not rows.shape[0]:
            self.bilateral = Bilateral(bilateral, respond)
            return
        self._rows = rows
        response = respond(np.ascontiguousarray(np.concatenate([bilateral.G, dense]).T))
        free = response[:, r:]
        self.bilateral = Bilateral(bilateral, respond, np.ascontiguousarray(response[:, :r]))
        #: multipliers of the bilateral rows by a unit impulse of each other row, (r, p + 2 k)
        self._reactions: Vec = self.bilateral.multipliers(bilateral.G @ free)
        self._Y: Vec = free - self.bilateral.Y @ self._reactions if r else free
        W = rows @ self._Y
        W = 0.5 * (W + W.T)
        if r:
            # rows whose motion drives prescribe entirely have the compliance that they had without drives
            undriven = np.einsum("ij,ji->i", dense, free)
            prescribed = W.diagonal() <= self.prescribed * undriven
            if prescribed.any():
                self._Y[:, prescribed] = 0.0
                W[prescribed], W[:, prescribed] = 0.0, 0.0
                W[prescribed, prescribed] = undriven[prescribed]
        p = self._p
        for part in (slice(0, p), slice(p, len(W))):
            diagonal = np.einsum("ii->i", W[part, part])
            diagonal += self.indeterminate * float(diagonal.sum()) / max(len(diagonal), 1) + _LEAST
        np.einsum("ii->i", W)[:p] += unilateral.compliance
        self._W = W
        self._last: tuple[Vec, Vec] | None = None
        self._rotated: tuple[Vec, Vec] | None = None  #: rotation to the slip of the first solution, and W in these axes
        self._off: Vec = np.zeros(0)  #: residual of the last sweep, (k,) [m/s]

    def solve(self, free: Vec, warm: Multipliers | None = None, split_targets: Vec | None = None) -> Solution:
        """Return rates and multipliers under all rows, from the rates without any, (m,). Raises StepFailed.

        warm: multipliers of a similar program, from which the first solution starts; later ones start from the previous
        one. split_targets: targets of the unilateral rows for positions alone, (p,); None: the rows' own.
        """
        u, reaction = free, np.zeros(0)
        if len(self._equations):
            u, reaction = self.bilateral.solve(free)
        if not self._p:
            return Solution(u, reaction, np.zeros(0), np.zeros(0), 0)
        along = self._rows @ u
        p = self._p
        target = self._unilateral.target if split_targets is None else split_targets
        normal, friction_impulse, sweeps = self._stagger(along[:p] - target, along[p:] - self._cones.target,
                                                         self._last or self._guess(warm))
        self._last = normal, friction_impulse
        impulse = np.concatenate([normal, friction_impulse])
        if len(self._equations):
            # bilateral rows react to the other impulses
            reaction = reaction - self._reactions @ impulse
        return Solution(u + self._Y @ impulse, reaction, normal, friction_impulse, min(sweeps, self.max_sweeps),
                        None if sweeps <= self.max_sweeps else self._off, self._unilateral.name)

    def _guess(self, warm: Multipliers | None) -> tuple[Vec, Vec] | None:
        """Return the impulses of a warm start for the rows, (p,) and (2 k,), 0 for rows that it does not have; None
        without one."""
        if warm is None or not len(warm):
            return None
        name = self._unilateral.name
        return warm.at(name), warm.at(tangent_names(name[:self._k]))

    def _stagger(self, approach: Vec, slip: Vec, guess: tuple[Vec, Vec] | None) -> tuple[Vec, Vec, int]:
        """Return normal impulses (p,), friction impulses (2 k,) and the number of sweeps, max_sweeps + 1 where these
        ran out.

        approach, slip: velocities along the rows without impulses, (p,) and (2 k,). guess: initial impulses of both.
        """
        p, k = self._p, self._k
        low, high = self._unilateral.low, self._unilateral.high
        if guess is not None and self._rotated is not None:
            # rows of an earlier solution: start from its impulses
            rotation, W = self._rotated
            at = np.concatenate([approach, rotation.T @ slip])
            both = self._both_at(W, at, np.concatenate([guess[0], rotation.T @ guess[1]]))
            if both is not None:
                return both[:p], rotation @ both[p:], 1
        own, cross = self._W[:p, :p], self._W[:p, p:]
        contact = BoundedProgram(own, approach, None if guess is None else guess[0])
        normal = contact.solve(approach, low, high)
        if not (self._cones.friction > 0.0).any() or not normal[:k].any():
            return normal, np.zeros(2 * k), 1

        if self._rotated is None:
            rotation = _along(slip + cross.T @ normal)
            W = self._W.copy()
            W[:p, p:] = cross @ rotation
            W[p:, :p], W[p:, p:] = W[:p, p:].T, rotation.T @ W[p:, p:] @ rotation
            self._rotated = rotation, W
        rotation, W = self._rotated
        cross, at = W[:p, p:], np.concatenate([approach, rotation.T @ slip])
        slip = at[p:]
        both = self._both_at(W, at, np.concatenate([normal, np.zeros(2 * k)]))
        if both is not None:
            return both[:p], rotation @ both[p:], 1
        friction_impulse = np.zeros(2 * k) if guess is None else rotation.T @ guess[1]
        friction = BoundedProgram(W[p:, p:], slip, friction_impulse)
        size = float(np.abs(own @ normal).max()) + _LEAST
        for sweeps in range(1, self.max_sweeps + 1):
            most = np.repeat(self._cones.friction * np.maximum(normal[:k], 0.0), 2)
            before, friction_impulse = friction_impulse, friction.solve(slip + cross.T @ normal, -most, most)
            normal = contact.solve(approach + cross @ friction_impulse, low, high)
            off = np.abs(cross @ (friction_impulse - before))
            if float(off.max()) <= self.agreed * size and sweeps > 1:
                break
            both = self._both_at(W, at, np.concatenate([normal, friction_impulse])) if sweeps in self.tries else None
            if both is not None:
                normal, friction_impulse = both[:p], both[p:]
                break
        else:
            sweeps, self._off = sweeps + 1, off[:k]
        return normal, rotation @ friction_impulse, sweeps

    def _both_at(self, W: Vec, at: Vec, impulse: Vec) -> Vec | None:
        """Return impulses that satisfy contact and friction, by Newton's method from `impulse` (p + 2 k,), which is
        overwritten; None where it does not converge, as in a jam with no or many solutions.

        at: velocities without impulses, (p + 2 k,).
        """
        side = np.empty(len(W), dtype=np.int64)
        taken = semismooth_newton(W, at, self._unilateral.low, self._unilateral.high, self._cones.friction,
                                  self.newton_iterations, len(W), impulse, side)
        return None if taken == UNSETTLED else impulse


def _along(slip: Vec) -> Vec:
    """Return block diagonal rotations (2 k, 2 k) whose first column for each contact is along its slip (2 k,)."""
    rotation = np.zeros((len(slip), len(slip)))
    x, y = slip[0::2], slip[1::2]
    size = np.hypot(x, y)
    sticks = size < NO_SLIP
    c, s = (np.where(sticks, 1.0, x / np.where(sticks, 1.0, size)),
            np.where(sticks, 0.0, y / np.where(sticks, 1.0, size)))
    i = np.arange(0, len(slip), 2)
    rotation[i, i], rotation[i + 1, i], rotation[i, i + 1], rotation[i + 1, i + 1] = c, s, -s, c
    return rotation


_LEAST = float(np.finfo(float).tiny)
