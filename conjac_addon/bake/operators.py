"""Bake, pause, cancel, free and export: thin buttons on `session`."""

from __future__ import annotations

import bpy

from ...solver import catalogue
from ...solver.errors import EXIT_COMPLETE, EXIT_STOPPED, ConJacError, printable
from .. import members, playback, status_line
from ..events import is_cancel, may_pass
from ..menus import items
from ..operators.poll import baked, soft_body_to_read, to_read, unless
from ..redraw import redraw_panels
from ..settings import frame_range, go_to
from . import belongings, freeing, place, session, shown

#: seconds between looks at the worker, and how long each may take: the window stays live
TICK, BUDGET = 0.1, 0.05

#: the same while the scene is read: at every look it is put back as the artist has it, so fewer looks are quicker
READING_BUDGET = 0.2


def running_bake(obj: bpy.types.Object | None) -> session.Bake | None:
    """The bake of this object that this Blender runs."""
    if members.is_soft_body(obj) or members.is_mechanism(obj):
        return session.running_bake(obj)
    return None


def is_baking(obj: bpy.types.Object) -> bool:
    """Whether this Blender bakes it."""
    return running_bake(obj) is not None


class CONJAC_OT_bake(bpy.types.Operator):
    """Simulate the active soft body or mechanism and what hangs on it. A stopped bake goes on where it was"""

    bl_idname = "conjac.bake"
    bl_label = "Bake"
    bl_options = {"UNDO"}

    replaces: bpy.props.StringProperty(
        name="Replaces", description="Why the frames of a finished bake would be replaced; asked before it begins anew",
        options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, to_read(cls, context), is_baking, "This object is being baked") is not None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        if self.replaces:
            return context.window_manager.invoke_confirm(
                self, event, title="Replace finished frames?", confirm_text="Replace", icon="WARNING",
                message=self.replaces)
        return self._begin(context)

    def _begin(self, context: bpy.types.Context) -> set[str]:
        try:
            self._bake = session.Bake(context.object, context.scene, replaces=bool(self.replaces))
        except ConJacError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._notes = 0
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.progress_begin(0.0, 1.0)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if is_cancel(event):
            self._bake.cancel()
            return {"RUNNING_MODAL"}
        if event.type == "TIMER":
            goes_on = self._bake.tick(READING_BUDGET if self._bake.worker is None else BUDGET)
            self._say(context)
            return {"PASS_THROUGH"} if goes_on else self._finish(context)
        passes = self._bake.worker is not None or may_pass(event, context.window)
        return {"PASS_THROUGH"} if passes else {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender takes the operator away: another file is loaded, or the window closes."""
        self._bake.close()
        self._finish(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """In the foreground, for scripts and `blender -b`; prints how it goes on, and replaces what is not true any
        more. Where the artist was asked whether it may, as any Bake of a window.
        """
        if self.replaces and not bpy.app.background:
            return self._begin(context)
        try:
            bake = session.Bake(context.object, context.scene)
        except ConJacError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        bake.wait(lambda text: print(printable(text), flush=True))
        return self._result(bake)

    def _say(self, context: bpy.types.Context) -> None:
        """Progress to the cursor, the status bar and the panels; what the solver notes to the info log."""
        progress = self._bake.progress
        for note in progress.notes[self._notes:]:
            self.report({"INFO"}, note)
        self._notes = len(progress.notes)
        context.window_manager.progress_update(progress.fraction or 0.0)
        status_line.say(f"ConJac: {self._bake.sentence()}. Esc cancels")
        redraw_panels()

    def _finish(self, context: bpy.types.Context) -> set[str]:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        status_line.clear()
        if self._bake.exit_code == EXIT_COMPLETE:
            go_to_start(self._bake)
        redraw_panels()
        if self._bake.would_replace:
            bpy.ops.conjac.bake("INVOKE_DEFAULT", replaces=self._bake.progress.error)
            return {"CANCELLED"}
        return self._result(self._bake)

    def _result(self, bake: session.Bake) -> set[str]:
        if bake.exit_code == EXIT_COMPLETE:
            self.report({"INFO"}, f'"{bake.name}": {bake.progress.text}')
            return {"FINISHED"}
        self.report({"WARNING" if bake.exit_code == EXIT_STOPPED else "ERROR"},
                    bake.progress.error or f'"{bake.name}": {bake.progress.text}')
        # frames that came are on the object, so there is something to undo
        return {"FINISHED"} if bake.progress.frame is not None else {"CANCELLED"}


def go_to_start(bake: session.Bake) -> None:
    """Put the timeline where the bake begins, ready to play; a scene that plays goes on playing."""
    if any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows):
        return
    scene = bake.scene()
    go_to(scene, frame_range(bake.object().conjac, scene)[0])


class _OnRunningBake:
    """A button that needs a running bake of the active object."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if running_bake(context.object) is None:
            cls.poll_message_set("This Blender bakes nothing for the active object")
            return False
        return True


class CONJAC_OT_pause(_OnRunningBake, bpy.types.Operator):
    """Stop the bake after the step in hand; Bake goes on from there"""

    bl_idname = "conjac.pause"
    bl_label = "Pause Bake"

    def execute(self, context: bpy.types.Context) -> set[str]:
        running_bake(context.object).pause()
        return {"FINISHED"}


class CONJAC_OT_cancel(_OnRunningBake, bpy.types.Operator):
    """Stop the bake now; its frames stay"""

    bl_idname = "conjac.cancel"
    bl_label = "Cancel Bake"

    def execute(self, context: bpy.types.Context) -> set[str]:
        running_bake(context.object).cancel()
        return {"FINISHED"}


class CONJAC_OT_free_bake(bpy.types.Operator):
    """Delete the baked frames of the active object from the disk; the painting and settings stay"""

    bl_idname = "conjac.free_bake"
    bl_label = "Free Bake"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = unless(cls, baked(cls, context), is_baking, "Cancel the running bake first")
        return unless(cls, obj, lambda one: not _anything_baked(one), "Nothing is baked") is not None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        obj = context.active_object
        at = place.of(obj)
        what = f"{freeing.kept_on_disk(at.folder)}, will be deleted from the disk. This cannot be undone." if at.own \
            else "It plays another object's bake, whose frames stay."
        return context.window_manager.invoke_confirm(
            self, event, title=f'Free the bake of "{members.owner(obj).name}"?', confirm_text="Free", icon="WARNING",
            message=what)

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        try:
            said = freeing.free(obj, context.scene)
        except ConJacError as error:
            error.object = error.object or obj.name
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, said)
        return {"FINISHED"}


class CONJAC_OT_export(bpy.types.Operator):
    """Play the baked frames in this format, which other programs and a render farm can read"""

    bl_idname = "conjac.export"
    bl_label = "Export Bake"
    bl_options = {"REGISTER", "UNDO"}

    format: bpy.props.EnumProperty(
        name="Format", description="How the baked frames are kept",
        items=items(catalogue.family("export").values()))

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = unless(cls, soft_body_to_read(cls, context), is_baking, "Wait for the running bake or cancel it")
        obj = unless(cls, obj, lambda one: not place.of(one).own, "It plays another object's bake: bake it first")
        return unless(cls, obj, lambda one: not (place.job_folder(one) / "cache" / "manifest.json").exists(),
                      "Nothing is baked") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        folder = place.job_folder(obj)
        try:
            shown.show(obj, context.scene, folder, place.cache_of(folder), self.format)
        except ConJacError as error:
            error.object = error.object or obj.name
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


def _anything_baked(obj: bpy.types.Object) -> bool:
    """On the disk, or on the object: undo may have brought back what plays a bake that was freed."""
    folder = place.job_folder(obj)
    on_disk = (folder / "cache" / "manifest.json").exists() or (folder / belongings.LIST).exists()
    return (on_disk and place.of(obj).own) or playback.plays(members.owner(obj))


classes = (CONJAC_OT_bake, CONJAC_OT_pause, CONJAC_OT_cancel, CONJAC_OT_free_bake, CONJAC_OT_export)
