"""Velocities of vertices that come onto or leave features; world velocities of the material do not change."""

from __future__ import annotations

import numpy as np

from ..state import Index, Vec
from .runs import Runs
from .sheet_mesh import SheetMesh

FLAT = 1.0e-9  #: relative to a gradient's size: no sliding in directions in which the cloth has collapsed


def gradients_at(mesh: SheetMesh, vertices: Index) -> Vec:
    """Return the deformation gradients F at some vertices, (k,), (k, 3, 2), as `SheetMesh.polar_gradients`.

    Where a face around them is degenerate, as before thin triangles are improved, they are `SheetMesh.mean_gradients`.
    """
    is_requested = np.zeros(len(mesh.x), dtype=bool)
    is_requested[vertices] = True
    faces = mesh.faces[is_requested[mesh.faces].any(axis=1)]
    numbers, flat = np.unique(faces, return_inverse=True)
    around = SheetMesh(mesh.x[numbers], mesh.material[numbers], flat.reshape(-1, 3).astype(np.int32), mesh.v[numbers],
                       mesh.slide[numbers], mesh.on[numbers], mesh.required[numbers])
    a, b = around.gradients.transpose(2, 0, 1)
    # a face that lies on a line has no rotation
    is_flat = np.linalg.norm(np.cross(a, b), axis=1) < FLAT * np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    of_all = around.mean_gradients if is_flat.any() else around.polar_gradients
    gradients: Vec = of_all[np.searchsorted(numbers, vertices)]
    return gradients


def world_velocities_at(mesh: SheetMesh, vertices: Index) -> Vec:
    """Return the world velocities of the material, ẋ − F Ẋ, at some vertices, (k,), (k, 3) [m/s]. [Thesis 2.2]"""
    slid: Vec = mesh.v[vertices] - np.einsum("kij,kj->ki", gradients_at(mesh, vertices), mesh.slide[vertices])
    return slid


def sliding(world: Vec, gradients: Vec, across: Vec, feature: Vec) -> tuple[Vec, Vec]:
    """Return ẋ, (k, 3) [m/s], and Ẋ, (k, 2) [m/s], of vertices that come onto features.

    The velocity of the material, `world`, (k, 3) [m/s], relative to that of the feature, `feature`, (k, 3) [m/s], is
    represented by sliding as far as possible. gradients: F, (k, 3, 2). across: unit directions in which Ẋ is zero,
    (k, 2), zero where Ẋ is free. [Thesis 2.13, changed: features move]
    """
    # least squares in the one direction that the constraint leaves free, or in both, without the multiplier
    some = np.einsum("ki,ki->k", across, across) > 0.0
    free_direction = np.stack([-across[:, 1], across[:, 0]], axis=1)
    C, rhs = np.einsum("kia,kib->kab", gradients, gradients), -np.einsum("kia,ki->ka", gradients, world - feature)
    square = np.einsum("ka,kab,kb->k", free_direction, C, free_direction)
    size = np.trace(C, axis1=1, axis2=2)
    along = np.einsum("ka,ka->k", free_direction, rhs) / np.where(square > FLAT * size, square, np.inf)
    slide = along[:, None] * free_direction
    slide[~some] = np.einsum("kab,kb->ka", np.linalg.pinv(C[~some], rcond=FLAT), rhs[~some])
    return world + np.einsum("kia,ka->ki", gradients, slide), slide


def not_sliding(mesh: SheetMesh, vertices: Index, on: Index, runs: Runs, gradients: Vec) -> Vec:
    """Return the unit direction in material space in which each vertex does not slide, (k, 2).

    It is across the border, or along the feature's edge; zero at a point feature inside. vertices: (k,). on: points or
    runs, (k,); `mesh.on` has runs, too. gradients: F at the vertices, (k, 3, 2). [Thesis Alg. 2.2]
    """
    border = mesh.border[vertices]
    tangent = mesh.border_tangents[vertices]
    across = np.where(border[:, None], np.stack([-tangent[:, 1], tangent[:, 0]], axis=1), 0.0)
    inside = np.flatnonzero(~border & (on >= runs.points))
    if not len(inside):
        return across
    is_requested = np.zeros(len(mesh.x), dtype=bool)
    is_requested[vertices[inside]] = True
    ends = mesh.edges[is_requested[mesh.edges].any(axis=1)]
    for k in inside.tolist():
        i, run = int(vertices[k]), int(on[k]) - runs.points
        other = ends[(ends == i).any(axis=1)].sum(axis=1) - i
        edge_direction = np.zeros(2)
        direction = runs.direction(run, mesh.x[i])
        same = other[(mesh.on[other] == on[k]) | np.isin(mesh.on[other], runs.ends[run][runs.ends[run] >= 0])]
        for j in same.tolist():
            edge_direction += np.sign((mesh.x[j] - mesh.x[i]) @ direction) * (mesh.material[j] - mesh.material[i])
        if not np.any(edge_direction):
            edge_direction = np.linalg.lstsq(gradients[k], direction, rcond=None)[0]
        across[k] = edge_direction / max(float(np.linalg.norm(edge_direction)), 1e-300)
    return across
