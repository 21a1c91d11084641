"""Preferences of the extension: settings of this computer, not of a .blend file."""

from typing import Any

import bpy

from . import asset_library as library
from . import later

ROOT_PACKAGE = __package__.rpartition(".")[0]  # "bl_ext.<repository>.conjac" installed, "conjac" in tests


def _list_library(preferences: Any, _context: bpy.types.Context) -> None:
    library.list_it(preferences.asset_library)


class CONJAC_Preferences(bpy.types.AddonPreferences):
    bl_idname = ROOT_PACKAGE

    threads: bpy.props.IntProperty(
        name="Threads", description="Number of processor threads that a bake uses; 0 uses all of them",
        default=0, min=0, soft_max=64,
    )

    cores_left_free: bpy.props.IntProperty(
        name="Cores Left Free", description="Number of processor cores that a bake leaves to Blender's window and to "
        "other programs if Threads is 0. Without a window, as on a farm, it uses all of them",
        default=1, min=0, soft_max=8,
    )

    takes: bpy.props.IntProperty(
        name="Takes Kept", description="Number of finished bakes of an object that are kept when it is baked again "
        "with other settings. The oldest is then deleted; 0 keeps all of them", default=8, min=0, soft_max=32,
    )

    asset_library: bpy.props.BoolProperty(
        name="Asset Library", description="List ConJac's small scenes, samples and materials as a library of "
        "the Asset Browser, from which they are dragged into the view", default=False, update=_list_library)

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.prop(self, "threads")
        self.layout.prop(self, "cores_left_free")
        self.layout.prop(self, "takes")
        self.layout.prop(self, "asset_library")


def own() -> Any:
    """Return the preferences, None where a script has called register() without enabling the extension."""
    addon: Any = bpy.context.preferences.addons.get(ROOT_PACKAGE)
    return addon.preferences if addon else None


def threads() -> int | None:
    """Return the number of threads for a bake, None for all of them."""
    preferences = own()
    return (preferences.threads or None) if preferences else None


def cores_left_free() -> int:
    """Return the number of cores that a bake leaves to others: none where Blender has no window."""
    return 0 if bpy.app.background else int(_value("cores_left_free"))


def takes() -> int:
    """Return the number of takes that are kept for an object, 0 for all of them."""
    return int(_value("takes"))


def asset_library() -> bool:
    """Whether Blender's Asset Browser shows ConJac's library."""
    return bool(_value("asset_library"))


def _value(name: str) -> Any:
    """Return a preference, or its default where there are no preferences."""
    preferences = own()
    return getattr(preferences, name) if preferences else CONJAC_Preferences.__annotations__[name].keywords["default"]


def register() -> None:
    if asset_library():
        library.list_it(True)


def unregister() -> None:
    if later.has_run(library):
        library.list_it(False)


classes = (CONJAC_Preferences,)
