"""What an artist lists for a soft body: handles, cuts, nails and pulls, each with an object, and painted spots."""

import bpy

from ..solver import catalogue
from .handles import can_cut, can_hold, is_empty, is_soft, painted_names
from .identity import OVERRIDABLE
from .menus import HOLDS, Item, item, items

#: of a cut or a nail: how far after its frame it is, seen where Blender shows subframes
AFTER = "How far after that frame, of the way to the next one: steps end there"
LAST_SUBFRAME = 0.999999

#: of a spot: the node in its middle alone
SINGLE: Item = item("none", "Single Node", "By the node that is nearest to its middle", 0)

#: of a handle: what the body's own menu says
AS_BODY: Item = item("body", "As Painted Spots", "As Spots Move says", 100)


def catalogue_param(key: str) -> catalogue.Param:
    """A parameter of constraints by its key."""
    return next(param for entry in catalogue.menu("constraint").values() for param in entry.params if param.key == key)


class CONJAC_Handle(bpy.types.PropertyGroup):
    """One Empty whose place picks a dynamic node."""

    __slots__ = ()

    object: bpy.props.PointerProperty(
        name="Handle", description="Empty that picks the nearest node inside the body as a dynamic node",
        type=bpy.types.Object, poll=is_empty, override=OVERRIDABLE,
    )
    spot: bpy.props.EnumProperty(
        name="Moves", description="How what is around this handle moves on its own", default="body",
        items=[AS_BODY, SINGLE, *items(catalogue.menu("spot").values())], override=OVERRIDABLE)


class CONJAC_Spots(bpy.types.PropertyGroup):
    """One vertex group whose spots move in a way of their own."""

    __slots__ = ()

    group: bpy.props.StringProperty(
        name="Group", description="Vertex group, or float attribute of the vertices, each of whose spots is one: they "
        "move by themselves and the rest balances around them", search=painted_names,
        search_options={"SORT", "SUGGESTION"}, override=OVERRIDABLE)
    spot: bpy.props.EnumProperty(
        name="Moves", description="How each spot of this group moves on its own", default="turn",
        items=[SINGLE, *items(catalogue.menu("spot").values())], override=OVERRIDABLE)


class CONJAC_Cut(bpy.types.PropertyGroup):
    """One cut: what cuts the body, and when."""

    __slots__ = ()

    frame: bpy.props.IntProperty(
        name="Frame", description="Last frame where the body is still whole", default=1, override=OVERRIDABLE)
    subframe: bpy.props.FloatProperty(
        name="Subframe", description=AFTER, default=0.0, min=0.0, max=LAST_SUBFRAME, precision=3, override=OVERRIDABLE)
    object: bpy.props.PointerProperty(
        name="Cutter", description="Empty, whose XY plane cuts all through the body, or a mesh that cuts where its "
        "faces are then", type=bpy.types.Object, poll=can_cut, override=OVERRIDABLE)


class CONJAC_Nail(bpy.types.PropertyGroup):
    """One nail: what holds a part of the body, and when."""

    __slots__ = ()

    frame: bpy.props.IntProperty(
        name="Frame", description="Last frame where it holds nothing yet", default=1, override=OVERRIDABLE)
    subframe: bpy.props.FloatProperty(
        name="Subframe", description=AFTER, default=0.0, min=0.0, max=LAST_SUBFRAME, precision=3, override=OVERRIDABLE)
    is_drawn: bpy.props.BoolProperty(
        name="Let Go", description="Hold it until a frame only", default=False, override=OVERRIDABLE)
    until: bpy.props.IntProperty(
        name="Until", description="Last frame where it still holds", default=100, override=OVERRIDABLE)
    until_subframe: bpy.props.FloatProperty(
        name="Until Subframe", description=AFTER, default=0.0, min=0.0, max=LAST_SUBFRAME, precision=3,
        override=OVERRIDABLE)
    object: bpy.props.PointerProperty(
        name="Nail", description="Empty that holds what is near its Z axis, as long as it is drawn, and takes it along",
        type=bpy.types.Object, poll=is_empty, override=OVERRIDABLE)
    radius: bpy.props.FloatProperty(
        name="Radius", description="How near to the nail the body is held; at least an edge of its tetrahedra",
        default=0.01, min=1.0e-6, soft_max=1.0, precision=4, unit="LENGTH", override=OVERRIDABLE)


class CONJAC_Pull(bpy.types.PropertyGroup):
    """One pull: what draws a spot of the body along, and how hard."""

    __slots__ = ()

    object: bpy.props.PointerProperty(
        name="Pull", description="Empty that takes along what is near it at the first frame, as springs do",
        type=bpy.types.Object, poll=is_empty, override=OVERRIDABLE)
    radius: bpy.props.FloatProperty(
        name="Radius", description="How near to the Empty the body is pulled, at the first frame", default=0.1,
        min=1.0e-6, soft_max=1.0, precision=4, unit="LENGTH", override=OVERRIDABLE)
    stiffness: bpy.props.FloatProperty(
        name="Stiffness", description="How hard it pulls for how far the body stays behind, in N/m", default=100.0,
        precision=1, min=1.0e-6, soft_min=1.0, soft_max=1.0e4, override=OVERRIDABLE)
    strength: bpy.props.FloatProperty(
        name="Strength", description="How much of its stiffness there is, also with keyframes: 0 lets go", default=1.0,
        min=0.0, max=1.0, override=OVERRIDABLE)


class CONJAC_Weld(bpy.types.PropertyGroup):
    """One weld: what the body sticks to, and until when."""

    __slots__ = ()

    object: bpy.props.PointerProperty(
        name="Sticks To", description="Soft body or cloth that this one sticks to where they are near each other at "
        "the first frame", type=bpy.types.Object, poll=is_soft, override=OVERRIDABLE)
    distance: bpy.props.FloatProperty(
        name="Distance", description="How near to the other one the surface is, at the first frame, where it sticks",
        default=0.01, min=1.0e-6, soft_max=1.0, precision=4, unit="LENGTH", override=OVERRIDABLE)
    stiffness: bpy.props.FloatProperty(
        name="Stiffness", description="How firmly a square metre of surface sticks, by how far it is drawn off, in "
        "N/m³", default=1.0e7, precision=1, min=1.0e-6, soft_min=1.0e4, soft_max=1.0e9, override=OVERRIDABLE)
    is_sliding: bpy.props.BoolProperty(
        name="Sliding", description="Only how far apart both are is held: they slide along each other, as layers of "
        "tissue do, and do not collide with each other", default=False, override=OVERRIDABLE)
    breaks: bpy.props.FloatProperty(
        name=catalogue.BREAKS.label, description=catalogue.BREAKS.sentence + ". In Pa", default=0.0, precision=0,
        min=0.0, soft_max=1.0e6, override=OVERRIDABLE)
    is_released: bpy.props.BoolProperty(
        name="Let Go", description="Let it come off at a frame", default=False, override=OVERRIDABLE)
    until: bpy.props.IntProperty(
        name="Until", description="Last frame where it still sticks", default=100, override=OVERRIDABLE)


class CONJAC_Constraint(bpy.types.PropertyGroup):
    """One constraint: which point of the body keeps which relation to what, and how firmly."""

    __slots__ = ()

    kind: bpy.props.EnumProperty(
        name="Kind", description="What keeps both together", default="distance",
        items=items(catalogue.menu("constraint").values()), override=OVERRIDABLE)
    object: bpy.props.PointerProperty(
        name="To", description="What the body is tied to: a soft body, cloth or rope, an armature of the same bake, or "
        "an object that moves as it is animated", type=bpy.types.Object, poll=can_hold, override=OVERRIDABLE)
    part: bpy.props.StringProperty(
        name="Bone", description="Bone or rigid body object of the mechanism that it is tied to", override=OVERRIDABLE)
    place: bpy.props.PointerProperty(
        name="At", description="Empty where it is tied at the first frame; of a hinge its Z axis is what both turn "
        "about, as long as the Empty is drawn", type=bpy.types.Object, poll=is_empty, override=OVERRIDABLE)
    radius: bpy.props.FloatProperty(
        name="Radius", description="How far around the place a soft body is held. At 0 one tetrahedron bears all, and "
        "is drawn out where the body is soft and heavy", default=0.0, min=0.0, unit="LENGTH", override=OVERRIDABLE)
    hold: bpy.props.EnumProperty(
        name="Hold", description="Whether it holds exactly or gives way, also with keyframes", default="hard",
        items=list(HOLDS), override=OVERRIDABLE)
    stiffness: bpy.props.FloatProperty(
        name="Stiffness", description="Force over how far it gives way where it is soft, in N/m, also with keyframes",
        default=1000.0, precision=1, min=1.0e-6, soft_min=1.0, soft_max=1.0e6, override=OVERRIDABLE)
    strength: bpy.props.FloatProperty(
        name="Strength", description="How much of it there is, also with keyframes: 0 lets go", default=1.0, min=0.0,
        max=1.0, override=OVERRIDABLE)
    length: bpy.props.FloatProperty(
        name="Length", description="Of a distance, relative to that at the first frame, also with keyframes",
        default=1.0, min=1.0e-3, soft_max=2.0, max=1.0e3, precision=3, override=OVERRIDABLE)
    collide: bpy.props.BoolProperty(
        name="Collide", description="Both touch each other although they are tied; off where one is threaded on the "
        "other, or a joint is inside of both", default=True, override=OVERRIDABLE)
    at_most: bpy.props.BoolProperty(
        name=catalogue_param("at_most").label, description=catalogue_param("at_most").sentence,
        default=bool(catalogue_param("at_most").default), override=OVERRIDABLE)
    closes: bpy.props.FloatProperty(
        name=catalogue_param("closes").label, description=catalogue_param("closes").sentence,
        default=float(catalogue_param("closes").default), min=0.0, soft_max=5.0, unit="TIME_ABSOLUTE",
        override=OVERRIDABLE)
    is_released: bpy.props.BoolProperty(
        name="Let Go", description="Let it come off at a frame", default=False, override=OVERRIDABLE)
    until: bpy.props.IntProperty(
        name="Until", description="Last frame where it still holds", default=100, override=OVERRIDABLE)


classes = (CONJAC_Handle, CONJAC_Spots, CONJAC_Cut, CONJAC_Nail, CONJAC_Pull, CONJAC_Weld,
           CONJAC_Constraint)
