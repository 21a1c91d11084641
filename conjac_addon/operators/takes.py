"""Operators that play a take, compare with it, or delete it."""

import bpy

from ...solver.errors import ConJacError
from .. import members
from ..bake import apart, freeing, place, takes
from ..bake.operators import is_baking
from ..redraw import redraw_panels
from .light import Behaviour
from .poll import active_soft_body, baked, in_object_mode, to_read, unless


class _OnTake(Behaviour):
    """A button that needs a take of the active object's bake."""

    number = 0

    @classmethod
    def has_some(cls, obj: bpy.types.Object | None) -> bool:
        obj = unless(cls, obj, is_baking, "Wait for the running bake or cancel it")
        obj = unless(cls, obj, lambda one: not place.of(one).own, "It plays another object's bake")
        return unless(cls, obj, lambda one: not takes.listed(place.job_folder(one)),
                      "It has no takes: baking again with other settings keeps one") is not None


class CONJAC_OT_use_take(_OnTake):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return cls.has_some(to_read(cls, context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = members.owner(context.object)
        try:
            sentences = takes.use(obj, context.scene, self.number)
        except ConJacError as error:
            error.object = error.object or obj.name
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, ". ".join(sentences))
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_compare_take(_OnTake):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return cls.has_some(in_object_mode(cls, active_soft_body(cls, context)))

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.object
        try:
            found = apart.write(obj, context.scene, self.number)
        except ConJacError as error:
            error.object = error.object or obj.name
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Take {found.number} is up to {found.largest:.3g} mm away, at frame {found.frame}, and "
                              f"{found.mean:.3g} mm on average over {found.frames} frames: the attribute "
                              f"{apart.DIFFERENCE} has the largest of each vertex")
        redraw_panels()
        return {"FINISHED"}


class CONJAC_OT_remove_take(_OnTake):
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return cls.has_some(baked(cls, context))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        take = takes.find(place.job_folder(context.object), self.number)
        self.number = take.number
        return set(context.window_manager.invoke_confirm(
            self, event, title=f"Delete take {take.number}?", confirm_text="Delete", icon="WARNING",
            message=f"Its frames {take.first} to {take.last}, {freeing.size_in_words(take.size)}, will be deleted from "
            "the disk. This cannot be undone."))

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            take = takes.find(place.job_folder(context.object), self.number)
        except ConJacError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        takes.remove(take)
        self.report({"INFO"}, f"Take {take.number} is deleted: {freeing.size_in_words(take.size)} freed")
        redraw_panels()
        return {"FINISHED"}
