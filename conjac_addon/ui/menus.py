"""The menu ConJac in the 3D View's own menus: every operator has a line there, so that F3 finds it."""

from __future__ import annotations

import bpy

from .. import members, prefs
from .. import menus as items

#: menus of the 3D View that have it at their end, one a mode
HOSTS = ("VIEW3D_MT_object", "VIEW3D_MT_pose", "VIEW3D_MT_paint_weight")

#: operators in the order of the menu, None for a line between them
TOP = ("quick_jelly", "quick_cloth", None, "add_soft_body", "add_cloth", "add_rope", "add_collider", None,
       "jiggle", "ragdoll", None,
       "play_live", "record_live", "bake", "pause", "cancel", None)

#: sub-menus: name → label and operators
SUBMENUS: dict[str, tuple[str, tuple[str | None, ...]]] = {
    "paint": ("Paint", ("add_group", "done_painting", "show_heat", "preview_field", "add_spots", "remove_spots", None,
                        "add_handle", "remove_handle", "suggest_handles")),
    "hold": ("Hold and Pull", ("add_attachment", "remove_attachment", None, "add_nail", "remove_nail", None,
                               "add_pull", "remove_pull", None, "add_weld", "remove_weld", None,
                               "add_constraint", "remove_constraint", None,
                               "add_cut", "remove_cut")),
    "collide": ("Collide", ("collide", "add_ground", "level_ground", "land", None, "select_crossing",
                            "collide_with_itself", "contact_attributes")),
    "shape": ("Shape and Stiffness", ("set_wobble", "subdivide", "simulate_after", "turn_into_cloth", None,
                                      "preview_tets", "remove_previews")),
    "mechanism": ("Mechanism", ("mechanism_from_rigid_bodies", None, "add_spring", "remove_spring", "copy_to_bones",
                                "drive_then_let_go", "add_obstacles", None, "show_joints", "remove_joints_preview")),
    "files": ("Bake Files", ("set_quality", "as_played", "free_bake", None, "use_take", "compare_take", "remove_take",
                             "remove_unused_caches", None,
                             "export", "export_farm_job", "shared_bakes", "break_lock")),
}

#: operators that need a choice, as a menu of its own: name → property
CHOICES = {"simulate_after": "after", "add_group": "map", "show_heat": "map", "preview_field": "field",
           "export": "format", "set_quality": "quality", "add_constraint": "kind"}

#: buttons below Blender's own physics: operator, label, icon
PHYSICS = (("quick_jelly", "ConJac Jelly", "MOD_SOFT"), ("quick_cloth", "ConJac Cloth", "MOD_CLOTH"),
           ("add_collider", "ConJac Collider", "MOD_PHYSICS"))

#: operators that take away the last entry of a list of the soft body
ENTRIES = {"remove_handle": "handles", "remove_spots": "spots", "remove_attachment": "attachments",
           "remove_cut": "cuts", "remove_nail": "nails", "remove_pull": "pulls", "remove_weld": "welds",
           "remove_constraint": "constraints"}


class CONJAC_MT_object(bpy.types.Menu):
    """All that ConJac does with the active object"""

    bl_idname = "CONJAC_MT_object"
    bl_label = "ConJac"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator_context = "INVOKE_REGION_WIN"
        for name in TOP:
            _draw_line(layout, name, context.object)
        for menu in submenus:
            layout.menu(menu.bl_idname)
        layout.separator()
        _draw_line(layout, "remove", context.object)


class CONJAC_MT_add(bpy.types.Menu):
    """Small scenes that are ready to play and bake, and a sample of each preset"""

    bl_idname = "CONJAC_MT_add"
    bl_label = "ConJac"

    def draw(self, context: bpy.types.Context) -> None:
        layout, preferences = self.layout, prefs.own()
        layout.operator_menu_enum("conjac.add_ready", "scene", text="Examples")
        layout.separator()
        for menu in sample_menus:
            layout.menu(menu.bl_idname)
        if preferences is not None:
            layout.separator()
            layout.prop(preferences, "asset_library")


def _sample_menu(kind: str, label: str) -> type[bpy.types.Menu]:
    """Return the menu of the samples of one kind of bodies."""
    def draw(self: bpy.types.Menu, context: bpy.types.Context) -> None:
        for preset, name, _ in items.samples():
            if preset.startswith(f"{kind}/"):
                self.layout.operator("conjac.add_sample", text=name).preset = preset

    idname = f"CONJAC_MT_samples_{kind}"
    return type(idname, (bpy.types.Menu,), {
        "__module__": __name__, "bl_idname": idname, "bl_label": label, "draw": draw})


sample_menus = tuple(_sample_menu(kind, label) for kind, (label, _) in items.SAMPLES.items())


def _submenu(key: str, label: str, names: tuple[str | None, ...]) -> type[bpy.types.Menu]:
    """Return a menu with these operators."""
    def draw(self: bpy.types.Menu, context: bpy.types.Context) -> None:
        self.layout.operator_context = "INVOKE_REGION_WIN"
        for name in names:
            _draw_line(self.layout, name, context.object)

    idname = f"CONJAC_MT_{key}"
    return type(idname, (bpy.types.Menu,), {
        "__module__": __name__, "bl_idname": idname, "bl_label": label, "draw": draw})


submenus = tuple(_submenu(key, *of) for key, of in SUBMENUS.items())


def _draw_line(layout: bpy.types.UILayout, name: str | None, obj: bpy.types.Object | None) -> None:
    """Draw the line of an operator, the menu of its choices, or a line between two groups."""
    if name is None:
        layout.separator()
    elif name in CHOICES:
        layout.operator_menu_enum(f"conjac.{name}", CHOICES[name])
    elif name in ENTRIES:
        count = len(getattr(obj.conjac, ENTRIES[name])) if members.is_soft_body(obj) else 0
        layout.operator(f"conjac.{name}").index = max(count - 1, 0)
    else:
        layout.operator(f"conjac.{name}")


def draw_entry(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Draw the line that opens the menu."""
    self.layout.separator()
    self.layout.menu(CONJAC_MT_object.bl_idname)


def draw_add(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Line at the end of Add, which opens the examples and samples."""
    self.layout.separator()
    self.layout.menu(CONJAC_MT_add.bl_idname, icon="PHYSICS")


def draw_physics(self: bpy.types.Panel, context: bpy.types.Context) -> None:
    """Draw buttons below Blender's own physics, as long as the object is not simulated."""
    obj = context.object
    if obj is None or obj.type != "MESH" or members.is_soft_body(obj) or members.is_collider(obj):
        return
    # as Blender's own above it: below each other where the editor is narrow
    flow = self.layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=True, align=True)
    for name, label, icon in PHYSICS:
        flow.operator(f"conjac.{name}", text=label, icon=icon)  # type: ignore[arg-type]


def draw_quick(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Lines at the end of Object > Quick Effects."""
    self.layout.separator()
    for name in ("quick_jelly", "quick_cloth"):
        self.layout.operator(f"conjac.{name}")
    self.layout.operator("conjac.ragdoll", text="ConJac Ragdoll")


#: what is drawn at the end of Blender's own menus and panels
ENDS = {"VIEW3D_MT_object_quick_effects": draw_quick, "VIEW3D_MT_add": draw_add, "PHYSICS_PT_add": draw_physics}


def hosts() -> list[type[bpy.types.Menu]]:
    """Return the menus that contain it, as far as this Blender has them."""
    return [getattr(bpy.types, name) for name in HOSTS if hasattr(bpy.types, name)]


def register() -> None:
    for menu in hosts():
        menu.append(draw_entry)
    for host, draw in ENDS.items():
        getattr(bpy.types, host).append(draw)


def unregister() -> None:
    for host, draw in ENDS.items():
        getattr(bpy.types, host).remove(draw)
    for menu in hosts():
        menu.remove(draw_entry)


classes = (CONJAC_MT_object, CONJAC_MT_add, *sample_menus, *submenus)
