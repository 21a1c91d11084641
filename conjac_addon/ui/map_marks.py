"""Overlay of painted maps on the object: one map in colours with a legend, and pins as points. No objects in the scene.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

from ...solver import catalogue
from .. import changes, dials, members
from ..gather import maps
from ..settings import fields_in_use
from . import marks as drawn

Array = NDArray[np.float32]
Index = NDArray[np.int32]

#: from low to high, as everybody who cannot tell red from green can read too
COLORS = ((0.27, 0.00, 0.33), (0.23, 0.32, 0.55), (0.13, 0.57, 0.55), (0.37, 0.79, 0.38), (0.99, 0.91, 0.14))
LIFT = 2.0e-3  #: of the largest dimension: so far above its surface it is drawn
OPACITY = 0.85
HARD, SOFT = (1.0, 0.55, 0.1, 1.0), (1.0, 0.9, 0.35, 1.0)
SIZE = 6.0  #: of points [px]

BAR = (180.0, 14.0)  #: of the legend's colours [px at a scale of one]
BESIDE, BELOW, TEXT = 24.0, 56.0, 12.0  #: from the left and the bottom of the view, and the text's size, likewise

#: seconds for which weights are believed, and at least so many times what reading them took
FRESH, TIMES = 0.5, 20.0


class Ends(NamedTuple):
    """Labels of the two ends of a legend."""

    title: str
    low: str
    high: str


#: weights by object and group: until when they are believed, of which changes, how many vertices
_read: dict[tuple[int, str], tuple[float, int, Array]] = {}


def weights(obj: bpy.types.Object, mesh: bpy.types.Mesh, name: str) -> Array | None:
    """Return the weights of a group or a float attribute on an evaluated mesh, (n,) in [0, 1]; None where it has
    neither."""
    key, now, change = (obj.session_uid, name), time.monotonic(), changes.count()
    until, of, known = _read.get(key, (0.0, -1, np.empty(0, np.float32)))
    if len(known) == len(mesh.vertices) and (of == change or now < until):
        return known
    attribute = mesh.attributes.get(name) if name else None
    if attribute is not None and attribute.domain == "POINT" and attribute.data_type == "FLOAT":
        found = np.empty(len(mesh.vertices), np.float32)
        attribute.data.foreach_get("value", found)
        found = np.clip(np.nan_to_num(found), 0.0, 1.0)
    elif name in obj.vertex_groups:
        index = obj.vertex_groups[name].index
        found = maps.group_weights(mesh, {index})[index].astype(np.float32)
    else:
        return None
    if len(_read) > 64:
        _read.clear()
    ended = time.monotonic()
    _read[key] = ended + max(FRESH, TIMES * (ended - now)), change, found
    return found


def evaluated(obj: bpy.types.Object, context: bpy.types.Context) -> tuple[bpy.types.Mesh, Array]:
    """Return the mesh that is shown, and its vertices, (n, 3) in world."""
    mesh: Any = obj.evaluated_get(context.evaluated_depsgraph_get()).data
    places = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", places)
    matrix = np.array(obj.matrix_world, np.float32)
    return mesh, places.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def colours(values: Array) -> Array:
    """Return the colours of values in [0, 1], (n, 4): dark where they are 0."""
    steps, stops = np.array(COLORS, np.float32), np.linspace(0.0, 1.0, len(COLORS))
    found = np.ones((len(values), 4), np.float32)
    for channel in range(3):
        found[:, channel] = np.interp(values, stops, steps[:, channel])
    found[:, 3] = OPACITY
    return found


def heat(obj: bpy.types.Object, key: str, context: bpy.types.Context) -> tuple[Array, Index, Array] | None:
    """Return vertices (n, 3) in world a little above the surface, triangles (t, 3) and colours (n, 4) of a map; None
    where it is not painted."""
    mesh, places = evaluated(obj, context)
    found = weights(obj, mesh, getattr(obj.conjac, f"{key}_group"))
    if found is None:
        return None
    triangles, above = lifted(obj, mesh, places)
    return above, triangles, colours(maps.as_set(obj.conjac, key, found))


def lifted(obj: bpy.types.Object, mesh: Any, places: Array) -> tuple[Index, Array]:
    """Triangles (t, 3) of an evaluated mesh, and its vertices, (n, 3) in world, a little above its surface."""
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    normals = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("normal", normals)
    turned = normals.reshape(-1, 3) @ np.linalg.inv(np.array(obj.matrix_world, np.float32)[:3, :3] + 0.0)
    lengths = np.linalg.norm(turned, axis=1, keepdims=True)
    lift = LIFT * max(*obj.dimensions, 1.0e-6)
    return triangles.reshape(-1, 3), places + lift * turned / np.maximum(lengths, 1.0e-12)


def ends(obj: bpy.types.Object, key: str) -> Ends:
    """Return the labels of a map's legend: the numbers that it blends between, where it has some, else its weights."""
    entry, settings = catalogue.maps()[key], obj.conjac
    blended = [param for param in entry.params if param.key in fields_in_use(settings)]
    if not blended:
        return Ends(entry.label, "0", "1")
    param = blended[0]
    values = (getattr(settings, name) for name in (param.key, f"{param.key}_high"))
    return Ends(*dials.on_a_legend(param, *values))


def shown(context: bpy.types.Context) -> tuple[bpy.types.Object, str] | None:
    """Return the object and the map that are shown in colours: those of the active object, unless Blender shows its
    own."""
    obj, key = context.object, context.window_manager.conjac_heat
    if key == "none" or obj is None or not members.is_soft_body(obj) or obj.mode != "OBJECT" or not obj.visible_get():
        return None
    return obj, key


def draw_heat(context: bpy.types.Context) -> None:
    """Draw the chosen map of the active object."""
    found = shown(context)
    made: Any = heat(*found, context) if found is not None else None
    if made is not None:
        draw_surface(*made)


def draw_surface(places: Any, triangles: Index, tints: Any) -> None:
    """Draw triangles (t, 3) with the colours of their vertices, (n, 4), where these are in world, (n, 3)."""
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("LESS_EQUAL")
    try:
        batch_for_shader(shader, "TRIS", {"pos": places, "color": tints}, indices=triangles).draw(shader)
    finally:
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")


def draw_legend(context: bpy.types.Context) -> None:
    """Draw the legend of a map's colors, in the lower left corner of the view."""
    found = shown(context)
    if found is None or getattr(found[0].conjac, f"{found[1]}_group") == "":
        return
    draw_bar(context, ends(*found))


def _corner(context: bpy.types.Context) -> tuple[float, float, float]:
    """Return the corner of a legend in the view, from its left and its bottom, and the interface's scale."""
    scale = context.preferences.system.ui_scale
    tools = next((region.width for region in context.area.regions if region.type == "TOOLS"), 0)
    return tools + BESIDE * scale, BELOW * scale, scale


def draw_text(context: bpy.types.Context, text: str) -> None:
    """Draw a line where a legend would be."""
    left, low, scale = _corner(context)
    blf.size(0, TEXT * scale)
    blf.color(0, 1.0, 1.0, 1.0, 1.0)
    blf.position(0, left, low, 0)
    blf.draw(0, text)


def draw_bar(context: bpy.types.Context, labels: Ends) -> None:
    """Draw a color bar with its title and the values of its two ends."""
    left, low, scale = _corner(context)
    width, height = BAR[0] * scale, BAR[1] * scale
    at = np.linspace(0.0, 1.0, 32, dtype=np.float32)
    across = np.stack([left + width * at, np.full(32, low, np.float32)], axis=1)
    strip = np.stack([across, across + (0.0, height)], axis=1).reshape(-1, 2).astype(np.float32)
    tints: Any = np.repeat(colours(at), 2, axis=0)
    tints[:, 3] = 1.0
    shader: Any = gpu.shader.from_builtin("SMOOTH_COLOR")
    batch_for_shader(shader, "TRI_STRIP", {"pos": strip, "color": tints}).draw(shader)
    blf.size(0, TEXT * scale)
    blf.color(0, 1.0, 1.0, 1.0, 1.0)
    gap = 5.0 * scale
    for text, x, y in ((labels.title, left, low + height + gap), (labels.low, left, low - TEXT * scale - gap),
                       (labels.high, left + width - blf.dimensions(0, labels.high)[0], low - TEXT * scale - gap)):
        blf.position(0, x, y, 0)
        blf.draw(0, text)


def pinned(obj: bpy.types.Object, context: bpy.types.Context) -> tuple[Array, Array] | None:
    """Return points that are pinned hard and softly, (h, 3) and (s, 3) in world; None where none is."""
    mesh, places = evaluated(obj, context)
    found = weights(obj, mesh, obj.conjac.pin_group)
    if found is None:
        return None
    found, soft = maps.as_set(obj.conjac, "pin", found), members.has_soft_pins(obj)
    hard = found >= catalogue.HARD if soft else found > maps.PAINTED
    return places[hard], places[(found > 0.0) & ~hard] if soft else places[:0]


def draw_pins(context: bpy.types.Context) -> None:
    """Draw the pins of all visible soft bodies and cloths."""
    bodies = [obj for obj in context.visible_objects if members.is_soft_body(obj) and obj.mode != "EDIT"]
    found = [vertices for obj in bodies if (vertices := pinned(obj, context)) is not None]
    for kind, colour in ((0, HARD), (1, SOFT)):
        points = [vertices[kind] for vertices in found if len(vertices[kind])]
        drawn.draw([(some, some[:0]) for some in points], SIZE, colour, colour)


def forget() -> None:
    """Drop the cached data."""
    _read.clear()
