"""Break Lock: for a bake of another machine, or another Blender, that is known to be gone."""

from __future__ import annotations

import bpy

from ...solver.errors import ConJacError
from ...solver.frames import lock
from .. import members
from ..operators.light import Behaviour
from ..operators.poll import baked, unless
from ..redraw import redraw_panels
from . import place, session, taken


def other_baker(obj: bpy.types.Object) -> str:
    """Return which other process bakes the object and its last report; "" for none, or this Blender."""
    if session.running_bake(obj) is not None:
        return ""
    return next((lock.description(folder) for folder in taken.by(place.job_folder(obj))), "")


class CONJAC_OT_break_lock(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, baked(cls, context), lambda obj: not other_baker(obj),
                      "No other program bakes it") is not None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return set(context.window_manager.invoke_confirm(
            self, event, title="Break Lock", confirm_text="Break Lock", icon="WARNING",
            message=f"It is being baked by {other_baker(context.object)}. Is that bake gone?"))

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        try:
            who = [lock.break_lock(folder) for folder in taken.by(place.job_folder(obj))][0]
        except ConJacError as error:
            error.object = error.object or members.owner(obj).name
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f'"{obj.name}": its cache was taken from {who}')
        redraw_panels()
        return {"FINISHED"}
