"""Operator that deletes the caches of objects that are no longer in this .blend."""

import bpy

from .. import text
from ..bake import freeing, unused
from ..redraw import redraw_panels
from .light import Behaviour

#: width of the dialog [pixels at a scale of one], and how many caches it names
WIDTH, SHOWN = 440, 12


class CONJAC_OT_remove_unused_caches(Behaviour):
    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        self._found = unused.found()
        if not self._found:
            return self.execute(context)
        return set(context.window_manager.invoke_props_dialog(self, width=WIDTH))

    def draw(self, _context: bpy.types.Context) -> None:
        for unused_bake in self._found[:SHOWN]:
            self.layout.label(text=unused_bake.in_words())
        if len(self._found) > SHOWN:
            self.layout.label(text=f"and {len(self._found) - SHOWN} more")
        text.dialog(self.layout, "They will be deleted from the disk. Undo brings an object back, but not its frames.",
                    WIDTH)

    def execute(self, _context: bpy.types.Context) -> set[str]:
        found = unused.found()
        if not found:
            self.report({"INFO"}, "Nothing to delete: every cache of this file belongs to an object")
            return {"CANCELLED"}
        freed = unused.remove(found)
        names = ", ".join(f'"{unused_bake.name}"' for unused_bake in found)
        self.report({"INFO"}, f"{freeing.size_in_words(freed)} freed: caches of {names}")
        redraw_panels()
        return {"FINISHED"}
