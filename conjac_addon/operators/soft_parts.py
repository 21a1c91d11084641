"""Finds the soft part of a skin and the bones that hold the rest: the group Soft, else vertices far from the bones."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput

#: vertex group of the soft vertices, and the suffix of a bone's group of attached ones
SOFT, ATTACHED = "Soft", "{} Held"

#: share of each bone's vertices, those farthest from it, that are soft until the artist paints them
SHARE = 0.5

LOOKED_AT = 300  #: vertices from which it is looked how far the soft part reaches


def vertices_by_bone(rig: bpy.types.Object, bones: NDArray[np.int64], soft: NDArray[np.bool_]
                     ) -> list[tuple[str, NDArray[np.int64]]]:
    """Return the bones that hold vertices, each with these."""
    found = [(name, np.flatnonzero((bones == k) & ~soft)) for k, name in enumerate(rig.data.bones.keys())]
    return [(name, vertices) for name, vertices in found if len(vertices)]


def depth(obj: bpy.types.Object, soft: NDArray[np.bool_]) -> float:
    """Return how far the soft part reaches from the attached vertices, in the world, in Blender units; 0 where none or
    all are soft.

    It is at least the radius of what the skin is around, since no vertex inside of that is attached.
    """
    if not soft.any() or soft.all():
        return 0.0
    mesh: bpy.types.Mesh = obj.data  # type: ignore[assignment]
    mesh.calc_loop_triangles()
    places, corners = np.empty(3 * len(soft), np.float32), np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.vertices.foreach_get("co", places)
    there = places.reshape(-1, 3) @ np.array(obj.matrix_world.to_3x3(), np.float32).T
    some, rigid = there[soft][:: max(int(soft.sum()) // LOOKED_AT, 1)], there[~soft]
    mesh.loop_triangles.foreach_get("vertices", corners)
    a, b, c = there[corners.reshape(-1, 3)].transpose(1, 0, 2)
    across = np.cross(b - a, c - a)
    radius = abs(np.einsum("ki,ki->", a - there.mean(axis=0), across)) / 3.0 / max(
        0.5 * np.linalg.norm(across, axis=1).sum(), 1e-30)  # 2 V / A
    return float(max(radius, *(np.linalg.norm(rigid - point, axis=1).min() for point in some)))


def attach(obj: bpy.types.Object, rig: bpy.types.Object, by_bone: list[tuple[str, NDArray[np.int64]]]) -> None:
    """Attach vertices to their simulated bones, or to the parents of these; earlier attachments of this rig are
    removed."""
    entries = obj.conjac.attachments
    for index in reversed(range(len(entries))):
        if entries[index].object == rig:
            entries.remove(index)
    by_body: dict[str, list[NDArray[np.int64]]] = {}
    for name, vertices in by_bone:
        by_body.setdefault(next(_bodies_above(rig, name), name), []).append(vertices)
    for name, lists in by_body.items():
        group = obj.vertex_groups.get(ATTACHED.format(name)) or obj.vertex_groups.new(name=ATTACHED.format(name))
        group.remove(range(len(obj.data.vertices)))
        group.add(np.concatenate(lists).tolist(), 1.0, "REPLACE")
        one = entries.add()
        one.object, one.part, one.group = rig, name, group.name


def _bodies_above(rig: bpy.types.Object, name: str) -> Iterator[str]:
    """Yield a bone and its parents, as far as they are bodies."""
    bone = rig.pose.bones[name]
    for ancestor in (bone, *bone.parent_recursive):
        if ancestor.conjac.role != "none":
            yield ancestor.name


def dominant(obj: bpy.types.Object, rig: bpy.types.Object) -> NDArray[np.int64]:
    """(n,) for each vertex the bone that moves it most, as its place among the rig's bones; -1 where none does.

    Raises BadInput where no bone moves the mesh.
    """
    place = {name: k for k, name in enumerate(rig.data.bones.keys())}
    of_group = {group.index: place[group.name] for group in obj.vertex_groups if group.name in place}
    bones, best = np.full(len(obj.data.vertices), -1), np.zeros(len(obj.data.vertices))
    for k, vertex in enumerate(obj.data.vertices):
        for element in vertex.groups:
            if element.group in of_group and element.weight > best[k]:
                bones[k], best[k] = of_group[element.group], element.weight
    if (bones < 0).all():
        raise BadInput(f'no vertex group of it has the name of a bone of "{rig.name}"',
                       "Parent it to the armature with weights first", obj.name)
    return bones


def soft_vertices(obj: bpy.types.Object, rig: bpy.types.Object, bones: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the vertices painted Soft, (n,); if none is, create the group from those farthest from the bones."""
    group: bpy.types.VertexGroup | None = obj.vertex_groups.get(SOFT)
    count = len(obj.data.vertices)
    soft = np.zeros(count, dtype=bool)
    if group is not None:
        for k, vertex in enumerate(obj.data.vertices):
            soft[k] = any(element.group == group.index and element.weight > 0.5 for element in vertex.groups)
        if soft.any():
            return soft
    local = np.empty(3 * count, dtype=np.float32)
    obj.data.vertices.foreach_get("co", local)
    matrix = np.array(rig.matrix_world.inverted_safe() @ obj.matrix_world, dtype=np.float64)
    x = local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    for k, bone in enumerate(rig.data.bones):
        mine = np.flatnonzero(bones == k)
        if len(mine):
            head, tail = np.array(bone.head_local), np.array(bone.tail_local)
            along = tail - head
            where = np.clip((x[mine] - head) @ along / max(along @ along, 1.0e-30), 0.0, 1.0)
            far = np.linalg.norm(x[mine] - head - where[:, None] * along, axis=1)
            soft[mine[far > np.quantile(far, 1.0 - SHARE)]] = True
    group = group or obj.vertex_groups.new(name=SOFT)
    group.add(np.flatnonzero(soft).tolist(), 1.0, "REPLACE")
    return soft
