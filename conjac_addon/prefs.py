"""Preferences of the extension: what belongs to this computer and not to a .blend file."""

from typing import Any

import bpy

ROOT_PACKAGE = __package__.rpartition(".")[0]  # "bl_ext.<repository>.conjac" installed, "conjac" in tests


class CONJAC_Preferences(bpy.types.AddonPreferences):
    bl_idname = ROOT_PACKAGE

    threads: bpy.props.IntProperty(
        name="Threads", description="How many processor threads a bake may use, 0 for all of them",
        default=0, min=0, soft_max=64,
    )

    cores_left_free: bpy.props.IntProperty(
        name="Cores Left Free", description="How many processor cores a bake leaves to Blender's window and to other "
        "programs, where Threads is 0; without a window, as on a farm, it takes all of them",
        default=1, min=0, soft_max=8,
    )

    takes: bpy.props.IntProperty(
        name="Takes Kept", description="How many finished bakes of an object are kept when it is baked again with "
        "other settings, the oldest is deleted then; 0 keeps all of them", default=8, min=0, soft_max=32,
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.prop(self, "threads")
        self.layout.prop(self, "cores_left_free")
        self.layout.prop(self, "takes")


def threads() -> int | None:
    """How many threads a bake may use, None for all of them."""
    # scripts may call register() without enabling the extension: then there are no preferences
    addon: Any = bpy.context.preferences.addons.get(ROOT_PACKAGE)
    return (addon.preferences.threads or None) if addon and addon.preferences else None


def cores_left_free() -> int:
    """How many cores a bake leaves to others: none where Blender has no window."""
    if bpy.app.background:
        return 0
    addon: Any = bpy.context.preferences.addons.get(ROOT_PACKAGE)
    if addon and addon.preferences:
        return int(addon.preferences.cores_left_free)
    return int(CONJAC_Preferences.__annotations__["cores_left_free"].keywords["default"])


def takes() -> int:
    """How many takes an object keeps, 0 for all of them."""
    addon: Any = bpy.context.preferences.addons.get(ROOT_PACKAGE)
    if addon and addon.preferences:
        return int(addon.preferences.takes)
    return int(CONJAC_Preferences.__annotations__["takes"].keywords["default"])


classes = (CONJAC_Preferences,)
