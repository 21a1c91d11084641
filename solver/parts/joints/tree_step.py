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
from ...forces.rigid_structs import ForceWeights, JointPoint, JointTable
from ...forces.spring_kernels import springs
from ...linear.tree.kernels import eliminate, substitute
from ...state import State
from ...threads import inline, kernel
from .jointed import UNRESISTED, Jointed
from .last_twist import STEP, record_step
from .step_arrays import BETA, StepArrays, unpack

SLOW, FAST = -1, -2  #: what a step says about itself
FAST_RATE = 1.0e4  #: [rad/s or m/s]: a step with a faster rate is left to the functions of `Jointed`


@inline
def begin_blocks(inertia, springs, blocks, below):  # type: ignore[no-untyped-def]
    """Set the bodies' blocks to their inertia, (n, 6, 6), and, where there are springs, those between neighbours to
    zero."""
    for i in range(inertia.shape[0]):
        for a in range(6):
            for b in range(6):
                blocks[i, a, b] = inertia[i, a, b]
                if springs:
                    below[i, a, b] = 0.0


@kernel("i8(TreeFrames, BodyMotion, BodySystem, RateSystem, f8[:,:,::1], f8[:,:,::1], f8[:,::1])", from_python=False)
def solve_rates(tree, at, bodies, joints, factor, twists, rates):  # type: ignore[no-untyped-def]
    """Write rates (m, 1) and the bodies' twists (n, 1, 6) under the impulses of a system on bodies and on joints.

    Returns the body whose pivot is not positive, −1 for none. Blocks on bodies and the factor (2, m, 6) are overwritten
    as by `eliminate`.
    """
    failed = eliminate(tree.parent, tree.dof, at.X, at.S, bodies.below, joints.reduced, bodies.diagonal, factor)
    if failed >= 0:
        return failed
    for k in range(rates.shape[0]):
        rates[k, 0] = joints.force[k]
    for i in range(twists.shape[0]):
        for a in range(6):
            twists[i, 0, a] = bodies.wrench[i, a]
    substitute(tree.parent, tree.dof, at.X, at.S, factor[0], factor[1], rates, twists)
    return -1


@kernel("i8(i4[::1], i4[::1], f8[::1], f8, f8[:,::1], f8[:,::1])", from_python=False)
def move_on(dof, chart, q, h, rates, next_q):  # type: ignore[no-untyped-def]
    """Write q + h rates, (m, 1). Return SLOW, or FAST where a rate is fast or not a number or a rotation is far from
    the centre of its chart."""
    status = SLOW
    for k in range(q.shape[0]):
        next_q[k, 0] = q[k] + h * rates[k, 0]
        if not abs(rates[k, 0]) < FAST_RATE:  # also true where the rate is not a number
            status = FAST
    for i in range(chart.shape[0]):
        if chart[i] >= 0:
            x, y, z = next_q[dof[i], 0], next_q[dof[i] + 1, 0], next_q[dof[i] + 2, 0]
            if not math.sqrt(x * x + y * y + z * z) < FAR:
                status = FAST
    return status


@kernel("i8(i4[::1], f8[::1], f8[:,::1], f8, f8, f8[::1], f8[::1], f8[::1], f8[:,:,::1])", address=False)
def step_tree(indices, numbers, law, elapsed, h, centres, q, u, after):  # type: ignore[no-untyped-def]
    """Write coordinates and rates of the joints after h seconds, (2, m, 1); poses are filled at q and u (m,).

    indices, numbers: of StepArrays, with the posture at q and the earlier one at which the last step was solved,
    `elapsed` seconds ago at q − elapsed u. law: of joints, (m, 8). Returns SLOW; FAST where a rate is fast or not a
    number or a rotation is far from the centre of its chart; or the body whose pivot is not positive.
    """
    at = unpack(indices, numbers)
    now, bodies, inertia = at.now, at.on_bodies, at.inertia
    weights = ForceWeights(h, at.constants[BETA] * h * h, 0.0)
    pose(at.tree, at.joints_earlier, u, at.earlier)
    pose(at.tree, at.joints, u, now)
    free_flight(now.E, at.earlier.E, at.earlier.twist, inertia, at.constants, elapsed, h, bodies.wrench)
    begin_blocks(inertia, at.springs.body.shape[0], bodies.diagonal, bodies.below)
    if at.springs.body.shape[0]:
        springs(now.E, now.twist, at.no_twist, at.springs, weights, bodies)
    if at.bodies.shape[0]:
        joint_forces(at.tree.dof, JointTable(at.bodies, at.chart, law),
                     JointPoint(q, u, centres, at.joints.subspace, at.no_motion), weights, at.on_rates)
    failed = solve_rates(at.tree, now, bodies, at.on_rates, at.factor, at.loads, after[1])
    if failed >= 0:
        return failed
    return move_on(at.tree.dof, at.chart, q, h, after[1], after[0])


class TreeStep:
    """Steps of mechanisms on which only implicit forces act, without springs between bodies that are not neighbours.

    [Thesis 3.6, changed: momentum flies on from where the last step was solved, so that no step gains energy]
    """

    def __init__(self, jointed: Jointed) -> None:
        self._tree, self._joints, self._arrays = jointed.tree, jointed.on_rates.joints, StepArrays(jointed)
        # attributes are looked up once, which takes longer than the kernel
        self._fills = [(batch.kind.fill, batch.bodies) for batch in self._tree.batches]
        self._joint_arrays, self._earlier = self._arrays.joints, self._arrays.joints_earlier
        self._fixed = self._arrays.indices, self._arrays.numbers, self._joints.law

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
        elapsed = h if last is None else float(last[0])
        before = q - elapsed * u
        for fill, bodies in self._fills:
            fill(bodies, tree.dof, before, u, tree.start, centres, *self._earlier)
            fill(bodies, tree.dof, q, u, tree.start, centres, *self._joint_arrays)
        if self._joints.motors:
            self._joints.at(time, time - 0.5 * h)
        after = np.empty((2, len(q), 1))
        status = step_tree(*self._fixed, elapsed, h, centres, q, u, after)
        if status >= 0:
            raise StepFailed(UNRESISTED, tree.bodies[status])
        if last is None or elapsed != h:
            memory = record_step(memory, h)
        return State(time, after[0, :, 0], after[1, :, 0], memory), status == SLOW
