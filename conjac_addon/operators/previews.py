"""Previews of what a bake would use, drawn over a body: lines, and faces in the colors of their values.

None of it is an object of the scene, a step of undo or part of the file: arrays in the body's own space, by its
session_uid, which `ui/preview_marks` draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.catalogue import Param
from .. import dials
from ..redraw import redraw_panels

#: of tetrahedra, of fibers, of a map, of rigid bodies and their joints, of what moves as one across air; and the
#: custom properties of the objects that showed them in files of earlier versions
TETS, FIBERS, FIELD, RIGID, JOINTS, FUSED = KINDS = (
    "conjac_tets", "conjac_fibers", "conjac_field", "conjac_rigid", "conjac_joints", "conjac_fused")

LEAST_LINE = 0.05  #: of the body's largest extent: how long a line across the air is drawn
MOST_LINES = 20_000  #: of fibers; a finer mesh shows every second one or fewer
FIBER_LENGTH = 0.7  #: of a line, as a share of the side of a cube as large as its tetrahedron

Array = NDArray[np.float64]
Drawn = NDArray[np.float32]
Index = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines in the space of an object."""

    ends: Drawn  #: of each line two, (2 s, 3)
    in_front: bool = True  #: of all that the view shows


@dataclass(frozen=True, eq=False)
class Faces:
    """Triangles in the space of an object, their normals outwards, each in one colour."""

    corners: Drawn  #: (b, 3, 3)
    shares: Drawn  #: of the way from the lowest value to the highest, (b,)
    title: str  #: name of the displayed value, with its unit
    low: str  #: the lowest value
    high: str


#: what is shown, by session_uid of its object and kind
shown: dict[int, dict[str, Lines | Faces]] = {}


def is_shown(obj: bpy.types.Object, *kinds: str) -> bool:
    """Whether previews of an object are shown, of all kinds or of the given ones."""
    return bool(shown.get(obj.session_uid, {}).keys() & (kinds or KINDS)) or bool(_objects(obj, *kinds))


def remove(obj: bpy.types.Object, *kinds: str) -> None:
    """Remove previews of an object, of all kinds or of the given ones."""
    for kind in kinds or KINDS:
        shown.get(obj.session_uid, {}).pop(kind, None)
    for child in _objects(obj, *kinds):
        mesh = child.data
        colors = [material for material in mesh.materials if material is not None and FIELD in material]
        bpy.data.objects.remove(child)
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)  # type: ignore[arg-type]
        for material in colors:
            if material.users == 0:
                bpy.data.materials.remove(material)
    redraw_panels()


def _objects(obj: bpy.types.Object, *kinds: str) -> list[bpy.types.Object]:
    """Objects of the scene that show something of this one, as versions before 0.3 made them."""
    return [child for child in obj.children if any(kind in child for kind in kinds or KINDS)]


def show_wire(obj: bpy.types.Object, nodes: Array, tets: Index) -> None:
    """Show the edges of tetrahedra. nodes: (n, 3) in object space; tets: (m, 4)."""
    pairs = np.sort(tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2), axis=1)
    _show(obj, TETS, Lines(_drawn(nodes[np.unique(pairs, axis=0)].reshape(-1, 3)), in_front=False))


def show_fibers(obj: bpy.types.Object, nodes: Array, tets: Index, directions: Array, matrix: Array) -> None:
    """Show a line along the fiber of each tetrahedron that has one.

    nodes: (n, 3) [m] and directions: (m, 3) in world space; matrix: (4, 4), from there to object space.
    """
    having = np.flatnonzero(directions.any(axis=1))
    having = having[:: 1 + len(having) // MOST_LINES]
    corners = nodes[tets[having]]
    volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0
    half = 0.5 * FIBER_LENGTH * np.cbrt(volume)[:, None] * directions[having]
    centre = corners.mean(axis=1)
    show_lines(obj, FIBERS, transformed(np.stack([centre - half, centre + half], axis=1).reshape(-1, 3), matrix))


def show_fused(obj: bpy.types.Object, ends: Array) -> None:
    """Show lines across the air between parts of the mesh that are one in its tetrahedra, long enough to be seen where
    the air is a hair. ends: (2 k, 3) in object space."""
    pairs = ends.reshape(-1, 2, 3)
    middle, half = pairs.mean(axis=1), 0.5 * (pairs[:, 1] - pairs[:, 0])
    length = np.linalg.norm(half, axis=1)
    least = 0.5 * LEAST_LINE * float(np.ptp(np.array(obj.bound_box), axis=0).max())
    half *= (np.maximum(length, least) / np.maximum(length, 1e-30))[:, None]
    show_lines(obj, FUSED, np.stack([middle - half, middle + half], axis=1).reshape(-1, 3))


def show_lines(obj: bpy.types.Object, kind: str, ends: Array) -> None:
    """Show lines between each two of `ends` (2 s, 3) in object space, in front of all."""
    _show(obj, kind, Lines(_drawn(ends)))


def show_field(obj: bpy.types.Object, param: Param, nodes: Array, faces: Index, values: Array) -> None:
    """Show the boundary of the tetrahedra, each face in the color of its value; values with a unit on a logarithmic
    scale. nodes: (n, 3) in object space; faces: (b, 3); values: (b,) in SI."""
    scaled = np.log(values) if param.unit else values
    low, high = float(scaled.min()), float(scaled.max())
    share = (scaled - low) / (high - low) if high - low > 1.0e-6 * max(abs(low), abs(high)) else np.zeros(len(values))
    legend = dials.on_a_legend(param, float(values.min()), float(values.max()))
    _show(obj, FIELD, Faces(_drawn(nodes[faces]), share.astype(np.float32), *legend))


def transformed(points: Array, matrix: Array) -> Array:
    """Points (n, 3) through a matrix (4, 4)."""
    moved: Array = points @ matrix[:3, :3].T + matrix[:3, 3]
    return moved


def _drawn(points: Array) -> Drawn:
    return np.ascontiguousarray(points, dtype=np.float32)


def _show(obj: bpy.types.Object, kind: str, made: Lines | Faces) -> None:
    """Show it in place of an earlier one of its kind."""
    there = {other.session_uid for other in bpy.data.objects}
    for uid in shown.keys() - there:  # another file was loaded since
        del shown[uid]
    remove(obj, kind)
    shown.setdefault(obj.session_uid, {})[kind] = made
