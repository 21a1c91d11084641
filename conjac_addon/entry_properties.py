"""A parameter or a family of solver/catalogue as a property of Blender."""

from typing import Any

import bpy

from ..solver import catalogue
from ..solver.catalogue import Param
from . import dials
from .menus import Item, items

#: a parameter's unit → Blender's unit; what is not here is shown as a plain number, its unit in the tooltip
BLENDER_UNITS = {"m": "LENGTH", "m/s": "VELOCITY", "m/s²": "ACCELERATION", "s": "TIME_ABSOLUTE", "rad": "ROTATION"}

OVERRIDABLE: Any = {"LIBRARY_OVERRIDABLE"}


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
    step = min(max(param.default, 1.0), 100.0)
    return bpy.props.FloatProperty(unit=unit, precision=digits, step=step, **words)  # type: ignore[arg-type]


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
