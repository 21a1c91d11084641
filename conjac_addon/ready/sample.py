"""A sample of a preset: a ball that falls, a swatch of cloth hung by two corners, a cord hung by one end."""

from __future__ import annotations

from collections.abc import Callable

import bmesh
import bpy
from mathutils import Vector

from .. import menus
from . import looks, made

RADIUS = 0.15  #: of a ball [Blender units]
SIDE, CELLS = 0.6, 48  #: of a swatch [Blender units], and its faces along a side
WIDE, DEEP, POINTS = 0.3, 0.25, 30  #: of the arc of a cord [Blender units], and its edges
HEIGHT = 0.8  #: of the middle of hanging objects [Blender units]


def make(context: bpy.types.Context, at: Vector, kind: str, preset: str) -> bpy.types.Object:
    """Return a new object at `at` with the settings and the look of a preset.

    kind: folder of presets/conjac. preset: name of a file there, without its ending.
    """
    obj = MAKERS[kind](context, at, menus.sample_name(kind, preset))
    obj.data.materials.append(looks.material(preset))  # type: ignore[union-attr]
    made.choose(context, obj)
    # before the object is simulated, so that the preset's values are not replaced
    bpy.utils.execfile(str(menus.PRESETS / kind / f"{preset}.py"))
    ADD[kind]()
    return obj


def _ball(context: bpy.types.Context, at: Vector, name: str) -> bpy.types.Object:
    def fill(ball: bmesh.types.BMesh) -> None:
        bmesh.ops.create_icosphere(ball, subdivisions=4, radius=RADIUS)

    return made.add_mesh(context, name, fill, at)


def _swatch(context: bpy.types.Context, at: Vector, name: str) -> bpy.types.Object:
    def fill(swatch: bmesh.types.BMesh) -> None:
        made.grid(SIDE, SIDE, CELLS)(swatch)
        for vertex in swatch.verts:  # upright without a rotation, which a drop from the Asset Browser would replace
            vertex.co = Vector((vertex.co.x, 0.0, vertex.co.y))

    swatch = made.add_mesh(context, name, fill, at + Vector((0.0, 0.0, HEIGHT)))
    made.paint(swatch, swatch.conjac.pin_group,
               lambda place: float(place.z > 0.499 * SIDE and abs(place.x) > 0.499 * SIDE))
    return swatch


def _cord(context: bpy.types.Context, at: Vector, name: str) -> bpy.types.Object:
    def fill(cord: bmesh.types.BMesh) -> None:
        places = [number / POINTS - 0.5 for number in range(POINTS + 1)]
        points = [cord.verts.new((WIDE * x, 0.0, DEEP * (4.0 * x * x - 0.5))) for x in places]
        for first, second in zip(points, points[1:]):
            cord.edges.new((first, second))

    cord = made.add_mesh(context, name, fill, at + Vector((0.0, 0.0, HEIGHT)), False)
    made.paint(cord, cord.conjac.pin_group, lambda place: float(place.x < -0.499 * WIDE))
    return cord


MAKERS: dict[str, Callable[[bpy.types.Context, Vector, str], bpy.types.Object]] = {
    "soft_body": _ball, "cloth": _swatch, "rope": _cord}

#: operator for each kind
ADD: dict[str, Callable[[], object]] = {
    "soft_body": lambda: bpy.ops.conjac.quick_jelly(falls_from=1.0),
    "cloth": lambda: bpy.ops.conjac.quick_cloth(falls_from=0.0, colliders=False),
    "rope": lambda: bpy.ops.conjac.add_rope()}
