"""Colliders without faces: edges are wires, and vertices of no edge are nails, which only sharp cloth feels."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from .mesh import places

Array = NDArray[np.float64]

SHAFT = 1.0  #: [m] from a nail's tip to its head, so that it does not turn by more than it is long in a sample


@dataclass(frozen=True)
class Thin:
    """A mesh of wires and nails in world space."""

    vertices: Array  #: those of the mesh and then the heads of its nails, (n, 3) [m]
    wires: NDArray[np.int32]  #: ends of edges, (k, 2)
    nails: NDArray[np.int32]  #: heads and tips, (k, 2)


def is_thin(mesh: bpy.types.Mesh) -> bool:
    """Whether it has vertices and no face."""
    return len(mesh.vertices) > 0 and not len(mesh.polygons)


def thin(mesh: bpy.types.Mesh, to_world: Array, name: str, thickness: float) -> Thin:
    """Return an evaluated mesh without faces. Nails point along its Z axis and reach `thickness` [m] further than their
    vertices. Raises BadMesh where coordinates are not numbers."""
    world = places(mesh, to_world, name)
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    tips = np.setdiff1d(np.arange(len(world), dtype=np.int32), edges)
    up = to_world[:3, 2] / np.linalg.norm(to_world[:3, 2])
    world[tips] += thickness * up
    heads = len(world) + np.arange(len(tips), dtype=np.int32)
    return Thin(np.concatenate([world, world[tips] - SHAFT * up]), edges.reshape(-1, 2),
                np.column_stack([heads, tips]))
