"""Constraints of a mechanism: loops, drives, limits and contacts as rows of each stage, and their projection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..constraints.drives import Drives
from ..constraints.limits import BallLimits, JointLimits
from ..constraints.loops import Loops
from ..constraints.projection import project_onto_rows
from ..constraints.rows import Rows, concatenate_rows, no_rows
from ..contact.find.bodies import Colliders, ContactSet
from ..coordinates.tree import CENTRES, Posture, Tree
from ..errors import StepFailed
from ..parts.joints.interface import ConstraintSolution, LinearizationPoint, Unsettled
from ..parts.joints.jointed import PosedTree
from ..rows.bilateral import Bilateral, Respond
from ..rows.dense_dual import DenseDual, Solution
from ..rows.names import Multipliers, Names, row_names
from ..rows.tables import ConeRows, DenseRows
from ..state import State, Vec
from .friction_record import CONTACTS
from .joints_part import EFFORT, REFLECTING

NO_ROWS = no_rows()
NOTHING = np.zeros(0, dtype=np.int64)
#: kinds of rows in their names; contacts have those of `ContactSet`
OF_CONTACTS, OF_LIMITS, OF_BALL_LIMITS, OF_LIMITED_DRIVES, OF_LOOPS, OF_DRIVES = range(6)


@dataclass(frozen=True)
class ConstraintRows:
    """Constraint rows of one stage, with their Jacobians at the posture of its linearisation."""

    loops: Rows
    drives: Rows
    contacts: Rows
    along: Rows
    limits: Rows
    limited: Rows  #: drives with a bounded effort
    #: targets of unilateral rows for positions, (p,); None where they equal the targets for velocities
    split_targets: Vec | None
    bilateral: DenseRows
    unilateral: DenseRows
    friction: ConeRows

    @property
    def is_empty(self) -> bool:
        """Whether there are no bilateral and no unilateral rows."""
        return not (len(self.bilateral.target) or len(self.unilateral.target))

    def on_bodies(self, solution: Solution, bodies: int) -> Vec:
        """Return the impulses of contacts, limits and loops on bodies, in their frames, (n, 6) [N m s, N s].

        solution: multipliers of all rows. bodies: number of bodies, n.
        """
        out = self.contacts.wrenches(solution.unilateral[:len(self.contacts)], bodies)
        self.along.wrenches(solution.friction, bodies, out)
        if len(self.limits):
            first = len(self.contacts)
            self.limits.wrenches(solution.unilateral[first:first + len(self.limits)], bodies, out)
        return self.loops.wrenches(solution.bilateral[:len(self.loops)], bodies, out)

    def on_rates(self, solution: Solution, rates: int) -> Vec:
        """Return the generalised impulses of drives and limits, without ball limits, (m,) [N m s, N s]. rates: m."""
        out = self.effort(solution, rates)
        if len(self.limits):
            first, of_rates = len(self.contacts), self.limits.rate >= 0
            impulse = self.limits.rate_factor * solution.unilateral[first:first + len(self.limits)]
            np.add.at(out, self.limits.rate[of_rates], impulse[of_rates])
        return out

    def find_active(self, solution: Solution) -> Names:
        """Return the names of the contacts and limits with a positive multiplier, (k,)."""
        count = len(self.contacts) + len(self.limits)
        active: Names = self.unilateral.name[:count][solution.unilateral[:count] > 0.0]
        return active

    def find_unsettled(self, solution: Solution, at: Posture) -> Unsettled | None:
        """Return the contact with the largest error of contact and friction; None where the error is negligible."""
        if solution.off is None or solution.off.max() <= ContactSet.negligible_speed:
            return None
        k = int(solution.off.argmax())
        body, torque, force = self.contacts.body[k], self.contacts.wrench[k, 0, :3], self.contacts.wrench[k, 0, 3:]
        E = at.E[body[0]]
        return Unsettled(float(solution.off[k]), body, E[:3, :3] @ np.cross(force, torque) + E[:3, 3])

    def position_correction(self, external: DenseDual, free: Vec, solution: Solution) -> Vec | None:
        """Return the rates that correct positions of overlapping bodies beyond the solution, (m,), or None.

        free: unconstrained rates, (m,). Raises StepFailed.
        """
        if self.split_targets is None:
            return None
        return external.solve(free, split_targets=self.split_targets).u - solution.u

    def effort(self, solution: Solution, rates: int) -> Vec:
        """Return the generalised impulses of drives, (m,) [N m s, N s]. rates: m."""
        out = np.zeros(rates)
        out[self.drives.rate] = solution.bilateral[len(self.loops):]
        if len(self.limited):
            out[self.limited.rate] += solution.unilateral[len(self.contacts) + len(self.limits):]
        return out


@dataclass
class MechanismConstraints:
    """Constraints of a mechanism. A kind of constraint that it does not have is None.

    Loops, drives and limits are evaluated at each linearisation, contacts once at the start of a step: a table of
    contacts that changed during the iterations of a stage would prevent convergence.
    """

    #: perturbation that tests whether a loop can move [rad, m], and its fraction that a singular one moves back
    perturbation, singular_return = 0.01, 0.2
    tree: Tree
    loops: Loops | None = None
    drives: Drives | None = None
    limits: JointLimits | None = None
    ball_limits: BallLimits | None = None
    colliders: Colliders | None = None

    def __post_init__(self) -> None:
        self._posture = self.tree.blank()
        self._table: ContactSet | None = None  #: of the present step
        #: impulses of the last solution in the present step, initial guess of the next one; None at the start of a
        #: step, so that repeated and resumed steps are bitwise reproducible
        self._warm: Multipliers | None = None

    @property
    def is_bare(self) -> bool:
        """Whether the mechanism has no constraints."""
        return all(first is None for first in (self.loops, self.drives, self.limits, self.ball_limits, self.colliders))

    def at_work(self, time: float) -> list[bool]:
        """Return for each drive whether it is active from `time` [s] on; an empty list without drives."""
        return [] if self.drives is None else self.drives.at_work(time)

    def project_initial_rates(self, state: State, respond: Respond) -> State:
        """Return the initial state with the nearest rates that satisfy loops and drives.

        respond: product with M_r⁻¹, the metric. Raises StepFailed where no rates satisfy them.
        """
        return replace(state, u=self._nearest(state, respond)[0])

    def reflect_momentum(self, state: State, respond: Respond, h: float) -> State:
        """Return the end of a leapfrog step of h seconds with the nearest rates that satisfy loops and drives.

        The efforts in the memory are those of the whole step, with half of the impulse that reflects momentum at each
        end. respond: product with M_r⁻¹. Raises StepFailed where no rates satisfy loops and drives.
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
        """Return the nearest rates that satisfy loops and drives, (m,), and the impulses of these rows, (r,).

        Raises StepFailed where there are no such rates.
        """
        if self.loops is None and self.drives is None:
            return state.u, np.zeros(0)
        _, G, target = self._exact_rows(state.q, state, state.time)
        try:
            return Bilateral(DenseRows.equations(G, target), respond).solve(state.u)
        except ValueError as failure:
            raise StepFailed(str(failure)) from failure

    def begin(self, lin: LinearizationPoint, time: float, h: float) -> None:
        """Detect contacts for all stages of a step of h seconds that starts at `time` [s]."""
        if self.colliders is not None:
            self._table, self._warm = self.colliders.table(self.tree, lin.posture, lin.q, time + h, h), None

    def rows(self, posed: PosedTree) -> ConstraintRows:
        """Return all constraint rows at the posture of a stage. [Thesis 3.8]"""
        lin, stage = posed.lin, posed.stage
        at, tree, impulse_factor = lin.posture, self.tree, stage.a * stage.h
        step_factor = stage.b * stage.h
        base = lin.q if stage.base is None else stage.base
        none = NO_ROWS

        loops = none if self.loops is None else self.loops.rows(at.E)[0]
        drives, limited, most = none, none, np.zeros(0)
        if self.drives is not None:
            centres = lin.memory.get(CENTRES, tree.fresh)
            drives = self.drives.rows(stage.time, stage.inside, centres, False)[0]
            if lin.drive_lead is not None:
                drives = replace(drives, target=drives.target + lin.drive_lead[drives.rate])
            limited, _, most = self.drives.rows(stage.time, stage.inside, centres, True)
        bilateral = DenseRows.equations(
            self._jacobian(at, loops, drives), _stack(loops.target, drives.target),
            _stack(loops.compliance, drives.compliance),
            np.concatenate([row_names(OF_LOOPS, np.arange(len(loops))), row_names(OF_DRIVES, drives.rate)]))

        contacts, along, names, position_targets = none, none, [NOTHING], None
        N, T, friction = np.zeros((0, tree.rates)), np.zeros((0, tree.rates)), np.zeros(0)
        if self.colliders is not None:
            # outside a step contacts are those of the linearisation, without a position correction
            table = None if stage.base is None else self._table
            step_start = table is not None or stage.base is None
            if table is None:
                table = self.colliders.table(tree, at, lin.q, stage.time, stage.h)
            velocity_targets, position_targets = table.split_targets(base, stage.time, step_factor)
            if position_targets is not None and not step_start:
                velocity_targets, position_targets = position_targets, None
            contacts, along, N, T = table.normals.with_target(velocity_targets), table.tangents, table.N, table.T
            names, friction = [row_names(OF_CONTACTS, *table.names.T)], table.friction
        limits = none
        if self.limits is not None:
            limits = self.limits.rows(lin.q, lin.v, base, step_factor)
            names.append(row_names(OF_LIMITS, limits.rate, limits.rate_factor < 0.0))
        if self.ball_limits is not None:
            of_balls = self.ball_limits.rows(lin.q, lin.v, base, step_factor, lin.memory.get(CENTRES, tree.fresh), at.X)
            names.append(row_names(OF_BALL_LIMITS, of_balls.owner))
            limits = concatenate_rows([limits, of_balls])
        effort = most * impulse_factor
        first = len(contacts) + len(limits)
        low = np.concatenate([np.zeros(first), -effort])
        high = np.concatenate([np.full(first, np.inf), effort])
        targets = np.concatenate([contacts.target, limits.target, limited.target])
        names.append(row_names(OF_LIMITED_DRIVES, limited.rate))
        compliance = np.concatenate([contacts.compliance, limits.compliance, limited.compliance])
        unilateral = DenseRows(targets, low, high, compliance, np.concatenate(names),
                               np.concatenate([N, self._jacobian(at, limits, limited)]))
        split_targets = None if position_targets is None else np.concatenate([position_targets,
                                                                              targets[len(position_targets):]])
        return ConstraintRows(loops, drives, contacts, along, limits, limited, split_targets, bilateral,
                              unilateral, ConeRows(T, along.target, friction))

    def solve(self, posed: PosedTree, free: Vec) -> ConstraintSolution:
        """Return the rates and impulses that satisfy all rows. free: unconstrained rates, (m,). Raises StepFailed."""
        outside = self.rows(posed)
        if self.drives is None and outside.is_empty:
            return ConstraintSolution(free)
        try:
            external = DenseDual(posed.respond, outside.bilateral, outside.unilateral, outside.friction)
        except ValueError as failure:
            raise StepFailed(str(failure)) from failure
        solution = external.solve(free, self.warm_start(posed))
        return self.store_solution(posed, outside, solution, outside.position_correction(external, free, solution))

    def warm_start(self, posed: PosedTree) -> Multipliers | None:
        """Return the impulses of the initial guess of a stage; None outside a step or in its first stage."""
        return None if posed.stage.base is None else self._warm

    def store_solution(self, posed: PosedTree, outside: ConstraintRows, solution: Solution,
                       position_correction: Vec | None) -> ConstraintSolution:
        """Return a solution as the result of a posed stage, and store its impulses as the next initial guess.

        outside: rows of the stage. position_correction: rates of positions beyond those of velocities, (m,).
        """
        if self._table is not None and posed.stage.base is not None:
            self._warm = solution.active
        efforts: Vec | None = None
        if self.drives is not None:
            efforts = outside.effort(solution, self.tree.rates) / (posed.stage.a * posed.stage.h)
        memory: Mapping[str, Vec] = {} if efforts is None else {EFFORT: efforts}
        worst = outside.find_unsettled(solution, posed.lin.posture)
        active, on_bodies = outside.find_active(solution), outside.on_bodies(solution, self.tree.count)
        return ConstraintSolution(solution.u, active, on_bodies, memory, efforts,
                                  () if worst is None else (CONTACTS,), worst, position_correction)

    def close(self, state: State, posed: PosedTree) -> State:
        """Return the state projected on loops and drives. posed: last stage of the step. Raises StepFailed."""
        if self.loops is None and self.drives is None:
            return state
        q, u = project_onto_rows(state.q, state.u, lambda q: self._exact_rows(q, state, posed.stage.inside),
                                 posed.respond)
        return replace(state, q=q, u=u)

    def drive_errors(self, state: State, posed: PosedTree) -> Vec:
        """Return the targets of drives less the coordinates at a state's time, (m,) [rad, m]; else 0."""
        out = np.zeros(self.tree.rates)
        if self.drives is not None:
            centres = state.memory.get(CENTRES, self.tree.fresh)
            drives, target, _ = self.drives.rows(state.time, posed.stage.inside, centres, False)
            out[drives.rate] = target - state.q[drives.rate]
        return out

    def loop_gaps(self, posture: Posture) -> Vec:
        """Return the largest violation of each loop, (l,), in the order of the loops: of a ball and of a point on a
        line the distance along an axis of the loop's frame [m]; of a hinge the larger of that distance [m] and of the
        sine of the angle between its axes [rad]."""
        if self.loops is None:
            return np.zeros(0)
        out = np.zeros(len(self.loops.names))
        np.maximum.at(out, self.loops.loop, np.abs(self.loops.rows(posture.E)[1]))
        return out

    def outside(self, state: State) -> set[int]:
        """Return the indices of rates whose coordinates exceed their limits; for a ball joint, its first rate."""
        exceeded = set[int]()
        if self.limits is not None:
            exceeded |= set(self.limits.outside(state.q).tolist())
        if self.ball_limits is not None:
            exceeded |= set(self.ball_limits.outside(state.q, state.memory.get(CENTRES, self.tree.fresh)).tolist())
        return exceeded

    def redundant(self, posed: PosedTree) -> list[str]:
        """Return the names of loops whose constraints are redundant at the posture of a stage."""
        if self.loops is None:
            return []
        G = self._jacobian(posed.lin.posture, self.loops.rows(posed.lin.posture.E)[0])
        return self.loops.names_of(Bilateral(DenseRows.equations(G), posed.respond).redundant)

    def find_singular_loop(self, state: State, posed: PosedTree) -> str:
        """Return the name of a loop in a singular posture; "" where there is none.

        In such a posture, stretched straight or folded flat as a horizontal bridge of planks, motion that the rows
        permit is blocked at second order. A small motion along the null space of the rows opens a loop by the square of
        that motion. Closing the loop moves it back as little where it can bend, and by half of it at a singularity.
        """
        if self.loops is None:
            return ""
        bilateral = self._jacobian(posed.lin.posture, self.loops.rows(posed.lin.posture.E)[0])
        motion = Bilateral(DenseRows.equations(bilateral), posed.respond).respond(
            np.cos(np.arange(float(self.tree.rates))))
        farthest = float(np.abs(motion).max(initial=0.0))
        if not farthest > 0.0:
            return ""
        motion *= self.perturbation / farthest
        at = self.tree.posture(state.q + motion, state.u, state.memory, self._posture)
        rows, off = self.loops.rows(at.E)
        constraints = Bilateral(DenseRows.equations(self._jacobian(at, rows)), posed.respond)
        back = float(np.abs(constraints.Y @ constraints.multipliers(off)).max(initial=0.0))
        if back <= self.singular_return * self.perturbation:
            return ""
        name: str = self.loops.names[self.loops.loop[int(np.argmax(np.abs(off)))]]
        return name

    def _exact_rows(self, q: Vec, state: State, active_time: float) -> tuple[Vec, Vec, Vec]:
        """Return the errors at q of loops and drives, (r,), their Jacobian, (r, m), and their target rates, (r,).

        active_time: time at which drives are active [s].
        """
        at = self.tree.posture(q, state.u, state.memory, self._posture)
        loops, drives, off, drive_error = NO_ROWS, NO_ROWS, np.zeros(0), np.zeros(0)
        if self.loops is not None:
            loops, off = self.loops.rows(at.E)
        if self.drives is not None:
            centres = state.memory.get(CENTRES, self.tree.fresh)
            drives, target, _ = self.drives.rows(state.time, active_time, centres, False)
            drive_error = q[drives.rate] - target
        return _stack(off, drive_error), self._jacobian(at, loops, drives), _stack(loops.target, drives.target)

    def _jacobian(self, at: Posture, *tables: Rows) -> Vec:
        """Return the stacked Jacobians of tables of rows, (r, m)."""
        out, first = np.empty((sum(map(len, tables)), self.tree.rates)), 0
        for rows in tables:
            if len(rows):
                rows.jacobian(self.tree.parent, self.tree.dof, at.X, at.S, out[first:first + len(rows)])
                first += len(rows)
        return out


def _stack(first: Vec, second: Vec) -> Vec:
    """Return two arrays concatenated; if one is empty, the other without a copy."""
    return np.concatenate([first, second]) if len(first) and len(second) else first if len(first) else second
