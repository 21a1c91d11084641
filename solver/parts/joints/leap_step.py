"""Leapfrog steps of a tree of joints in two kernels, which avoid the overhead of Python that exceeds their cost.

The kernels call the functions that Jointed calls, in the order of `LeapfrogSteps`.
"""

from __future__ import annotations

import numpy as np

from ...coordinates.tree import CENTRES
from ...coordinates.tree_kernels import pose, spread_one
from ...errors import StepFailed
from ...forces.joint_kernels import joint_forces
from ...forces.rigid_kernels import free_flight
from ...forces.rigid_structs import BodySystem, ForceWeights, JointPoint, JointTable, RateSystem
from ...forces.spring_kernels import springs
from ...state import State, Vec
from ...threads import inline, kernel
from .jointed import UNRESISTED, Jointed
from .leapfrog import CARRIED, RATES, predict_rates, start_carried_twists
from .leapfrog_steps import DIAGONAL, GAIN
from .step_arrays import StepArrays, unpack
from .tree_step import SLOW, begin_blocks, move_on, solve_rates


@inline
def to_world(E, i, own, out):  # type: ignore[no-untyped-def]
    """Write a twist `own` (6,) in the frame of body i into out[i], with its linear part rotated into world."""
    for a in range(3):
        out[i, a] = own[a]
        out[i, 3 + a] = E[i, a, 0] * own[3] + E[i, a, 1] * own[4] + E[i, a, 2] * own[5]


@kernel("i8(i4[::1], f8[::1], f8[:,::1], f8, f8, f8[::1], f8[::1], f8[:,:,::1], b1)", address=False)
def advance_half(indices, numbers, carried, half, fallen, q, u, out, at_end):  # type: ignore[no-untyped-def]
    """Write what half a step of `half` seconds leads to, (2, m, 1): both halves are one kernel, as they compile alike.

    The first half, under weight alone: the coordinates at the step's end, from q (m,), and the midpoint rates. Poses
    are filled at the midpoint, with u the rates at the step's start (m,). The second half, where at_end: RATES at the
    step's end. Poses are filled there, with u the midpoint rates. fallen: duration of weight in that half [s].

    indices, numbers: of StepArrays. carried: as CARRIED, overwritten with the twists after the solution, in the second
    half reflected. Returns SLOW; FAST where a rate is fast or not a number or a rotation is far from the centre of
    its chart; or the body whose pivot is not positive.
    """
    at = unpack(indices, numbers)
    now, loads, inverse_inertia, wrench, zero = at.now, at.loads, at.inverse_inertia, at.on_bodies.wrench, at.no_block
    rates = out[0] if at_end else out[1]
    pose(at.tree, at.joints, u, now)
    free_flight(now.E, at.world, carried, at.inertia, at.constants, half, fallen, wrench)
    bodies = BodySystem(wrench, at.on_bodies.diagonal, zero, zero)
    begin_blocks(at.inertia, 0, bodies.diagonal, zero)
    joints = RateSystem(at.no_motion, zero, at.on_rates.effort)
    failed = solve_rates(at.tree, now, bodies, joints, at.factor, loads, rates)
    if failed >= 0:
        return failed
    for i in range(carried.shape[0]):
        own = loads[i, 0]
        if at_end:
            for a in range(6):
                free = 0.0
                for b in range(6):
                    free += inverse_inertia[i, a, b] * wrench[i, b]
                own[a] = 2.0 * own[a] - free
        to_world(now.E, i, own, carried)
    if not at_end:
        return move_on(at.tree.dof, at.chart, q, 2.0 * half, rates, out[0])
    for k in range(u.shape[0]):
        out[1, k, 0] = (rates[k, 0] - u[k]) / half
    return SLOW


@kernel("i8(i4[::1], f8[::1], f8[:,:,::1], f8[:,::1], f8, f8[::1], f8[::1], f8[::1], f8[:,:,::1])", address=False)
def solve_in_stages(indices, numbers, laws, carried, h, centres, q, u, after):  # type: ignore[no-untyped-def]
    """Write the coordinates to which `LeapfrogSteps.step` of h seconds leads from q (m,), the weighted mean of the
    rates of its two stages, and those of the last one, (3, m, 1).

    `back` of the arrays is filled. u: predicted midpoint rates, (m,). laws: of joints in each stage, (2, m, 8). The
    other arguments and the returned status are those of `advance_half`.
    """
    at, m = unpack(indices, numbers), u.shape[0]
    tree, now, inertia, back, middle = at.tree, at.now, at.inertia, at.back, at.middle
    bodies, table, brought, loads = at.on_bodies, at.springs, at.momentum, at.loads
    n, E, gravity, wrench = inertia.shape[0], now.E, at.constants, bodies.wrench
    pose(tree, at.joints, u, now)
    free_flight(E, at.world, carried, inertia, gravity, 0.5 * h, 0.0, brought)
    ah = DIAGONAL * h
    weights = ForceWeights(ah, ah * ah, 0.0)
    for stage in range(2):
        for i in range(n):
            for a in range(6):
                wrench[i, a] = brought[i, a]
            for a in range(3):
                wrench[i, 3 + a] += ah * inertia[i, 5, 5] * (E[i, 0, a] * gravity[0] + E[i, 1, a] * gravity[1]
                                                               + E[i, 2, a] * gravity[2])
        begin_blocks(inertia, table.body.shape[0], bodies.diagonal, bodies.below)
        if table.body.shape[0]:
            spread_one(tree.parent, tree.dof, now.X, now.S, back, at.moved)
            springs(E, now.twist, at.moved, table, weights, bodies)
        if at.bodies.shape[0]:
            for k in range(m):
                middle[k] = q[k] - back[k]
                if stage == 1:
                    middle[k] += (1.0 - DIAGONAL) * h * after[1, k, 0]
            joint_forces(tree.dof, JointTable(at.bodies, at.chart, laws[stage]),
                         JointPoint(middle, u, centres, at.joints.subspace, back), weights, at.on_rates)
        failed = solve_rates(tree, now, bodies, at.on_rates, at.factor, loads, after[1 + stage])
        if failed >= 0:
            return failed
        if stage == 0:
            for k in range(m):
                back[k] += (1.0 - DIAGONAL) * h * after[1, k, 0]
            for i in range(n):
                for a in range(6):
                    momentum = 0.0
                    for b in range(6):
                        momentum += inertia[i, a, b] * loads[i, 0, b]
                    brought[i, a] += GAIN * (momentum - brought[i, a])
    for i in range(n):
        to_world(E, i, loads[i, 0], carried)
    for k in range(m):
        after[1, k, 0] = (1.0 - DIAGONAL) * after[1, k, 0] + DIAGONAL * after[2, k, 0]
    return move_on(tree.dof, at.chart, q, h, after[1], after[0])


class LeapStep:
    """Leapfrog steps of mechanisms that `TreeStep.serves`, under weight alone.

    [Thesis 3.6, changed: momentum is reflected where a step starts, so that what rotates keeps its energy]
    """

    def __init__(self, jointed: Jointed) -> None:
        self._jointed, self._arrays = jointed, StepArrays(jointed)
        self._fixed = self._arrays.indices, self._arrays.numbers
        self._joint_arrays = self._arrays.joints
        self._carried: Vec = np.zeros((jointed.tree.count, 6))  #: twists of the step that `finish` ends

    def solve(self, state: State, h: float) -> tuple[State, bool]:
        """Return the state after h seconds, with midpoint rates, and whether it is regular: otherwise its rates and
        charts need a check.

        `finish` completes the step. Raises StepFailed that names the body whose joint is singular.
        """
        jointed, q, u, time = self._jointed, state.q, state.u, state.time + h
        tree, memory = jointed.tree, state.memory
        centres, carried = memory.get(CENTRES, tree.fresh), memory.get(CARRIED)
        if carried is None:
            carried = start_carried_twists(tree.posture(q, u, centres), jointed.fallen(h, None))
        self._carried = carried.copy()
        self._fill(q + 0.5 * h * predict_rates(u, memory, h), u, centres)
        after = np.empty((2, len(q), 1))
        status = advance_half(*self._fixed, self._carried, 0.5 * h, 0.5 * h, q, u, after, False)
        if status >= 0:
            raise StepFailed(UNRESISTED, tree.bodies[status])
        return State(time, after[0, :, 0], after[1, :, 0], memory), status == SLOW

    def finish(self, after: State, h: float) -> State:
        """Return the state with rates of the step's end and the twists for the next step in its memory. Raises
        StepFailed."""
        jointed, half = self._jointed, 0.5 * h
        tree, u, rates = jointed.tree, after.u, np.empty((2, len(after.u), 1))
        self._fill(after.q, u, after.memory.get(CENTRES, tree.fresh))
        failed = advance_half(*self._fixed, self._carried, half, self._fallen(half), u, u, rates, True)
        if failed >= 0:
            raise StepFailed(UNRESISTED, tree.bodies[failed])
        both_rates = rates[:, :, 0]
        memory = {**after.memory, CARRIED: self._carried, RATES: both_rates}
        return State(after.time, after.q, both_rates[0], memory)

    def _fallen(self, half: float) -> float:
        """Return the duration for which weight acts after the midpoint [s]: `half`, as before it."""
        return half

    def _fill(self, q: Vec, u: Vec, centres: Vec) -> None:
        tree = self._jointed.tree
        for batch in tree.batches:
            batch.kind.fill(batch.bodies, tree.dof, q, u, tree.start, centres, *self._joint_arrays)


class CentredStep(LeapStep):
    """Leapfrog steps of mechanisms with springs, dampers or motors: see `LeapfrogSteps.step`."""

    def __init__(self, jointed: Jointed) -> None:
        super().__init__(jointed)
        self._laws = np.zeros((2, jointed.tree.rates, 8))

    def solve(self, state: State, h: float) -> tuple[State, bool]:
        """Return the state after h seconds, with the weighted mean of the rates of both stages, and whether it is
        regular: otherwise its rates and charts need a check.

        `finish` completes the step. Raises StepFailed that names the body whose joint is singular."""
        jointed, q, time, memory = self._jointed, state.q, state.time, state.memory
        tree, joints = jointed.tree, jointed.on_rates.joints
        centres, carried = memory.get(CENTRES, tree.fresh), memory.get(CARRIED)
        if carried is None:
            carried = start_carried_twists(tree.posture(q, state.u, centres), np.zeros(3))
        self._carried = carried.copy()
        u = predict_rates(state.u, memory, h)
        back = np.multiply(-0.5 * h, u, out=self._arrays.back)
        self._fill(q - back, u, centres)
        for stage, end in enumerate((time + DIAGONAL * h, time + h)):
            if joints.motors:
                joints.at(end, end - 0.5 * DIAGONAL * h)
            self._laws[stage] = joints.law
        after = np.empty((3, len(q), 1))
        status = solve_in_stages(*self._fixed, self._laws, self._carried, h, centres, q, u, after)
        if status >= 0:
            raise StepFailed(UNRESISTED, tree.bodies[status])
        return State(time + h, after[0, :, 0], after[1, :, 0], memory), status == SLOW

    def _fallen(self, half: float) -> float:
        """Return 0: all weight acts at the midpoint."""
        return 0.0
