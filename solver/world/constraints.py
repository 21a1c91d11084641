"""What holds a mechanism besides forces: loops, drives, limits and contacts, put to each stage and kept after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..condensation.tree import Held as Answered
from ..contact.find.bodies import Colliders, Touching
from ..contact.find.drives import Drives
from ..contact.find.limits import BallLimits, Limits
from ..contact.find.loops import Loops
from ..contact.laws.bilateral import Bilateral
from ..contact.laws.external import Answer, External, Held, Pushed, Rubbed
from ..contact.laws.projection import closed
from ..contact.laws.rows import Rows, no_rows, together
from ..coordinates.tree import CENTRES, Posture, Tree
from ..errors import StepFailed
from ..state import State, Vec
from .mechanism import EFFORT

if TYPE_CHECKING:
    from ..condensation.tree import PosedTree

NO_ROWS = no_rows()
PUSH_OUT = 1.0  #: [m/s] at which bodies that overlap part, at most
IMPACT = 3.0  #: times what forces change along contacts and limits in a stage: what these change more is an impact
STILL = 1.0e-6  #: of the velocities along them: a smaller change is none


@dataclass(frozen=True)
class Outside:
    """All rows of one stage, with their Jacobians at the posture where it is linearised."""

    loops: Rows
    drives: Rows
    contacts: Rows
    along: Rows
    limits: Rows
    limited: Rows  #: drives with a largest effort
    touching: Touching | None
    held: Held
    pushed: Pushed
    rubbed: Rubbed

    def is_impact(self, answer: Answer, free: Vec, kept: Vec) -> bool:
        """Whether a contact or a limit made the velocity jump. free: rates that forces alone would give, (m,). kept:
        those that inertia would keep."""
        count = len(self.contacts) + len(self.limits)
        pressing = answer.pushed[:count] > 0.0
        if not pressing.any():
            return False
        before, by_forces, by_rows = (self.pushed.N[:count] @ way for way in (kept, free - kept, answer.u - free))
        least = IMPACT * np.abs(by_forces).max() + STILL * np.abs(before).max()
        return bool(by_rows[pressing].max() > least)

    @property
    def is_empty(self) -> bool:
        """Whether nothing holds or touches at all."""
        return not (len(self.held.target) or len(self.pushed.target))

    def on_bodies(self, answer: Answer, bodies: int) -> Vec:
        """Impulses of rows on bodies, in their frames, (n, 6)."""
        out = self.contacts.wrenches(answer.pushed[:len(self.contacts)], bodies)
        self.along.wrenches(answer.rubbed, bodies, out)
        if len(self.limits):
            first = len(self.contacts)
            self.limits.wrenches(answer.pushed[first:first + len(self.limits)], bodies, out)
        return self.loops.wrenches(answer.held[:len(self.loops)], bodies, out)

    def on_rates(self, answer: Answer, rates: int) -> Vec:
        """Impulses of drives and of limits but those of balls, (m,)."""
        out = self.effort(answer, rates)
        if len(self.limits):
            first, of_rates = len(self.contacts), self.limits.rate >= 0
            impulse = self.limits.rate_factor * answer.pushed[first:first + len(self.limits)]
            np.add.at(out, self.limits.rate[of_rates], impulse[of_rates])
        return out

    def effort(self, answer: Answer, rates: int) -> Vec:
        """Impulses of drives alone, (m,)."""
        out = np.zeros(rates)
        out[self.drives.rate] = answer.held[len(self.loops):]
        if len(self.limited):
            out[self.limited.rate] += answer.pushed[len(self.contacts) + len(self.limits):]
        return out


@dataclass
class Constraints:
    """Rows of a mechanism's world, found anew in every stage. What is None is not there."""

    tree: Tree
    loops: Loops | None = None
    drives: Drives | None = None
    limits: Limits | None = None
    ball_limits: BallLimits | None = None
    colliders: Colliders | None = None

    def __post_init__(self) -> None:
        self._posture = self.tree.blank()

    def rows(self, posed: PosedTree) -> Outside:
        """All rows at the stage's posture. [Thesis 3.8]"""
        lin, stage = posed.lin, posed.stage
        at, tree, share = lin.posture, self.tree, stage.a * stage.h
        ahead = stage.b * stage.h
        base = lin.q if stage.base is None else stage.base
        none = NO_ROWS

        loops = none if self.loops is None else self.loops.rows(at.E)[0]
        drives, limited, most = none, none, np.zeros(0)
        if self.drives is not None:
            centres = lin.memory.get(CENTRES, tree.fresh)
            drives = self.drives.rows(stage.time, centres, False)[0]
            limited, _, most = self.drives.rows(stage.time, centres, True)
        held = Held(self._jacobian(at, loops, drives), _joined(loops.target, drives.target),
                    _joined(loops.compliance, drives.compliance))

        touching, contacts, along = None, none, none
        if self.colliders is not None:
            touching = self.colliders.find(at.E, at.twist, stage.time, stage.h)
            if len(touching):
                contacts, along = touching.rows(at.E)
        limits = none if self.limits is None else self.limits.rows(lin.q, lin.v, base, ahead)
        if self.ball_limits is not None:
            of_balls = self.ball_limits.rows(lin.q, lin.v, base, ahead, lin.memory.get(CENTRES, tree.fresh), at.X)
            limits = together([limits, of_balls])
        N = self._jacobian(at, contacts, limits, limited)
        if touching is not None:
            # gaps are to where obstacles are at the stage's end, from where the stage is linearised
            parting = -(touching.gap + N[:len(contacts)] @ (base - lin.q)) / ahead
            contacts = contacts.aimed(np.minimum(parting, contacts.target + PUSH_OUT))
        effort = most * share
        first = len(contacts) + len(limits)
        low = np.concatenate([np.zeros(first), -effort])
        high = np.concatenate([np.full(first, np.inf), effort])
        pushed = Pushed(N, np.concatenate([contacts.target, limits.target, limited.target]), low, high)
        rubbed = Rubbed(self._jacobian(at, along), along.target,
                        np.zeros(0) if touching is None else touching.friction)
        return Outside(loops, drives, contacts, along, limits, limited, touching, held, pushed, rubbed)

    def solve(self, posed: PosedTree, free: Vec) -> Answered:
        """Rates and impulses under all rows, from the rates that forces alone would give, (m,). Raises StepFailed."""
        outside = self.rows(posed)
        if self.drives is None and outside.is_empty:
            return Answered(free)
        try:
            answer = External(posed.respond, outside.held, outside.pushed, outside.rubbed).solve(free)
        except ValueError as failure:
            raise StepFailed(str(failure)) from failure
        return self.answered(posed, outside, answer, free)

    def answered(self, posed: PosedTree, outside: Outside, answer: Answer, free: Vec) -> Answered:
        """What the posed stage and the State keep of an answer; free: the rates without any row, (m,)."""
        n, m = self.tree.count, self.tree.rates
        memory: Mapping[str, Vec] = {}
        if self.drives is not None:
            memory = {EFFORT: outside.effort(answer, m) / (posed.stage.a * posed.stage.h)}
        return Answered(answer.u, outside.on_bodies(answer, n), outside.on_rates(answer, m), memory,
                        posed.stage.base is not None and outside.is_impact(answer, free, posed.stage.v_hat))

    def close(self, state: State, posed: PosedTree) -> State:
        """The state with loops closed and drives where they are told to be. Raises StepFailed."""
        if self.loops is None and self.drives is None:
            return state
        q, u = closed(state.q, state.u, lambda q: self._place(q, state), posed.respond)
        return replace(state, q=q, u=u)

    def open_by(self, posture: Posture) -> Vec:
        """How far the points of each loop are apart, or its axes from where they should be [m, rad], (l,)."""
        if self.loops is None:
            return np.zeros(0)
        out = np.zeros(len(self.loops.names))
        np.maximum.at(out, self.loops.loop, np.abs(self.loops.rows(posture.E)[1]))
        return out

    def outside(self, state: State) -> set[int]:
        """Rates whose limits are passed; of a ball its first."""
        found = set[int]()
        if self.limits is not None:
            found |= set(self.limits.outside(state.q).tolist())
        if self.ball_limits is not None:
            found |= set(self.ball_limits.outside(state.q, state.memory.get(CENTRES, self.tree.fresh)).tolist())
        return found

    def redundant(self, posed: PosedTree) -> list[str]:
        """Names of loops that, at a stage's posture, hold what joints or other loops hold already."""
        if self.loops is None:
            return []
        G = self._jacobian(posed.lin.posture, self.loops.rows(posed.lin.posture.E)[0])
        return self.loops.said(Bilateral(G, posed.respond, np.zeros(len(G))).redundant)

    def _place(self, q: Vec, state: State) -> tuple[Vec, Vec, Vec]:
        """What must hold exactly: by how much it is off at q, its rows there, and the rates that these have."""
        at = self.tree.posture(q, state.u, state.memory, self._posture)
        loops, drives, off, late = NO_ROWS, NO_ROWS, np.zeros(0), np.zeros(0)
        if self.loops is not None:
            loops, off = self.loops.rows(at.E)
        if self.drives is not None:
            drives, wanted, _ = self.drives.rows(state.time, state.memory.get(CENTRES, self.tree.fresh), False)
            late = q[drives.rate] - wanted
        return _joined(off, late), self._jacobian(at, loops, drives), _joined(loops.target, drives.target)

    def _jacobian(self, at: Posture, *tables: Rows) -> Vec:
        """Rows of all tables in rates, one table below the other, (r, m)."""
        out, first = np.empty((sum(map(len, tables)), self.tree.rates)), 0
        for rows in tables:
            if len(rows):
                rows.jacobian(self.tree.parent, self.tree.dof, at.X, at.S, out[first:first + len(rows)])
                first += len(rows)
        return out


def _joined(one: Vec, other: Vec) -> Vec:
    """One after the other; not copied where there is only one."""
    return np.concatenate([one, other]) if len(one) and len(other) else one if len(one) else other
