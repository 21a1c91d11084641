"""The artist's hand in a 3D View: grabs the live body under the mouse and pulls it."""

from __future__ import annotations

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from .. import settings
from .session import Played

HARDER = 1.25  #: of the strength, for each click of the wheel
WHEEL = {"WHEELUPMOUSE": HARDER, "WHEELDOWNMOUSE": 1.0 / HARDER}

View = tuple[bpy.types.Region, bpy.types.RegionView3D]


class Hand:
    """Holds one place of one body at a time."""

    def __init__(self, played: Played) -> None:
        self._played, self._grab = played, 0
        self._view: View | None = None
        self._depth = Vector()

    @property
    def holds(self) -> bool:
        return self._grab != 0

    def handle(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Handle an event. Returns whether it was for the hand, so that nobody else should get it."""
        if event.type == "LEFTMOUSE" and event.value == "PRESS" and not self.holds:
            return not (event.alt or event.ctrl or event.shift) and self._take(context, event)
        if not self.holds:
            return False
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self.let_go()
        elif event.type in ("MOUSEMOVE", "INBETWEEN_MOUSEMOVE"):
            self._pull(event)
        elif event.type in WHEEL:
            self._played.pull(self._grab, harder=WHEEL[event.type])
        return not event.type.startswith("TIMER")

    def let_go(self) -> None:
        """Open the hand."""
        if self.holds:
            self._played.let_go(self._grab)
        self._grab = 0

    def _take(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        self._view = view_at(context.window, event.mouse_x, event.mouse_y)
        if self._view is None:
            return False
        region, space = self._view
        at = event.mouse_x - region.x, event.mouse_y - region.y
        origin = view3d_utils.region_2d_to_origin_3d(region, space, at)
        way = view3d_utils.region_2d_to_vector_3d(region, space, at)
        found = place_on(context, self._played, origin, way)
        if found is None:
            return False
        self._depth, rigid = found
        self._grab = self._played.take(self._metres(self._depth), rigid=rigid)
        return self.holds

    def _pull(self, event: bpy.types.Event) -> None:
        assert self._view is not None
        region, space = self._view
        at = event.mouse_x - region.x, event.mouse_y - region.y
        self._played.pull(self._grab, self._metres(view3d_utils.region_2d_to_location_3d(region, space, at,
                                                                                          self._depth)))

    def _metres(self, place: Vector) -> np.ndarray:
        return np.array(place, dtype=np.float64) * settings.unit_scale(self._played.scene())


def place_on(context: bpy.types.Context, played: Played, origin: Vector, way: Vector) -> tuple[Vector, int] | None:
    """Return the place where a ray meets the played object, in Blender units, and its rigid body, -1 for a soft one;
    None where it meets something else first."""
    met, place, _, _, obj, _ = context.scene.ray_cast(context.evaluated_depsgraph_get(), origin, way)
    if not met:
        return None
    if any(obj.original == body for body in played.bodies()):
        return place, -1
    rigid = played.rigid_at(obj.original, np.array(place, dtype=np.float64))
    return None if rigid < 0 else (place, rigid)


def view_at(window: bpy.types.Window, x: int, y: int) -> View | None:
    """Return the 3D View at a place in the window, None over a panel or another editor."""
    for area in window.screen.areas:
        if area.type != "VIEW_3D" or not _inside(area, x, y):
            continue
        if any(region.type != "WINDOW" and region.width > 1 and _inside(region, x, y) for region in area.regions):
            return None
        for region in area.regions:
            if region.type == "WINDOW" and _inside(region, x, y):
                return region, region.data  # type: ignore[return-value]
    return None


def _inside(one: bpy.types.Area | bpy.types.Region, x: int, y: int) -> bool:
    return bool(0 <= x - one.x < one.width and 0 <= y - one.y < one.height)
