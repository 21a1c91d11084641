"""Properties of Blender that are declared once: a parameter or a family of solver/catalogue, and a field of a soft body
in scene.json. Each has a step for the mouse, and a tooltip that says when it is grey: Blender knows one tooltip of a
field for all moments, and buttons have one for each (uncounted.py).

Each of FIELDS becomes a property, is gathered into the job (`gather/fields.py`), drawn in its part of a panel
(`ui/fields.py`) and named where it has changed. The solver's half is one field of `solver/job/schema.py`. Blender's
start reads this file and needs nothing of `members`, so each question is asked in a function.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy

from ..solver import catalogue
from ..solver.catalogue import Param
from . import changes, dials, members
from .menus import Item, items

#: a parameter's unit → Blender's unit; what is not here is shown as a plain number, its unit in the tooltip
BLENDER_UNITS = {"m": "LENGTH", "m/s": "VELOCITY", "m/s²": "ACCELERATION", "s": "TIME_ABSOLUTE", "rad": "ROTATION"}

OVERRIDABLE: Any = {"LIBRARY_OVERRIDABLE"}

MOVES_ALL = "the method moves every node"

#: name of a class of settings → field, or the first letters of several fields with a * behind them → when it is grey
WHILE: dict[str, dict[str, str]] = {
    "CONJAC_Settings": {
        "seam_*": "Sewing is off", "ground_*": "Ground is off", "friction_group": "it touches nothing",
        "friction_invert": "it touches nothing", "friction*": "Ground is off",
        "fibers_group": "it has no fibers", "fibers_invert": "it has no fibers",
        "sharp_friction": "Own Edge Friction or Sharp Edges is off", "sharp_*": "Sharp Edges is off",
        "dynamic_*": MOVES_ALL, "spot*": MOVES_ALL, "suggest*": MOVES_ALL},
    "CONJAC_Solver": {
        "beta": "the integrator has a damping of its own",
        "integrator": "all that is baked is cloth with Sharp Edges",
        "stage_solver": "all that is baked is cloth with Sharp Edges"},
    "CONJAC_Contact": {"friction": "the contact law has no friction", "simplify": "Collide by Mesh is off"},
    "CONJAC_Handle": {"*": f"its Empty is hidden or deleted, or {MOVES_ALL}"},
    "CONJAC_Spots": {"*": MOVES_ALL},
    "CONJAC_Nail": {"until*": "Let Go is off"}, "CONJAC_Weld": {"until": "Let Go is off"},
    "CONJAC_Constraint": {"until": "Let Go is off"},
    "CONJAC_Mechanism": {"let_go": "Follow Animation is off", "tolerance": "Fewer Keyframes is off"},
}

#: fields whose names begin like one of WHILE and that are never grey
NEVER = {"CONJAC_Settings": {"sharp_edges"}}


def number(param: Param, **changed: Any) -> Any:
    """A Blender property for one parameter, with its unit, limits and tooltip."""
    words: dict[str, Any] = {"name": param.label, "description": param.sentence, "default": param.default,
                             "override": OVERRIDABLE} | changed
    if isinstance(param.default, bool):
        return bpy.props.BoolProperty(**words)
    limits = {"min": param.low, "max": param.high, "soft_min": param.soft_low, "soft_max": param.soft_high}
    words |= {key: value for key, value in limits.items() if value is not None}
    if isinstance(param.default, int):
        return bpy.props.IntProperty(**words)
    unit = BLENDER_UNITS.get(param.unit, "NONE")
    if unit == "NONE" and param.unit:
        words["description"] += f", in {param.unit}"
    if param.soft_low == 0.0 and param.soft_high == 1.0 and unit == "NONE":
        words["subtype"] = "FACTOR"
    # six are as many as Blender shows
    digits = 1 if param.default >= 100.0 else 6 if 0.0 < param.default < 1.0e-3 else 3
    # a pixel of the mouse is a step's hundredth: one of about a hundredth of the number
    step = min(max(param.default, dials.SMALLEST), dials.LARGEST)
    return bpy.props.FloatProperty(unit=unit, precision=digits, step=step, **words)  # type: ignore[arg-type]


def fit_for_the_mouse(group: str, properties: dict[str, Any]) -> None:
    """Give each number of a class of settings a step that fits it, and a dial where one of SI cannot be dragged."""
    for name, (unit, scale, step) in dials.BESIDES.get(group, {}).items():
        words = dials.beside(name, properties[name].keywords, (unit, scale), "") | {"step": step}
        dial: Any = bpy.props.FloatProperty(**words)  # type: ignore[func-returns-value]
        properties[dials.PREFIX + name] = dial
    for prop in properties.values():
        if prop.function is bpy.props.FloatProperty:
            dials.fit_step(prop.keywords)


def with_dial(param: Param, key: str, **changed: Any) -> dict[str, Any]:
    """The property of one parameter by its key, and beside it its dial where a mouse could not drag it in SI."""
    made = number(param, **changed)
    shown = dials.words(param, key, made.keywords)
    if shown is None:
        return {key: made}
    dial: Any = bpy.props.FloatProperty(**shown)  # type: ignore[func-returns-value]
    return {key: made, dials.PREFIX + key: dial}


def menu(family: str, name: str, description: str, default: str, first: tuple[Item, ...] = ()) -> Any:
    """A menu of one catalogue family; the identifiers are the catalogue's keys."""
    return bpy.props.EnumProperty(name=name, description=description, default=default, override=OVERRIDABLE,
                                  items=[*first, *items(catalogue.menu(family).values())])


def switches() -> dict[str, str]:
    """Return the label of the switch that a parameter needs, by the parameter's key."""
    params = {param.key: param for entry in catalogue.ENTRIES for param in entry.params}
    return {key: params[param.needs].label for key, param in params.items() if param.needs in params}


def finish(group: str, made: dict[str, Any]) -> None:
    """Fit all properties of a class of settings for the mouse, and say of each when it is grey."""
    fit_for_the_mouse(group, made)
    needed = switches()
    for name, prop in made.items():
        say_when_grey(group, name, prop.keywords, needed)


def say_when_grey(group: str, name: str, keywords: dict[str, Any], needed: dict[str, str]) -> None:
    """Add to the description of a field when it is grey, where it ever is. needed: by `switches`."""
    own = name.removeprefix(dials.PREFIX)
    if own in NEVER.get(group, ()) or (own == name and "get" in keywords):  # an old name is drawn nowhere
        return
    reason = next((why for field, why in WHILE.get(group, {}).items()
                   if own == field or (field.endswith("*") and own.startswith(field[:-1]))), "")
    if not reason and own in needed:
        reason = f"{needed[own]} is off"
    if reason:
        keywords["description"] = f"{keywords['description']}. Grey while {reason}"


#: properties as classes are annotated with them, which Blender's stubs take for None
BOOL: Any = bpy.props.BoolProperty
FLOAT: Any = bpy.props.FloatProperty


@dataclass(frozen=True)
class BodyField:
    """One field of a soft body in scene.json, which a bake reads where it is not its default."""

    field: str  #: its name in scene.json
    definition: Any  #: the property, as a class is annotated with it
    fold: str  #: part of a panel in which it is drawn
    group: str = ""  #: group of Object.conjac that has the property; "" for Object.conjac itself
    property_name: str = ""  #: name of the property, where it is not that of the field
    needs: str = ""  #: switch of the same group without which it does nothing
    suits: Callable[[bpy.types.Object], bool] = lambda obj: members.is_soft_body(obj)  #: objects that have it

    @property
    def name(self) -> str:
        """Return the name of the property."""
        return self.property_name or self.field

    @property
    def label(self) -> str:
        """Return what the artist reads."""
        return str(self.definition.keywords["name"])

    def holder(self, obj: bpy.types.Object) -> bpy.types.PropertyGroup:
        """Return the group of settings that has the property."""
        group: bpy.types.PropertyGroup = getattr(obj.conjac, self.group) if self.group else obj.conjac
        return group


#: all of them, in the order in which they are drawn
FIELDS: list[BodyField] = [
    BodyField("pins_yield", BOOL(
        name="Pins Yield", description="Hold pinned parts, and parts on bones, by stiff springs, so that animation "
        "presses them against an obstacle instead of moving them through it, which would stop the bake", default=False,
        override=OVERRIDABLE),
        "pins", "contact", suits=lambda obj: members.collides(obj) and not members.is_sharp(obj)),
    BodyField("thickness", FLOAT(
        name="Thickness", description="Distance outside of its faces at which others collide with it: of a collider "
        "along the normals, of a soft body all around", default=0.0,
        min=0.0, soft_max=0.1, precision=4, unit="LENGTH", override=OVERRIDABLE),
        "surface", "contact", suits=lambda obj: members.is_volume(obj)),
    BodyField("touches_by_mesh", BOOL(
        name="Collide by Mesh", description="The visible faces of this mesh collide, instead of those of its "
        "tetrahedra, which are coarser: exact, and slower the more faces there are", default=False,
        override=OVERRIDABLE),
        "surface", "contact", "by_mesh", suits=lambda obj: members.is_volume(obj)),
    BodyField("simplify", FLOAT(
        name="Simplify", description="Collide by fewer faces, which contain what is drawn and stand out of it by up to "
        "this share of the object's size: faster where the mesh is finer than its tetrahedra. 0: all faces collide",
        default=0.0, min=0.0, max=0.1, soft_max=0.01, precision=4, override=OVERRIDABLE),
        "surface", "contact", needs="by_mesh", suits=lambda obj: members.is_volume(obj)),
    BodyField("stress_output", BOOL(
        name="Stress Output", description="Keep stress, stretch, pressure and speed of each vertex, which can be shown "
        "as colors and read by shaders", default=False, update=changes.note, override=OVERRIDABLE),
        "output", suits=lambda obj: members.is_soft_body(obj) and not members.is_sharp(obj)),
]


def properties(group: str) -> dict[str, Any]:
    """Return the properties of a group, by name, as its class is annotated with them."""
    return {one.name: one.definition for one in FIELDS if one.group == group}


def labels() -> dict[str, str]:
    """Return what the artist reads of each, by its field in scene.json."""
    return {one.field: one.label for one in FIELDS}
