"""The ConJac tab of the 3D View's sidebar and the panel in Physics properties, made from the same sections."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import bpy

from .. import bake, members, upgrade
from . import cloth, contact, manual, mechanisms, sections

Draw = Callable[[bpy.types.UILayout, bpy.types.Context], None]

#: what sections are for: soft bodies, cloth, colliders, mechanisms, armatures among them, Empties that join rigid body
#: objects
BODY, CLOTH, COLLIDER, MECHANISM, ARMATURE, JOINT = "body", "cloth", "collider", "mechanism", "armature", "joint"


class Section:
    """One part of the panel. Not a dataclass, whose code is compiled at each start of Blender."""

    def __init__(self, key: str, label: str, draw: Draw, draw_header: Draw | None = None, open: bool = False,
                 of: tuple[str, ...] = (BODY,)) -> None:
        """of: what it is shown for."""
        self.key, self.label, self.draw, self.draw_header, self.open, self.of = key, label, draw, draw_header, open, of


def _of(module: ModuleType, name: str) -> Draw:
    """What a module draws, which runs when it is first drawn."""
    def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        getattr(module, name)(layout, context)
    return draw


SECTIONS = (
    Section("mechanism", "Mechanism", _of(mechanisms, "draw_mechanism"), open=True, of=(MECHANISM,)),
    Section("bone", "Bone", _of(mechanisms, "draw_bone"), open=True, of=(ARMATURE,)),
    Section("letting_go", "Drive and Let Go", _of(mechanisms, "draw_letting_go"),
            _of(mechanisms, "draw_letting_go_header"), of=(ARMATURE,)),
    Section("springs", "Springs", _of(mechanisms, "draw_springs"), of=(MECHANISM,)),
    Section("hanging", "Soft Bodies", _of(mechanisms, "draw_hanging"), of=(MECHANISM,)),
    Section("joint", "Joint", _of(mechanisms, "draw_empty"), open=True, of=(JOINT,)),
    Section("cloth", "Cloth", _of(cloth, "draw"), open=True, of=(CLOTH,)),
    Section("stretch", "Stretch and Shear", _of(cloth, "draw_stretch"), open=True, of=(CLOTH,)),
    Section("bending", "Bending", _of(cloth, "draw_bending"), open=True, of=(CLOTH,)),
    Section("sharp", "Sharp Edges", _of(cloth, "draw_sharp"), of=(CLOTH,)),
    Section("air", "Air", _of(cloth, "draw_air"), of=(CLOTH,)),
    Section("motion", "Motion", _of(sections, "draw_motion"), open=True, of=(BODY, CLOTH, MECHANISM)),
    Section("material", "Material", _of(sections, "draw_material"), open=True),
    Section("fibers", "Fibers", _of(sections, "draw_fibers")),
    Section("maps", "Painted Maps", _of(sections, "draw_maps"), open=True),
    Section("fields", "Material Maps", _of(sections, "draw_fields")),
    Section("cuts", "Cuts", _of(sections, "draw_cuts")),
    Section("nails", "Nails", _of(sections, "draw_nails")),
    Section("pulls", "Pulls", _of(sections, "draw_pulls"), of=(BODY, CLOTH)),
    Section("attach", "Attach", _of(mechanisms, "draw_attach"), of=(BODY, CLOTH)),
    Section("contact", "Contact", _of(contact, "draw"), open=True, of=(BODY, CLOTH, COLLIDER)),
    Section("volume", "Volume", _of(sections, "draw_volume")),
    Section("ground", "Ground", _of(sections, "draw_ground"), _of(sections, "draw_ground_header"),
            of=(BODY, CLOTH, MECHANISM)),
    Section("frames", "Frames", _of(sections, "draw_frames"), of=(BODY, CLOTH, MECHANISM)),
    Section("keyframes", "Keyframes", _of(mechanisms, "draw_keyframes"), of=(MECHANISM,)),
    Section("output", "Output", _of(sections, "draw_output"), of=(BODY, CLOTH)),
)

#: where the panels stand: a tag for their names → what Blender asks of a panel there
PLACES: dict[str, dict[str, Any]] = {
    "VIEW3D": {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": "ConJac"},
    "PHYSICS": {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "bl_context": "physics"},
}


def _kinds(obj: bpy.types.Object | None) -> set[str]:
    """What sections an object has: none where its settings cannot be read."""
    found: set[str] = set()
    if obj is not None and upgrade.refusal(obj):
        return found
    if members.is_soft_body(obj):
        found.add(CLOTH if members.is_cloth(obj) else BODY)
    elif members.is_collider(obj):
        found.add(COLLIDER)
    if members.is_mechanism(obj):
        found |= {MECHANISM, ARMATURE} if obj.type == "ARMATURE" else {MECHANISM}
    if obj is not None and obj.type == "EMPTY" and obj.rigid_body_constraint is not None:
        found.add(JOINT)
    return found


def _may_have_any(_cls: type, context: bpy.types.Context) -> bool:
    obj = context.object
    return obj is not None and (obj.type in {"MESH", "ARMATURE"} or bool(_kinds(obj) or upgrade.refusal(obj)))


def _shown_for(section: Section) -> Callable[[type, bpy.types.Context], bool]:
    def poll(_cls: type, context: bpy.types.Context) -> bool:
        return bool(_kinds(context.object) & set(section.of))
    return poll


def _drawn_by(draw: Draw, always: bool = False) -> Callable[[bpy.types.Panel, bpy.types.Context], None]:
    """A panel's method that lets one section draw in the usual two columns. always: whether it is never grey."""
    def method(self: bpy.types.Panel, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        # what is set now would be in half of what is read
        self.layout.enabled = always or not bake.is_read(context.object)
        draw(self.layout, context)
    return method


def _panel(name: str, **members: Any) -> type[bpy.types.Panel]:
    return type(name, (bpy.types.Panel,), {"bl_idname": name, "__module__": __name__, **members})


def _panels() -> tuple[type[bpy.types.Panel], ...]:
    made = []
    for tag, place in PLACES.items():
        parent = f"CONJAC_PT_{tag.lower()}"
        made.append(_panel(parent, **place, bl_label="ConJac", poll=classmethod(_may_have_any),
                           bl_options={"DEFAULT_CLOSED"} if tag == "PHYSICS" else set(),
                           draw=_drawn_by(_of(sections, "draw_body"), always=True), draw_header_preset=_draw_manual))
        for section in SECTIONS:
            if tag == "PHYSICS" and section.of == (ARMATURE,):
                continue  # armatures have no Physics tab
            header = {"draw_header": _header_drawn_by(section.draw_header)} if section.draw_header else {}
            made.append(_panel(f"{parent}_{section.key}", **place, **header, bl_label=section.label,
                               bl_parent_id=parent, bl_options=set() if section.open else {"DEFAULT_CLOSED"},
                               poll=classmethod(_shown_for(section)), draw=_drawn_by(section.draw)))
    return tuple(made)


def _draw_manual(self: bpy.types.Panel, _context: bpy.types.Context) -> None:
    manual.draw_button(self.layout)


def _header_drawn_by(draw: Draw) -> Callable[[bpy.types.Panel, bpy.types.Context], None]:
    def method(self: bpy.types.Panel, context: bpy.types.Context) -> None:
        draw(self.layout, context)
    return method


classes = _panels()
