"""Lists of a soft body: handles, cuts, nails and pulls, each with an object, and painted spots. Fields of an entry in
scene.json are declared once, in FIELDS; panels draw the rows of lists."""

from typing import Any

import bpy

from ..solver import catalogue
from .declared import BOOL, CONSTRAINT, CUT, ENUM, FLOAT, INT, NAIL, PULL, UNWRITTEN, WELD, JobField, Reading
from .handles import can_cut, can_hold, is_empty, is_soft, painted_names
from .identity import OVERRIDABLE
from .menus import HOLDS, QUALITIES, Item, item, items

#: of a cut or a nail: how far after its frame it is, seen where Blender shows subframes
AFTER = "Share of the way from that frame to the next one; a time step ends there"
LAST_SUBFRAME = 0.999999

#: of a spot: the node in its middle alone
SINGLE: Item = item("none", "Single Node", "As the node nearest to its middle", 0)

#: of a handle: as set in the body's own menu
AS_BODY: Item = item("body", "As Painted Spots", "As set in Spots Move", 100)


def catalogue_param(key: str) -> catalogue.Param:
    """Return a parameter of constraints by its key."""
    return next(param for entry in catalogue.menu("constraint").values() for param in entry.params if param.key == key)


def quality() -> Any:
    """Return the property that stores the quality that was chosen last."""
    chosen = [item(key, *words, number) for number, (key, words) in enumerate(QUALITIES.items(), 1)]
    return bpy.props.EnumProperty(
        name="Quality", description="The quality that was chosen last; it applies until edges or steps are changed",
        default="none", options={"HIDDEN"}, override=OVERRIDABLE,
        items=[item("none", "None", "Edges and steps were set by hand", 0), *chosen])


def by_button() -> Any:
    """Return the property that stores which settings buttons have chosen."""
    return bpy.props.StringProperty(
        name="Chosen by Buttons", description="Settings that buttons have chosen, as JSON", default="",
        options={"HIDDEN"}, override=OVERRIDABLE)


def as_played() -> Any:
    """Return the property that stores the engine of a recorded performance, and the settings before it was repeated."""
    return bpy.props.StringProperty(
        name="As Played", description="What moved the performance that was recorded, and the settings that the button "
        "Bake as Played has replaced, as JSON", default="", options={"HIDDEN"}, override=OVERRIDABLE)


class CONJAC_Handle(bpy.types.PropertyGroup):
    """One Empty whose place picks a dynamic node."""

    __slots__ = ()

    object: bpy.props.PointerProperty(
        name="Handle", description="Empty that picks the nearest node inside the body as a dynamic node",
        type=bpy.types.Object, poll=is_empty, override=OVERRIDABLE,
    )
    spot: bpy.props.EnumProperty(
        name="Moves", description="How the nodes around this handle move", default="body",
        items=[AS_BODY, SINGLE, *items(catalogue.menu("spot").values())], override=OVERRIDABLE)


class CONJAC_Spots(bpy.types.PropertyGroup):
    """One vertex group whose spots move in a way of their own."""

    __slots__ = ()

    group: bpy.props.StringProperty(
        name="Group", description="Vertex group, or float attribute of the vertices, with painted spots: they have "
        "inertia of their own, and the rest balances around them", search=painted_names,
        search_options={"SORT", "SUGGESTION"}, override=OVERRIDABLE)
    spot: bpy.props.EnumProperty(
        name="Moves", description="How each spot of this group moves", default="turn",
        items=[SINGLE, *items(catalogue.menu("spot").values())], override=OVERRIDABLE)


class CONJAC_Cut(bpy.types.PropertyGroup):
    """One cut: the object that cuts the body, and the frame."""

    __slots__ = ()

    object: bpy.props.PointerProperty(
        name="Cutter", description="Empty whose XY plane cuts through the whole body, or a mesh whose faces cut it "
        "at that frame", type=bpy.types.Object, poll=can_cut, override=OVERRIDABLE)


class CONJAC_Nail(bpy.types.PropertyGroup):
    """One nail: the Empty that holds a part of the body, and the frames."""

    __slots__ = ()

    is_drawn: bpy.props.BoolProperty(
        name="Let Go", description="Release it after a frame", default=False, override=OVERRIDABLE)
    object: bpy.props.PointerProperty(
        name="Nail", description="Empty that holds everything near its Z axis, over the Empty's display size, "
        "and carries it along",
        type=bpy.types.Object, poll=is_empty, override=OVERRIDABLE)


class CONJAC_Pull(bpy.types.PropertyGroup):
    """One pull: the Empty that moves a spot of the body, and its strength."""

    __slots__ = ()

    object: bpy.props.PointerProperty(
        name="Pull", description="Empty that pulls everything near it at the first frame, with springs",
        type=bpy.types.Object, poll=is_empty, override=OVERRIDABLE)


class CONJAC_Weld(bpy.types.PropertyGroup):
    """One weld: the object to which the body sticks, and the end."""

    __slots__ = ()

    object: bpy.props.PointerProperty(
        name="Sticks To", description="Soft body or cloth that this one sticks to where they are close to each other",
        type=bpy.types.Object, poll=is_soft, override=OVERRIDABLE)
    group: bpy.props.StringProperty(
        name="Glue", description="Vertex group, or float attribute of the vertices, that says what sticks: nothing at "
        "0, and at weights between 0 and 1 the weld breaks at that share of Breaks At. All of the surface if empty",
        search=painted_names, search_options={"SORT", "SUGGESTION"}, override=OVERRIDABLE)
    is_released: bpy.props.BoolProperty(
        name="Let Go", description="Release it after a frame", default=False, override=OVERRIDABLE)


class CONJAC_Constraint(bpy.types.PropertyGroup):
    """One constraint: a point of the body, its relation to another object, and its stiffness."""

    __slots__ = ()

    object: bpy.props.PointerProperty(
        name="To", description="Object that the body is tied to: a soft body, cloth or rope, an armature of the same "
        "bake, or an animated object", type=bpy.types.Object, poll=can_hold, override=OVERRIDABLE)
    part: bpy.props.StringProperty(
        name="Bone", description="Bone or rigid body object of the mechanism that it is tied to", override=OVERRIDABLE)
    place: bpy.props.PointerProperty(
        name="At", description="Empty at the point where it is tied at the first frame. Its Z axis is the axis of a "
        "hinge, as long as the Empty's display size", type=bpy.types.Object, poll=is_empty, override=OVERRIDABLE)
    radius: bpy.props.FloatProperty(
        name="Radius", description="Radius around the point within which a soft body is held. At 0 a single "
        "tetrahedron carries the load, and a soft, heavy body stretches it", default=0.0, min=0.0, unit="LENGTH",
        override=OVERRIDABLE)
    hold: bpy.props.EnumProperty(
        name="Hold", description="Hold exactly, or give way; can be animated", default="hard",
        items=list(HOLDS), override=OVERRIDABLE)
    collide: bpy.props.BoolProperty(
        name="Collide", description="Let the tied objects collide with each other; off if one is threaded on the "
        "other, or if the joint is inside both", default=True, override=OVERRIDABLE)
    is_released: bpy.props.BoolProperty(
        name="Let Go", description="Release it after a frame", default=False, override=OVERRIDABLE)


classes = (CONJAC_Handle, CONJAC_Spots, CONJAC_Cut, CONJAC_Nail, CONJAC_Pull, CONJAC_Weld,
           CONJAC_Constraint)


#: type of an object that cuts → the solver's kind of cut
CUTTERS = {"EMPTY": "plane", "MESH": "sheet"}


def _share(name: str) -> Any:
    """Return a function that reads the subframe of an entry, if it has one."""
    return lambda reading: round(getattr(reading.holder, name), 6) or UNWRITTEN


def _breaks(reading: Reading) -> Any:
    """Return the pull at which a weld breaks [Pa]; one that slides does not, nor one at 0."""
    return UNWRITTEN if reading.holder.is_sliding else reading.holder.breaks or UNWRITTEN


def begins(weld: Any, start: int) -> int:
    """Return the frame at which a weld begins to stick. start: first frame of the bake."""
    return start if weld.is_sliding else max(weld.begins, start)


def _after(reading: Reading, frame: int) -> float:
    """Return the time [s] of a frame after the first frame of the bake."""
    return (frame - reading.frames[0]) * (reading.scene.render.fps_base / reading.scene.render.fps)


def _lasts(reading: Reading) -> float:
    """Return how long a constraint holds [s]."""
    return (reading.holder.until - reading.frames[0]) * reading.scene.render.fps_base / reading.scene.render.fps


def _of_kind(key: str) -> Any:
    """Return a function that reads a parameter of a constraint, where its kind has it."""
    def value(reading: Reading) -> Any:
        kind = catalogue.find("constraint", reading.holder.kind)
        if not any(param.key == key for param in kind.params):
            return UNWRITTEN
        found = getattr(reading.holder, key)
        return found if isinstance(found, bool) else reading.shortest(found)
    return value


def _over_time(_: Reading) -> Any:
    """Return nothing: `gather` writes samples over time of settings that can be animated, if any is not the default."""
    return UNWRITTEN


def compliance(constraint: Any) -> float:
    """Return displacement over force of a constraint [m/N]; 0 of a hard one."""
    return 0.0 if constraint.hold == "hard" else 1.0 / float(f"{constraint.stiffness:.7g}")


CUTS = [
    JobField("frame", INT(
        name="Frame", description="Last frame where the body is still whole", default=1, override=OVERRIDABLE),
        group="cut", of=CUT, always=True),
    JobField("subframe", FLOAT(
        name="Subframe", description=AFTER, default=0.0, min=0.0, max=LAST_SUBFRAME, precision=3, override=OVERRIDABLE),
        group="cut", of=CUT, value=_share("subframe")),
    JobField("kind", of=CUT, group="cut", property_name="object",
             value=lambda reading: CUTTERS[reading.holder.object.type]),
]

NAILS = [
    JobField("frame", INT(
        name="Frame", description="Last frame before it holds", default=1, override=OVERRIDABLE),
        group="nail", of=NAIL, always=True),
    JobField("subframe", FLOAT(
        name="Subframe", description=AFTER, default=0.0, min=0.0, max=LAST_SUBFRAME, precision=3, override=OVERRIDABLE),
        group="nail", of=NAIL, value=_share("subframe")),
    JobField("radius", FLOAT(
        name="Radius", description="Distance from the nail within which the body is held; at least an edge of its "
        "tetrahedra",
        default=0.01, min=1.0e-6, soft_max=1.0, precision=4, unit="LENGTH", override=OVERRIDABLE),
        group="nail", of=NAIL, always=True),
    JobField("until", INT(
        name="Until", description="Last frame at which it holds", default=100, override=OVERRIDABLE),
        group="nail", of=NAIL, needs="is_drawn", always=True),
    JobField("until_subframe", FLOAT(
        name="Until Subframe", description=AFTER, default=0.0, min=0.0, max=LAST_SUBFRAME, precision=3,
        override=OVERRIDABLE),
        group="nail", of=NAIL, needs="is_drawn", value=_share("until_subframe")),
]

PULLS = [
    JobField("radius", FLOAT(
        name="Radius", description="Distance from the Empty within which the body is pulled, at the first frame",
        default=0.1,
        min=1.0e-6, soft_max=1.0, precision=4, unit="LENGTH", override=OVERRIDABLE),
        group="pull", of=PULL, always=True),
    JobField("stiffness", FLOAT(
        name="Stiffness", description="Force of the pull for each meter that the body lags behind, in N/m",
        default=100.0,
        precision=1, min=1.0e-6, soft_min=1.0, soft_max=1.0e4, override=OVERRIDABLE),
        group="pull", of=PULL, value=lambda reading: reading.holder.stiffness),
    JobField("strength", FLOAT(
        name="Strength", description="Share of its stiffness, can be animated: 0 releases the body", default=1.0,
        min=0.0, max=1.0, override=OVERRIDABLE),
        group="pull", of=PULL, value=_over_time),
]

WELDS = [
    JobField("law.kind", BOOL(
        name="Sliding", description="Fix only the distance between both: they slide along each other, as layers of "
        "tissue do, and do not collide with each other", default=False, override=OVERRIDABLE),
        group="weld", property_name="is_sliding", of=WELD,
        value=lambda reading: "sliding_weld" if reading.holder.is_sliding else "weld"),
    JobField("law.params.distance", FLOAT(
        name="Distance", description="Largest distance between the surfaces at which they stick together",
        default=0.01, min=1.0e-6, soft_max=1.0, precision=4, unit="LENGTH", override=OVERRIDABLE),
        group="weld", of=WELD, always=True),
    JobField("law.params.stiffness", FLOAT(
        name="Stiffness", description="Stiffness of a square meter of weld, in N/m³", default=1.0e7, precision=1,
        min=1.0e-6, soft_min=1.0e4, soft_max=1.0e9, override=OVERRIDABLE),
        group="weld", of=WELD, always=True),
    JobField("law.params.breaks", FLOAT(
        name=catalogue.BREAKS.label, description=catalogue.BREAKS.sentence + ", in Pa", default=0.0, precision=0,
        min=0.0, soft_max=1.0e6, override=OVERRIDABLE),
        group="weld", of=WELD, value=_breaks),
    JobField("law.params.begins", INT(
        name="From", description="Frame at which surfaces within Distance begin to stick, if it is after the start "
                                 "of the bake",
        default=0, override=OVERRIDABLE),
        group="weld", of=WELD,
        value=lambda reading: _after(reading, begins(reading.holder, reading.frames[0])) or UNWRITTEN),
    JobField("law.params.lasts", INT(
        name="Until", description="Last frame at which it sticks", default=100, override=OVERRIDABLE),
        group="weld", property_name="until", of=WELD, needs="is_released",
        value=lambda reading: _after(reading, reading.holder.until)),
]

CONSTRAINTS = [
    JobField("kind", ENUM(
        name="Kind", description="Kind of the constraint", default="distance",
        items=items(catalogue.menu("constraint").values()), override=OVERRIDABLE),
        group="constraint", of=CONSTRAINT, value=lambda reading: {"kind": reading.holder.kind, "params": {}}),
    JobField("kind.params.at_most", BOOL(
        name=catalogue_param("at_most").label, description=catalogue_param("at_most").sentence,
        default=bool(catalogue_param("at_most").default), override=OVERRIDABLE),
        group="constraint", of=CONSTRAINT, value=_of_kind("at_most")),
    JobField("kind.params.closes", FLOAT(
        name=catalogue_param("closes").label, description=catalogue_param("closes").sentence,
        default=float(catalogue_param("closes").default), min=0.0, soft_max=5.0, unit="TIME_ABSOLUTE",
        override=OVERRIDABLE),
        group="constraint", of=CONSTRAINT, value=_of_kind("closes")),
    JobField("strength", FLOAT(
        name="Strength", description="Influence of the constraint, can be animated: 0 releases it", default=1.0,
        min=0.0,
        max=1.0, override=OVERRIDABLE),
        group="constraint", of=CONSTRAINT, value=_over_time),
    JobField("length", FLOAT(
        name="Length", description="Length of a distance, relative to that at the first frame; can be animated",
        default=1.0, min=1.0e-3, soft_max=2.0, max=1.0e3, precision=3, override=OVERRIDABLE),
        group="constraint", of=CONSTRAINT, value=_over_time),
    JobField("compliance", FLOAT(
        name="Stiffness", description="Force for each meter that a soft constraint gives way, in N/m; can be "
        "animated",
        default=1000.0, precision=1, min=1.0e-6, soft_min=1.0, soft_max=1.0e6, override=OVERRIDABLE),
        group="constraint", property_name="stiffness", of=CONSTRAINT, reads=("hold",),
        value=lambda reading: compliance(reading.holder)),
    JobField("lasts", INT(
        name="Until", description="Last frame at which it holds", default=100, override=OVERRIDABLE),
        group="constraint", property_name="until", of=CONSTRAINT, needs="is_released", value=_lasts),
]

FIELDS = [*CUTS, *NAILS, *PULLS, *WELDS, *CONSTRAINTS]
