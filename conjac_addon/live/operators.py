"""The operator Play Live: it starts and ends a `session`, and lets the artist pull."""

from __future__ import annotations

import bpy

from ...solver.errors import ConJacError
from .. import status_line
from ..events import is_cancel
from ..operators.light import Behaviour
from ..operators.poll import to_read, unless
from ..redraw import redraw_panels
from . import performance, session
from .hand import Hand

TICK = 1.0 / 120.0  #: seconds between looks at the worker: none of sixty frames in a second is missed
WAITS = 0.25  #: seconds between looks of the operator itself, which ends after what it holds has


class CONJAC_OT_play_live(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.object is not None and context.object.session_uid in session.playing:
            return True
        obj = to_read(cls, context)
        return unless(cls, obj, lambda one: bpy.app.background, "It needs a window") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.invoke(context, None)  # type: ignore[arg-type]

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        played = session.playing.get(context.object.session_uid)
        if played is not None:
            played.stop()
            return {"FINISHED"}
        try:
            self._played = session.Played(context.object, context.scene)
        except ConJacError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._hand = Hand(self._played)
        self._timer = context.window_manager.event_timer_add(WAITS, window=context.window)
        carry_on(self._played)
        context.window_manager.modal_handler_add(self)  # type: ignore[arg-type]
        redraw_panels()
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self._played.ended is None and is_cancel(event):
            self._played.stop()
        if self._played.ended is not None:
            return self._finish(context)
        taken = self._played.is_moving and self._hand.handle(context, event)
        return {"RUNNING_MODAL"} if taken else {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Called by Blender when it ends the operator: another file is loaded, or the window closes."""
        self._played.stop()
        self._finish(context)

    def _finish(self, context: bpy.types.Context) -> set[str]:
        context.window_manager.event_timer_remove(self._timer)
        if self._played.ended:
            self.report({"ERROR" if self._played.failed else "INFO"}, self._played.ended)
        return {"CANCELLED"}  # nothing of the file has changed, so there is no step of undo


class CONJAC_OT_record_live(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.object is None or context.object.session_uid not in session.playing:
            cls.poll_message_set("Press Play Live first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        played = session.playing[context.object.session_uid]
        if not played.is_moving:
            self.report({"WARNING"}, "It does not move yet: wait a moment")
            return {"CANCELLED"}
        played.record(not played.records)
        redraw_panels()
        return {"FINISHED"}


def carry_on(played: session.Played) -> None:
    """Let Blender's timer advance the session, since a dragged slider blocks events of the window."""
    shown = ""

    def tick() -> float | None:
        nonlocal shown
        goes_on = played.tick()
        if goes_on and played.performed is not None:
            path, frames = played.performed
            try:
                performance.keep(played.object(), played.scene(), path, frames, played.engine, *played.pullable())
                played.stop()
            except ConJacError as error:
                played.stop(str(error), failed=True)
            goes_on = False
        text = f"ConJac: {played.sentence()}. Drag it with the left mouse button, Esc ends" if goes_on else ""
        if text != shown:
            shown = text
            status_line.say(text) if text else status_line.clear()
            redraw_panels()
        return TICK if goes_on else None

    bpy.app.timers.register(tick)
