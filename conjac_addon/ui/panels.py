"""The ConJac tab of the 3D View's sidebar and the panel in Physics properties, made from the same sections."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy

from . import sections

Draw = Callable[[bpy.types.UILayout, bpy.types.Context], None]


@dataclass(frozen=True)
class Section:
    key: str
    label: str
    draw: Draw
    draw_header: Draw | None = None
    open: bool = False


SECTIONS = (
    Section("motion", "Motion", sections.draw_motion, open=True),
    Section("material", "Material", sections.draw_material, open=True),
    Section("fibers", "Fibers", sections.draw_fibers),
    Section("maps", "Painted Maps", sections.draw_maps, open=True),
    Section("fields", "Material Maps", sections.draw_fields),
    Section("cuts", "Cuts", sections.draw_cuts),
    Section("nails", "Nails", sections.draw_nails),
    Section("volume", "Volume", sections.draw_volume),
    Section("ground", "Ground", sections.draw_ground, sections.draw_ground_header),
    Section("frames", "Frames", sections.draw_frames),
    Section("output", "Output", sections.draw_output),
)

#: where the panels stand: a tag for their names → what Blender asks of a panel there
PLACES: dict[str, dict[str, Any]] = {
    "VIEW3D": {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": "ConJac"},
    "PHYSICS": {"bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "bl_context": "physics"},
}


def _is_mesh(_cls: type, context: bpy.types.Context) -> bool:
    return context.object is not None and context.object.type == "MESH"


def _is_soft_body(_cls: type, context: bpy.types.Context) -> bool:
    return _is_mesh(_cls, context) and context.object.conjac.enabled


def _drawn_by(draw: Draw) -> Callable[[bpy.types.Panel, bpy.types.Context], None]:
    """A panel's method that lets one section draw in the usual two columns."""
    def method(self: bpy.types.Panel, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        draw(self.layout, context)
    return method


def _panel(name: str, **members: Any) -> type[bpy.types.Panel]:
    return type(name, (bpy.types.Panel,), {"bl_idname": name, "__module__": __name__, **members})


def _panels() -> tuple[type[bpy.types.Panel], ...]:
    made = []
    for tag, place in PLACES.items():
        parent = f"CONJAC_PT_{tag.lower()}"
        made.append(_panel(parent, **place, bl_label="ConJac", poll=classmethod(_is_mesh),
                           bl_options={"DEFAULT_CLOSED"} if tag == "PHYSICS" else set(),
                           draw=_drawn_by(sections.draw_body)))
        for section in SECTIONS:
            header = {"draw_header": _header_drawn_by(section.draw_header)} if section.draw_header else {}
            made.append(_panel(f"{parent}_{section.key}", **place, **header, bl_label=section.label,
                               bl_parent_id=parent, bl_options=set() if section.open else {"DEFAULT_CLOSED"},
                               poll=classmethod(_is_soft_body), draw=_drawn_by(section.draw)))
    return tuple(made)


def _header_drawn_by(draw: Draw) -> Callable[[bpy.types.Panel, bpy.types.Context], None]:
    def method(self: bpy.types.Panel, context: bpy.types.Context) -> None:
        draw(self.layout, context)
    return method


classes = _panels()
