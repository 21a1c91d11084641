"""Differences between Blender 4.2 and 5.x: the only file that depends on Blender's version."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import bmesh
import bpy

VERSION = bpy.app.version

#: how a folder or file property says that it understands "//": before 4.5 every one does
RELATIVE_PATH: dict[str, Any] = {"options": {"PATH_SUPPORTS_BLEND_RELATIVE"}} if VERSION >= (4, 5, 0) else {}

#: the Mesh Cache modifier's "mirror no axis": a set of names in 4.2, three switches in 4.5
_FLIPS_BY_NAME = bpy.types.MeshCacheModifier.bl_rna.properties["flip_axis"].type == "ENUM"
NO_FLIP: Any = set() if _FLIPS_BY_NAME else (False, False, False)


def look_for_presets(folder: Path, there: bool) -> None:
    """Add or remove a folder whose subfolder `presets` Blender searches for presets; Blender before 4.3 has no such
    folders."""
    if hasattr(bpy.utils, "register_preset_path"):
        (bpy.utils.register_preset_path if there else bpy.utils.unregister_preset_path)(str(folder))


def draw_presets(menu: bpy.types.Menu, context: bpy.types.Context, folder: Path) -> None:
    """Draw a menu of presets, including those in `presets` of a folder."""
    if hasattr(bpy.utils, "register_preset_path"):
        menu.draw_preset(context)
        return
    kind: Any = menu
    menu.path_menu([*bpy.utils.preset_paths(kind.preset_subdir), str(folder / "presets" / kind.preset_subdir)],
                   kind.preset_operator, filter_ext=lambda ending: ending.lower() == ".py",
                   display_name=lambda name: bpy.path.display_name(name, title_case=False))


def identifier(modifier: bpy.types.Modifier) -> int:
    """Return a number that identifies a modifier in its stack, whatever its name; 0 where Blender has none."""
    return int(getattr(modifier, "persistent_uid", 0))


def fcurves(owner: bpy.types.ID) -> list[bpy.types.FCurve]:
    """Return the animation curves of a data-block; actions have slots from 4.4 on, and nothing else from 5.0 on."""
    return [curve for curves in _curve_lists(owner) for curve in curves]


def all_fcurves(owner: bpy.types.ID) -> list[bpy.types.FCurve]:
    """Return the animation curves of a data-block's action, and of those in the strips of its NLA that are not
    muted."""
    data, found = owner.animation_data, fcurves(owner)
    for track in data.nla_tracks if data is not None else ():
        for strip in track.strips if not track.mute else ():
            if strip.action is not None and not strip.mute:
                found += [curve for curves in _lists_of(strip.action, strip) for curve in curves]
    return found


def fcurves_in(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """Return the curves of all slots of an action."""
    if "action_slot" not in bpy.types.AnimData.bl_rna.properties:
        return list(action.fcurves)
    return [curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags
            for curve in bag.fcurves]


def remove_fcurve(owner: bpy.types.ID, curve: bpy.types.FCurve) -> None:
    """Remove one of a data-block's animation curves."""
    for curves in _curve_lists(owner):
        if any(other == curve for other in curves):
            curves.remove(curve)
            return


def _curve_lists(owner: bpy.types.ID) -> list[Any]:
    data = owner.animation_data
    if data is None or data.action is None:
        return []
    return _lists_of(data.action, data)


def _lists_of(action: bpy.types.Action, player: Any) -> list[Any]:
    """Return the lists of curves in an action that its player, an AnimData or a strip, plays."""
    if not hasattr(player, "action_slot"):
        return [action.fcurves]
    if player.action_slot is None:
        return []
    bags = [strip.channelbag(player.action_slot) for layer in action.layers for strip in layer.strips]
    return [bag.fcurves for bag in bags if bag is not None]


def interpolate_loop(loop: bmesh.types.BMLoop, face: bmesh.types.BMFace, vertex_too: bool) -> None:
    """Give a face's corner the data that another face has there, and its vertex too if asked to."""
    try:
        loop.copy_from_face_interp(face, vertex_too)
    except TypeError:  # Blender 4.2 takes one argument and reads it as all of them
        loop.copy_from_face_interp((face, vertex_too))  # type: ignore[arg-type]


def assign_action(owner: bpy.types.ID, action: bpy.types.Action | None, slot: str = "") -> None:
    """Assign an action to a data-block, in the slot with this identifier, by default its own."""
    data = owner.animation_data or owner.animation_data_create()
    data.action = action
    if action is None or not hasattr(data, "action_slot"):
        return
    found = next((candidate for candidate in action.slots if candidate.identifier == slot), None)
    if found is not None:
        data.action_slot = found


def slot_of(owner: bpy.types.ID) -> str:
    """Identifier of the slot of its action that a data-block plays, empty where there are none."""
    data = owner.animation_data
    slot = getattr(data, "action_slot", None) if data is not None else None
    return slot.identifier if slot is not None else ""


def new_fcurve(owner: bpy.types.ID, path: str, index: int, group: str) -> bpy.types.FCurve:
    """Return a new animation curve in the action that a data-block plays, below a group's name."""
    data = owner.animation_data
    bag = data.action
    if hasattr(data, "action_slot"):
        if data.action_slot is None:
            data.action_slot = data.action.slots.new(id_type="OBJECT", name=owner.name)
        layer = data.action.layers[0] if data.action.layers else data.action.layers.new("Layer")
        strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
        bag = strip.channelbag(data.action_slot, ensure=True)
    curve = bag.fcurves.new(path, index=index)
    curve.group = bag.groups.get(group) or bag.groups.new(group)
    return curve


def select_bones(armature: bpy.types.Object, names: set[str]) -> None:
    """Select these bones and no others. From Blender 5.0 on that is kept by the pose."""
    for bone in armature.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names


def painted_weight(scene: bpy.types.Scene) -> Any:
    """Return the owner of the weight that strokes paint: the brush, or the settings that all brushes share; None
    without a brush. Shared settings are each mode's own from 5.0 on."""
    paint = scene.tool_settings.weight_paint
    owner = paint if hasattr(paint, "unified_paint_settings") else scene.tool_settings
    shared = getattr(owner, "unified_paint_settings", None)
    if shared is not None and shared.use_unified_weight:
        return shared
    return None if paint is None else paint.brush


#: the tool of Weight Paint that paints with a brush; brushes are assets from 4.3 on
WEIGHT_BRUSH = "builtin.brush" if VERSION >= (4, 3, 0) else "builtin_brush.Draw"


#: of the brushes that come with Blender 5.3: its first one, which adds a twentieth where it passes, and the one that
#: sets weights, as the first one of earlier Blenders does
ADDING_BRUSH = "brushes/essentials_brushes-mesh_weight.blend/Brush/Add Weight"
SETTING_BRUSH = "brushes/essentials_brushes-mesh_weight.blend/Brush/Set Weight"


def take_weight_brush(context: bpy.types.Context) -> None:
    """Make a brush the tool of the 3D View where another one is, and that brush one that sets weights where it is the
    one that Blender 5.3 begins with. A background Blender has no tools."""
    if not bpy.app.background and context.workspace is not None:
        tool = context.workspace.tools.from_space_view3d_mode("PAINT_WEIGHT", create=False)
        if tool is not None and "brush" not in tool.idname:
            bpy.ops.wm.tool_set_by_id(name=WEIGHT_BRUSH, space_type="VIEW_3D")
    reference = getattr(context.scene.tool_settings.weight_paint, "brush_asset_reference", None)
    if reference is not None and reference.relative_asset_identifier == ADDING_BRUSH:
        with suppress(RuntimeError):  # without the brushes that come with Blender
            bpy.ops.brush.asset_activate(asset_library_type="ESSENTIALS", relative_asset_identifier=SETTING_BRUSH)
