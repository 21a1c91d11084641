"""Stress, stretch, pressure or speed of the present frame as colours on the object itself, with a legend."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import members
from ..bake import stress_frames
from . import map_marks
from .map_marks import Ends

Array = NDArray[np.float32]


class Value(NamedTuple):
    """One stored value: its column, unit, the start of its scale, and whether it has a sign."""

    label: str
    column: int
    unit: str
    low: float = 0.0
    signed: bool = False


VALUES = {
    "stress": Value("Von Mises Stress", 0, "Pa"),
    "stretch": Value("Stretch", 1, "", low=1.0),
    "pressure": Value("Pressure", 2, "Pa", signed=True),
    "speed": Value("Speed", 3, "m/s"),
}

#: of a frame's vertices so many may lie beyond the end of the scale: what single ones have would make all others dark
BEYOND = 0.005

#: the scale's end by bake and value: the largest of the frames that were shown, so that it stands still when played
#: again
_ends: dict[tuple[str, int, int], float] = {}


def scale(obj: bpy.types.Object, value: Value, found: Array) -> tuple[float, float]:
    """Return the values of the darkest and the lightest colour, at a frame whose values are found, (n,)."""
    sizes = np.abs(found) if value.signed else found - value.low
    most = float(np.quantile(sizes, 1.0 - BEYOND)) if len(sizes) else 0.0
    key = (value.label, obj.session_uid, stress_frames.when(obj) or 0)
    if len(_ends) > 64:
        _ends.clear()
    _ends[key] = max(_ends.get(key, 1.0e-9), most)
    return (-_ends[key] if value.signed else value.low), value.low + _ends[key]


def ends(value: Value, low: float, high: float) -> Ends:
    """Return the labels of the legend: numbers with a unit that suits their size."""
    unit, by = value.unit, 1.0
    if unit == "Pa":
        by, unit = next(((by, name) for by, name in ((1.0e6, "MPa"), (1.0e3, "kPa")) if high >= by), (1.0, "Pa"))
    return Ends(f"{value.label} ({unit})" if unit else value.label, f"{low / by:.3g}", f"{high / by:.3g}")


def shown(context: bpy.types.Context) -> tuple[bpy.types.Object, Value] | None:
    """Return the active object and its displayed value."""
    obj, key = context.object, context.window_manager.conjac_colors
    if key not in VALUES or obj is None or not members.is_soft_body(obj) or obj.mode != "OBJECT":
        return None
    return (obj, VALUES[key]) if obj.visible_get() else None


def values(obj: bpy.types.Object, value: Value, mesh: bpy.types.Mesh, scene: bpy.types.Scene) -> Array | None:
    """Return the values at the vertices of an evaluated mesh, (n,): as baked, or as modifiers below the bake change the
    mesh's attribute; None where there are none."""
    rows = stress_frames.rows(obj, scene)
    if rows is None:
        return None
    if len(rows) == len(mesh.vertices):
        return rows[:, value.column]
    attribute: Any = mesh.attributes.get(stress_frames.NAMES[value.column])
    if attribute is None or attribute.domain != "POINT" or attribute.data_type != "FLOAT":
        return None
    found = np.empty(len(mesh.vertices), np.float32)
    attribute.data.foreach_get("value", found)
    return found


def coloured(obj: bpy.types.Object, value: Value, context: bpy.types.Context
             ) -> tuple[Array, NDArray[np.int32], Array] | None:
    """Return vertices (n, 3) in world a little above the surface, triangles (t, 3) and colours (n, 4); None without
    values."""
    mesh, places = map_marks.evaluated(obj, context)
    found = values(obj, value, mesh, context.scene)
    if found is None:
        return None
    low, high = scale(obj, value, found)
    triangles, lifted = map_marks.lifted(obj, mesh, places)
    return lifted, triangles, map_marks.colours(np.clip((found - low) / (high - low), 0.0, 1.0))


def draw_values(context: bpy.types.Context) -> None:
    """Draw them on the active object."""
    found = shown(context)
    made = coloured(*found, context) if found is not None else None
    if made is not None:
        map_marks.draw_surface(*made)


def legend(obj: bpy.types.Object, value: Value, scene: bpy.types.Scene) -> Ends | None:
    """Return the legend of the colours at the present frame; None where nothing is baked to be shown."""
    rows = stress_frames.rows(obj, scene)
    return None if rows is None else ends(value, *scale(obj, value, rows[:, value.column]))


def draw_legend(context: bpy.types.Context) -> None:
    """Draw the legend of the colors, or what is missing, in the lower left corner of the view."""
    found = shown(context)
    if found is None:
        return
    labels = legend(*found, context.scene)
    if labels is None:
        map_marks.draw_text(context, "Nothing to color here: enable Stress Output in Output, and bake")
    else:
        map_marks.draw_bar(context, labels)


def forget() -> None:
    """Drop the cached data."""
    _ends.clear()
    stress_frames.forget()
