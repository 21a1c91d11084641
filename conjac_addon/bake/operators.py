"""Bake, pause, cancel, free and export: thin buttons on `session`."""

import bpy

from ...solver.errors import ConJacError, printable
from ...solver.frames.read import Cache
from .. import members, playback
from ..operators.light import Behaviour
from ..operators.poll import baked, soft_body_to_read, to_read, unless
from ..timeline import frame_range
from . import belongings, freeing, place, session, shown
from .behind import BehindWindow


def running_bake(obj: bpy.types.Object | None) -> "session.Bake | None":
    """Return the running bake of an object in this Blender, also if undo has removed ConJac from the object."""
    return session.running_bake(obj) if obj is not None else None


def is_baking(obj: bpy.types.Object) -> bool:
    """Whether this Blender bakes it."""
    return running_bake(obj) is not None


class CONJAC_OT_bake(BehindWindow, Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return unless(cls, to_read(cls, context), is_baking, "This object is being baked") is not None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        return self.begin(context, context.object)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Bake in the foreground, for scripts and `blender -b`; prints progress, and replaces stale frames."""
        try:
            self.bake = session.Bake(context.object, context.scene)
        except ConJacError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.bake.wait(lambda text: print(printable(text), flush=True))
        return self.result()


class _OnRunningBake:
    """A button that needs a running bake of the active object."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if running_bake(context.object) is None:
            cls.poll_message_set("No bake of the active object runs in this Blender")
            return False
        return True


class CONJAC_OT_pause(_OnRunningBake, Behaviour):
    def execute(self, context: bpy.types.Context) -> set[str]:
        running_bake(context.object).pause()
        return {"FINISHED"}


class CONJAC_OT_cancel(_OnRunningBake, Behaviour):
    def execute(self, context: bpy.types.Context) -> set[str]:
        running_bake(context.object).cancel()
        return {"FINISHED"}


class CONJAC_OT_free_bake(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = unless(cls, baked(cls, context), is_baking, "Cancel the running bake first")
        return unless(cls, obj, lambda one: not _anything_baked(one), "Nothing is baked") is not None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        obj = context.active_object
        at = place.of(obj)
        others = [] if self.together else freeing.still_playing(obj, context.scene)
        if others:
            return set(context.window_manager.invoke_confirm(
                self, event, title=f'Free the bake of "{obj.name}"?', confirm_text="Free", icon="WARNING",
                message=f"Its frames stay on the disk for {', '.join(others[:3])}, baked together with it."))
        what = f"{freeing.size_on_disk(at.folder)}, will be deleted from the disk. This cannot be undone." if at.own \
            else "It plays another object's bake, whose frames stay."
        title = members.title(members.owner(obj), context.scene)
        return set(context.window_manager.invoke_confirm(
            self, event, title=f'Free the bake of "{title}"?', confirm_text="Free", icon="WARNING", message=what))

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        try:
            summary = freeing.free(obj, context.scene, self.together)
        except ConJacError as error:
            error.object = error.object or obj.name
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, summary)
        return {"FINISHED"}


class CONJAC_OT_export(Behaviour):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = unless(cls, soft_body_to_read(cls, context), is_baking, "Wait for the running bake or cancel it")
        obj = unless(cls, obj, lambda one: not place.of(one).own, "It plays another object's bake: bake it first")
        return unless(cls, obj, lambda one: not (place.job_folder(one) / "cache" / "manifest.json").exists(),
                      "Nothing is baked") is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        folder = place.job_folder(obj)
        span = frame_range(members.shared_settings(obj), context.scene)
        try:
            cache = place.cache_of(folder)
            notes = shown.show(obj, context.scene, folder, cache, self.format, span)
        except ConJacError as error:
            error.object = error.object or obj.name
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, ". ".join([_written(obj, cache, span), *notes]))
        return {"FINISHED"}


def _written(obj: bpy.types.Object, cache: Cache, span: tuple[int, int]) -> str:
    """Return a sentence with the number of exported frames and their location."""
    first = max(cache.frames[0], span[0])
    run = playback.run_from({frame for frame in cache.frames_done() if frame <= span[1]}, first)
    assert run is not None  # they were just written
    file = playback.file_of(obj)
    where = f'"{file}"' if file is not None else "shape keys of its mesh"
    count = run[1] - run[0] + 1
    many = f"{count} frames, {run[0]} to {run[1]}, were" if count > 1 else f"One frame, {run[0]}, was"
    return f'"{obj.name}": {many} written to {where}'


def _anything_baked(obj: bpy.types.Object) -> bool:
    """Whether there is a bake on the disk or on the object, as undo may have restored the playback of a deleted one."""
    folder = place.job_folder(obj)
    on_disk = (folder / "cache" / "manifest.json").exists() or (folder / belongings.LIST).exists()
    return (on_disk and place.of(obj).own) or playback.plays(members.owner(obj)) or (
        members.is_soft_body(obj) and playback.plays(obj))
