"""What a mechanism bumps into: meshes of a collection, still or animated, each loose part as a convex shape."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import settings as properties
from . import turns
from .evaluation import Evaluation, coordinates
from .folder import JobFolder

Array = NDArray[np.float64]


def named(owner: bpy.types.Object) -> list[dict[str, Any]]:
    """What scene.json says of them as far as it follows from settings alone: a mechanism that is there or not."""
    return [{"name": name_of(owner)}] if owner.conjac.mechanism.obstacles is not None else []


def name_of(owner: bpy.types.Object) -> str:
    return f"{owner.name} Obstacles"


class Obstacles:
    """The obstacles of an evaluation's mechanism; made at the start frame. `sample` is to be called at every sample."""

    def __init__(self, evaluation: Evaluation, job: JobFolder) -> None:
        """Raises BadInput where one cannot be bumped into."""
        self._evaluation, self._job = evaluation, job
        owner = evaluation.object
        collection = owner.conjac.mechanism.obstacles
        # in the collection's order, which a new name does not change
        self._objects = [obj for obj in collection.all_objects if obj.type == "MESH"] if collection is not None else []
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
        """The mechanism of scene.json that they are, none without obstacles."""
        bodies, joints, count = [], [], 0
        friction = properties.shortest(self._evaluation.object.conjac.mechanism.contact_friction)
        for obj, shapes, places, start in zip(self._objects, self._shapes, self._places, self._start):
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
        if not bodies:
            return []
        return [{"name": name_of(self._evaluation.object), "bodies": bodies, "joints": joints}]

    def _place(self, obj: bpy.types.Object) -> Array:
        matrix = self._evaluation.to_world(obj)
        return turns.pose(turns.split(matrix)[0], matrix[:3, 3])

    def _parts(self, obj: bpy.types.Object) -> list[Array]:
        """Vertices of each loose part in the object's own frame [m], without scale."""
        evaluated = self._evaluation.evaluated(obj)
        mesh = evaluated.to_mesh()
        local = coordinates(mesh)
        edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
        mesh.edges.foreach_get("vertices", edges)
        evaluated.to_mesh_clear()
        matrix = np.linalg.inv(self._place(obj)) @ self._evaluation.to_world(obj)
        own = local @ matrix[:3, :3].T
        label = _loose_parts(len(own), edges.reshape(-1, 2))
        found = [own[label == part] for part in np.unique(label)]
        found = [part for part in found if len(part) >= 4]
        if not found:
            raise BadInput(f'it is an obstacle of "{self._evaluation.object.name}" and has no faces around a volume',
                           "Give it some", obj.name)
        return found


def _loose_parts(count: int, edges: NDArray[np.int32]) -> NDArray[np.int32]:
    """(n,) a number for each vertex, the same for those that edges join."""
    label = np.arange(count, dtype=np.int32)
    while True:
        # both ends take the lower label, and that one's own, until nothing changes
        low = np.minimum(label[edges[:, 0]], label[edges[:, 1]])
        fresh = label.copy()
        np.minimum.at(fresh, edges[:, 0], low)
        np.minimum.at(fresh, edges[:, 1], low)
        fresh = fresh[fresh]
        if np.array_equal(fresh, label):
            return label
        label = fresh
