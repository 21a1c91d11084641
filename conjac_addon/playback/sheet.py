"""Cloth whose frames have faces of their own: Alembic with changing topology, read by a Mesh Sequence Cache modifier.

UV maps stand in the file at every frame, and among them PLACE, where in the cloth each corner is. What Blender's
exporter does not write at every frame, material indices, vertex groups and colours, is looked up by that in the mesh at
rest: by a Geometry Nodes modifier behind the cache, so it plays and renders without the extension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadMesh, Environment
from ...solver.frames.beside import SheetBeside
from .. import scene_removal
from . import carry
from .alembic import attach, export
from .carry import PLACE

MOST_MAPS = 8  #: UV maps that Blender gives a mesh
SUFFIX = ".abc"


@dataclass(frozen=True)
class SheetFrames:
    """The meshes of one cloth, frame by frame."""

    first: int
    last: int
    read: Callable[[int], SheetBeside]


def show(obj: bpy.types.Object, scene: bpy.types.Scene, frames: SheetFrames, path: Path, rest: bpy.types.Mesh,
         mirrored: bool) -> list[str]:
    """Write the frames to `path` and play them on the object; returns sentences for the artist.

    rest: the mesh that was baked, as it is at the start frame, which is taken over; mirrored: whether the bake's
    triangles run the other way round. Raises BadMesh, CacheUnwritable, Environment.
    """
    if not hasattr(bpy.ops.wm, "alembic_export") or not bpy.app.build_options.alembic:
        raise Environment("this Blender was built without Alembic, and frames with faces of their own need it",
                          "Choose PC2 or shape keys, which keep the mesh's own vertices", obj.name)
    source = _Source(obj, rest, mirrored, frames.read(frames.first))
    with _alone(obj, scene) as alone:
        export(alone, path, frames.first, frames.last,
               (source.arrays(frames.read(frame)) for frame in range(frames.first, frames.last + 1)))
    attach(obj, path, {"VERT", "POLY", "UV"}, blended=False)
    carry.put(obj, rest, source.place, source.called)
    if not source.left_out:
        return []
    return [f'"{obj.name}": Blender has room for {MOST_MAPS} UV maps, so frames leave out '
            f'{", ".join(source.left_out)}']


class _Source:
    """Data of the cloth at rest, corner by corner of its triangles."""

    def __init__(self, obj: bpy.types.Object, mesh: bpy.types.Mesh, mirrored: bool, sheet: SheetBeside) -> None:
        mesh.calc_loop_triangles()
        count = len(mesh.loop_triangles)
        self.triangles = _read(mesh.loop_triangles, "vertices", 3, np.int32, count)
        self._loops = _read(mesh.loop_triangles, "loops", 3, np.int32, count)
        if len(sheet.rest) != len(mesh.vertices) or sheet.source.max(initial=0) >= count:
            bpy.data.meshes.remove(mesh)
            raise BadMesh("its mesh is not the one that was baked", "Bake again", obj.name)
        self._mirrored = mirrored
        if mirrored:
            self.triangles, self._loops = self.triangles[:, ::-1].copy(), self._loops[:, ::-1].copy()
        # the first in the file is what a material without a name takes
        names = [layer.name for layer in sorted(mesh.uv_layers, key=lambda one: not one.active_render)
                 if layer.name != PLACE]
        self.left_out = names[MOST_MAPS - 1:]
        loops = len(mesh.loops)
        self._maps = {name: _read(mesh.uv_layers[name].uv, "vector", 2, np.float32, loops)
                      for name in names[: MOST_MAPS - 1]}
        #: what maps are called in the file but for the first: the exporter changes spaces, dots and colons
        self.called = {name: f"conjac_map_{k}" for k, name in enumerate(names[1: MOST_MAPS - 1])}
        self._islands = {name: _islands(self.triangles, uv[self._loops]) for name, uv in self._maps.items()}
        corners = np.empty(loops, np.int32)
        mesh.loops.foreach_get("vertex_index", corners)
        self.place: NDArray[np.float32] = np.nan_to_num(sheet.rest)[corners]  #: X of each corner of the mesh, (l, 2)

    def arrays(self, sheet: SheetBeside) -> dict[str, NDArray[Any]]:
        """Return the mesh of a frame: places x, corners of its triangles, names of its UV maps, and map_0 ... of
        corners."""
        faces, values = sheet.faces, {}
        for name, uv in self._maps.items():
            one_side = replace(sheet, source=_on_one_island(sheet.source, self._islands[name]))
            values[self.called.get(name, name)] = np.einsum(
                "mck,mcki->mci", one_side.barycentric_weights(self.triangles), uv[self._loops[one_side.source]])
        values[PLACE] = sheet.material[faces]
        if self._mirrored:
            faces, values = faces[:, ::-1], {name: uv[:, ::-1] for name, uv in values.items()}
        return {"x": sheet.x.astype(np.float32), "faces": np.ascontiguousarray(faces, np.int32),
                "names": np.array(list(values)),
                **{f"map_{k}": np.ascontiguousarray(uv, np.float32) for k, uv in enumerate(values.values())}}


def _islands(triangles: NDArray[np.int32], uv: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return a number for each triangle, the same for those that hang together in the map, (M,). uv: of corners, (M, 3,
    2)."""
    places = np.concatenate([triangles[:, :, None].astype(np.float64), uv], axis=2).reshape(-1, 3)
    _, point = np.unique(places, axis=0, return_inverse=True)
    point = point.reshape(-1, 3)
    label = np.arange(len(triangles), dtype=np.int64)
    while True:
        # the lowest number around each point, until nothing changes
        lowest = np.full(int(point.max(initial=-1)) + 1, len(triangles), dtype=np.int64)
        np.minimum.at(lowest, point.ravel(), np.repeat(label, 3))
        fresh = lowest[point].min(axis=1)
        fresh = np.minimum(fresh, fresh[fresh])
        if np.array_equal(fresh, label):
            return label
        label = fresh


def _on_one_island(source: NDArray[np.int32], island: NDArray[np.int64]) -> NDArray[np.int32]:
    """Triangles of a face's corners that are all on that island of a map which most of them are on, (m, 3).

    A face over a seam would else have all that lies between the islands drawn on it.
    """
    of = island[source]
    chosen = np.where(of[:, 1] == of[:, 2], 1, 0)
    triangle = np.take_along_axis(source, chosen[:, None], axis=1)
    return np.where(of == np.take_along_axis(of, chosen[:, None], axis=1), source, triangle)


def _read(collection: Any, name: str, width: int, kind: type, count: int) -> NDArray[Any]:
    values: NDArray[Any] = np.empty(width * count, kind)
    collection.foreach_get(name, values)
    return values.reshape(-1, width)


@contextmanager
def _alone(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[bpy.types.Scene]:
    """A passing scene with an object alone that gets the mesh of each frame where it is exported."""
    mesh = bpy.data.meshes.new(obj.name)
    passing = bpy.data.objects.new(obj.name, mesh)
    # Blender writes what nothing can change only once, and a modifier might
    passing.modifiers.new("", "TRIANGULATE")
    alone = bpy.data.scenes.new("ConJac Export")
    try:
        alone.render.fps, alone.render.fps_base = scene.render.fps, scene.render.fps_base
        alone.unit_settings.scale_length = scene.unit_settings.scale_length
        alone.collection.objects.link(passing)
        yield alone
    finally:
        scene_removal.remove(alone)
        bpy.data.objects.remove(passing)
        bpy.data.meshes.remove(mesh)
