"""How long edges of the tetrahedra of a new soft body are: by its thickness, within a budget of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

NODES, FEWEST = 6000.0, 300.0  #: of all soft bodies that are added at once, and of each
#: of each that is thin everywhere: landing it takes four to six times as long as a new cube, and its slowest wobbles
#: are a tenth too fast. They are within a twentieth from about 6,000 on, which take twelve to seventeen times as long
THIN_NODES = 2000.0
#: edges of tetrahedra over 2 V / A, which is the thickness of a sheet, a third of a cube's edge and two thirds of a
#: ball's radius: so compact bodies wobble within a twentieth as ever finer ones do, docs/large_meshes.md
OF_THICKNESS = 0.4
OF_THIN = 0.35  #: the same of bodies that are thin everywhere: these bend, and linear tetrahedra resist that
BOX_EDGES = 20.0  #: of a box diagonal, which an Edge Length of 0 picks
CLOSER = 1.2  #: how much nearer to each other nodes stand than an Edge Length: 1.0 (Box Grid) to 1.35 (TetGen)
#: edges that an Edge Length of 0 leaves across the thickest place of a body that counts as thin everywhere, at most
ACROSS = 2.5
#: such edges across a body of several thin parts, such as a hand, whose thickest place is at most OF_BULK of the cube
#: root of its volume: its box, and with it those edges, grows with the gaps between the parts, which bend alike at any
ACROSS_SLENDER, OF_BULK = 2.75, 0.36
INSIDE, ON_SURFACE = 2.0, 0.5  #: nodes in a volume of an edge cubed, and on an area of an edge squared, of fTetWild
RAYS = 256  #: by which the thickest place is looked for
GOLDEN = 0.6180339887498949, 0.7548776662466927  #: irrational steps, whose multiples spread evenly over a triangle
BELOW = 1.0e-5  #: of the size: how far below the surface a ray begins

Floats = NDArray[np.float64]


def filled_box(sizes: Sequence[float], edge: float) -> tuple[float, float]:
    """Return the edge length of tetrahedra, `edge` or the automatic one for 0, and the approximate number of nodes of a
    box of these sizes; all lengths in one unit."""
    edge = edge or sum(size * size for size in sizes) ** 0.5 / BOX_EDGES
    nodes = 1.0
    for size in sizes:
        nodes *= (CLOSER * size / edge if edge else 0.0) + 1.0
    return edge, nodes


def within_budget(edge: float, nodes: float, bodies: int, most: float = NODES) -> float:
    """Return an edge length with which a body that has `nodes` nodes at `edge` stays within its share of the budget.

    bodies: how many share it. most: nodes of one, whatever its share.
    """
    return edge * max(1.0, nodes / min(most, max(NODES / bodies, FEWEST))) ** (1.0 / 3.0)


def edges(obj: bpy.types.Object, bodies: int = 1) -> tuple[float, float]:
    """Return the edge length of a new body's tetrahedra and the one that 0 picks by its box, both in Blender units.

    bodies: how many share a budget of nodes.
    """
    by_box, _ = filled_box([*obj.dimensions], 0.0)
    points, corners = _surface(obj)
    volume, area = _enclosed(points, corners)
    thickness = 2.0 * volume / area if area > 0.0 else 0.0
    enough = max(by_box, OF_THICKNESS * thickness)
    _, nodes = filled_box([*obj.dimensions], enough)
    enough = within_budget(enough, nodes, bodies)
    thin_below = max(ACROSS * by_box, min(ACROSS_SLENDER * by_box, OF_BULK * volume ** (1.0 / 3.0)))
    if not 0.0 < OF_THICKNESS * thickness < by_box or widest(points, corners) >= thin_below:
        return enough, by_box
    thin = OF_THIN * thickness
    nodes = INSIDE * volume / thin**3 + ON_SURFACE * area / thin**2
    return min(enough, within_budget(thin, nodes, bodies, THIN_NODES)), by_box


def widest(points: Floats, corners: NDArray[np.int32]) -> float:
    """Return about the diameter of the largest ball inside of a closed surface.

    points: (n, 3); corners: of triangles, (m, 3). Balls are tried halfway along rays that go in straight from places
    spread evenly over the surface.
    """
    a, b, c = np.moveaxis(points[corners], 1, 0)
    normals = np.cross(b - a, c - a)
    twice = np.linalg.norm(normals, axis=1)
    count = np.arange(RAYS)
    hit = np.searchsorted(np.cumsum(twice), (count + 0.5) / RAYS * twice.sum()).clip(max=len(corners) - 1)
    u, v = (np.modf(count * step)[0] for step in GOLDEN)
    u, v = np.where(u + v > 1.0, (1.0 - u, 1.0 - v), (u, v))
    starts = a[hit] + u[:, None] * (b - a)[hit] + v[:, None] * (c - a)[hit]
    inward = -normals[hit] / np.maximum(twice[hit], 1.0e-300)[:, None]
    if np.einsum("ij,ij->", a, normals) < 0.0:
        inward = -inward
    starts += BELOW * float(np.ptp(points, axis=0).max()) * inward
    tree, largest = BVHTree.FromPolygons(points.tolist(), corners.tolist(), all_triangles=True), 0.0
    for start, way in zip(starts.tolist(), inward.tolist()):
        across: Any = tree.ray_cast(Vector(start), Vector(way))[0]
        if across is not None:
            largest = max(largest, 2.0 * tree.find_nearest(0.5 * (Vector(start) + across))[3])
    return largest


def evaluated_mesh(obj: bpy.types.Object) -> bpy.types.Mesh:
    """Return the mesh with its modifiers; it does not need to be cleared."""
    return cast(bpy.types.Mesh, obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)


def _surface(obj: bpy.types.Object) -> tuple[Floats, NDArray[np.int32]]:
    """Return points (n, 3) in the parent's space about their middle, in Blender units, and triangles (m, 3)."""
    mesh = evaluated_mesh(obj)
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    at = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    mesh.vertices.foreach_get("co", at)
    points = at.reshape(-1, 3).astype(float) @ np.array(obj.matrix_world.to_3x3()).T
    return points - (points.mean(axis=0) if len(points) else 0.0), corners.reshape(-1, 3)


def _enclosed(points: Floats, corners: NDArray[np.int32]) -> tuple[float, float]:
    """Return the volume and the area of a surface."""
    a, b, c = np.moveaxis(points[corners], 1, 0)
    normals = np.cross(b - a, c - a)
    return (abs(float(np.einsum("ij,ij->", a, normals))) / 6.0,
            0.5 * float(np.linalg.norm(normals, axis=1).sum()))
