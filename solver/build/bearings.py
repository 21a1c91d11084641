"""Friction inside the joints of a job's mechanisms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .. import catalogue
from ..bearings.bearings import Bearing, Bearings
from ..bearings.interface import JointFriction
from ..bearings.shapes import JOINTS, LOOPS, Seat
from ..coordinates.tree import Tree
from ..errors import BadScene
from ..job import schema_mechanisms
from ..job.folder import Job, parameters
from ..parts.joints.jointed import Constraints
from ..state import Vec
from ..world.constraints import MechanismConstraints
from ..world.joints_with_friction import JointsWithFriction
from .positions import WorldPositions


def friction_of(job: Job, placed: Sequence[WorldPositions], tree: Tree, body_index: Mapping[str, int],
               outside: MechanismConstraints | None) -> Constraints | None:
    """Return the constraints of mechanisms with the friction inside their joints; `outside` where no joint has
    friction.

    body_index: of each body in the tree, by its key. outside: the constraints without this friction. Raises BadScene
    for friction in a joint that has no bearing, and for constraints that the chosen law does not support.
    """
    entry = catalogue.find("joint_friction", job.scene.joint_friction.kind)
    bearings = _bearings(placed, tree, body_index, outside)
    law: JointFriction = entry.load()(parameters("joint_friction", job.scene.joint_friction))
    if not bearings or law.acts_on == "nothing":
        return outside
    if law.acts_on == "joints":
        beyond = [bearing for bearing in bearings if bearing.is_loop or bearing.seat.on_parent]
        moved = () if outside is None else (outside.drives, outside.limits, outside.ball_limits)
        if beyond or any(part is not None for part in moved):
            raise BadScene(f"{entry.label} support neither drives nor limits, nor friction in loops and universal "
                           "joints",
                           "Choose BISP for the friction inside joints", where="$.joint_friction")
    constraints = MechanismConstraints(tree) if outside is None else outside
    return JointsWithFriction(tree, constraints.loops, constraints.drives, constraints.limits, constraints.ball_limits,
                              constraints.colliders, law=law, bearings=Bearings(bearings, tree.inertia, tree.in_child))


def _bearings(placed: Sequence[WorldPositions], tree: Tree, body_index: Mapping[str, int],
              outside: MechanismConstraints | None) -> list[Bearing]:
    """Return the bearings of all joints and loops with friction. body_index: of each body in the tree, by its key.
    outside: constraints, whose loops carry bearings. Raises BadScene for a kind that has none."""
    made: list[Bearing] = []
    number = 0
    for m, placed_mechanism in enumerate(placed):
        for k, joint in enumerate(placed_mechanism.scene.joints):
            if joint.friction is not None:
                i = body_index[placed_mechanism.key(joint.child)]
                for seat in _seats(JOINTS, "joint", joint.kind, joint.name, f"$.mechanisms[{m}].joints[{k}].friction"):
                    frame = tree.in_parent[i] if seat.on_parent else tree.in_child[i]
                    made.append(_bearing(joint.friction, seat, i, i, int(tree.parent[i]), frame))
        for k, loop in enumerate(placed_mechanism.scene.loops):
            if loop.friction is not None and outside is not None and outside.loops is not None:
                loops = outside.loops
                a, b = loops.body[number]
                where = f"$.mechanisms[{m}].loops[{k}].friction"
                made += [replace(_bearing(loop.friction, seat, number, int(a), int(b), loops.frame_b[number]),
                                 is_loop=True)
                         for seat in _seats(LOOPS, "loop", loop.kind, loop.name or str(k + 1), where)]
            number += 1
    return made


def _seats(known: Mapping[str, tuple[Seat, ...]], family: str, kind: str, name: str, where: str) -> tuple[Seat, ...]:
    if kind not in known:
        label = catalogue.find(family, kind).label
        raise BadScene(f'{family} "{name}" has friction, but the kind "{label}" has no bearing',
                       "Remove its friction or choose another kind", where=where)
    return known[kind]


def _bearing(friction: schema_mechanisms.JointFriction, seat: Seat, index: int, body: int, other: int,
             frame: Vec) -> Bearing:
    return Bearing(seat, friction.mu, friction.radius, friction.length, friction.points, index, body, other, frame)
