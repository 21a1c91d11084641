"""Obstacles of a mechanism: meshes of a collection, still or animated, each loose part as a convex shape, a flat one as
a slab behind its faces."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import members
from .. import settings as properties
from . import turns
from .evaluation import Evaluation, coordinates
from .folder import JobFolder
from .loose import loose_parts
from .mesh import FLAT
from .mesh import triangles as mesh_triangles

Array = NDArray[np.float64]

SLAB = 0.1  #: of its size: so far a sheet goes on behind its faces
FULL = 0.8  #: of its convex hull: what encloses less is hollow


def named(owner: bpy.types.Object) -> list[dict[str, Any]]:
    """Return the names of a mechanism's obstacles in scene.json, as far as they follow from settings alone."""
    return [{"name": name} for name, _ in _groups(owner)]


def for_soft_bodies(owner: bpy.types.Object) -> list[str]:
    """Return names of the obstacles that soft bodies touch, except colliders, whose own mesh they touch."""
    return [name for name, objects in _groups(owner) if not all(members.is_collider(obj) for obj in objects)]


def _groups(owner: bpy.types.Object) -> list[tuple[str, list[bpy.types.Object]]]:
    """Return the names of a mechanism's obstacles in scene.json, and their meshes: in separate groups if only some are
    colliders as well."""
    collection = owner.conjac.mechanism.obstacles
    if collection is None:
        return []
    # in the collection's order, which a new name does not change
    every = [obj for obj in collection.all_objects if obj.type == "MESH"]
    both = [obj for obj in every if members.touches_soft(owner) and members.is_collider(obj)]
    if not both or len(both) == len(every):
        return [(f"{owner.name} Obstacles", every)]
    return [(f"{owner.name} Obstacles", [obj for obj in every if obj not in both]), (f"{owner.name} Colliders", both)]


class Obstacles:
    """The obstacles of an evaluation's mechanism; made at the start frame. `sample` is to be called at every sample."""

    def __init__(self, evaluation: Evaluation, job: JobFolder) -> None:
        """Raises BadInput where one cannot be bumped into."""
        self._evaluation, self._job = evaluation, job
        owner = evaluation.object
        collection = owner.conjac.mechanism.obstacles
        self._groups = _groups(owner)
        self._objects = [obj for _, objects in self._groups for obj in objects]
        if collection is not None and not self._objects:
            raise BadInput(f'its collection of obstacles, "{collection.name}", has no mesh',
                           "Add one, or choose another collection", owner.name)
        for obj in self._objects:
            evaluation.check_enabled(obj, f'it is an obstacle of "{owner.name}"')
        self._shapes = [self._parts(obj) for obj in self._objects]
        self._places: list[list[Array]] = [[] for _ in self._objects]
        self._start = [self._place(obj) for obj in self._objects]

    @property
    def may_move(self) -> bool:
        return any(obj.animation_data is not None or obj.parent is not None or len(obj.constraints) > 0
                   for obj in self._objects)

    def sample(self) -> None:
        """Read where they are at the present sample."""
        for places, obj in zip(self._places, self._objects):
            places.append(self._place(obj))

    def finish(self) -> list[dict[str, Any]]:
        """Return the mechanisms of scene.json for the obstacles, none without obstacles."""
        found, count = [], 0
        friction = properties.shortest(self._evaluation.object.conjac.mechanism.contact_friction)
        kinds = iter(zip(self._objects, self._shapes, self._places, self._start))
        for mechanism, objects in self._groups:
            made, count = self._mechanism(mechanism, islice(kinds, len(objects)), friction, count)
            found.append(made)
        return found

    def _mechanism(self, called: str, read: Iterable[tuple], friction: float, count: int) -> tuple[dict[str, Any], int]:
        """Return one mechanism of obstacles for scene.json and the number of bodies including its own. read: data of
        each object; count: number of bodies before it."""
        bodies, joints = [], []
        for obj, shapes, places, start in read:
            moves = any(not np.array_equal(place, start) for place in places)
            motion = self._job.array(f"obstacle_{count}_motion", np.array(places)) if moves else ""
            for k, vertices in enumerate(shapes):
                name = obj.name if len(shapes) == 1 else f"{obj.name} {k + 1}"
                body: dict[str, Any] = {
                    "name": name, "position": start[:3, 3].tolist(),
                    "rotation": turns.quaternion(start[:3, :3]).tolist(), "shape": {"kind": "hull"},
                    "vertices": self._job.array(f"obstacle_{count}", vertices), "friction": friction}
                if motion:
                    body["motion"] = motion
                else:
                    joints.append({"name": name, "child": name, "kind": "fixed", "position": body["position"],
                                   "rotation": body["rotation"]})
                bodies.append(body)
                count += 1
        return {"name": called, "bodies": bodies, "joints": joints}, count

    def _place(self, obj: bpy.types.Object) -> Array:
        matrix = self._evaluation.to_world(obj)
        return turns.pose(turns.split(matrix)[0], matrix[:3, 3])

    def _parts(self, obj: bpy.types.Object) -> list[Array]:
        """Return vertices of each loose part in the object's own frame [m], without scale."""
        evaluated = self._evaluation.evaluated(obj)
        mesh = evaluated.to_mesh()
        local, triangles = coordinates(mesh), mesh_triangles(mesh)
        label = loose_parts(mesh)
        evaluated.to_mesh_clear()
        matrix = np.linalg.inv(self._place(obj)) @ self._evaluation.to_world(obj)
        own = local @ matrix[:3, :3].T
        if np.linalg.det(matrix[:3, :3]) < 0.0:
            triangles = triangles[:, ::-1]
        found = []
        for part in np.unique(label):
            corners = own[label == part]
            if len(corners) > 2 and (normal := flat_along(corners)) is not None:
                corners = _slab(corners, normal, own[triangles[label[triangles[:, 0]] == part]])
            if len(corners) >= 4:
                found.append(corners)
        if not found:
            raise BadInput(f'it is an obstacle of "{self._evaluation.object.name}" and has no faces around a volume',
                           "Give it some", obj.name)
        return found


def flat_along(points: Array) -> Array | None:
    """Return the unit normal of the plane that points (k, 3) lie in, to either side, (3,); None where they are in none,
    or on a line."""
    _, spread, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    normal: Array = axes[2]
    return normal if spread[2] <= FLAT * spread[0] < spread[1] else None


def _slab(corners: Array, normal: Array, triangles: Array) -> Array:
    """Corners of a sheet (k, 3) and as many behind its triangles (m, 3, 3)."""
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]).sum(axis=0)
    depth = SLAB * float(np.ptp(corners, axis=0).max())
    return np.concatenate([corners, corners - np.copysign(depth, normal @ across) * normal])


def is_full(mesh: bpy.types.Mesh) -> bool:
    """Whether each loose part of a mesh, without modifiers, is flat or about as large as its convex hull: a mechanism
    bumps into that, so a bowl is full to it.
    """
    x, triangles = coordinates(mesh), mesh_triangles(mesh)
    label = loose_parts(mesh)
    for part in np.unique(label):
        corners, own = x[label == part], triangles[label[triangles[:, 0]] == part]
        if len(corners) < 3 or flat_along(corners) is not None:
            continue
        # open, turned inwards or hollow
        sides = own[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        if not np.array_equal(np.unique(sides, axis=0), np.unique(sides[:, ::-1], axis=0)):
            return False
        a, b, c = np.moveaxis(x[own] - corners.mean(axis=0), 1, 0)
        if np.einsum("ta,ta->", a, np.cross(b, c)) / 6.0 < FULL * hull_volume(corners):
            return False
    return True


def hull_volume(points: Array) -> float:
    """Return the volume of the convex hull of points (k, 3), in their unit cubed."""
    whole = bmesh.new()
    try:
        for point in points:
            whole.verts.new(point.tolist())
        bmesh.ops.convex_hull(whole, input=whole.verts[:])
        return whole.calc_volume()
    finally:
        whole.free()
