"""Bilateral Staggered Projections: friction inside joints without a contact problem over the whole mechanism."""

from __future__ import annotations

import numpy as np

from ..coordinates import tree_kernels
from ..rows.bounded_rows import BoundedRows
from ..rows.names import NO_MULTIPLIERS, RowMultipliers
from ..state import Index, Vec
from .bearings import BearingContacts, Bearings
from .interface import FrictionAnswer, PosedJoints
from .kernels import add_lines, free_wrenches, size_in

LEAST, FARTHEST = 0.2, 2.0  #: parts of the way to the bounds that the last pass gave
TINY = float(np.finfo(float).tiny)


class Bisp:
    """Contact and friction in turn until the contact forces stay. [Thesis Alg. 3.2, changed: f̃ in 3.5b too]

    In reduced coordinates the joints hold by themselves, so contact is no problem to solve: what a joint carries is
    read off the step, handed from the leaves to the root, and shared by the points of its bearing locally. Friction is
    one quadratic program in the slips of all bearings, which stays the same over the passes but for its bounds.
    """

    acts_on = "everything"

    def __init__(self, params: dict[str, float]) -> None:
        """params: passes, at most; agreement, the change of contact forces that counts as none, as a share of them."""
        self.passes, self.agreement = int(params["passes"]), params["agreement"]

    def rub(self, posed: PosedJoints, bearings: Bearings, warm: RowMultipliers = NO_MULTIPLIERS) -> FrictionAnswer:
        """Return the step's rates with friction. Raises StepFailed."""
        if not bearings.lines:
            return FrictionAnswer(posed.solve(np.zeros(len(posed.S))), NO_MULTIPLIERS, 0, 0, True)
        at = BearingContacts(bearings, posed.parent, posed.dof, posed.E, posed.X, posed.S)
        free = FreeDirections(posed, bearings)
        G, along = at.rows.G, warm.at(at.rows.name)
        friction = BoundedRows(at.rows, posed.respond, along)
        before: Vec | None = None
        most, last, part = np.zeros(0), np.zeros(0), 1.0
        loads: list[Vec] = []
        for done in range(self.passes + 1):
            u = posed.solve(G.T @ along)
            if done == self.passes:
                break
            # contact: what each joint carries, and which points carry it
            carried = self.carried(posed, at, u, along, free)
            if before is not None:
                most_of_it = min(part, 1.0) * self.agreement * size_in(carried, bearings.weight)
                if size_in(carried - before, bearings.weight) <= most_of_it:
                    # bounds were met half-way: now none is beyond what the loads of this very pass allow
                    loads = at.loads(carried, posed.in_loops())
                    bound = at.bounds(loads)
                    if (np.abs(along) > bound).any():
                        along = np.clip(along, -bound, bound)
                        u = posed.solve(G.T @ along)
                    return FrictionAnswer(u, friction.named(along), done + 1, friction.iterations, True, loads)
            before = carried
            loads = at.loads(carried, posed.in_loops())
            # friction: as much as they allow, and as it takes to stop
            bound = at.bounds(loads)
            if done == 0:
                most = bound
            else:
                off = bound - most
                part = _part(off, last, part)
                most, last = np.maximum(most + part * off, 0.0), off
            if done == self.passes - 1:  # no agreement: at least no friction exceeds what its load allows
                most = np.minimum(most, bound)
            along = friction.solve(u, (-most, most), present=along)
        return FrictionAnswer(u, friction.named(along), self.passes, friction.iterations, False, loads)

    @staticmethod
    def carried(posed: PosedJoints, at: BearingContacts, u: Vec, along: Vec, free: FreeDirections | None = None) -> Vec:
        """Return the reaction of each joint on the body below it: springs, motors and friction taken out, (n, 6).

        The whole reaction of a leaf is its joint's; its opposite is taken from the parent, and so on to the root.
        [Thesis 3.5]
        """
        inside, in_loops = at.wrenches(along)
        whole = posed.reaction(u)
        if in_loops is not None:
            whole = whole - in_loops
        handed = np.empty_like(whole)
        tree_kernels.gather(posed.parent, posed.dof, posed.X, posed.S, whole, scratch=handed)
        handed -= inside
        effort = posed.effort(u)
        if effort.any():
            handed -= (free or FreeDirections(posed, at.bearings)).wrenches(effort)
        return handed


class FreeDirections:
    """The joints' free directions at one posture: wrenches along them, S (SᵀS)⁻¹ about each joint's origin. They are
    found at the first use, as mechanisms without springs, motors and limits need none."""

    def __init__(self, posed: PosedJoints, bearings: Bearings) -> None:
        self._posed, self._at_joint = posed, bearings.at_joint
        #: the body below each rate, (m,), and the wrench along it, (m, 1, 6)
        self._found: tuple[Index, Vec] | None = None

    def wrenches(self, effort: Vec) -> Vec:
        """Return wrenches that do `effort`, (m,), on the rates: (n, 6) on the bodies below. A hinge's motor is a torque
        about it and nothing else."""
        if self._found is None:
            self._found = np.empty(len(effort), np.int32), np.empty((len(effort), 1, 6))
            free_wrenches(self._posed.dof, self._posed.S, self._at_joint, *self._found)
        body, along = self._found
        out = np.zeros((len(self._posed.parent), 6))
        add_lines(body, effort[:, None], along, 1.0, out)
        return out


def efforts(posed: PosedJoints, bearings: Bearings, effort: Vec) -> Vec:
    """Return `FreeDirections.wrenches` of a single evaluation."""
    return FreeDirections(posed, bearings).wrenches(effort)


def _part(off: Vec, last: Vec, part: float) -> float:
    """How far to go towards the new bounds, from what they are off by now and were before going `part` of that way.

    Bounds that chase each other are met half-way, bounds that crawl are overtaken. [Irons 1969]
    """
    if not len(last):
        return part
    bent = off - last
    square = float(bent @ bent)
    if square <= TINY:
        return part
    return min(max(-part * float(last @ bent) / square, LEAST), FARTHEST)
