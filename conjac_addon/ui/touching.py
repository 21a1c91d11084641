"""Draws in the 3D View where surfaces push each other at the present frame, and how hard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...solver.errors import ConJacError
from .. import members
from .. import settings as properties
from ..bake import place

if TYPE_CHECKING:  # Blender starts without numpy
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

LARGEST = 0.25  #: of its bake's largest object: the arrow of a frame's largest force
SIZE, WIDTH = 6.0, 2.0  #: of points and lines [px]
POINTS, ARROWS = (1.0, 0.2, 0.2, 1.0), (1.0, 0.9, 0.1, 1.0)

#: what was read: (folder, frame, when its cache was written) → rows of `Cache.contacts`
_read: dict[tuple[str, int, int], Array] = {}
_handler: list[Any] = []


def marks(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[Array, Array] | None:
    """Of all that is baked together with an object: places (k, 3), and ends of arrows (4 k, 3), two arrows each, in
    Blender's lengths in world; None where no contacts are baked at the present frame.
    """
    import numpy as np

    rows = _at(obj, properties.present_frame(scene))
    if rows is None:
        return None
    places, forces = rows[:, :3] / properties.unit_scale(scene), rows[:, 3:6]
    largest = float(np.linalg.norm(forces, axis=1).max(initial=0.0))
    together = members.members(members.owner(obj), scene)
    size = LARGEST * max(float(length) for one in together for length in one.dimensions)
    arrows = forces * (size / largest if largest else 0.0)
    ends = np.stack([places, places + arrows, places, places - arrows], axis=1).reshape(-1, 3)
    return places.astype(np.float32), ends.astype(np.float32)


def _at(obj: bpy.types.Object, frame: int) -> Array | None:
    folder = place.of(obj).folder
    try:
        written = (folder / "cache" / "manifest.json").stat().st_mtime_ns
    except OSError:
        return None
    key = (str(folder), frame, written)
    if key not in _read:
        try:
            rows = place.cache_of(folder).contacts(frame)
        except ConJacError:
            return None  # a frame that is not baked yet, or one without surfaces that may touch
        if len(_read) > 64:
            _read.clear()
        _read[key] = rows
    return _read[key]


def draw() -> None:
    """Draw the contacts of all visible soft bodies, each bake once, where the overlay is switched on."""
    context = bpy.context
    if not context.window_manager.conjac_show_contacts or not context.space_data.overlay.show_overlays:
        return
    import gpu
    import numpy as np
    from gpu_extras.batch import batch_for_shader

    bakes = {members.owner(obj): obj for obj in context.visible_objects if members.collides(obj)}
    found = [told for obj in bakes.values() if (told := marks(obj, context.scene)) is not None and len(told[0])]
    if not found:
        return
    points, arrows = (np.concatenate(both) for both in zip(*found))
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.point_size_set(SIZE)
    gpu.state.line_width_set(WIDTH)
    try:
        for kind, places, colour in (("LINES", arrows, ARROWS), ("POINTS", points, POINTS)):
            shader.uniform_float("color", colour)
            batch_for_shader(shader, kind, {"pos": places}).draw(shader)
    finally:
        gpu.state.point_size_set(1.0)
        gpu.state.line_width_set(1.0)


def draw_switch(self: Any, context: bpy.types.Context) -> None:
    """In the popover of the 3D View's overlays."""
    self.layout.prop(context.window_manager, "conjac_show_contacts")


def register() -> None:
    bpy.types.WindowManager.conjac_show_contacts = bpy.props.BoolProperty(  # type: ignore[func-returns-value]
        name="Contacts", description="Show where surfaces of baked soft bodies push each other, and how hard, at the "
        "present frame", default=False)
    bpy.types.VIEW3D_PT_overlay_object.append(draw_switch)
    _handler.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    while _handler:
        bpy.types.SpaceView3D.draw_handler_remove(_handler.pop(), "WINDOW")
    bpy.types.VIEW3D_PT_overlay_object.remove(draw_switch)
    if hasattr(bpy.types.WindowManager, "conjac_show_contacts"):
        del bpy.types.WindowManager.conjac_show_contacts
    _read.clear()
