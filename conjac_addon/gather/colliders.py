"""A mesh with which soft bodies collide: static, moving, or deformed by its modifiers and shape keys."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import members
from .. import settings as properties
from .evaluation import Evaluation
from .folder import ArrayStream, JobFolder, JobPart
from .maps import group_weights
from .mesh import surface
from .placed import may_move
from .thin import Thin, is_thin, thin

#: the vertex group that scales a collider's friction, as a soft body's does at first
FRICTION = "Friction"
#: a corner is moved out at most so many times the thickness, however sharp it is
SHARPEST = 2.0

Array = NDArray[np.float64]


class Collider:
    """One collider of an evaluation's simulation; made at the start frame. `sample` is to be called at every sample."""

    def __init__(self, obj: bpy.types.Object, evaluation: Evaluation, job: JobFolder | JobPart, samples: int) -> None:
        """samples: how many there will be. Raises BadInput where it cannot be bumped into."""
        evaluation.check_enabled(obj, f'it is a collider of "{evaluation.object.name}"',
                                 "remove ConJac from it")
        self._object, self._evaluation, self._job = obj, evaluation, job
        self._thickness = properties.si(obj.conjac.contact, "thickness", evaluation.scene)
        bodies = [body for body in members.soft_bodies(evaluation.object, evaluation.scene) if members.wants(body, obj)]
        # other bodies refuse a collider without faces
        self._may_be_thin = all(map(members.is_sharp, bodies))
        self._thin: Thin | None = None
        self._start, self._triangles = self._surface()
        self._marked = self._sharp_edges() if any(map(members.is_sharp, bodies)) else None
        self._friction = self._painted_friction()
        self._stream: ArrayStream | None = None
        if may_move(obj) or _may_deform(obj):
            self._stream = job.stream("motion", (samples, *self._start.shape))
        self._moves = False

    @property
    def may_move(self) -> bool:
        return self._stream is not None

    def sample(self) -> None:
        """Read where it is at the present sample. Raises BadInput where it has become another mesh."""
        if self._stream is None:
            return
        vertices, _ = self._surface()
        if len(vertices) != len(self._start):
            raise BadInput(f"it is a collider, and has {len(vertices)} vertices where it had {len(self._start)} at the "
                           "first frame", "Keep their number, by its modifiers too", self._object.name,
                           self._evaluation.frame)
        self._moves |= not np.array_equal(vertices, self._start)
        self._job.append(self._stream, vertices)

    def finish(self) -> dict[str, str]:
        """Return the arrays of scene.json's obstacle, after the sampled arrays have been closed."""
        found = {"vertices": self._job.array("vertices", self._start)}
        arrays: dict[str, NDArray[Any] | None] = {"triangles": self._triangles, "sharp_edges": self._marked,
                                                  "friction_weights": self._friction}
        if self._thin is not None:
            arrays = {"wires": self._thin.wires, "nails": self._thin.nails}
        found |= {key: self._job.array(key, values) for key, values in arrays.items()
                  if values is not None and len(values)}
        if self._moves:
            found["motion"] = self._job.path("motion")
        elif self._stream is not None:
            self._job.drop("motion")
        return found

    def _sharp_edges(self) -> NDArray[np.int32]:
        """Return vertices of the edges that are marked sharp, (k, 2)."""
        evaluated = self._evaluation.evaluated(self._object)
        mesh = evaluated.to_mesh()
        try:
            ends, marked = np.empty(2 * len(mesh.edges), np.int32), np.empty(len(mesh.edges), bool)
            mesh.edges.foreach_get("vertices", ends)
            mesh.edges.foreach_get("use_edge_sharp", marked)
        finally:
            evaluated.to_mesh_clear()
        return ends.reshape(-1, 2)[marked]

    def _painted_friction(self) -> Array | None:
        """Return each vertex' share of the friction, (n,), if a vertex group sets it."""
        evaluated = self._evaluation.evaluated(self._object)
        if FRICTION not in evaluated.vertex_groups:
            return None
        index, mesh = evaluated.vertex_groups[FRICTION].index, evaluated.to_mesh()
        try:
            return group_weights(mesh, {index})[index]
        finally:
            evaluated.to_mesh_clear()

    def _surface(self) -> tuple[Array, NDArray[np.int32]]:
        """Return vertices [m], (n, 3), and triangles, (m, 3), at the present frame."""
        evaluated, to_world = self._evaluation.evaluated(self._object), self._evaluation.to_world(self._object)
        mesh = evaluated.to_mesh()
        try:
            if self._may_be_thin and is_thin(mesh):
                self._thin = thin(mesh, to_world, self._object.name, self._thickness)
                return self._thin.vertices, np.zeros((0, 3), np.int32)
            vertices, triangles = surface(mesh, to_world, self._object.name, flat=True)
        finally:
            evaluated.to_mesh_clear()
        return (thickened(vertices, triangles, self._thickness) if self._thickness else vertices), triangles


def thickened(vertices: Array, triangles: NDArray[np.int32], thickness: float) -> Array:
    """Return the vertices moved out so that faces are `thickness` [m] from their original planes, (n, 3)."""
    corners = vertices[triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    faces = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1.0e-300)
    out = np.zeros_like(vertices)
    for k in range(3):
        # by the angle at the corner, so that how a face is split does not count
        sides = corners[:, [(k + 1) % 3, (k + 2) % 3]] - corners[:, [k]]
        lengths = np.maximum(np.linalg.norm(sides, axis=2), 1.0e-300)
        angle = np.arccos(np.clip(np.einsum("ti,ti->t", sides[:, 0], sides[:, 1]) / lengths.prod(axis=1), -1.0, 1.0))
        np.add.at(out, triangles[:, k], angle[:, None] * faces)
    out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1.0e-300)
    steepest = np.ones(len(vertices))
    for k in range(3):
        np.minimum.at(steepest, triangles[:, k], np.einsum("ti,ti->t", out[triangles[:, k]], faces))
    return vertices + out * (thickness / np.maximum(steepest, 1.0 / SHARPEST))[:, None]


def _may_deform(obj: bpy.types.Object) -> bool:
    keys = obj.data.shape_keys
    return len(obj.modifiers) > 0 or (keys is not None and keys.animation_data is not None)
