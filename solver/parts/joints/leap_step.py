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
from ...forces.spring_kernels import springs
from ...linear.tree.kernels import TREE
from ...state import State, Vec
from ...threads import inlined, kernel
from .jointed import UNRESISTED, Jointed
from .leapfrog import CARRIED, RATES, predicted_rates, started
from .leapfrog_steps import DIAGONAL, GAIN
from .tree_step import CALM, begin_blocks, move_on, solve_rates

BODIES = ("f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[:,:,::1],"
          " f8[:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[::1]")  #: in_parent … gravity


@inlined
def to_world(E, i, own, out):  # type: ignore[no-untyped-def]
    """Write a twist `own` (6,) in the frame of body i into out[i], with its linear part turned into world."""
    for a in range(3):
        out[i, a] = own[a]
        out[i, 3 + a] = E[i, a, 0] * own[3] + E[i, a, 1] * own[4] + E[i, a, 2] * own[5]


@kernel(f"i8({TREE}, {BODIES}, i4[:,::1], f8[:,:,::1], f8[:,::1], i4[::1], f8[:,:,::1], i4[::1], i4[::1], f8[:,::1],"
        " f8[::1], f8[::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[:,::1],"
        " f8[:,:,::1], f8[:,::1], f8[:,::1], f8, f8, f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[:,::1])")
def solve_midway(  # type: ignore[no-untyped-def]
    parent, dof, in_parent, in_child, from_child, place, subspace, bend, E, X, S, twist, drift, inertia, gravity,
    body, point, law, slot, between, bodies, chart, rates_law, pull, effort, blocks, below, reduced, G, L, loads,
    wrench, world, moved, carried, h, k_factor, centres, q, u, back, next_q, next_u,
):
    """Write midpoint rates next_u (m, 1) of a step of h seconds, and the coordinates next_q (m,) that they lead to from
    q. Poses are filled at the midpoint.

    back: displacement from the midpoint to q, (m,). world: identity frames, (n, 4, 4). carried: as CARRIED, overwritten
    with the twists after the solution. Returns CALM; LIVELY where a rate is fast or not a number or a rotation is far
    from the centre of its chart; or the body whose pivot is not positive. The other arrays are those of `step_tree`.
    """
    n = parent.shape[0]
    pose(parent, dof, in_parent, in_child, from_child, place, subspace, bend, u, E, X, S, twist, drift)
    free_flight(E, world, carried, inertia, gravity, 0.5 * h, 0.5 * h, wrench)
    begin_blocks(inertia, body.shape[0], blocks, below)
    if body.shape[0]:
        spread_one(parent, dof, X, S, back, moved)
        springs(E, twist, moved, body, point, law, slot, h, k_factor, 0.0, wrench, blocks, below, between)
    if bodies.shape[0]:
        joint_forces(bodies, dof, chart, np.subtract(q, back), u, centres, rates_law, subspace, back, h, k_factor, 0.0,
                     pull, reduced, effort)
    failed = solve_rates(parent, dof, X, S, below, reduced, blocks, G, L, pull, wrench, loads, next_u)
    if failed >= 0:
        return failed
    for i in range(n):
        to_world(E, i, loads[i, 0], carried)
    return move_on(dof, chart, q, h, next_u, next_q)


@kernel(f"i8({TREE}, {BODIES}, i4[:,::1], f8[:,:,::1], f8[:,::1], i4[::1], f8[:,:,::1], i4[::1], i4[::1], f8[::1],"
        " f8[::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[:,::1], f8[:,:,::1],"
        " f8[:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8, f8[::1], f8[::1], f8[::1], f8[::1], f8[::1],"
        " f8[:,:,::1])")
def solve_in_stages(  # type: ignore[no-untyped-def]
    parent, dof, in_parent, in_child, from_child, place, subspace, bend, E, X, S, twist, drift, inertia, gravity,
    body, point, law, slot, between, bodies, chart, pull, effort, blocks, below, reduced, G, L, loads,
    wrench, world, moved, carried, brought, laws, h, centres, q, u, back, next_q, rates,
):
    """Write rates (2, m, 1) of both stages of `LeapfrogSteps.step`, of h seconds, the first overwritten with their
    weighted mean, and the coordinates next_q (m,) that this leads to from q.

    u: predicted midpoint rates, (m,). brought: (n, 6), overwritten. laws: of joints in each stage, (2, m, 8). The other
    arguments and the returned status are those of `solve_midway`.
    """
    n, m = parent.shape[0], u.shape[0]
    pose(parent, dof, in_parent, in_child, from_child, place, subspace, bend, u, E, X, S, twist, drift)
    free_flight(E, world, carried, inertia, gravity, 0.5 * h, 0.0, brought)
    ah = DIAGONAL * h
    for stage in range(2):
        for i in range(n):
            for a in range(6):
                wrench[i, a] = brought[i, a]
            for a in range(3):
                wrench[i, 3 + a] += ah * inertia[i, 5, 5] * (E[i, 0, a] * gravity[0] + E[i, 1, a] * gravity[1]
                                                             + E[i, 2, a] * gravity[2])
        begin_blocks(inertia, body.shape[0], blocks, below)
        if body.shape[0]:
            spread_one(parent, dof, X, S, back, moved)
            springs(E, twist, moved, body, point, law, slot, ah, ah * ah, 0.0, wrench, blocks, below, between)
        if bodies.shape[0]:
            for k in range(m):
                next_q[k] = q[k] - back[k]
                if stage == 1:
                    next_q[k] += (1.0 - DIAGONAL) * h * rates[0, k, 0]
            joint_forces(bodies, dof, chart, next_q, u, centres, laws[stage], subspace, back, ah, ah * ah, 0.0,
                         pull, reduced, effort)
        failed = solve_rates(parent, dof, X, S, below, reduced, blocks, G, L, pull, wrench, loads, rates[stage])
        if failed >= 0:
            return failed
        if stage == 0:
            for k in range(m):
                back[k] += (1.0 - DIAGONAL) * h * rates[0, k, 0]
            for i in range(n):
                for a in range(6):
                    momentum = 0.0
                    for b in range(6):
                        momentum += inertia[i, a, b] * loads[i, 0, b]
                    brought[i, a] += GAIN * (momentum - brought[i, a])
    for i in range(n):
        to_world(E, i, loads[i, 0], carried)
    for k in range(m):
        rates[0, k, 0] = (1.0 - DIAGONAL) * rates[0, k, 0] + DIAGONAL * rates[1, k, 0]
    return move_on(dof, chart, q, h, rates[0], next_q)


@kernel(f"i8({TREE}, {BODIES}, f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1],"
        " f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[::1], f8[:,::1], f8, f8, f8[::1], f8[:,:,::1])")
def turn_round(  # type: ignore[no-untyped-def]
    parent, dof, in_parent, in_child, from_child, place, subspace, bend, E, X, S, twist, drift, inertia, gravity, light,
    blocks, below, reduced, G, L, loads, wrench, world, still, carried, half, fallen, u, rates,
):
    """Write RATES, (2, m, 1), at a step's end, `half` seconds after the midpoint where it was solved for rates u (m,).
    Poses are filled at the end. fallen: duration of weight in that half [s].

    carried: twists after the solution, overwritten with the reflected ones. below, reduced, still: zero. Returns the
    body whose pivot is not positive, −1 for none.
    """
    n = parent.shape[0]
    pose(parent, dof, in_parent, in_child, from_child, place, subspace, bend, u, E, X, S, twist, drift)
    free_flight(E, world, carried, inertia, gravity, half, fallen, wrench)
    begin_blocks(inertia, 0, blocks, below)
    failed = solve_rates(parent, dof, X, S, below, reduced, blocks, G, L, still, wrench, loads, rates[0])
    if failed >= 0:
        return failed
    for k in range(u.shape[0]):
        rates[1, k, 0] = (rates[0, k, 0] - u[k]) / half
    for i in range(n):
        own = loads[i, 0]
        for a in range(6):
            free = 0.0
            for b in range(6):
                free += light[i, a, b] * wrench[i, b]
            own[a] = 2.0 * own[a] - free
        to_world(E, i, own, carried)
    return -1


class LeapStep:
    """Leapfrog steps of mechanisms that `TreeStep.serves`, under weight alone.

    [Thesis 3.6, changed: momentum is turned round where a step starts, so that what turns keeps its energy]
    """

    def __init__(self, jointed: Jointed) -> None:
        self._jointed, at = jointed, jointed.tree.blank()
        tree, on_rates, bonds = jointed.tree, jointed.on_rates, jointed.springs
        joints = on_rates.joints
        n, m = tree.count, tree.rates
        self._at, self._places = at, (at.joint_poses, at.subspace, at.bend)
        self._tree = (tree.parent, tree.dof, tree.in_parent, tree.in_child, tree.from_child, at.joint_poses,
                      at.subspace, at.bend, at.E, at.X, at.S, at.twist, at.drift, tree.inertia, jointed.gravity)
        blocks, loads, wrench, world = (np.zeros((n, 6, 6)), np.zeros((n, 1, 6)), np.zeros((n, 6)),
                                        np.tile(np.eye(4), (n, 1, 1)))
        factor = np.zeros((m, 6)), np.zeros((m, 6))
        self._middle = (bonds.body, bonds.point, bonds.law, bonds.slot, bonds.between, joints.bodies, joints.chart,
                        joints.law, on_rates.force, joints.effort, blocks, np.zeros((n, 6, 6)), on_rates.own, *factor,
                        loads, wrench, world, np.zeros((n, 6)))
        self._end = (jointed.light, blocks, np.zeros((n, 6, 6)), np.zeros((n, 6, 6)), *factor, loads, wrench, world,
                     np.zeros(m))
        self._carried: Vec = np.zeros((n, 6))  #: twists of the step that `finish` ends

    def solve(self, state: State, h: float) -> tuple[State, bool]:
        """Return the state after h seconds, with midpoint rates, and whether it is regular: otherwise its rates and
        charts need a check.

        `finish` completes the step. Raises StepFailed that names the body whose joint is singular.
        """
        jointed, q, u, time = self._jointed, state.q, state.u, state.time + h
        tree, memory = jointed.tree, state.memory
        centres, carried = memory.get(CENTRES, tree.fresh), memory.get(CARRIED)
        if carried is None:
            carried = started(tree.posture(q, u, centres, self._at), jointed.fallen(h, None))
        self._carried = carried.copy()
        back = -0.5 * h * predicted_rates(u, memory, h)
        self._fill(q - back, u, centres)
        if jointed.on_rates.joints.motors:
            jointed.on_rates.joints.at(time, time - 0.5 * h)
        next_q, next_u = np.empty(len(q)), np.empty((len(q), 1))
        status = solve_midway(*self._tree, *self._middle, self._carried, h, jointed.beta * h * h, centres, q, u, back,
                              next_q, next_u)
        if status >= 0:
            raise StepFailed(UNRESISTED, tree.bodies[status])
        return State(time, next_q, next_u[:, 0], memory), status == CALM

    def finish(self, after: State, h: float) -> State:
        """Return the state with rates of the step's end and the twists for the next step in its memory. Raises
        StepFailed."""
        jointed, half = self._jointed, 0.5 * h
        tree, u, rates = jointed.tree, after.u, np.empty((2, len(after.u), 1))
        self._fill(after.q, u, after.memory.get(CENTRES, tree.fresh))
        failed = turn_round(*self._tree, *self._end, self._carried, half, self._fallen(half), u, rates)
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
            batch.kind.fill(batch.bodies, tree.dof, q, u, tree.start, centres, *self._places)


class CentredStep(LeapStep):
    """Leapfrog steps of mechanisms with springs, dampers or motors: see `LeapfrogSteps.step`."""

    def __init__(self, jointed: Jointed) -> None:
        super().__init__(jointed)
        n, m = jointed.tree.count, jointed.tree.rates
        self._brought, self._laws = np.zeros((n, 6)), np.zeros((2, m, 8))

    def solve(self, state: State, h: float) -> tuple[State, bool]:
        """Return the state after h seconds, with the weighted mean of the rates of both stages, and whether it is
        regular: otherwise its rates and charts need a check.

        `finish` completes the step. Raises StepFailed that names the body whose joint is singular."""
        jointed, q, time, memory = self._jointed, state.q, state.time, state.memory
        tree, joints = jointed.tree, jointed.on_rates.joints
        centres, carried = memory.get(CENTRES, tree.fresh), memory.get(CARRIED)
        if carried is None:
            carried = started(tree.posture(q, state.u, centres, self._at), np.zeros(3))
        self._carried = carried.copy()
        u = predicted_rates(state.u, memory, h)
        back = -0.5 * h * u
        self._fill(q - back, u, centres)
        for stage, end in enumerate((time + DIAGONAL * h, time + h)):
            if joints.motors:
                joints.at(end, end - 0.5 * DIAGONAL * h)
            self._laws[stage] = joints.law
        next_q, rates = np.empty(len(q)), np.empty((2, len(q), 1))
        status = solve_in_stages(*self._tree, *self._middle[:7], *self._middle[8:], self._carried, self._brought,
                                 self._laws, h, centres, q, u, back, next_q, rates)
        if status >= 0:
            raise StepFailed(UNRESISTED, tree.bodies[status])
        return State(time + h, next_q, rates[0, :, 0].copy(), memory), status == CALM

    def _fallen(self, half: float) -> float:
        """Return 0: all weight acts at the midpoint."""
        return 0.0
