"""How much of the meshes that an armature deforms belongs to each bone."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np
from numpy.typing import NDArray

from .evaluation import Evaluation, coordinates
from .mesh import triangles
from .read_by_itself import skins

Array = NDArray[np.float64]


def volumes(evaluation: Evaluation, bones: Sequence[str], ends: Array) -> dict[str, float]:
    """Volume of skin around each bone [m³], at the present frame; bones without any are left out.

    ends: heads and tails in world [m], (b, 2, 3). Space between a triangle and its nearest point of a bone is the
    bone's, as far as it deforms the triangle; together they have the volume that closed meshes have.
    """
    found = np.zeros(len(bones))
    for obj in skins(evaluation.object, evaluation.view_layer.objects):
        found += _of_mesh(evaluation, obj, {name: k for k, name in enumerate(bones)}, ends)
    return {name: float(volume) for name, volume in zip(bones, found) if volume > 0.0}


def _of_mesh(evaluation: Evaluation, obj: bpy.types.Object, index: dict[str, int], ends: Array) -> Array:
    """Return volumes by bone [m³], (b,): zero where the mesh is open, as it encloses none."""
    none = np.zeros(len(index))
    evaluated = evaluation.evaluated(obj)
    mesh = evaluated.to_mesh(preserve_all_data_layers=True, depsgraph=evaluation.depsgraph)
    try:
        corners = triangles(mesh)
        if not len(corners) or not _is_closed(mesh):
            return none
        matrix = evaluation.to_world(obj)
        world = coordinates(mesh) @ matrix[:3, :3].T + matrix[:3, 3]
        of_group = {group.index: index[group.name] for group in evaluated.vertex_groups if group.name in index}
        weights = np.zeros((len(mesh.vertices), len(index)))
        for k, vertex in enumerate(mesh.vertices):
            for element in vertex.groups:
                if element.group in of_group:
                    weights[k, of_group[element.group]] = element.weight
    finally:
        evaluated.to_mesh_clear()
    share = weights[corners].mean(axis=1)
    total = share.sum(axis=1, keepdims=True)
    share = np.divide(share, total, out=np.zeros_like(share), where=total > 0.0)
    x = world[corners]
    for bone in np.flatnonzero(share.any(axis=0)):
        used = share[:, bone] > 0.0
        none[bone] = (share[used, bone] * _between(x[used], *ends[bone])).sum()
    none = np.maximum(none, 0.0)
    whole = abs(np.linalg.det(x).sum()) / 6.0
    weighted = whole * float((total > 0.0).mean())
    return none * (weighted / none.sum()) if none.sum() > 0.0 else none


def _is_closed(mesh: bpy.types.Mesh) -> bool:
    """Whether every edge has two faces."""
    edges = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("edge_index", edges)
    return len(edges) > 0 and bool((np.bincount(edges, minlength=len(mesh.edges)) == 2).all())


def _between(x: Array, head: Array, tail: Array) -> Array:
    """Volume (t,) between triangles (t, 3, 3) and the nearest points of a bone to their corners."""
    along = tail - head
    where = np.clip(((x - head) @ along) / max(float(along @ along), 1.0e-30), 0.0, 1.0)
    a, b, c = np.moveaxis(x, 1, 0)
    p, q, r = np.moveaxis(head + where[..., None] * along, 1, 0)
    faces = ((a, b, c), (b, a, p), (b, p, q), (c, b, q), (c, q, r), (a, c, r), (a, r, p))
    volume: Array = sum(np.einsum("ij,ij->i", i - p, np.cross(j - p, k - p)) for i, j, k in faces) / 6.0
    return volume


def radius_of(volume: float, length: float) -> float:
    """Radius [m] of the capsule as long as a bone that has this volume; of a sphere where it would be rounder."""
    ball = float(np.cbrt(3.0 * volume / (4.0 * np.pi)))
    if ball >= 0.5 * length:
        return ball
    radius = np.sqrt(volume / (np.pi * length))
    for _ in range(30):  # π r² L − 2/3 π r³ = V; the slope is positive below r = L
        left = np.pi * radius**2 * length - 2.0 / 3.0 * np.pi * radius**3 - volume
        radius -= left / (2.0 * np.pi * radius * length - 2.0 * np.pi * radius**2)
    return float(radius)
