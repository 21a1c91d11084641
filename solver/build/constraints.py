"""Constraints of a job's mechanisms other than forces: loops, drives, limits, and shapes in contact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .. import catalogue
from ..constraints.drives import DrivenJoint, Drives
from ..constraints.limits import BallLimits, JointLimits
from ..constraints.loops import Loops, frames_in_bodies
from ..contact.find.bodies import Colliders
from ..contact.find.convex import BY_SIZE, Convex, Shapes
from ..coordinates.prescribed import OverTime
from ..coordinates.tree import Tree
from ..errors import BadInput, StepFailed
from ..job import schema_mechanisms
from ..job.folder import Job, parameters
from ..parts.stage import Stage
from ..state import Index, Vec
from ..world.constraints import MechanismConstraints
from .ground import ground_of
from .inputs import over_time
from .positions import WorldPositions, frame, inverse, target_of, until_of

if TYPE_CHECKING:
    from ..world.joints_part import JointsPart


def constraints_of(job: Job, placed: Sequence[WorldPositions], tree: Tree, body_index: Mapping[str, int], q: Vec
                   ) -> MechanismConstraints | None:
    """Return the constraints of all mechanisms; None without any. body_index: of each body in the tree, by its key.
    q: coordinates at the start, (m,). Raises BadInput where a loop joins an animated body."""
    at = tree.posture(q, np.zeros(tree.rates), tree.fresh)
    loops = _loops(placed, body_index, at.E)
    drives = Drives(tree, _drives(job, placed, body_index))
    bounds = _bounds(placed, tree, body_index)
    limits, ball_limits = JointLimits.of(tree, *bounds), BallLimits.of(tree, *bounds)
    colliders = _colliders(job, placed, tree, body_index)
    if colliders is not None and colliders.touches_itself.any():
        colliders = _ignore_overlaps(colliders, tree, at.E)
    made = MechanismConstraints(tree, loops if len(loops) else None, drives if len(drives) else None,
                                limits if len(limits) else None, ball_limits if len(ball_limits) else None, colliders)
    return None if made.is_bare else made


def _bounds(placed: Sequence[WorldPositions], tree: Tree, body_index: Mapping[str, int]) -> tuple[Vec, Vec]:
    """Return the lower and upper limits of the coordinates of all rates, infinite for none, (m,) each."""
    low, high = np.full(tree.rates, -np.inf), np.full(tree.rates, np.inf)
    for placed_mechanism in placed:
        for joint in placed_mechanism.scene.joints:
            if joint.low:
                i = body_index[placed_mechanism.key(joint.child)]
                low[tree.dof[i]:tree.dof[i + 1]], high[tree.dof[i]:tree.dof[i + 1]] = joint.low, joint.high
    return low, high


def _loops(placed: Sequence[WorldPositions], body_index: Mapping[str, int], E: Vec) -> Loops:
    """Return the loops of all mechanisms. E: frames of all bodies at the start, (n, 4, 4)."""
    kinds, body, frames, names = [], [], [], []
    for placed_mechanism in placed:
        for i, loop in enumerate(placed_mechanism.scene.loops):
            ends = [-1 if name is None else _moving(placed_mechanism, name, body_index, f'loop "{loop.name or i + 1}"')
                    for name in (loop.body_a, loop.body_b)]
            kinds.append(catalogue.find("loop", loop.kind).load())
            body.append(ends)
            frames.append(frame(loop.position, loop.rotation))
            names.append(loop.name or f"{loop.body_a} to {loop.body_b or 'the world'}")
    pairs, world = np.array(body, np.int32).reshape(-1, 2), np.array(frames).reshape(-1, 4, 4)
    return Loops.of(kinds, pairs, frames_in_bodies(E, pairs[:, 0], world), frames_in_bodies(E, pairs[:, 1], world),
                    names)


def _moving(one: WorldPositions, name: str, body_index: Mapping[str, int], what: str) -> int:
    """Return the index of a body in the tree. Raises BadInput where its motion is prescribed. what: the constraint, for
    the message."""
    if name not in one.bodies:
        raise BadInput(f'{what} of "{one.scene.name}" holds "{name}", which is animated',
                       "Join it to a body that is moved by forces")
    return body_index[one.key(name)]


def _drives(job: Job, placed: Sequence[WorldPositions], body_index: Mapping[str, int]) -> list[DrivenJoint]:
    """Return the joints whose motors prescribe their motion exactly."""
    drives = []
    for placed_mechanism in placed:
        for joint in placed_mechanism.scene.joints:
            motor = joint.motor
            if motor is None or not catalogue.find("motor", motor.mode.kind).load()(
                    parameters("motor", motor.mode)).exact:
                continue
            drives.append(DrivenJoint(body_index[placed_mechanism.key(joint.child)], target_of(job, motor),
                                      until_of(job, motor), np.inf if motor.limit is None else motor.limit,
                                      joint.name))
    return drives


def convex_of(job: Job, body: schema_mechanisms.RigidBody) -> Convex:
    """Return the shape of a rigid body for contact, in the body's own frame; of a mesh its convex hull."""
    if body.vertices is not None:
        return Convex.hull(np.asarray(job.array(body.vertices), dtype=float))
    return BY_SIZE[body.shape.kind](**parameters("shape", body.shape))


def _colliders(job: Job, placed: Sequence[WorldPositions], tree: Tree, body_index: Mapping[str, int]
               ) -> Colliders | None:
    """Return the shapes of rigid bodies that collide; None where nothing is there that they can hit."""
    shapes: list[Convex] = []
    body: list[int] = []
    link: list[int] = []
    offset: list[Vec] = []
    friction: list[float] = []
    motion: dict[int, OverTime] = {}
    mechanism = np.zeros(tree.count, dtype=np.int32)
    looped: list[list[int]] = []
    ground = ground_of(job)
    is_fixed = tree.dof[1:] == tree.dof[:-1]  # fixed to the world, by all joints above
    for i, above in enumerate(tree.parent):
        is_fixed[i] &= above < 0 or is_fixed[above]
    for k, placed_mechanism in enumerate(placed):
        for rigid in placed_mechanism.scene.bodies:
            moves = rigid.name in placed_mechanism.bodies and not is_fixed[body_index[placed_mechanism.key(rigid.name)]]
            if moves:
                mechanism[body_index[placed_mechanism.key(rigid.name)]] = k
            if not rigid.is_collider:
                continue
            if not moves and rigid.motion is not None:
                motion[len(shapes)] = over_time(job, rigid.motion)
            shapes.append(convex_of(job, rigid))
            body.append(body_index[placed_mechanism.key(rigid.name)] if moves else -1)
            link.append(body_index[placed_mechanism.key(rigid.name)] if rigid.name in placed_mechanism.bodies else -1)
            fixed = np.eye(4) if rigid.motion is not None else placed_mechanism.own[rigid.name]
            offset.append(inverse(placed_mechanism.bodies[rigid.name]) @ placed_mechanism.own[rigid.name]
                          if moves else fixed)
            friction.append(rigid.friction)
        looped += [[body_index[placed_mechanism.key(name)] for name in (loop.body_a, loop.body_b)
                    if name is not None and name in placed_mechanism.bodies]
                   for loop in placed_mechanism.scene.loops]
    pairs: Index = np.array([pair for pair in looped if len(pair) == 2], np.int32).reshape(-1, 2)
    if not shapes or (not ground.exists and len(shapes) < 2):
        return None
    itself = np.array([placed_mechanism.scene.self_collisions for placed_mechanism in placed])
    moving = [i for i in body if i >= 0]
    if not ground.exists and not itself.any() and len(moving) == len(body) and len(np.unique(mechanism[moving])) < 2:
        return None  # a single mechanism without self-collisions
    return Colliders(Shapes.of(shapes), np.array(body, np.int32), np.array(offset), np.array(friction), tree.parent,
                     mechanism, itself, pairs, ground, motion, np.array(link, np.int32))


#: how deep jointed bodies are in each other that pass through each other, as a fraction of the smaller one's extent
DEEP = 0.05


def _ignore_overlaps(colliders: Colliders, tree: Tree, E: Vec) -> Colliders:
    """Return the colliders without contact of jointed bodies that overlap at the start, E (n, 4, 4): shoulder and
    breast of a ragdoll, whose contact would act against their joints for ever."""
    top = np.arange(tree.count, dtype=np.int32)  # root of each body in the tree
    for i, above in enumerate(tree.parent):
        if above >= 0:
            top[i] = top[above]
    contacts = colliders.find(E, np.zeros((tree.count, 6)), 0.0, 0.0)
    between = (contacts.body >= 0).all(axis=1)
    shape, body, gap = contacts.shape[between], contacts.body[between], contacts.gap[between]
    deep = (gap < -DEEP * colliders.extent[shape].min(axis=1)) & (top[body[:, 0]] == top[body[:, 1]])
    return replace(colliders, excluded=np.concatenate([colliders.excluded, np.unique(body[deep], axis=0)]))


def notes_of(world: JointsPart, constraints: MechanismConstraints | None, placed: Sequence[WorldPositions],
             rates: Mapping[str, Index]) -> list[str]:
    """Return notes on mechanisms before they move: joints outside their limits, and redundant loops. rates: indices of
    the rates of each joint, by the key of its child."""
    if constraints is None:
        return []
    state = world.initial_state()
    outside = constraints.outside(state)
    notes = [f'"{placed_mechanism.scene.name}": joint "{joint.name}" starts outside its limits and is pulled in softly'
             for placed_mechanism in placed for joint in placed_mechanism.scene.joints
             if outside & set(rates[placed_mechanism.key(joint.child)].tolist())]
    stage = Stage(1.0e-3, 1.0, 1.0, state.time, None, state.u)
    try:
        names = constraints.redundant(world.condensation.pose(world.linearise(state), stage))
    except (StepFailed, ValueError) as failure:  # the first step has the failure again, and may recover
        notes.append(f"Whether loops are redundant could not be determined, since {failure}")
        return notes
    if names:
        notes.append("Loops constrain what joints or other loops constrain already, so they share the load: "
                     f"{', '.join(names)}")
    return notes
