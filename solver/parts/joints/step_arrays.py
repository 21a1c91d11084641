"""Arrays of a step of a tree of joints in one kernel: two that Python passes, and the structs that the kernel makes of
them.

Each argument of a call from Python costs as much as a joint, so all arrays of a tree are parts of one array of numbers
and one of indices: those of one shape are stacked, by the constants below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...coordinates.tree_structs import BodyMotion, JointMotion, TreeFrames
from ...forces.rigid_structs import BodySystem, RateSystem, SpringTable
from ...kernel_structs import struct
from ...state import Index, Vec
from ...threads import inline
from .jointed import Jointed

#: stacked frames, (FRAMES, n, 4, 4)
IN_PARENT, IN_CHILD, FROM_CHILD, MOVING, E, MOVING_EARLIER, E_EARLIER, WORLD, FRAMES = range(9)
#: stacked blocks of bodies, (BLOCKS, n, 6, 6)
INERTIA, INVERSE_INERTIA, X, DIAGONAL, BELOW, REDUCED, NO_BLOCK, BLOCKS = range(8)
#: stacked twists and wrenches of bodies, (TWISTS, n, 6)
TWIST, DRIFT, BEND, TWIST_EARLIER, BEND_EARLIER, WRENCH, MOMENTUM, MOVED, NO_TWIST, TWISTS = range(10)
#: stacked rows of rates, (ROWS, m, 6)
SUBSPACE, S, SUBSPACE_EARLIER, ROWS = range(4)
#: stacked values of rates, (COLUMNS, m)
FORCE, EFFORT, BACK, MIDDLE, NO_MOTION, COLUMNS = range(6)
BETA = 3  #: index of β in the constants


@struct("TreeFrames, JointMotion, BodyMotion, JointMotion, BodyMotion, BodySystem, RateSystem, SpringTable, i4[::1], "
        "i4[::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f8[::1], f8[::1], f8[:,:,::1], "
        "f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[::1], f8[::1]")
class StepStructs(NamedTuple):
    """Arrays of a step of a tree of n bodies and m rates."""

    tree: TreeFrames
    joints: JointMotion  #: at the posture of the step
    now: BodyMotion  #: at the posture of the step
    joints_earlier: JointMotion  #: at the posture where the last step was solved
    earlier: BodyMotion  #: at the posture where the last step was solved, with X, S and drift of `now`, overwritten
    on_bodies: BodySystem
    on_rates: RateSystem
    springs: SpringTable
    bodies: Index  #: below joints with springs, dampers or motors, (b,)
    chart: Index  #: as in JointTable, (n,)
    inertia: Vec  #: M of bodies, (n, 6, 6) [kg m², kg]
    inverse_inertia: Vec  #: M⁻¹ of bodies, (n, 6, 6)
    world: Vec  #: identity frames, (n, 4, 4)
    momentum: Vec  #: of bodies at the middle of a step, in their frames, (n, 6) [N m s, N s]
    moved: Vec  #: displacement of bodies, as twists times time, (n, 6) [rad, m]
    back: Vec  #: displacement from the middle of a step to its start, (m,) [rad, m]
    middle: Vec  #: coordinates at the base of a stage, (m,) [rad, m]
    factor: Vec  #: of the tree's matrix, as `eliminate` writes it, (2, m, 6)
    loads: Vec  #: twists of bodies after a solution, (n, 1, 6) [rad/s, m/s]
    no_block: Vec  #: zeros, (n, 6, 6)
    no_twist: Vec  #: zeros, (n, 6)
    no_motion: Vec  #: zeros, (m,)
    constants: Vec  #: gravity [m/s²] and β, (4,)


@inline
def unpack(indices, numbers):  # type: ignore[no-untyped-def]
    """Return the StepStructs of the two arrays of `StepArrays`."""
    n, m, s, b = np.int64(indices[0]), np.int64(indices[1]), np.int64(indices[2]), np.int64(indices[3])
    frames = numbers[:16 * FRAMES * n].reshape((FRAMES, n, 4, 4))
    at = 16 * FRAMES * n
    blocks = numbers[at:at + 36 * BLOCKS * n].reshape((BLOCKS, n, 6, 6))
    at += 36 * BLOCKS * n
    twists = numbers[at:at + 6 * TWISTS * n].reshape((TWISTS, n, 6))
    at += 6 * TWISTS * n
    loads = numbers[at:at + 6 * n].reshape((n, 1, 6))
    at += 6 * n
    rows = numbers[at:at + 6 * ROWS * m].reshape((ROWS, m, 6))
    at += 6 * ROWS * m
    factor = numbers[at:at + 12 * m].reshape((2, m, 6))
    at += 12 * m
    columns = numbers[at:at + COLUMNS * m].reshape((COLUMNS, m))
    at += COLUMNS * m
    point = numbers[at:at + 6 * s].reshape((s, 2, 3))
    at += 6 * s
    law = numbers[at:at + 3 * s].reshape((s, 3))
    parent, dof, to = indices[4:4 + n], indices[4 + n:5 + 2 * n], 5 + 2 * n
    chart, bodies = indices[to:to + n], indices[to + n:to + n + b]
    to += n + b
    body, slot = indices[to:to + 2 * s].reshape((s, 2)), indices[to + 2 * s:]
    return StepStructs(
        TreeFrames(parent, dof, frames[IN_PARENT], frames[IN_CHILD], frames[FROM_CHILD]),
        JointMotion(frames[MOVING], rows[SUBSPACE], twists[BEND]),
        BodyMotion(frames[E], blocks[X], rows[S], twists[TWIST], twists[DRIFT]),
        JointMotion(frames[MOVING_EARLIER], rows[SUBSPACE_EARLIER], twists[BEND_EARLIER]),
        BodyMotion(frames[E_EARLIER], blocks[X], rows[S], twists[TWIST_EARLIER], twists[DRIFT]),
        BodySystem(twists[WRENCH], blocks[DIAGONAL], blocks[BELOW], blocks[NO_BLOCK]),
        RateSystem(columns[FORCE], blocks[REDUCED], columns[EFFORT]),
        SpringTable(body, point, law, slot), bodies, chart, blocks[INERTIA], blocks[INVERSE_INERTIA], frames[WORLD],
        twists[MOMENTUM], twists[MOVED], columns[BACK], columns[MIDDLE], factor, loads, blocks[NO_BLOCK],
        twists[NO_TWIST], columns[NO_MOTION], numbers[at + 3 * s:])


class StepArrays:
    """Arrays of a mechanism's steps, to be passed to kernels that `unpack` them."""

    def __init__(self, jointed: Jointed) -> None:
        tree, springs, joints = jointed.tree, jointed.springs, jointed.on_rates.joints
        n, m, s = tree.count, tree.rates, len(springs)
        frames = np.tile(np.eye(4), (FRAMES, n, 1, 1))
        frames[IN_PARENT], frames[IN_CHILD], frames[FROM_CHILD] = tree.frames
        blocks = np.zeros((BLOCKS, n, 6, 6))
        blocks[INERTIA], blocks[INVERSE_INERTIA] = tree.inertia, jointed.inverse_inertia
        self.numbers: Vec = np.concatenate([
            frames.ravel(), blocks.ravel(), np.zeros((6 * TWISTS + 6) * n), np.zeros((6 * ROWS + 12 + COLUMNS) * m),
            springs.point.ravel(), springs.law.ravel(), jointed.gravity, [jointed.beta]])
        self.indices: Index = np.concatenate([
            [n, m, s, len(joints.bodies)], tree.parent, tree.dof, joints.chart, joints.bodies, springs.body.ravel(),
            springs.slot]).astype(np.int32)
        at: StepStructs = unpack.py_func(self.indices, self.numbers)  # type: ignore[attr-defined]
        self.joints, self.joints_earlier = at.joints, at.joints_earlier  #: what types of joints fill
        self.back = at.back  #: displacement from the middle of a step to its start, (m,) [rad, m]
