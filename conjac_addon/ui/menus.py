"""The menu ConJac in the 3D View's own menus: every operator has a line there, so that F3 finds it."""

import bpy

from .. import members

#: menus of the 3D View that have it at their end, one a mode
HOSTS = ("VIEW3D_MT_object", "VIEW3D_MT_pose", "VIEW3D_MT_paint_weight")

#: operators in the order of the menu, None for a line between them
BEGINNINGS = ("add_soft_body", "add_cloth", "add_collider", "jiggle", "ragdoll", "mechanism_from_rigid_bodies", None)
RUNS = ("bake", "pause", "cancel", "free_bake", "break_lock", "shared_bakes", "export_farm_job", None)
BODIES = ("suggest_handles", "set_wobble", "add_handle", "add_spots", "add_attachment", "add_cut", "add_nail",
          "add_pull", "add_ground", "land", "collide", "select_crossing", "contact_attributes", "subdivide",
          "preview_tets", "remove_previews", None)
MECHANISMS = ("add_spring", "remove_spring", "copy_to_bones", "drive_then_let_go", "add_obstacles", "show_joints",
              "remove_joints_preview", None)

#: operators that need a choice, as a menu of its own: name → property
CHOICES = {"simulate_after": "after", "add_group": "map", "preview_field": "field", "export": "format"}

#: operators that take away the last entry of a list of the soft body
ENTRIES = {"remove_handle": "handles", "remove_spots": "spots", "remove_attachment": "attachments",
           "remove_cut": "cuts", "remove_nail": "nails", "remove_pull": "pulls"}


class CONJAC_MT_object(bpy.types.Menu):
    """All that ConJac does with the active object"""

    bl_idname = "CONJAC_MT_object"
    bl_label = "ConJac"

    def draw(self, context: bpy.types.Context) -> None:
        layout, obj = self.layout, context.object
        layout.operator_context = "INVOKE_REGION_WIN"
        for name in (*BEGINNINGS, *RUNS, *BODIES):
            _line(layout, name)
        for name, prop in CHOICES.items():
            layout.operator_menu_enum(f"conjac.{name}", prop)
        for name, entries in ENTRIES.items():
            count = len(getattr(obj.conjac, entries)) if members.is_soft_body(obj) else 0
            layout.operator(f"conjac.{name}").index = max(count - 1, 0)
        layout.separator()
        for name in (*MECHANISMS, "remove"):
            _line(layout, name)


def _line(layout: bpy.types.UILayout, name: str | None) -> None:
    if name is None:
        layout.separator()
    else:
        layout.operator(f"conjac.{name}")


def draw_entry(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """The line that opens the menu."""
    self.layout.separator()
    self.layout.menu(CONJAC_MT_object.bl_idname)


def hosts() -> list[type[bpy.types.Menu]]:
    """The menus that it hangs in, as far as this Blender has them."""
    return [getattr(bpy.types, name) for name in HOSTS if hasattr(bpy.types, name)]


def register() -> None:
    for menu in hosts():
        menu.append(draw_entry)


def unregister() -> None:
    for menu in hosts():
        menu.remove(draw_entry)


classes = (CONJAC_MT_object,)
