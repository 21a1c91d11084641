"""Linearly implicit Euler steps of a tree of joints in one kernel.

The kernel calls the functions that Jointed calls one by one, without the overhead of Python between them, which at ten
joints is several times their cost.
"""

from __future__ import annotations

import math

import numpy as np

from ...coordinates.joints.moving_chart import FAR
from ...coordinates.tree import CENTRES
from ...coordinates.tree_kernels import pose
from ...errors import StepFailed
from ...forces.joint_kernels import joint_forces
from ...forces.rigid_kernels import free_flight
from ...forces.spring_kernels import springs
from ...linear.tree.kernels import TREE, eliminate, substitute
from ...state import State
from ...threads import inlined, kernel
from .jointed import UNRESISTED, Jointed
from .last_twist import STEP, stepped

CALM, LIVELY = -1, -2  #: what a step says about itself
CALM_RATE = 1.0e4  #: [rad/s or m/s]


@inlined
def begin_blocks(inertia, springs, blocks, below):  # type: ignore[no-untyped-def]
    """Set the bodies' blocks to their inertia, (n, 6, 6), and, where there are springs, those between neighbours to
    zero."""
    for i in range(inertia.shape[0]):
        for a in range(6):
            for b in range(6):
                blocks[i, a, b] = inertia[i, a, b]
                if springs:
                    below[i, a, b] = 0.0


@kernel(f"i8({TREE}, f8[:,:,::1], f8[:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f8[::1],"
        " f8[:,::1], f8[:,:,::1], f8[:,::1])")
def solve_rates(  # type: ignore[no-untyped-def]
    parent, dof, X, S, below, reduced, blocks, G, L, pull, wrench, twists, rates,
):
    """Write rates (m, 1) and the bodies' twists (n, 1, 6) under impulses on rates, pull (m,), and on bodies, wrench
    (n, 6).

    Returns the body whose pivot is not positive, −1 for none. The other arrays are those of `eliminate`.
    """
    failed = eliminate(parent, dof, X, S, below, reduced, blocks, G, L)
    if failed >= 0:
        return failed
    for k in range(pull.shape[0]):
        rates[k, 0] = pull[k]
    for i in range(parent.shape[0]):
        for a in range(6):
            twists[i, 0, a] = wrench[i, a]
    substitute(parent, dof, X, S, G, L, rates, twists)
    return -1


@kernel("i8(i4[::1], i4[::1], f8[::1], f8, f8[:,::1], f8[::1])")
def move_on(dof, chart, q, h, rates, next_q):  # type: ignore[no-untyped-def]
    """Write q + h rates, (m,). Return CALM, or LIVELY where a rate is fast or not a number or a rotation is far from
    the centre of its chart."""
    status = CALM
    for k in range(q.shape[0]):
        next_q[k] = q[k] + h * rates[k, 0]
        if not abs(rates[k, 0]) < CALM_RATE:  # also true where the rate is not a number
            status = LIVELY
    for i in range(chart.shape[0]):
        if chart[i] >= 0:
            x, y, z = next_q[dof[i]], next_q[dof[i] + 1], next_q[dof[i] + 2]
            if not math.sqrt(x * x + y * y + z * z) < FAR:
                status = LIVELY
    return status


@kernel(f"i8({TREE}, f8[:,:,:,::1], f8[:,:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[::1], i4[:,::1], f8[:,:,::1],"
        " f8[:,::1], i4[::1], f8[:,::1], f8[:,:,::1], i4[::1], i4[::1], f8[:,::1], f8[::1], f8[::1], f8[::1],"
        " f8[:,:,::1], f8[:,:,::1], f8, f8, f8, f8[::1], f8[::1], f8[::1], f8[::1], f8[:,::1])")
def step_tree(  # type: ignore[no-untyped-def]
    parent, dof, frames, on_bodies, of_bodies, of_rates, gravity, body, point, law, slot, unmoved, between, bodies,
    chart, rates_law, still, pull, effort, reduced, loads, flown, h, k_factor, centres, q, u, next_q, next_u,
):
    """Write coordinates next_q (m,) and rates next_u (m, 1) of the joints after h seconds; poses are filled at q and u
    (m,).

    Arrays of one shape are stacked, since each argument of the call costs as much as a joint. `frames` are those of
    Tree, of the posture, and of the earlier posture at which the last step was solved, `flown` seconds ago at q − flown
    u. `earlier` (n, 4, 4) and `moved` (n, 6) are overwritten with the bodies' poses and twists at that posture.

    Returns CALM; LIVELY where a rate is fast or not a number or a rotation is far from the centre of its chart; or the
    body whose pivot is not positive. k_factor: β h². The other arrays are those of Tree, Posture, Springs, JointForces
    and Jointed.
    """
    in_parent, in_child, from_child, place, E, earlier_place, earlier = (
        frames[0], frames[1], frames[2], frames[3], frames[4], frames[5], frames[6])
    inertia, X, blocks, below = on_bodies[0], on_bodies[1], on_bodies[2], on_bodies[3]
    bend, twist, drift, moved, wrench = of_bodies[0], of_bodies[1], of_bodies[2], of_bodies[3], of_bodies[4]
    subspace, S, G, L, earlier_subspace = of_rates[0], of_rates[1], of_rates[2], of_rates[3], of_rates[4]
    pose(parent, dof, in_parent, in_child, from_child, earlier_place, earlier_subspace, bend, u, earlier, X, S, moved,
         drift)
    pose(parent, dof, in_parent, in_child, from_child, place, subspace, bend, u, E, X, S, twist, drift)
    free_flight(E, earlier, moved, inertia, gravity, flown, h, wrench)
    begin_blocks(inertia, body.shape[0], blocks, below)
    if body.shape[0]:
        springs(E, twist, unmoved, body, point, law, slot, h, k_factor, 0.0, wrench, blocks, below, between)
    if bodies.shape[0]:
        joint_forces(bodies, dof, chart, q, u, centres, rates_law, subspace, still, h, k_factor, 0.0, pull, reduced,
                     effort)
    failed = solve_rates(parent, dof, X, S, below, reduced, blocks, G, L, pull, wrench, loads, next_u)
    if failed >= 0:
        return failed
    return move_on(dof, chart, q, h, next_u, next_q)


class TreeStep:
    """Steps of mechanisms on which only implicit forces act, without springs between bodies that are not neighbours.

    [Thesis 3.6, changed: momentum flies on from where the last step was solved, so that no step gains energy]
    """

    def __init__(self, jointed: Jointed) -> None:
        self._jointed = jointed
        tree, rates, bonds = jointed.tree, jointed.on_rates, jointed.springs
        joints = rates.joints
        # attributes are looked up once, which takes longer than the kernel
        self._tree, self._joints = tree, joints
        self._fills = [(batch.kind.fill, batch.bodies) for batch in tree.batches]
        n, m = tree.count, tree.rates
        frames = np.tile(np.eye(4), (7, n, 1, 1))
        frames[0], frames[1], frames[2] = tree.in_parent, tree.in_child, tree.from_child
        on_bodies, of_bodies, of_rates = np.zeros((4, n, 6, 6)), np.zeros((6, n, 6)), np.zeros((5, m, 6))
        on_bodies[0] = tree.inertia
        self._places, self._earlier = (frames[3], of_rates[0], of_bodies[0]), (frames[5], of_rates[4], of_bodies[5])
        self._arrays = (
            tree.parent, tree.dof, frames, on_bodies, of_bodies, of_rates, jointed.gravity, bonds.body, bonds.point,
            bonds.law, bonds.slot, bonds.unmoved, bonds.between, joints.bodies, joints.chart, joints.law,
            joints.unmoved, rates.force, joints.effort, rates.own, np.zeros((n, 1, 6)))

    @staticmethod
    def serves(jointed: Jointed) -> bool:
        """Whether this class can step a mechanism: without constraints, explicit forces, laws on rates and springs
        between bodies that are not neighbours."""
        nothing_else = jointed.constraints is None and jointed.explicit is None and not jointed.on_rates.laws
        return nothing_else and not len(jointed.springs.pairs)

    def step(self, state: State, h: float) -> tuple[State, bool]:
        """Return the state after h seconds, and whether it is regular: otherwise its rates and charts need a check.

        Raises StepFailed that names the body whose joint is singular.
        """
        q, u, memory, time, tree = state.q, state.u, state.memory, state.time + h, self._tree
        centres, last = memory.get(CENTRES, tree.fresh), memory.get(STEP)
        flown = h if last is None else float(last[0])
        before = q - flown * u
        for fill, bodies in self._fills:
            fill(bodies, tree.dof, before, u, tree.start, centres, *self._earlier)
            fill(bodies, tree.dof, q, u, tree.start, centres, *self._places)
        if self._joints.motors:
            self._joints.at(time, time - 0.5 * h)
        next_q, next_u = np.empty(len(q)), np.empty((len(q), 1))
        status = step_tree(*self._arrays, flown, h, self._jointed.beta * h * h, centres, q, u, next_q, next_u)
        if status >= 0:
            raise StepFailed(UNRESISTED, tree.bodies[status])
        if last is None or flown != h:
            memory = stepped(memory, h)
        return State(time, next_q, next_u[:, 0], memory), status == CALM
