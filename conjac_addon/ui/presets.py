"""Presets of materials, fabrics and ropes, as Blender keeps them: ours in presets/, others in the user's folder.

scripts/presets.py writes ours, with a source each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from .. import compat

FOLDER = Path(__file__).resolve().parents[1]  #: has a folder `presets`

#: kind of body → settings in a preset
VALUES = {
    "soft_body": ("material", "youngs_modulus", "poisson_ratio", "mooney_share", "density", "wobble_half_life"),
    "cloth": ("area_density", "thickness", "stretch_warp", "stretch_weft", "shear", "stretch_limit",
              "bending_stiffness", "drag", "air_friction", "pressure"),
    "rope": ("rope", "axial_stiffness", "linear_density", "rope_bending_stiffness", "rope_thickness"),
}


def _menu(kind: str) -> type[bpy.types.Menu]:
    name = f"CONJAC_MT_presets_{kind}"
    return type(name, (bpy.types.Menu,), {
        "__module__": __name__, "bl_idname": name, "bl_label": "Preset", "preset_subdir": f"conjac/{kind}",
        "preset_operator": "script.execute_preset",
        "draw": lambda self, context: compat.draw_presets(self, context, FOLDER)})


def _operator(kind: str) -> type[bpy.types.Operator]:
    """Adds the settings of the active object to a user's presets, or removes one, as Blender's own operators do."""
    from bl_operators.presets import AddPresetBase

    name = f"CONJAC_OT_preset_{kind}"
    return type(name, (AddPresetBase, bpy.types.Operator), {
        "__module__": __name__, "bl_idname": f"conjac.preset_{kind}", "bl_label": "Add Preset",
        "bl_description": "Save these settings as a preset of your own, or remove one",
        "preset_menu": f"CONJAC_MT_presets_{kind}", "preset_subdir": f"conjac/{kind}",
        "preset_defines": ["settings = bpy.context.object.conjac"],
        "preset_values": [f"settings.{value}" for value in VALUES[kind]]})


def draw(layout: bpy.types.UILayout, kind: str) -> None:
    """Draw the menu of presets with the buttons that keep and remove one."""
    menu: Any = getattr(bpy.types, f"CONJAC_MT_presets_{kind}")
    row = layout.row(align=True)
    row.menu(menu.__name__, text=menu.bl_label)
    row.operator(f"conjac.preset_{kind}", text="", icon="ADD")
    row.operator(f"conjac.preset_{kind}", text="", icon="REMOVE").remove_active = True


def register() -> None:
    compat.look_for_presets(FOLDER, True)


def unregister() -> None:
    compat.look_for_presets(FOLDER, False)


classes = (*(_menu(kind) for kind in VALUES), *(_operator(kind) for kind in VALUES))
