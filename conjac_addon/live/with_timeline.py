"""Blender's Play (Space) starts Play Live for objects that were never baked: after one click, a new body wobbles.

Only the active object is played, with everything baked together with it. Objects with frames are played by the timeline
as usual. Stopping the timeline ends the session that it started, and restores the object.
"""

from __future__ import annotations

from typing import Any

import bpy

from .. import bake, members
from . import session

_begun: session.Played | None = None


def begin() -> None:
    """Play the active object live, if it was never baked, where the timeline plays. Blender's timer calls this: a
    handler may not call operators."""
    global _begun
    for window in bpy.context.window_manager.windows:
        obj = window.view_layer.objects.active
        if window.screen.is_animation_playing and obj is not None and _waits(obj):
            with bpy.context.temp_override(**_place(window)):
                if bpy.ops.conjac.play_live.poll():
                    bpy.ops.conjac.play_live("INVOKE_DEFAULT")
                    _begun = session.playing.get(obj.session_uid)
            return


def end() -> None:
    """End the live session that the timeline started, if it still runs."""
    global _begun
    if _begun is not None and _begun.ended is None:
        _begun.stop()
    _begun = None


def _waits(obj: bpy.types.Object) -> bool:
    """Whether an object is simulated, nothing of it is baked or being baked, and nothing at all is played live."""
    if session.playing or not (members.is_soft_body(obj) or members.is_mechanism(obj)):
        return False
    return bake.status(obj).state == "none"


def _place(window: bpy.types.Window) -> dict[str, Any]:
    """Return the context for an operator in the window's largest 3D View; without one, in the window alone."""
    found: dict[str, Any] = {"window": window, "screen": window.screen}
    views = [area for area in window.screen.areas if area.type == "VIEW_3D"]
    if views:
        area = max(views, key=lambda one: one.width * one.height)
        found |= {"area": area, "region": next(region for region in area.regions if region.type == "WINDOW")}
    return found
