"""Buttons whose work a process does: the window stays live, and a script or a background Blender waits for it."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

import bpy

from ...solver.errors import ConJacError
from .. import failures, status_line
from ..events import is_cancel
from ..redraw import redraw_panels
from .poll import soft_body_to_read, unless, with_inside

#: seconds between looks at the worker
TICK = 0.1

#: objects that a worker is busy with, by session_uid
_running: set[int] = set()

Made = TypeVar("Made")

#: yields progress texts and returns the result
Doing = Generator[str, None, Made]


class OnWorker:
    """Base of operators that run in a worker; subclasses implement `work`."""

    def work(self, obj: bpy.types.Object, scene: bpy.types.Scene, wait: float) -> Doing[list[str]]:
        """Do the work; yields progress texts, and each step waits up to `wait` seconds. Returns sentences for the
        artist. Raises ConJacError. Closing it early ends the worker."""
        raise NotImplementedError

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, with_inside(cls, soft_body_to_read(cls, context)), lambda obj: obj.session_uid in _running,
                      "It is being processed: wait for it or press Esc") is not None

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        self._uid = context.object.session_uid
        _running.add(self._uid)
        self._steps = self.work(context.object, context.scene, wait=0.0)
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.modal_handler_add(self)  # type: ignore[arg-type]
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if is_cancel(event):
            self.cancel(context)
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        try:
            text = next(self._steps)
        except StopIteration as end:
            self.cancel(context)
            return self._finished(self._uid, end.value)
        except ConJacError as error:
            self.cancel(context)
            return self._failed(self._uid, error)
        except Exception:
            self.cancel(context)  # a defect must not leave the button grey and the timer running
            raise
        status_line.say(f"ConJac: {text}. Esc cancels")
        return {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """End it, whether it is done, cancelled or another file is loaded: no process is left behind."""
        self._steps.close()
        _running.discard(self._uid)
        context.window_manager.event_timer_remove(self._timer)
        status_line.clear()
        # a handle or a wire has come, and a button is no longer grey
        redraw_panels()

    def execute(self, context: bpy.types.Context) -> set[str]:
        uid, printed = context.object.session_uid, ""
        steps = self.work(context.object, context.scene, wait=TICK)
        try:
            while True:
                text = next(steps)
                if text != printed:
                    print(text, flush=True)
                    printed = text
        except StopIteration as end:
            return self._finished(uid, end.value)
        except ConJacError as error:
            return self._failed(uid, error)

    def _failed(self, uid: int, error: ConJacError) -> set[str]:
        failures.keep(uid, type(self).__name__, str(error), error.code)
        self.report({"ERROR"}, str(error))
        redraw_panels()
        return {"CANCELLED"}

    def _finished(self, uid: int, notes: list[str]) -> set[str]:
        failures.mend(uid, type(self).__name__)
        for note in notes:
            self.report({"INFO"}, note)
        return {"FINISHED"}
