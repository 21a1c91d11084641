"""The ConJac tab of the 3D View's sidebar and the panel in Physics properties, made from the same sections."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import bpy

from .. import bake, members, text, upgrade
from . import cloth, constraints, contact, cuts, holding, manual, mechanisms, painted, quality, ropes, sections, takes

Draw = Callable[[bpy.types.UILayout, bpy.types.Context], None]

#: what sections are for: soft bodies, cloth, colliders, mechanisms, armatures among them, Empties that join rigid body
#: objects, ropes
BODY, CLOTH, COLLIDER, MECHANISM, ARMATURE, JOINT = "body", "cloth", "collider", "mechanism", "armature", "joint"
ROPE = "rope"


class Section:
    """One part of the panel. Not a dataclass, whose code is compiled at each start of Blender."""

    def __init__(self, key: str, label: str, draw: Draw, draw_header: Draw | None = None, open: bool = False,
                 of: tuple[str, ...] = (BODY,), inside: str = "") -> None:
        """of: kinds of objects that have it. inside: key of the section that contains it, wherever that is shown."""
        self.key, self.label, self.draw, self.draw_header, self.open = key, label, draw, draw_header, open
        self.of, self.inside = frozenset(of), inside


def _of(module: ModuleType, name: str) -> Draw:
    """Return a function that draws a section by its module, which runs when it is first drawn."""
    def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        getattr(module, name)(layout, context)
    return draw


#: kinds that the solver moves, and those of them with faces or edges
MOVED, MESHES = (BODY, CLOTH, ROPE, MECHANISM), (BODY, CLOTH, ROPE)

#: in the order of an artist's work, each one before its parts; what only the numerics know comes last, closed
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
    Section("sewing", "Sewing", _of(cloth, "draw_sewing"), _of(cloth, "draw_sewing_header"), of=(CLOTH,)),
    Section("sharp", "Sharp Edges", _of(cloth, "draw_sharp"), _of(cloth, "draw_sharp_header"), of=(CLOTH,)),
    Section("rope", "Rope", _of(ropes, "draw"), open=True, of=(ROPE,)),
    Section("material", "Look", _of(sections, "draw_look"), open=True),
    Section("maps", "Paint", _of(painted, "draw_maps"), open=True),
    Section("fields", "Material Maps", _of(painted, "draw_fields"), inside="maps"),
    Section("fibers", "Fibers", _of(painted, "draw_fibers"), inside="maps"),
    Section("holds", "Holds", _of(holding, "draw"), of=MESHES),
    Section("attach", "Attach", _of(mechanisms, "draw_attach"), of=MESHES, inside="holds"),
    Section("nails", "Nails", _of(cuts, "draw_nails"), of=(BODY, CLOTH), inside="holds"),
    Section("pulls", "Pulls", _of(cuts, "draw_pulls"), of=MESHES, inside="holds"),
    Section("welds", "Welds", _of(cuts, "draw_welds"), of=MESHES, inside="holds"),
    Section("constraints", "Constraints", _of(constraints, "draw"), of=MESHES, inside="holds"),
    Section("cuts", "Cuts", _of(cuts, "draw_cuts")),
    Section("contact", "Collisions", _of(contact, "draw"), of=MESHES),
    Section("collider", "Collisions", _of(contact, "draw"), open=True, of=(COLLIDER,)),
    Section("ground", "Ground", _of(sections, "draw_ground"), _of(sections, "draw_ground_header"), of=MOVED,
            inside="contact"),
    Section("forces", "Forces", _of(sections, "draw_forces"), of=MOVED),
    Section("air", "Air", _of(cloth, "draw_air"), of=(CLOTH,), inside="forces"),
    Section("bake", "Bake", _of(quality, "draw"), of=MOVED),
    Section("output", "Output", _of(sections, "draw_output"), of=MESHES, inside="bake"),
    Section("keyframes", "Keyframes", _of(mechanisms, "draw_keyframes"), of=(MECHANISM,), inside="bake"),
    Section("takes", "Takes", _of(takes, "draw"), of=MOVED, inside="bake"),
    Section("motion", "Advanced", _of(sections, "draw_advanced"), of=MOVED),
    Section("volume", "Volume", _of(sections, "draw_volume"), inside="motion"),
)


def _kinds(obj: bpy.types.Object | None) -> set[str]:
    """Return the kinds of sections that an object has: none where its settings cannot be read."""
    found: set[str] = set()
    if obj is not None and upgrade.refusal(obj):
        return found
    if members.is_soft_body(obj):
        found.add(CLOTH if members.is_cloth(obj) else ROPE if members.is_rope(obj) else BODY)
    elif members.is_collider(obj):
        found.add(COLLIDER)
    if members.is_mechanism(obj):
        found |= {MECHANISM, ARMATURE} if obj.type == "ARMATURE" else {MECHANISM}
    if obj is not None and obj.type == "EMPTY" and obj.rigid_body_constraint is not None:
        found.add(JOINT)
    return found


def _may_have_any(_cls: type, context: bpy.types.Context) -> bool:
    """Whether ConJac is anything to the active object."""
    obj = context.object
    return obj is not None and (obj.type in {"MESH", "CURVE", "ARMATURE"} or bool(_kinds(obj) or upgrade.refusal(obj)))


def _draw(self: bpy.types.Panel, context: bpy.types.Context) -> None:
    """Draw the buttons of the object, and below them its sections."""
    with members.at_one_moment():
        _draw_all(self, context)


def _draw_all(self: bpy.types.Panel, context: bpy.types.Context) -> None:
    layout, kinds = self.layout, _kinds(context.object)
    if not _may_have_any(type(self), context):
        # the tab stays where it is, also where nothing is selected that it is for
        text.hint(layout, "Select a mesh, to make a soft body, cloth or a collider of it, or an armature, for a "
                  "mechanism")
        return
    _two_columns(layout)
    sections.draw_body(layout, context)
    is_read = bake.is_read(context.object)
    bodies: dict[str, bpy.types.UILayout | None] = {}  # of the sections that are shown, None where one is folded
    for section in SECTIONS:
        if not kinds & section.of or (self.bl_space_type == "PROPERTIES" and section.of == {ARMATURE}):
            continue  # armatures have no Physics tab
        within = bodies.get(section.inside, layout)
        if within is None:
            continue
        header, body = within.panel(f"CONJAC_{section.key}", default_closed=not section.open)
        if section.draw_header:
            header.use_property_split = False  # else the checkbox would be in the middle
            section.draw_header(header, context)
        header.label(text=section.label)
        bodies[section.key] = body
        if body is not None:
            _two_columns(body)
            body.enabled = not is_read  # a change now would be in only half of the data
            section.draw(body, context)


def _two_columns(layout: bpy.types.UILayout) -> None:
    layout.use_property_split = True
    layout.use_property_decorate = False


def _draw_manual(self: bpy.types.Panel, _context: bpy.types.Context) -> None:
    manual.draw_button(self.layout)


def _panel(name: str, **members: Any) -> type[bpy.types.Panel]:
    return type(name, (bpy.types.Panel,), {
        "__module__": __name__, "bl_idname": name, "bl_label": "ConJac",
        "draw": _draw, "draw_header_preset": _draw_manual, **members})


classes = (
    # always there, so that the tab does not come and go with what is selected
    _panel("CONJAC_PT_view3d", bl_space_type="VIEW_3D", bl_region_type="UI", bl_category="ConJac",
           poll=classmethod(lambda _cls, _context: True)),
    _panel("CONJAC_PT_physics", bl_space_type="PROPERTIES", bl_region_type="WINDOW", bl_context="physics",
           poll=classmethod(_may_have_any)),
)
