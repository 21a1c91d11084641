"""Add > ConJac: small scenes and samples of presets, put at the 3D cursor."""

from __future__ import annotations

import importlib

import bpy

from .. import by_button, menus
from ..ready import sample
from .light import Behaviour


class _AtCursor(Behaviour):
    """An operator that adds objects to the active collection."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        if not context.collection.is_editable:
            cls.poll_message_set("The active collection is linked from another file; choose one of this file")
            return False
        return True


class CONJAC_OT_add_ready(_AtCursor):
    def execute(self, context: bpy.types.Context) -> set[str]:
        made = importlib.import_module(f"...ready.{self.scene}", __name__)
        with by_button.as_made():
            made.make(context, context.scene.cursor.location.copy())
        label = menus.READY[self.scene][0]
        self.report({"INFO"}, f"{label} is ready: press Play Live or Bake")
        return {"FINISHED"}


class CONJAC_OT_add_sample(_AtCursor):
    def execute(self, context: bpy.types.Context) -> set[str]:
        kind, _, preset = self.preset.partition("/")
        with by_button.as_made():
            made = sample.make(context, context.scene.cursor.location.copy(), kind, preset)
        self.report({"INFO"}, f"{made.name} is ready: press Play Live or Bake")
        return {"FINISHED"}
