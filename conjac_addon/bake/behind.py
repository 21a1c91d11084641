"""Background bake: Blender's timer advances it, and the window shows its progress."""

from typing import Any

import bpy

from ...solver.errors import EXIT_COMPLETE, EXIT_STOPPED, ConJacError
from .. import status_line
from ..events import is_cancel, may_pass
from ..redraw import redraw_panels
from ..timeline import frame_range, go_to
from . import session, watch

#: seconds between looks at the worker, and how long each may take: the window stays live
TICK, BUDGET = 0.1, 0.05

#: the same while the scene is read: at every look it is put back as the artist has it, so fewer looks are quicker
READING_BUDGET = 0.2


class BehindWindow:
    """Base of an operator that bakes: it defines `begin` instead of the rest of its `execute`."""

    bake: Any = None  #: session.Bake; None until it begins

    def begin(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        """Bake the object behind the window. A finished bake that is no longer true is kept as a take."""
        try:
            self.bake = session.Bake(obj, context.scene, keeps=True)
        except ConJacError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._notes = 0
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.progress_begin(0.0, 1.0)
        context.window_manager.modal_handler_add(self)  # type: ignore[arg-type]
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if is_cancel(event):
            self.bake.cancel()
            return {"RUNNING_MODAL"}
        if event.type == "TIMER":
            goes_on = self.bake.tick(READING_BUDGET if self.bake.worker is None else BUDGET)
            self._say(context)
            return {"PASS_THROUGH"} if goes_on else self._finish(context)
        passes = self.bake.worker is not None or may_pass(event, context.window)
        return {"PASS_THROUGH"} if passes else {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Called by Blender when it ends the operator: another file is loaded, or the window closes."""
        self.bake.close()
        self._finish(context)

    def result(self) -> set[str]:
        """Report the end of the bake. Returns the operator's result for Blender."""
        bake = self.bake
        if bake.exit_code == EXIT_COMPLETE:
            self.report({"INFO"}, f'"{bake.name}": {bake.progress.text}')
            return {"FINISHED"}
        self.report({"WARNING" if bake.exit_code == EXIT_STOPPED else "ERROR"},
                    bake.progress.error or f'"{bake.name}": {bake.progress.text}')
        # frames that came are on the object, so there is something to undo
        return {"FINISHED"} if bake.progress.frame is not None else {"CANCELLED"}

    def _say(self, context: bpy.types.Context) -> None:
        """Show progress at the cursor, in the status bar and in the panels; the solver's notes go to the info log."""
        progress = self.bake.progress
        for note in progress.notes[self._notes:]:
            self.report({"INFO"}, note)
        self._notes = len(progress.notes)
        context.window_manager.progress_update(progress.fraction or 0.0)
        status_line.say(f"ConJac: {self.bake.sentence()}. Esc cancels")
        redraw_panels()

    def _finish(self, context: bpy.types.Context) -> set[str]:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        status_line.clear()
        if self.bake.exit_code == EXIT_COMPLETE:
            _go_to_start(self.bake)
        watch.look()
        redraw_panels()
        return self.result()


def _go_to_start(bake: "session.Bake") -> None:
    """Set the timeline to the start of the bake, ready to play; a playing scene continues."""
    if any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows):
        return
    scene = bake.scene()
    go_to(scene, frame_range(bake.object().conjac, scene)[0])
