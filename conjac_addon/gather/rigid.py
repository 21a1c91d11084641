"""Rigid body objects as a mechanism: their shapes and masses, and the Empties with constraints that join them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput, BadMesh
from .. import members, parts
from .. import settings as properties
from ..playback import action
from . import turns
from .bones import FREE, BonePlan, Closing, JointPlan
from .evaluation import Evaluation, coordinates
from .mechanism import JointPose
from .mesh import triangles
from .obstacles import FULL, hull_volume
from .taken_up import TakenUp

Array = NDArray[np.float64]

#: Blender's constraints → (the joint, its axis in the Empty, the loop that closes a ring with it or "")
KINDS = {"FIXED": ("fixed", 2, ""), "POINT": ("spherical", 2, "ball"), "HINGE": ("revolute", 2, "hinge"),
         "SLIDER": ("prismatic", 0, ""), "PISTON": ("cylindrical", 0, "")}

#: which of them come into the tree of joints first: those that cannot close a ring, then those that close it worse
_FIRST = ("FIXED", "SLIDER", "PISTON", "HINGE", "POINT")

#: the loop that a hinge is where all of its ring are parallel: the others keep it in its plane already
PLANAR = "point_on_line"

#: Friction of a rigid body to which nobody has given another one; and of coefficients what single precision loses
UNTOUCHED, SAME = 0.5, 1.0e-6

#: Blender's switches and ends of limits, for each rate of a joint
_LIMITS = {"HINGE": (("use_limit_ang_z", "limit_ang_z_lower", "limit_ang_z_upper", False),),
           "SLIDER": (("use_limit_lin_x", "limit_lin_x_lower", "limit_lin_x_upper", True),),
           "PISTON": (("use_limit_ang_x", "limit_ang_x_lower", "limit_ang_x_upper", False),
                      ("use_limit_lin_x", "limit_lin_x_lower", "limit_lin_x_upper", True))}


class ObjectsPlan:
    """The tree of bodies that the objects of a mechanism's collection become, and the loops that close it."""

    def __init__(self, owner: bpy.types.Object) -> None:
        """Raises BadInput where they are no mechanism."""
        self.owner = owner
        collection = owner.conjac.mechanism.collection
        if collection is None:
            raise BadInput("it has no collection of objects", "Choose one under Mechanism", owner.name)
        self.objects = {obj.name: obj for obj in collection.all_objects
                        if obj.type == "MESH" and obj.rigid_body is not None}
        self.empties = {obj.name: obj for obj in collection.all_objects
                         if obj.rigid_body_constraint is not None and obj.rigid_body_constraint.enabled}
        if not any(map(action.is_simulated, self.objects.values())) and not members.holding(owner):
            first = next(iter(self.objects), None)
            raise BadInput(f'no object of the collection "{collection.name}" is an active rigid body',
                           "Add rigid bodies to it in Physics properties" if first is None else
                           f'Make one of them active in Physics properties; if all that "{first}" should do is to push '
                           "soft bodies as it moves, press Free and Add Collider on it instead", owner.name)
        for obj in self.objects.values():
            if obj.parent is not None:
                raise BadInput(f'"{obj.name}" has a parent, and a rigid body moves by itself',
                               "Clear its parent and keep the transformation", owner.name)
        self.notes: list[str] = []
        self.joint_of: dict[str, bpy.types.Object] = {}
        self.closing: list[Closing] = []
        self.bones = self._tree()
        self._tell_what_is_not_done()

    def __iter__(self) -> Iterator[BonePlan]:
        return iter(self.bones)

    def part(self, name: str) -> bpy.types.PropertyGroup:
        """Return settings of the joint that holds an object, its Empty's; of the object where it has none."""
        return self.joint_of.get(name, self.objects[name]).conjac.part

    def _tell_what_is_not_done(self) -> None:
        """Note settings of Blender's rigid bodies that a bake ignores."""
        moving = {name: obj.rigid_body for name, obj in self.objects.items() if action.is_simulated(obj)}
        rough = self.owner.conjac.mechanism.contact_friction
        for what, names in (
                ("Bounciness: rigid bodies do not bounce off what they hit",
                 [name for name, body in moving.items() if body.restitution]),
                (f"another Friction than Contact Friction of the mechanism, {rough:.3g}, which applies to all",
                 [name for name, body in moving.items()
                  if min(abs(body.friction - value) for value in (rough, UNTOUCHED)) > SAME]),
                ("Breakable: joints never break",
                 [name for name, obj in self.empties.items() if obj.rigid_body_constraint.use_breaking])):
            if names:
                more = f" and {len(names) - 1} more" if names[1:] else ""
                self.notes.append(f'"{self.owner.name}": "{names[0]}"{more} {"have" if more else "has"} {what}')

    def _tree(self) -> list[BonePlan]:
        """Return a tree of joints, rooted in static and animated bodies; the remaining joints are loops."""
        edges = sorted(((empty, *self._joined(empty)) for empty in self.empties.values()),
                       key=lambda edge: _order(edge[0]))
        # static objects are one with the world, so no joint between two of them is in the tree
        fixed = [name for name, obj in self.objects.items() if not action.is_simulated(obj)]
        group: dict[str | None, str | None] = {name: name for name in self.objects} | {None: None}
        group |= dict.fromkeys(fixed)
        beside: dict[str | None, list[tuple[str | None, bpy.types.Object]]] = {name: [] for name in group}
        for empty, a, b in edges:
            if group[a] == group[b]:
                if a != b and not {a, b} <= {None, *fixed}:
                    self.closing.append(self._closing(empty))
                continue
            old, new = (group[b], group[a]) if group[b] is not None else (group[a], group[b])
            group = {name: new if found == old else found for name, found in group.items()}
            beside[a].append((b, empty))
            beside[b].append((a, empty))
        placed: dict[str, BonePlan] = {name: self._root(name) for name in fixed}
        for root in (None, *fixed, *self.objects):
            if root is not None and root not in placed:
                placed[root] = self._root(root)
            reached = [root]
            while reached:
                at = reached.pop(0)
                for other, empty in beside[at]:
                    if other is not None and other not in placed:
                        self.joint_of[other] = empty
                        placed[other] = BonePlan(other, at, self._joint(empty), mass=self._mass(other))
                        reached.append(other)
        return list(placed.values())

    def _closing(self, empty: bpy.types.Object) -> Closing:
        constraint = empty.rigid_body_constraint
        kind = constraint.type
        loop = PLANAR if is_planar(empty) else KINDS[kind][2]
        if not loop:
            raise BadInput(f'"{empty.name}" closes a ring of joints as {kind.title()}, but only Point and Hinge '
                           "can close one", "Change its type, or remove a constraint of the ring", self.owner.name)
        bodies = tuple(obj.name for obj in (constraint.object1, constraint.object2) if obj is not None)
        lost = _of_joints_alone(empty)
        if lost:
            self.notes.append(f'"{self.owner.name}": "{empty.name}" closes a ring of joints, where these of its '
                              f"settings have no effect: {', '.join(lost)}; give them to another joint of the ring")
        return Closing(empty.name, loop, bodies, empty.conjac.part)

    def _joined(self, empty: bpy.types.Object) -> tuple[str | None, str | None]:
        constraint = empty.rigid_body_constraint
        if constraint.type not in KINDS:
            raise BadInput(f'the constraint of "{empty.name}" is of type {constraint.type.replace("_", " ").title()}',
                           "Use Fixed, Point, Hinge, Slider or Piston; springs are added under Springs",
                           self.owner.name)
        names = []
        for obj in (constraint.object1, constraint.object2):
            if obj is not None and obj.name not in self.objects:
                raise BadInput(f'"{empty.name}" joins "{obj.name}", which is no rigid body of the collection '
                               f'"{self.owner.conjac.mechanism.collection.name}"', "Add it to the collection",
                               self.owner.name)
            names.append(obj.name if obj is not None else None)
        if names == [None, None] or names[0] == names[1]:
            raise BadInput(f'"{empty.name}" joins no two objects', "Choose two objects in its constraint",
                           self.owner.name)
        return names[0], names[1]

    def _joint(self, empty: bpy.types.Object) -> JointPlan:
        constraint = empty.rigid_body_constraint
        found, ends = joint_of(empty), []
        scale = properties.unit_scale(bpy.context.scene)
        for switch, low, high, is_length in _LIMITS.get(constraint.type, ()):
            if getattr(constraint, switch):
                pair = [getattr(constraint, end) * (scale if is_length else 1.0) for end in (low, high)]
                if pair[0] > pair[1]:
                    raise BadInput(f'"{empty.name}" has limits the wrong way round, from {pair[0]:.4g} to '
                                   f"{pair[1]:.4g}", "Set the lower end below the upper one", self.owner.name)
                ends.append(tuple(pair))
            else:
                ends.append((-FREE, FREE))
        if all(abs(end) == FREE for pair in ends for end in pair):
            return found
        return replace(found, low=tuple(low for low, _ in ends), high=tuple(high for _, high in ends))

    def _root(self, name: str) -> BonePlan:
        obj = self.objects[name]
        if action.is_simulated(obj):
            return BonePlan(name, None, None, mass=self._mass(name))
        moves = (obj.animation_data is not None and action.ours(obj) is None) or len(obj.constraints) > 0
        return BonePlan(name, None, None if moves else JointPlan("fixed"), animated=moves, mass=self._mass(name))

    def _mass(self, name: str) -> float:
        mass = properties.shortest(self.objects[name].rigid_body.mass)
        if not mass > 0.0:
            raise BadInput(f'"{name}" has no mass', "Give it one in its rigid body settings", self.owner.name)
        return mass


def joint_of(empty: bpy.types.Object) -> JointPlan | None:
    """Return the joint of an Empty's constraint, without its limits. None where there is none like it."""
    kind, axis, _ = KINDS.get(empty.rigid_body_constraint.type, ("", 0, ""))
    if not kind:
        return None
    return JointPlan(kind, (axis,) if kind not in ("fixed", "spherical") else (0, 1, 2))


def is_planar(empty: bpy.types.Object) -> bool:
    """Whether a hinge is meant to close a ring of parallel ones."""
    return empty.rigid_body_constraint.type == "HINGE" and bool(empty.conjac.part.planar)


def _order(empty: bpy.types.Object) -> tuple[int, bool]:
    """When it comes into the tree of joints: those last that close a ring best, and lose nothing by it."""
    kind = len(_FIRST) if is_planar(empty) else _FIRST.index(empty.rigid_body_constraint.type)
    return kind, not _of_joints_alone(empty)


def _of_joints_alone(empty: bpy.types.Object) -> list[str]:
    """Return the names of an Empty's settings that a loop does not have."""
    constraint, part = empty.rigid_body_constraint, empty.conjac.part
    says = {"limits": any(getattr(constraint, switch) for switch, *_ in _LIMITS.get(constraint.type, ())),
            "motor": part.motor != parts.NO_MOTOR, "stiffness": part.stiffness > 0.0,
            "damping": part.damping > 0.0}
    return [word for word, is_set in says.items() if is_set]


def plan(owner: bpy.types.Object) -> ObjectsPlan:
    """Return the mechanism of an Empty's collection. Raises BadInput."""
    return ObjectsPlan(owner)


class Objects(TakenUp):
    """The bodies of an evaluation's mechanism. With `with`: Blender's own rigid body world is off inside."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self.object = evaluation.object
        self.plan = plan(self.object)
        self.names = [bone.name for bone in self.plan]
        self.notes = self.plan.notes
        for holder in (*self.plan.objects.values(), *self.plan.joint_of.values()):
            holder.update_tag()
        self._world = evaluation.scene.rigidbody_world
        self._switched_off = False

    def take_up(self) -> None:
        """Keep Blender's own rigid bodies still, from now on."""
        if self._world is not None and self._world.enabled:
            self._world.enabled, self._switched_off = False, True

    def put_back(self) -> None:
        """Restore the objects as the artist left them."""
        if self._switched_off:
            self._world.enabled, self._switched_off = True, False

    def part(self, name: str) -> bpy.types.PropertyGroup:
        return self.plan.part(name)

    @property
    def frame(self) -> int:
        """The present frame."""
        return self._evaluation.frame

    def motor_target(self, name: str) -> float:
        holder = self.plan.joint_of.get(name, self.plan.objects[name])
        return float(self._evaluation.evaluated(holder).conjac_motor_target)

    def measure(self) -> list[dict[str, Any]]:
        """Return the shape of each body at the present frame, with vertices and triangles as arrays."""
        found = [self._shape(self.plan.objects[name]) for name in self.names]
        filled = [name for name, measured in zip(self.names, found)
                  if measured["shape"]["kind"] == "mesh" and _is_filled(measured)]
        if filled:
            more = f" and {len(filled) - 1} more" if len(filled) > 1 else ""
            self.notes.append(f'"{self.object.name}": the shape of "{filled[0]}"{more} is Mesh, yet counts as its '
                              "convex hull, with holes and hollows filled; make it of convex pieces that Fixed "
                              "constraints join")
        return found

    def joint_pose(self, name: str) -> JointPose | None:
        one = next(each for each in self.plan if each.name == name)
        if one.joint is None:
            return None
        empty = self.plan.joint_of.get(name)
        frame = self._place(empty or self.plan.objects[name])
        if len(one.joint.axes) == 1:
            first = one.joint.axes[0]
            frame[:3, :3] = frame[:3, [(first + 1) % 3, (first + 2) % 3, first]]
        return JointPose(one.joint, frame, np.zeros(len(one.joint.rates)), np.eye(3))

    def loop_frames(self) -> list[Array]:
        """Return the joints that close rings, in world at the present frame [m], (4, 4) each."""
        return [self._place(self.plan.empties[loop.name]) for loop in self.plan.closing]

    def poses(self) -> Array:
        """Return the objects in world at the present frame [m], (b, 4, 4), without scale."""
        return np.array([self._place(self.plan.objects[name]) for name in self.names])

    def middles(self) -> Array:
        """Return the origins of coordinates of objects, (b, 4, 4) [m]: points of an object count from its own origin.
        """
        return self.poses()

    def playback(self) -> ObjectsPlayback:
        return ObjectsPlayback()

    def _place(self, obj: bpy.types.Object) -> Array:
        """World place of an object's own axes [m], (4, 4), without scale."""
        matrix = self._evaluation.to_world(obj)
        try:
            return turns.pose(turns.split(matrix)[0], matrix[:3, 3])
        except ValueError as error:
            raise BadInput(f'"{obj.name}" has an invalid location or rotation: '
                           f'{error}', "Check its scale and constraints",
                           self.object.name, self._evaluation.frame) from error

    def _shape(self, obj: bpy.types.Object) -> dict[str, Any]:
        evaluated = self._evaluation.evaluated(obj)
        mesh = evaluated.to_mesh()
        try:
            local, corners = coordinates(mesh), triangles(mesh)
        finally:
            evaluated.to_mesh_clear()
        matrix = self._evaluation.to_world(obj)
        if not len(local):
            raise BadMesh("its mesh has no vertices", "Add geometry to it", obj.name)
        to_own = (np.linalg.inv(self._place(obj)) @ matrix)[:3, :3]
        own = local @ to_own.T
        if np.linalg.det(to_own) < 0.0:
            corners = corners[:, ::-1]  # a mirrored mesh is turned inside out
        kind = obj.rigid_body.collision_shape
        low, high = own.min(axis=0), own.max(axis=0)
        centred = bool((np.abs(low + high) < 1.0e-3 * (high - low).max()).all())
        if kind == "SPHERE" and centred:
            return {"shape": {"kind": "sphere", "params": {"radius": float(0.5 * (high - low).max())}}}
        if kind == "BOX" and centred:
            return {"shape": {"kind": "box", "params": {
                f"size_{axis}": float(size) for axis, size in zip("xyz", high - low)}}}
        if kind == "BOX":
            own = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1])
                            for z in (low[2], high[2])])
        if kind == "MESH":
            return {"shape": {"kind": "mesh"}, "vertices": own, "triangles": corners}
        return {"shape": {"kind": "hull"}, "vertices": own}


def _is_filled(body: dict[str, Any]) -> bool:
    """Whether a body's mesh leaves much of its convex hull empty."""
    x = body["vertices"] - body["vertices"].mean(axis=0)
    return bool(abs(np.linalg.det(x[body["triangles"]]).sum()) / 6.0 < FULL * hull_volume(x))


class ObjectsPlayback:
    """Playback of rigid body objects, which move in world space: only their transforms are needed."""

    def sample(self) -> None: ...

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {}
