"""Base classes of operators on the settings' lists: handles, cuts, nails."""

import bpy

from .. import changes
from ..redraw import redraw_panels
from .poll import active_soft_body, in_object_mode, with_inside


class AddEntry:
    """Base of an operator that adds an entry and its Empty."""

    of_volumes = False  #: whether cloth has none

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = in_object_mode(cls, active_soft_body(cls, context))
        return (with_inside(cls, obj) if cls.of_volumes else obj) is not None


class RemoveEntry:
    """Base of an operator that removes an entry; the object that it points at stays."""

    entries = ""  #: the list's property

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return active_soft_body(cls, context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        entries = getattr(context.object.conjac, self.entries)
        if self.index >= len(entries):
            self.report({"ERROR"}, f"There are only {len(entries)} {self.entries}.")
            return {"CANCELLED"}
        entries.remove(self.index)
        changes.note()
        redraw_panels()
        return {"FINISHED"}
