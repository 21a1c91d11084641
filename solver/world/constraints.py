"""What holds a mechanism besides forces: loops, drives, limits and contacts, put to each stage and kept after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..constraints.bilateral import Bilateral, Respond
from ..constraints.drives import Drives
from ..constraints.external import Answer, BilateralRows, External, FrictionRows, UnilateralRows
from ..constraints.limits import BallLimits, JointLimits
from ..constraints.loops import Loops
from ..constraints.projection import closed
from ..constraints.rows import Rows, no_rows, together
from ..contact.find.bodies import UNSEEN, Colliders, ContactSet
from ..coordinates.tree import CENTRES, Posture, Tree
from ..errors import StepFailed
from ..parts.joints.jointed import AHEAD, ConstraintAnswer, LinearizationPoint, PosedTree, Unsettled
from ..state import Index, Mask, State, Vec
from .joints import CONTACTS, EFFORT, REFLECTING

#: how far loops are moved to find whether they can [rad, m], and the share of it that those which cannot go back
NUDGE, TURNS_BACK = 0.01, 0.2

NO_ROWS = no_rows()
NOTHING = np.zeros((0, 3), dtype=np.int32)


@dataclass(frozen=True)
class Outside:
    """All rows of one stage, with their Jacobians at the posture where it is linearised."""

    loops: Rows
    drives: Rows
    contacts: Rows
    along: Rows
    limits: Rows
    limited: Rows  #: drives with a largest effort
    names: Index  #: of contacts and limits: who each one is in every stage of a step, (c, 3)
    split_targets: Vec | None  #: targets of all pushes for positions, (p,); None where they are those of velocities
    held: BilateralRows
    pushed: UnilateralRows
    rubbed: FrictionRows

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

    def pushing(self, answer: Answer) -> Index:
        """Names of the contacts and limits that push, (k, 3)."""
        pushing: Index = self.names[answer.pushed[:len(self.names)] > 0.0]
        return pushing

    def unsettled(self, answer: Answer, at: Posture) -> Unsettled | None:
        """Where contact and friction agree least in an answer; None where what they are off by does not show."""
        if answer.off is None or answer.off.max() <= UNSEEN:
            return None
        k = int(answer.off.argmax())
        body, torque, force = self.contacts.body[k], self.contacts.wrench[k, 0, :3], self.contacts.wrench[k, 0, 3:]
        E = at.E[body[0]]
        return Unsettled(float(answer.off[k]), body, E[:3, :3] @ np.cross(force, torque) + E[:3, 3])

    def owed(self, external: External, free: Vec, answer: Answer) -> Vec | None:
        """What positions have to move on besides the answer to `free`, both (m,), where bodies overlap; None where they
        do not. Raises StepFailed."""
        if self.split_targets is None:
            return None
        return external.solve(free, split_targets=self.split_targets).u - answer.u

    def effort(self, answer: Answer, rates: int) -> Vec:
        """Impulses of drives alone, (m,)."""
        out = np.zeros(rates)
        out[self.drives.rate] = answer.held[len(self.loops):]
        if len(self.limited):
            out[self.limited.rate] += answer.pushed[len(self.contacts) + len(self.limits):]
        return out


@dataclass
class MechanismConstraints:
    """Rows of a mechanism's world. What is None is not there.

    Loops, drives and limits are found anew wherever a stage is linearised, contacts once where a step begins: a table
    that changed while a stage is iterated would leave nothing to settle to.
    """

    tree: Tree
    loops: Loops | None = None
    drives: Drives | None = None
    limits: JointLimits | None = None
    ball_limits: BallLimits | None = None
    colliders: Colliders | None = None

    def __post_init__(self) -> None:
        self._posture = self.tree.blank()
        self._table: ContactSet | None = None  #: of the step that was begun
        self.pushing: Index = NOTHING  #: which contacts and limits pushed in the last stage, (k, 3)

    @property
    def is_bare(self) -> bool:
        """Whether nothing of it is there."""
        return all(one is None for one in (self.loops, self.drives, self.limits, self.ball_limits, self.colliders))

    def at_work(self, time: float) -> list[bool]:
        return [] if self.drives is None else self.drives.at_work(time)

    def started(self, state: State, respond: Respond) -> State:
        """The start with the nearest rates that loops and drives allow, as if struck at once. respond: M_r⁻¹.

        Raises StepFailed where there are none.
        """
        return replace(state, u=self._nearest(state, respond)[0])

    def reflected(self, state: State, respond: Respond, h: float) -> State:
        """The end of a leapfrog step of h seconds with the nearest rates that loops and drives allow; efforts are those
        of the whole step, half of what reflects momentum at its start and end in them. respond: M_r⁻¹.

        Raises StepFailed where there are no such rates.
        """
        u, impulses = self._nearest(state, respond)
        memory = dict(state.memory)
        if self.drives is not None:
            effort = np.zeros(self.tree.rates)
            driven = self.drives.rows(state.time, state.time, state.memory.get(CENTRES, self.tree.fresh), False)[0]
            effort[driven.rate] = impulses[len(impulses) - len(driven):] / h
            memory |= {EFFORT: memory.get(EFFORT, 0.0) + memory.get(REFLECTING, 0.0) + effort, REFLECTING: effort}
        return replace(state, u=u, memory=memory)

    def _nearest(self, state: State, respond: Respond) -> tuple[Vec, Vec]:
        """The nearest rates that loops and drives allow, and their impulses. Raises StepFailed where there are none."""
        if self.loops is None and self.drives is None:
            return state.u, np.zeros(0)
        _, G, target = self._place(state.q, state, state.time)
        try:
            return Bilateral(G, respond, np.zeros(len(G))).solve(state.u, target)
        except ValueError as failure:
            raise StepFailed(str(failure)) from failure

    def begin(self, lin: LinearizationPoint, time: float, h: float) -> None:
        """Find what touches, or may within a step of h seconds that starts at `time` [s], for all its stages."""
        if self.colliders is not None:
            self._table = self.colliders.table(self.tree, lin.posture, lin.q, time + h, h)

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
            drives = self.drives.rows(stage.time, stage.inside, centres, False)[0]
            if AHEAD in lin.memory:
                drives = replace(drives, target=drives.target + lin.memory[AHEAD][-1, drives.rate])
            limited, _, most = self.drives.rows(stage.time, stage.inside, centres, True)
        held = BilateralRows(self._jacobian(at, loops, drives), _stacked(loops.target, drives.target),
                    _stacked(loops.compliance, drives.compliance))

        contacts, along, names, apart = none, none, [NOTHING], None
        N, T, friction = np.zeros((0, tree.rates)), np.zeros((0, tree.rates)), np.zeros(0)
        if self.colliders is not None:
            # where no step was begun contacts are those of where the stage is linearised, and nobody asks what is owed
            table = None if stage.base is None else self._table
            begun = table is not None or stage.base is None
            if table is None:
                table = self.colliders.table(tree, at, lin.q, stage.time, stage.h)
            calm, apart = table.split_targets(base, stage.time, ahead)
            if apart is not None and not begun:
                calm, apart = apart, None
            contacts, along, N, T = table.normals.aimed(calm), table.tangents, table.N, table.T
            names, friction = [table.names], table.friction
        limits = none
        if self.limits is not None:
            limits = self.limits.rows(lin.q, lin.v, base, ahead)
            names.append(_named(-2, limits.rate, limits.rate_factor < 0.0))
        if self.ball_limits is not None:
            of_balls = self.ball_limits.rows(lin.q, lin.v, base, ahead, lin.memory.get(CENTRES, tree.fresh), at.X)
            names.append(_named(-3, of_balls.owner, np.zeros(len(of_balls))))
            limits = together([limits, of_balls])
        effort = most * share
        first = len(contacts) + len(limits)
        low = np.concatenate([np.zeros(first), -effort])
        high = np.concatenate([np.full(first, np.inf), effort])
        targets = np.concatenate([contacts.target, limits.target, limited.target])
        pushed = UnilateralRows(np.concatenate([N, self._jacobian(at, limits, limited)]), targets, low, high)
        split_targets = None if apart is None else np.concatenate([apart, targets[len(apart):]])
        return Outside(loops, drives, contacts, along, limits, limited, np.concatenate(names), split_targets,
                       held, pushed, FrictionRows(T, along.target, friction))

    def solve(self, posed: PosedTree, free: Vec) -> ConstraintAnswer:
        """Rates and impulses under all rows, from the rates that forces alone would give, (m,). Raises StepFailed."""
        outside = self.rows(posed)
        if self.drives is None and outside.is_empty:
            self.pushing = NOTHING
            return ConstraintAnswer(free)
        try:
            external = External(posed.respond, outside.held, outside.pushed, outside.rubbed)
        except ValueError as failure:
            raise StepFailed(str(failure)) from failure
        answer = external.solve(free)
        return self.answered(posed, outside, answer, outside.owed(external, free, answer))

    def answered(self, posed: PosedTree, outside: Outside, answer: Answer, owed: Vec | None) -> ConstraintAnswer:
        """What the posed stage and the State keep of an answer; owed: what positions move on besides, (m,)."""
        self.pushing = outside.pushing(answer)
        memory: Mapping[str, Vec] = {}
        if self.drives is not None:
            memory = {EFFORT: outside.effort(answer, self.tree.rates) / (posed.stage.a * posed.stage.h)}
        worst = outside.unsettled(answer, posed.lin.posture)
        return ConstraintAnswer(answer.u, outside.on_bodies(answer, self.tree.count), memory,
                                () if worst is None else (CONTACTS,), worst, owed)

    def close(self, state: State, posed: PosedTree) -> State:
        """The state with loops closed and drives where they are told to be. Raises StepFailed."""
        if self.loops is None and self.drives is None:
            return state
        q, u = closed(state.q, state.u, lambda q: self._place(q, state, posed.stage.inside), posed.respond)
        return replace(state, q=q, u=u)

    def behind(self, state: State, posed: PosedTree) -> Vec:
        """By how much coordinates lack what their drives want at a state's time, (m,); 0 where nothing does."""
        out = np.zeros(self.tree.rates)
        if self.drives is not None:
            centres = state.memory.get(CENTRES, self.tree.fresh)
            drives, wanted, _ = self.drives.rows(state.time, posed.stage.inside, centres, False)
            out[drives.rate] = wanted - state.q[drives.rate]
        return out

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

    def taut(self, state: State, posed: PosedTree) -> str:
        """Name of a loop that is stretched straight or folded flat, so that it stops at once what its rows let begin,
        such as a bridge of planks that sags; "" where there is none.

        A little way along what rows allow the loops are open by its square. To close them takes as little again where
        they bend, and half of the way where the rows have only come to be on it.
        """
        if self.loops is None:
            return ""
        held = self._jacobian(posed.lin.posture, self.loops.rows(posed.lin.posture.E)[0])
        way = Bilateral(held, posed.respond, np.zeros(len(held))).respond(np.cos(np.arange(float(self.tree.rates))))
        farthest = float(np.abs(way).max(initial=0.0))
        if not farthest > 0.0:
            return ""
        way *= NUDGE / farthest
        at = self.tree.posture(state.q + way, state.u, state.memory, self._posture)
        rows, off = self.loops.rows(at.E)
        there = Bilateral(self._jacobian(at, rows), posed.respond, np.zeros(len(rows)))
        back = float(np.abs(there.Y @ there.multipliers(off)).max(initial=0.0))
        return self.loops.names[self.loops.loop[int(np.argmax(np.abs(off)))]] if back > TURNS_BACK * NUDGE else ""

    def _place(self, q: Vec, state: State, asked: float) -> tuple[Vec, Vec, Vec]:
        """What must hold exactly at a state's time: by how much it is off at q, its rows, and their rates.

        asked: when drives are at work [s].
        """
        at = self.tree.posture(q, state.u, state.memory, self._posture)
        loops, drives, off, late = NO_ROWS, NO_ROWS, np.zeros(0), np.zeros(0)
        if self.loops is not None:
            loops, off = self.loops.rows(at.E)
        if self.drives is not None:
            centres = state.memory.get(CENTRES, self.tree.fresh)
            drives, wanted, _ = self.drives.rows(state.time, asked, centres, False)
            late = q[drives.rate] - wanted
        return _stacked(off, late), self._jacobian(at, loops, drives), _stacked(loops.target, drives.target)

    def _jacobian(self, at: Posture, *tables: Rows) -> Vec:
        """Rows of all tables in rates, one table below the other, (r, m)."""
        out, first = np.empty((sum(map(len, tables)), self.tree.rates)), 0
        for rows in tables:
            if len(rows):
                rows.jacobian(self.tree.parent, self.tree.dof, at.X, at.S, out[first:first + len(rows)])
                first += len(rows)
        return out


def _stacked(one: Vec, other: Vec) -> Vec:
    """One after the other; not copied where there is only one."""
    return np.concatenate([one, other]) if len(one) and len(other) else one if len(one) else other


def _named(kind: int, number: Index, end: Mask | Vec) -> Index:
    """Names of rows, (r, 3)."""
    named: Index = np.stack([np.full(len(number), kind), number, end], axis=1).astype(np.int32)
    return named
