"""Properties of Blender for parameters and families of solver/catalogue. Each has a step for the mouse, and a tooltip
that says when it is grey: Blender knows one tooltip of a field for all moments, and buttons have one for each
(uncounted.py).
"""

from collections.abc import Iterable
from typing import Any

import bpy

from ..solver import catalogue
from ..solver.catalogue import Param
from . import dials
from .declared import JobField, grey_while, group_key
from .menus import Item, items

#: a parameter's unit → Blender's unit; what is not here is shown as a plain number, its unit in the tooltip
BLENDER_UNITS = {"m": "LENGTH", "m/s": "VELOCITY", "m/s²": "ACCELERATION", "s": "TIME_ABSOLUTE", "rad": "ROTATION"}

OVERRIDABLE: Any = {"LIBRARY_OVERRIDABLE"}

MOVES_ALL = "the method moves every node"

#: name of a class of settings → field, or the first letters of several fields with a * behind them → when it is grey
WHILE: dict[str, dict[str, str]] = {
    "CONJAC_Settings": {
        "ground_*": "Ground is off", "friction_group": "it touches nothing",
        "friction_invert": "it touches nothing", "friction*": "Ground is off",
        "fibers_group": "it has no fibers", "fibers_invert": "it has no fibers",
        "sharp_*": "Sharp Edges is off",
        "dynamic_*": MOVES_ALL, "spot*": MOVES_ALL, "suggest*": MOVES_ALL},
    "CONJAC_Solver": {
        "beta": "the integrator has a damping of its own",
        "integrator": "all that is baked is cloth with Sharp Edges",
        "stage_solver": "all that is baked is cloth with Sharp Edges"},
    "CONJAC_Handle": {"*": f"its Empty is hidden or deleted, or {MOVES_ALL}"},
    "CONJAC_Spots": {"*": MOVES_ALL},
    "CONJAC_Mechanism": {"tolerance": "Fewer Keyframes is off"},
}

#: fields whose names begin like one of WHILE and that are never grey
NEVER = {"CONJAC_Settings": {"sharp_edges"}}


def number(param: Param, **changed: Any) -> Any:
    """Return a Blender property for one parameter, with its unit, limits and tooltip."""
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
    """Return the property of one parameter by its key, and beside it its dial where a mouse could not drag it in SI."""
    made = number(param, **changed)
    shown = dials.words(param, key, made.keywords)
    if shown is None:
        return {key: made}
    dial: Any = bpy.props.FloatProperty(**shown)  # type: ignore[func-returns-value]
    return {key: made, dials.PREFIX + key: dial}


def menu(family: str, name: str, description: str, default: str, first: tuple[Item, ...] = ()) -> Any:
    """Return a menu of one catalogue family; the identifiers are the catalogue's keys."""
    return bpy.props.EnumProperty(name=name, description=description, default=default, override=OVERRIDABLE,
                                  items=[*first, *items(catalogue.menu(family).values())])


def switches() -> dict[str, str]:
    """Return the label of the switch that a parameter needs, by the parameter's key."""
    params = {param.key: param for entry in catalogue.ENTRIES for param in entry.params}
    return {key: params[param.needs].label for key, param in params.items() if param.needs in params}


def finish(group: str, made: dict[str, Any], fields: Iterable[JobField]) -> None:
    """Fit all properties of a class of settings for dragging, and add the reasons for greying out to their tooltips.
    fields: of all declared settings."""
    fit_for_the_mouse(group, made)
    needed, own = switches(), group_key(group)
    reasons = {job_field.name: grey_while(fields, own, job_field.name, made)
               for job_field in fields if job_field.group == own}
    for name, prop in made.items():
        say_when_grey(group, name, prop.keywords, needed, reasons)


def say_when_grey(group: str, name: str, keywords: dict[str, Any], needed: dict[str, str], reasons: dict[str, str]
                  ) -> None:
    """Add to the description of a field when it is grey, where it ever is. needed: by `switches`. reasons: of settings
    that are declared, by name."""
    own = name.removeprefix(dials.PREFIX)
    if own in NEVER.get(group, ()) or (own == name and "get" in keywords):  # an old name is drawn nowhere
        return
    reason = reasons.get(own, "")
    if not reason:
        reason = next((why for field, why in WHILE.get(group, {}).items()
                       if own == field or (field.endswith("*") and own.startswith(field[:-1]))), "")
    if not reason and own in needed:
        reason = f"{needed[own]} is off"
    if reason:
        keywords["description"] = f"{keywords['description']}. Grayed out while {reason}"
