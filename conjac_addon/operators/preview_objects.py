"""Objects that show what a bake would use: children of the body, in its space, in no render and not to be selected."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from .setup import FIBERS, FIELD, FUSED, TETS, link_beside, remove_preview

#: from low to high, as everybody who cannot tell red from green can read too
COLORS = ((0.27, 0.00, 0.33), (0.23, 0.32, 0.55), (0.13, 0.57, 0.55), (0.37, 0.79, 0.38), (0.99, 0.91, 0.14))
BANDS = 16  #: colours of the faces
LEAST_LINE = 0.05  #: of the body's largest extent: how long a line across the air is drawn
MOST_LINES = 20_000  #: of fibers; a finer mesh shows every second one or fewer
FIBER_LENGTH = 0.7  #: of a line, as a share of the side of a cube as large as its tetrahedron

Array = NDArray[np.float64]
Index = NDArray[np.int32]


def show_wire(obj: bpy.types.Object, nodes: Array, tets: Index) -> bpy.types.Object:
    """The edges of tetrahedra; an earlier preview of them is replaced. nodes: (n, 3) in object space; tets: (m, 4)."""
    pairs = np.sort(tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2), axis=1)
    wire = _child(obj, "Tets", TETS, len(tets), nodes, edges=np.unique(pairs, axis=0))
    wire.display_type = "WIRE"
    return wire


def show_fibers(obj: bpy.types.Object, nodes: Array, tets: Index, directions: Array,
                matrix: Array) -> bpy.types.Object:
    """A line along the fiber of each tetrahedron that has one; earlier ones are replaced.

    nodes: (n, 3) [m] and directions: (m, 3) in world space; matrix: (4, 4), from there to object space.
    """
    having = np.flatnonzero(directions.any(axis=1))
    having = having[:: 1 + len(having) // MOST_LINES]
    corners = nodes[tets[having]]
    volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0
    half = 0.5 * FIBER_LENGTH * np.cbrt(volume)[:, None] * directions[having]
    centre = corners.mean(axis=1)
    ends = transformed(np.stack([centre - half, centre + half], axis=1).reshape(-1, 3), matrix)
    lines = _child(obj, "Fibers", FIBERS, len(having), ends, edges=np.arange(len(ends)).reshape(-1, 2))
    lines.display_type = "WIRE"
    lines.show_in_front = True
    return lines


def show_fused(obj: bpy.types.Object, ends: Array) -> bpy.types.Object:
    """Lines across the air between parts of the mesh that are one in its tetrahedra, long enough to be seen where the
    air is a hair; earlier ones are replaced. ends: (2 k, 3) in object space."""
    pairs = ends.reshape(-1, 2, 3)
    middle, half = pairs.mean(axis=1), 0.5 * (pairs[:, 1] - pairs[:, 0])
    length = np.linalg.norm(half, axis=1)
    least = 0.5 * LEAST_LINE * float(np.ptp(np.array(obj.bound_box), axis=0).max())
    half *= (np.maximum(length, least) / np.maximum(length, 1e-30))[:, None]
    return show_lines(obj, "Fused", FUSED, np.stack([middle - half, middle + half], axis=1).reshape(-1, 3))


def show_lines(obj: bpy.types.Object, label: str, kind: str, ends: Array) -> bpy.types.Object:
    """Lines between each two of `ends` (2 s, 3) in object space, in front of all; earlier ones are replaced."""
    lines = _child(obj, label, kind, len(ends) // 2, ends, edges=np.arange(len(ends)).reshape(-1, 2))
    lines.display_type = "WIRE"
    lines.show_in_front = True
    return lines


def show_field(obj: bpy.types.Object, label: str, nodes: Array, faces: Index, values: Array,
               logarithmic: bool) -> bpy.types.Object:
    """The boundary of the tetrahedra, each face in the colour of its value; an earlier one is replaced.

    nodes: (n, 3) in object space; faces: (b, 3); values: (b,).
    """
    shades = _child(obj, label, FIELD, label, nodes, faces=faces)
    scaled = np.log(values) if logarithmic else values
    low, high = float(scaled.min()), float(scaled.max())
    share = (scaled - low) / (high - low) if high - low > 1.0e-6 * max(abs(low), abs(high)) else np.zeros(len(values))
    for band in range(BANDS):
        shades.data.materials.append(_material(band))
    bands = np.minimum((BANDS * share).astype(np.int32), BANDS - 1)
    shades.data.polygons.foreach_set("material_index", bands)
    shades.data.polygons.foreach_set("use_smooth", np.zeros(len(bands), dtype=bool))
    shades.data.update()
    shades.show_in_front = True  # its faces lie in the artist's own
    return shades


def transformed(points: Array, matrix: Array) -> Array:
    """Points (n, 3) through a matrix (4, 4)."""
    moved: Array = points @ matrix[:3, :3].T + matrix[:3, 3]
    return moved


def _child(obj: bpy.types.Object, label: str, kind: str, value: int | str, points: Array, edges: Index | None = None,
           faces: Index | None = None) -> bpy.types.Object:
    """A mesh object below `obj` in place of an earlier one of its kind. faces: triangles, (b, 3)."""
    remove_preview(obj, kind)
    mesh = bpy.data.meshes.new(f"{obj.name} {label}")
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(points, dtype=np.float32).ravel())
    if edges is not None:
        mesh.edges.add(len(edges))
        mesh.edges.foreach_set("vertices", np.ascontiguousarray(edges, dtype=np.int32).ravel())
    if faces is not None:
        mesh.loops.add(3 * len(faces))
        mesh.loops.foreach_set("vertex_index", np.ascontiguousarray(faces, dtype=np.int32).ravel())
        mesh.polygons.add(len(faces))
        mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * len(faces), 3, dtype=np.int32))
    mesh.update(calc_edges=faces is not None)
    child = bpy.data.objects.new(f"{obj.name} {label}", mesh)
    child[kind] = value
    child.hide_render = child.hide_select = True
    link_beside(child, obj)
    child.parent = obj
    return child


def _material(band: int) -> bpy.types.Material:
    """The material of one colour, which all previews share."""
    material = next((one for one in bpy.data.materials if one.get(FIELD) == band and one.library is None), None)
    if material is None:
        material = bpy.data.materials.new(f"ConJac {band + 1}")
        material[FIELD] = band
        place = (len(COLORS) - 1) * band / (BANDS - 1)
        first = min(int(place), len(COLORS) - 2)
        color = [a + (place - first) * (b - a) for a, b in zip(COLORS[first], COLORS[first + 1])]
        material.diffuse_color = (*color, 1.0)
        if material.node_tree is not None:
            for node in material.node_tree.nodes:
                if node.type == "BSDF_PRINCIPLED":
                    node.inputs["Base Color"].default_value = (*color, 1.0)
    return material
