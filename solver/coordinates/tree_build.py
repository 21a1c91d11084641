"""Construction of a tree from bodies and joints in any order, or a clear error where they do not form one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import catalogue
from ..errors import BadScene
from ..state import Index, Vec
from .tree import Batch, Tree


@dataclass(frozen=True)
class Body:
    """A rigid body of a tree, whose frame has its origin at the centre of mass."""

    name: str
    inertia: Vec  #: (6, 6) [kg m², kg], see `inertia.spatial`


@dataclass(frozen=True)
class Joint:
    """A joint between the bodies `child` and `parent`, None for the world, with its frames."""

    name: str
    kind: str  #: of the catalogue's family "joint"
    child: str
    parent: str | None
    in_parent: Vec  #: its frame in the parent's body frame, or in the world, (4, 4) [m]
    in_child: Vec  #: its moving frame in the child's body frame, (4, 4) [m]


def build(bodies: Sequence[Body], joints: Sequence[Joint]) -> Tree:
    """Return the tree of bodies and joints, parents before children and branches whole. A body without a joint above it
    moves freely.

    Raises BadScene that names a body or joint: two of one name, a joint with an unknown child or parent, two joints
    above one body, a ring of joints, a frame or an inertia that is not finite; NoSuchThing for an unknown kind.
    """
    index_of = _index_by_name(bodies)
    above = _joints_above(index_of, joints)
    joints_of = [above.get(body.name) or _free(body.name) for body in bodies]
    order = _parents_first(bodies, joints_of, index_of)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    chosen = [joints_of[k] for k in order]
    for joint in chosen:
        if not (_is_rigid(joint.in_parent) and _is_rigid(joint.in_child)):
            raise BadScene("its frames are not finite rotations and positions", "Check the joint's pose",
                           object=joint.name)
    for body in bodies:
        if body.inertia.shape != (6, 6) or not np.isfinite(body.inertia).all():
            raise BadScene("its inertia is not a finite number", "Check its shape and mass", object=body.name)

    entries = [catalogue.find("joint", joint.kind) for joint in chosen]
    dof = np.concatenate([[0], np.cumsum([len(entry.rates) for entry in entries])]).astype(np.int32)
    types = {kind: catalogue.find("joint", kind).load()() for kind in sorted({joint.kind for joint in chosen})}
    start = np.concatenate([[0], np.cumsum([len(types[joint.kind].centre) for joint in chosen])]).astype(np.int32)
    batches = []
    for kind, joint_type in types.items():
        of = np.array([k for k, joint in enumerate(chosen) if joint.kind == kind], dtype=np.int32)
        rates = len(catalogue.find("joint", kind).rates)
        batches.append(Batch(joint_type, of, _runs(dof[of], rates), _runs(start[of], len(joint_type.centre)),
                             joint_type if joint_type.centre else None))
    return Tree(
        parent=np.array([-1 if joint.parent is None else rank[index_of[joint.parent]] for joint in chosen], np.int32),
        dof=dof,
        inertia=np.array([bodies[k].inertia for k in order], dtype=float).reshape(-1, 6, 6),
        in_parent=np.array([joint.in_parent for joint in chosen], dtype=float).reshape(-1, 4, 4),
        in_child=np.array([joint.in_child for joint in chosen], dtype=float).reshape(-1, 4, 4),
        batches=batches,
        fresh=np.array([number for joint in chosen for number in types[joint.kind].centre], dtype=float),
        start=start[:-1].copy(),
        angular=np.array([rate == "angle" for entry in entries for rate in entry.rates], dtype=np.int32),
        bodies=[bodies[k].name for k in order],
        joints=[joint.name for joint in chosen],
        order=np.array(order, dtype=np.int32),
    )


def _free(name: str) -> Joint:
    return Joint(name, "free", name, None, np.eye(4), np.eye(4))


def _runs(first: Index, length: int) -> Index:
    """Return first, first + 1, … of each, (k, length)."""
    runs: Index = (first[:, None] + np.arange(length)).astype(np.int32)
    return runs


def _is_rigid(frame: Vec) -> bool:
    if frame.shape != (4, 4) or not np.isfinite(frame).all():
        return False
    rotation = frame[:3, :3]
    return bool(np.abs(rotation @ rotation.T - np.eye(3)).max() < 1.0e-6 and np.linalg.det(rotation) > 0.0)


def _index_by_name(bodies: Sequence[Body]) -> dict[str, int]:
    index_of: dict[str, int] = {}
    for k, body in enumerate(bodies):
        if body.name in index_of:
            raise BadScene("there are two bodies of this name", "Rename one", object=body.name)
        index_of[body.name] = k
    return index_of


def _joints_above(index_of: dict[str, int], joints: Sequence[Joint]) -> dict[str, Joint]:
    """Return the joint above each body that has one, by the body's name."""
    above: dict[str, Joint] = {}
    for joint in joints:
        for role, name in (("child", joint.child), ("parent", joint.parent)):
            if name is not None and name not in index_of:
                raise BadScene(f'its {role} "{name}" is not a body', "Correct the name or add the body",
                               object=joint.name)
        if joint.child in above:
            raise BadScene(f'body "{joint.child}" is already attached to joint "{above[joint.child].name}"',
                           "Remove one of them or make it a loop", object=joint.name)
        above[joint.child] = joint
    return above


def _parents_first(bodies: Sequence[Body], joints: Sequence[Joint], index_of: dict[str, int]) -> list[int]:
    """Return the bodies' indices in the input, each body right after its parent or after a branch of its parent."""
    children: list[list[int]] = [[] for _ in bodies]
    pending = []
    for k, joint in enumerate(joints):
        if joint.parent is None:
            pending.append(k)
        else:
            children[index_of[joint.parent]].append(k)
    pending.reverse()
    order = []
    while pending:
        k = pending.pop()
        order.append(k)
        pending += reversed(children[k])
    if len(order) < len(bodies):
        _raise_ring(bodies, joints, index_of, set(order))
    return order


def _raise_ring(bodies: Sequence[Body], joints: Sequence[Joint], index_of: dict[str, int], fine: set[int]) -> None:
    """Raise BadScene with the names of the bodies in a ring of joints."""
    k = next(k for k in range(len(bodies)) if k not in fine)
    path: list[int] = []
    while k not in path:
        path.append(k)
        k = index_of[str(joints[k].parent)]
    ring = [bodies[j].name for j in path[path.index(k):]]
    listed = ring if len(ring) <= 5 else [*ring[:4], "…", ring[-1]]
    raise BadScene(f"it is attached to itself: {' on '.join([*listed, ring[0]])}", "Make one of the joints a loop",
                   object=ring[0])
