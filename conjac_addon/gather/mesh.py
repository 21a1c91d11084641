"""The artist's mesh: vertices and triangles at the start frame, in world space."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput, BadMesh
from . import stack
from .evaluation import Evaluation, coordinates

#: a mesh is flat when it is this many times thinner than it is wide
FLAT = 1.0e-6
FEELS_WIRES = "Give it faces. Only cloth with Sharp Edges collides with wires and nails"


def triangles(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """Return the triangles of an evaluated mesh, (m, 3); n-gons as Blender splits them."""
    mesh.calc_loop_triangles()
    corners = np.empty(len(mesh.loop_triangles) * 3, dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    return corners.reshape(-1, 3)


def places(mesh: bpy.types.Mesh, to_world: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return vertices in world space, (n, 3) [m]. Raises BadMesh where there are none, or one is nowhere."""
    local = coordinates(mesh)
    if not len(local):
        raise BadMesh("the mesh has no vertices", "Add geometry to it", name)
    bad = np.flatnonzero(~np.isfinite(local).all(axis=1))
    if len(bad):
        raise BadMesh(f"{len(bad)} of its vertices have coordinates that are not numbers, the first is vertex {bad[0]}",
                      "Delete those vertices", name)
    world: NDArray[np.float64] = local @ to_world[:3, :3].T + to_world[:3, 3]
    return world


def surface(mesh: bpy.types.Mesh, to_world: NDArray[np.float64], name: str, flat: bool = False
            ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return vertices [m], (n, 3), and triangles, (m, 3), in world space, facing as in Blender.

    flat: whether it may be, since it is thickened later. Raises BadMesh where there is nothing to fill with a volume.
    """
    world, corners = places(mesh, to_world, name), triangles(mesh)
    if not len(corners):
        raise BadMesh("the mesh has no faces, only loose vertices and edges",
                      FEELS_WIRES if flat else "Give it faces around a volume", name)
    used = world[np.unique(corners)]
    width = np.linalg.svd(used - used.mean(axis=0), compute_uv=False)
    if width[2] <= FLAT * width[0] and not flat:
        raise BadMesh("the mesh is flat, it has no volume", "Set its Sheet Thickness, or add a Solidify modifier and "
                      "name it in Simulate After in the Volume panel", name)
    # a mirrored object turns its faces inside out
    if np.linalg.det(to_world[:3, :3]) < 0.0:
        corners = corners[:, ::-1]
    return world, np.ascontiguousarray(corners)


def start_mesh(obj: bpy.types.Object, scene: bpy.types.Scene, frame: int) -> tuple[bpy.types.Mesh, bool]:
    """A new mesh like the object's at a bake's first frame, and whether the bake's triangles run the other way round.
    """
    with Evaluation(obj, scene) as evaluation:
        evaluation.go_to(frame)
        mesh = bpy.data.meshes.new_from_object(evaluation.evaluated(obj), preserve_all_data_layers=True,
                                               depsgraph=evaluation.depsgraph)
        return mesh, bool(np.linalg.det(evaluation.to_world()[:3, :3]) < 0.0)


def check_left(evaluation: Evaluation) -> None:
    """Raises BadMesh where a modifier leaves no vertices of a mesh that has some, at the present frame."""
    obj = evaluation.object
    if not len(obj.data.vertices):
        return
    counts = _counts_below_each(evaluation, evaluation.frame, evaluation.subframe)
    culprit = next((name for name, count in counts.items() if not count), None)
    if culprit is not None:
        raise BadMesh(f'its modifier "{culprit}" leaves no vertices', "Let it make a mesh (instances have none: add "
                      "Realize Instances), or choose one before it under Simulate After", obj.name, evaluation.frame)


def check_stack(evaluation: Evaluation, count: int, export: str) -> None:
    """Refuse modifiers above ConJac that would play back on other vertices. count: vertices at the start frame."""
    obj = evaluation.object
    for modifier in stack.above(obj):
        if stack.renders_differently(modifier):
            raise BadInput(f'the modifier "{modifier.name}" above ConJac gives other vertices in renders than in the '
                           "viewport", "Make both equal, or choose one before it under Simulate After", obj.name)
    if export == "shapekeys" and count != len(obj.data.vertices):
        culprit = next((m.name for m in stack.above(obj) if stack.may_change_count(m)), None)
        raise BadInput(
            f"shape keys need the {len(obj.data.vertices)} vertices of the mesh itself, but "
            f'{f"the modifier “{culprit}”" if culprit else "a modifier"} above ConJac makes {count} of them',
            "Apply it, choose one before it under Simulate After, or choose PC2 or Alembic", obj.name)


def count_changed(evaluation: Evaluation, start: int, frame: int, subframe: float, counts: tuple[int, int]) -> BadInput:
    """Return the error for a vertex count that differs at `frame` from the start, with the modifier that causes it."""
    obj = evaluation.object
    at_start = _counts_below_each(evaluation, start, 0.0)
    at_frame = _counts_below_each(evaluation, frame, subframe)
    culprit = next((name for name in at_start if at_start[name] != at_frame[name]), None)
    who = f'the modifier "{culprit}" above ConJac changes' if culprit else "something above ConJac changes"
    return BadInput(f"{who} the number of vertices from {counts[0]} to {counts[1]}",
                    "Apply it, remove its animation, or choose one before it under Simulate After", obj.name, frame)


def _counts_below_each(evaluation: Evaluation, frame: int, subframe: float) -> dict[str, int]:
    """Vertex count after each modifier above the mark, by the modifier's name. Evaluates once for each of them."""
    modifiers = stack.above(evaluation.object)
    shown = [modifier.show_viewport for modifier in modifiers]
    counts = {}
    try:
        for i, modifier in enumerate(modifiers):
            for j, other in enumerate(modifiers):
                other.show_viewport = shown[j] and j <= i
            evaluation.go_to(frame, subframe)
            counts[modifier.name] = len(evaluation.mesh().vertices)
            evaluation.release()
    finally:
        for modifier, switch in zip(modifiers, shown):
            modifier.show_viewport = switch
    return counts
