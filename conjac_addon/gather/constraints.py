"""Constraints of soft bodies: their points, their other objects, and their stiffness over time."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from ...solver import catalogue
from ...solver.errors import BadInput
from .. import entries, members, part_identity
from .. import settings as properties
from ..declared import CONSTRAINT
from . import fields
from .empties import check_empty
from .evaluation import Evaluation
from .folder import JobFolder
from .mesh import triangles

Array = NDArray[np.float64]


def constraint_settings(obj: bpy.types.Object, scene: bpy.types.Scene, start: int) -> dict[str, Any]:
    """Return the field `constraints` of scene.json, as far as it depends on settings only; empty without constraints.
    start: first frame. Raises BadInput for a constraint without an object or a location, to an object that is not baked
    together, or with an end before the start.
    """
    soft = members.soft_bodies(obj, scene)
    found = [_constraint_entry(body, constraint, soft, scene, start)
             for body in soft for constraint in body.conjac.constraints]
    return {"constraints": found} if found else {}


def _constraint_entry(obj: bpy.types.Object, one: bpy.types.PropertyGroup, soft: list[bpy.types.Object],
                      scene: bpy.types.Scene, start: int) -> dict[str, Any]:
    """Return one constraint of scene.json without its places and arrays. Raises BadInput where it cannot be."""
    other = one.object
    if other is None or other == obj:
        raise BadInput("one of its constraints ties it to nothing", "Choose an object under Constraints, or remove it",
                       obj.name)
    if one.place is None:
        raise BadInput(f'its constraint to "{other.name}" has no Empty for its '
                       'location', "Choose one under Constraints",
                       obj.name)
    far: dict[str, Any] = {}
    wide = {"radius": properties.shortest(one.radius)} if one.radius > 0.0 else {}
    if other in soft:
        far |= {"body": other.name} | wide
    elif members.is_soft_body(other):
        raise BadInput(f'it is tied to "{other.name}", which is not baked with it',
                       f'Let "{other.name}" and "{obj.name}" both collide with all', obj.name)
    elif members.is_mechanism(other):
        if other != members.owner(obj):
            raise BadInput(f'it is tied to "{other.name}", and they are baked separately',
                           f'Attach it to "{other.name}", or let that touch soft bodies', obj.name)
        if not one.part:
            raise BadInput(f'its constraint to "{other.name}" names no bone', "Choose one under Constraints", obj.name)
        far |= {"mechanism": other.name, "body": part_identity.renamed(other)(one.part)}
    entry: dict[str, Any] = {"name": f"{obj.name} to {other.name}", "ends": [{"body": obj.name} | wide, far]}
    if one.is_released and one.until <= start:
        raise BadInput(f'its constraint to "{other.name}" lets go at frame {one.until}, before anything moves',
                       f"Choose a frame after {start} under Constraints, or remove it", obj.name)
    return entry | fields.gathered(CONSTRAINT, obj, scene, item=one, frames=(start, start))


class Constraints:
    """All constraints of a bake, created at the start frame. `sample` must be called at every sample."""

    def __init__(self, soft: list[Evaluation], job: JobFolder, still: bool = False) -> None:
        """still: there are none where only one body is looked at. Raises BadInput where one cannot be."""
        self._job, self._ties = job, list[_Tie]()
        for evaluation in [] if still else soft:
            for number, constraint in enumerate(evaluation.object.conjac.constraints):
                if constraint.object is not None and constraint.place is not None:
                    self._ties.append(_Tie(evaluation, number, soft))

    @property
    def may_move(self) -> bool:
        """Whether there is anything to follow."""
        return bool(self._ties)

    def sample(self) -> None:
        """Read stiffness, lengths and constrained objects at the present sample. Raises BadInput for another mesh."""
        for tie in self._ties:
            tie.sample()

    def finish(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the field of scene.json with its arrays, from that of `constraint_settings`."""
        for number, (tie, entry) in enumerate(zip(self._ties, settings.get("constraints", ()))):
            tie.finish(entry, f"constraint{number}_", self._job)
        return settings


class _Tie:
    """One constraint that is followed over the frames."""

    def __init__(self, evaluation: Evaluation, number: int, soft: list[Evaluation]) -> None:
        self._evaluation, self._number = evaluation, number
        one = evaluation.object.conjac.constraints[number]
        self._object, self._kind = one.object, catalogue.find("constraint", one.kind)
        check_empty(evaluation, one.place, "constraint's place")
        frame = evaluation.to_world(one.place)
        self._place: Array = frame[:3, 3]
        self._axis: Array = frame[:3, :3] @ [0.0, 0.0, one.place.empty_display_size]
        self._is_led = all(self._object != other.object for other in soft) and not members.is_mechanism(self._object)
        self._near, self._far = self._place, self._place
        if "length" in self._kind.reads:
            # those of older files have no radius, and stay where they were
            nearest = self._nearest_vertex if one.radius == 0.0 else self._nearest_place
            self._near, self._far = (nearest(each) for each in (evaluation.object, self._object))
        self._vertices, self._edges, self._triangles = self._shape() if self._is_led else (None, None, None)
        self._motion: list[Array] = []
        self._numbers: list[tuple[float, float, float]] = []

    def _nearest_vertex(self, obj: bpy.types.Object) -> Array:
        """Return the vertex of an object nearest to where it is tied, in the world [m]; that place for mechanisms."""
        if members.is_mechanism(obj):
            return self._place
        points = self._shape(obj)[0]
        nearest: Array = points[np.linalg.norm(points - self._place, axis=1).argmin()]
        return nearest

    def _nearest_place(self, obj: bpy.types.Object) -> Array:
        """Return the point on an object's faces nearest to the constraint, in the world [m]; its nearest vertex without
        faces, and the point itself for mechanisms."""
        if members.is_mechanism(obj):
            return self._place
        points, _, faces = self._shape(obj)
        if not len(faces):
            return self._nearest_vertex(obj)
        found = BVHTree.FromPolygons(points.tolist(), faces.tolist()).find_nearest(self._place.tolist())[0]
        return np.array(found, dtype=np.float64)

    def _shape(self, obj: bpy.types.Object | None = None) -> tuple[Array, NDArray[np.int32], NDArray[np.int32]]:
        """Return vertices in the world [m], edges and triangles of the constrained object, or of another one."""
        of = self._object if obj is None else obj
        to_world = self._evaluation.to_world(of)
        evaluated = self._evaluation.evaluated(of)
        if of.type not in ("MESH", "CURVE"):
            return to_world[None, :3, 3], np.zeros((0, 2), np.int32), np.zeros((0, 3), np.int32)
        mesh = evaluated.to_mesh()
        try:
            flat = np.empty(3 * len(mesh.vertices), np.float32)
            mesh.vertices.foreach_get("co", flat)
            ends = np.empty(2 * len(mesh.edges), np.int32)
            mesh.edges.foreach_get("vertices", ends)
            corners = triangles(mesh) if len(mesh.polygons) else np.zeros((0, 3), np.int32)
        finally:
            evaluated.to_mesh_clear()
        points = flat.reshape(-1, 3).astype(float) @ to_world[:3, :3].T + to_world[:3, 3]
        if not len(points):
            raise BadInput(f'"{self._evaluation.object.name}" is tied to it, and it has no vertex', "Give it some",
                           of.name, self._evaluation.frame)
        # a mirrored object turns its faces inside out
        turned = corners[:, ::-1] if np.linalg.det(to_world[:3, :3]) < 0.0 else corners
        return points, ends.reshape(-1, 2), np.ascontiguousarray(turned)

    def sample(self) -> None:
        now = self._evaluation.evaluated(self._evaluation.object).conjac.constraints[self._number]
        self._numbers.append((entries.compliance(now), min(max(float(now.strength), 0.0), 1.0), float(now.length)))
        if self._vertices is None:
            return
        points = self._shape()[0]
        if len(points) != len(self._vertices):
            raise BadInput(f'"{self._evaluation.object.name}" is tied to it, and it has {len(points)} vertices where '
                           f"it had {len(self._vertices)} at the first frame",
                           "Keep their number, by its modifiers too", self._object.name, self._evaluation.frame)
        self._motion.append(points)

    def finish(self, entry: dict[str, Any], prefix: str, job: JobFolder) -> None:
        """Put places and arrays into one constraint of scene.json."""
        near, far = entry["ends"]
        near["point"], far["point"] = self._near.tolist(), self._far.tolist()
        if "point" not in self._kind.reads:
            del far["point"]
        if "axis" in self._kind.reads:
            entry["axis"] = self._axis.tolist()
        for key, array in (("vertices", self._vertices), ("edges", self._edges), ("triangles", self._triangles)):
            if array is not None and len(array):
                far[key] = job.array(prefix + key, array)
        if self._motion and any(not np.array_equal(sample, self._motion[0]) for sample in self._motion):
            far["motion"] = job.array(prefix + "motion", np.array(self._motion))
        compliance, strength, length = np.array(self._numbers).T
        if (compliance != compliance[0]).any():
            entry["compliance"] = job.array(prefix + "compliance", compliance)
        if (strength != 1.0).any():
            entry["strength"] = job.array(prefix + "strength", strength)
        if "length" in self._kind.reads and (length != 1.0).any():
            distance = float(np.linalg.norm(self._near - self._far))
            entry["length"] = job.array(prefix + "length", length * distance)
