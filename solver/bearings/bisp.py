"""Bilateral Staggered Projections: friction inside joints without a contact problem over the whole mechanism."""

from __future__ import annotations

import numpy as np

from ..coordinates import tree_kernels
from ..rows.bounded_rows import BoundedRows
from ..rows.names import NO_MULTIPLIERS, RowMultipliers
from ..state import Index, Vec
from .bearings import BearingContacts, Bearings
from .interface import FrictionSolution, PosedJoints, S, SolvedJoints
from .kernels import add_lines, free_wrenches, size_in

LEAST, FARTHEST = 0.2, 2.0  #: limits of the relaxation of bounds
TINY = float(np.finfo(float).tiny)


class Bisp:
    """Bilateral Staggered Projections: contact and friction alternate until the contact forces converge.

    In reduced coordinates joints need no constraints, so contact is no problem to solve: the impulse that a joint
    transmits follows from the step, accumulated from the leaves to the root, and is distributed to the points of its
    bearing locally. Friction is one quadratic program in the slips of all bearings, of which only the bounds change
    from sweep to sweep. [Thesis Alg. 3.2, changed: f̃ in 3.5b too]
    """

    acts_on = "everything"

    def __init__(self, params: dict[str, float]) -> None:
        """params: passes, the largest number; agreement, relative change of contact forces below which they have
        converged."""
        self.max_sweeps, self.agreement = int(params["passes"]), params["agreement"]

    def solve(self, posed: PosedJoints[S], bearings: Bearings, warm: RowMultipliers = NO_MULTIPLIERS
              ) -> FrictionSolution[S]:
        """Return the step's rates with friction. Raises StepFailed where the step cannot be solved.

        bearings: of all joints and loops. warm: friction impulses of the last step, the initial guess.
        """
        if not bearings.lines:
            solved = posed.solve(np.zeros(len(posed.S)))
            return FrictionSolution(solved.rates, NO_MULTIPLIERS, 0, 0, True, solved)
        at = BearingContacts(bearings, posed.parent, posed.dof, posed.E, posed.X, posed.S)
        free = FreeDirections(posed, bearings)
        G, along = at.rows.G, warm.at(at.rows.name)
        friction = BoundedRows(at.rows, posed.respond, along)
        before: Vec | None = None
        most, last, part = np.zeros(0), np.zeros(0), 1.0
        loads: list[Vec] = []
        for done in range(self.max_sweeps + 1):
            solved = posed.solve(G.T @ along)
            if done == self.max_sweeps:
                break
            # contact: the impulse that each joint transmits, and the loads of its points
            transmitted = self.compute_reactions(posed, solved, at, along, free)
            if before is not None:
                most_of_it = min(part, 1.0) * self.agreement * size_in(transmitted, bearings.weight)
                if size_in(transmitted - before, bearings.weight) <= most_of_it:
                    # bounds were under-relaxed: now no friction exceeds the bounds of this sweep
                    loads = at.loads(transmitted, solved.in_loops)
                    bound = at.bounds(loads)
                    if (np.abs(along) > bound).any():
                        along = np.clip(along, -bound, bound)
                        solved = posed.solve(G.T @ along)
                    return FrictionSolution(solved.rates, friction.name_multipliers(along), done + 1,
                                            friction.iterations, True, solved, loads)
            before = transmitted
            loads = at.loads(transmitted, solved.in_loops)
            # friction within the bounds of these loads
            bound = at.bounds(loads)
            if done == 0:
                most = bound
            else:
                off = bound - most
                part = _part(off, last, part)
                most, last = np.maximum(most + part * off, 0.0), off
            if done == self.max_sweeps - 1:  # not converged: at least no friction exceeds the bound of its load
                most = np.minimum(most, bound)
            along = friction.solve(solved.rates, (-most, most), present=along)
        return FrictionSolution(solved.rates, friction.name_multipliers(along), self.max_sweeps, friction.iterations,
                                False, solved, loads)

    @staticmethod
    def compute_reactions(posed: PosedJoints[SolvedJoints], solved: SolvedJoints, at: BearingContacts, along: Vec,
                          free: FreeDirections | None = None) -> Vec:
        """Return the reaction of each joint on the body below it, without springs, motors and friction, (n, 6) [N m s,
        N s].

        solved: solution of the step. along: friction impulses along lines, (r,) [N s]. The whole reaction of a leaf is
        its joint's; its opposite is subtracted from the parent, and so on to the root. [Thesis 3.5]
        """
        inside, in_loops = at.wrenches(along)
        whole = solved.reaction
        if in_loops is not None:
            whole = whole - in_loops
        handed = np.empty_like(whole)
        tree_kernels.gather(posed.parent, posed.dof, posed.X, posed.S, whole, scratch=handed)
        handed -= inside
        effort = solved.effort
        if effort.any():
            handed -= (free or FreeDirections(posed, at.bearings)).wrenches(effort)
        return handed


class FreeDirections:
    """Free directions of the joints at one posture: wrenches along them, S (SᵀS)⁻¹ about each joint's origin.

    They are computed at the first use, since mechanisms without springs, motors and limits need none.
    """

    def __init__(self, posed: PosedJoints[SolvedJoints], bearings: Bearings) -> None:
        """posed: stage of the mechanism. bearings: of all joints and loops."""
        self._posed, self._at_joint = posed, bearings.at_joint
        #: the body below each rate, (m,), and the wrench along it, (m, 1, 6)
        self._wrenches: tuple[Index, Vec] | None = None

    def wrenches(self, effort: Vec) -> Vec:
        """Return the wrenches of efforts on the rates, (m,) [N m s, N s], on the bodies below, (n, 6).

        The wrench of a hinge's motor is a torque about its axis alone.
        """
        if self._wrenches is None:
            self._wrenches = np.empty(len(effort), np.int32), np.empty((len(effort), 1, 6))
            free_wrenches(self._posed.dof, self._posed.S, self._at_joint, *self._wrenches)
        body, along = self._wrenches
        out = np.zeros((len(self._posed.parent), 6))
        add_lines(body, effort[:, None], along, 1.0, out)
        return out


def efforts(posed: PosedJoints[SolvedJoints], bearings: Bearings, effort: Vec) -> Vec:
    """Return the wrenches of efforts on the rates, (m,), on the bodies below, (n, 6), as `FreeDirections.wrenches`."""
    return FreeDirections(posed, bearings).wrenches(effort)


def _part(off: Vec, last: Vec, part: float) -> float:
    """Return the fraction of the step to the new bounds to take, from the differences before and after the last
    fraction.

    Bounds that oscillate are under-relaxed, bounds that converge slowly over-relaxed. [Irons 1969]
    """
    if not len(last):
        return part
    bent = off - last
    square = float(bent @ bent)
    if square <= TINY:
        return part
    return min(max(-part * float(last @ bent) / square, LEAST), FARTHEST)
