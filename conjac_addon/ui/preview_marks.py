"""Draws tetrahedra, fibers, maps, rigid bodies and joints that a button shows: over the object, where that is."""

from __future__ import annotations

from typing import Any

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ..operators import previews
from . import map_marks

#: of lines by kind
COLOURS = {
    previews.TETS: (0.75, 0.85, 1.00, 0.8), previews.FIBERS: (0.95, 0.45, 0.15, 1.0),
    previews.RIGID: (0.95, 0.85, 0.25, 1.0), previews.JOINTS: (0.25, 0.85, 0.95, 1.0),
    previews.FUSED: (1.0, 0.2, 0.2, 1.0)}
WIDTH = 1.5  #: of lines [px]

#: GPU data of a preview: the preview, its other dependencies, and the batch
_batches: dict[tuple[int, str], tuple[Any, Any, Any]] = {}


def draw(context: bpy.types.Context) -> None:
    """Draw the previews of all visible objects."""
    if not previews.shown:
        return
    for obj in context.visible_objects:
        for kind, preview in previews.shown.get(obj.session_uid, {}).items():
            gpu.matrix.push()
            try:
                gpu.matrix.multiply_matrix(_nearer(obj, context) @ obj.matrix_world)
                if isinstance(preview, previews.Lines):
                    _draw_lines(obj, kind, preview)
                else:
                    _draw_faces(obj, kind, preview, context)
            finally:
                gpu.matrix.pop()


def _nearer(obj: bpy.types.Object, context: bpy.types.Context) -> Matrix:
    """Return a small offset towards the eye, so that previews in the object's own surface are visible."""
    eye = context.region_data.view_matrix.inverted()
    return Matrix.Translation(map_marks.LIFT * max(*obj.dimensions, 1.0e-6) * eye.col[2].to_3d())


def draw_legend(context: bpy.types.Context) -> None:
    """Draw the legend of the active object's map, unless there is another legend."""
    manager, obj = context.window_manager, context.object
    if obj is None or not obj.visible_get() or "none" != manager.conjac_heat or "none" != manager.conjac_colors:
        return
    one = previews.shown.get(obj.session_uid, {}).get(previews.FIELD)
    if isinstance(one, previews.Faces):
        map_marks.draw_bar(context, map_marks.Ends(one.title, one.low, one.high))


def _draw_lines(obj: bpy.types.Object, kind: str, one: previews.Lines) -> None:
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    ends: Any = one.ends
    batch = _batch(obj, kind, one, None, lambda: batch_for_shader(shader, "LINES", {"pos": ends}))
    gpu.state.blend_set("ALPHA")
    gpu.state.line_width_set(WIDTH)
    gpu.state.depth_test_set("NONE" if one.in_front else "LESS_EQUAL")
    try:
        shader.uniform_float("color", COLOURS[kind])
        batch.draw(shader)
    finally:
        gpu.state.depth_test_set("NONE")
        gpu.state.line_width_set(1.0)
        gpu.state.blend_set("NONE")


def _draw_faces(obj: bpy.types.Object, kind: str, one: previews.Faces, context: bpy.types.Context) -> None:
    """Draw the faces towards the eye, the farthest first: they are in the artist's own faces and in front of them."""
    view = context.region_data.view_matrix @ obj.matrix_world
    matrix = np.array(view, np.float32)
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    batch = _batch(obj, kind, one, matrix.tobytes(), lambda: _made(shader, one, matrix))
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    gpu.state.face_culling_set("FRONT" if view.determinant() < 0.0 else "BACK")
    try:
        batch.draw(shader)
    finally:
        gpu.state.face_culling_set("NONE")
        gpu.state.blend_set("NONE")


def _made(shader: Any, one: previews.Faces, matrix: map_marks.Array) -> Any:
    """Return a batch of its faces from far to near. matrix: from the object to the view, (4, 4)."""
    order = far_to_near(one.corners, matrix)
    places: Any = one.corners[order].reshape(-1, 3)
    tints: Any = np.repeat(map_marks.colours(one.shares[order]), 3, axis=0)
    return batch_for_shader(shader, "TRIS", {"pos": places, "color": tints})


def far_to_near(corners: previews.Drawn, matrix: map_marks.Array) -> previews.Index:
    """Return the order of triangles (b, 3, 3) from the farthest to the nearest. matrix: to the view, which looks along
    −z, (4, 4)."""
    found: previews.Index = np.argsort(corners.mean(axis=1) @ matrix[2, :3], kind="stable")
    return found


def _batch(obj: bpy.types.Object, kind: str, one: Any, other: Any, make: Any) -> Any:
    """Return the batches of a preview on the GPU, rebuilt after changes of the preview or its dependencies."""
    key = (obj.session_uid, kind)
    known = _batches.get(key)
    if known is None or known[0] is not one or known[1] != other:
        known = _batches[key] = (one, other, make())
    return known[2]


def forget() -> None:
    """Drop the previews."""
    _batches.clear()
    previews.shown.clear()
