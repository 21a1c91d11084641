"""Measure the visible penetration of a box in a hammock of cloth, and of a heavy rigid ball in a light slab.

    python -m benchmarks.seen_resting hammock|heavy

A soft box of 30 cm falls from 5 cm onto a sheet of a square metre that hangs at its corners; a ball of 47 kg falls onto
a soft slab of .75 kg. All settings are defaults. Tested is each second frame of two seconds: the number of frames with
a triangle through another one by the exact test, and the depth of the edges of one inside the other.

`seen_heavy_frames` misses its goal in the frame of the ball's impact, by less than a ten-thousandth of the slab's size:
the ground yields by a fraction of a millimetre there, and vertices in it are drawn on it, which lifts one corner of a
triangle of six centimetres that the ball touches in its middle.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.drawn import chosen, positions, subdivided
from benchmarks.seen import inside

FRAMES = 48


def main(part: str) -> int:
    """Bake the scene of a part and print the JSON line."""
    from examples_blend import addon

    extension = addon.load()
    extension.register()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        other, solid, size = baked(part, Path(folder))
        crossed = [frame for frame in range(1, FRAMES + 1, 2) if crosses(other, solid, frame)]
        deepest = max((inside(positions(other, frame), other.data, positions(solid, frame), solid.data)
                       for frame in crossed), default=0.0)
    report.emit(f"seen_resting.{part}", [
        report.claim(f"seen_{part}", 1e3 * deepest / size, "per mille of the size", "<= 1"),
        report.claim(f"seen_{part}_frames", len(crossed), f"of {FRAMES // 2} frames", "<= 0"),
    ], {"frames": FRAMES, "crossed": crossed})
    extension.unregister()
    return 0


def baked(part: str, folder: Path) -> tuple[Any, Any, float]:
    """Return what is looked at, the closed mesh in which it must not be, and the size of the latter [m], all baked."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    first, other, solid, size = PARTS[part]()
    session: Any = importlib.import_module("conjac.conjac_addon.bake.foreground")
    if session.bake_object(first, True, lambda *words: None):
        raise RuntimeError(f"{part} was not baked")
    return other, solid, size


def crosses(one: Any, other: Any, frame: int) -> bool:
    """Whether any triangle of either mesh, as drawn, goes through one of the other, by ipctk's exact test."""
    import ipctk

    corners, faces, first = [], [], 0
    for obj in (one, other):
        corners.append(positions(obj, frame))
        obj.data.calc_loop_triangles()
        faces.append(np.array([each.vertices[:] for each in obj.data.loop_triangles], np.int32) + first)
        first += len(corners[-1])
    x, triangles = np.concatenate(corners).astype(float), np.concatenate(faces).astype(np.int32)
    return bool(ipctk.has_intersections(ipctk.CollisionMesh(x, ipctk.edges(triangles), triangles), x))


def hammock() -> tuple[Any, Any, Any, float]:
    """Return what leads the bake, the cloth, the box and the box's size [m]."""
    from benchmarks.hammock import dropped, sheet

    cloth = sheet()
    box = dropped("cube", 0.3)
    return cloth, cloth, box, 0.3


def heavy() -> tuple[Any, Any, Any, float]:
    """Return what leads the bake, the ball, the slab and the slab's size [m]."""
    import bpy

    bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 0.06), scale=(0.5, 0.5, 0.1))
    slab = bpy.context.object
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    subdivided(7)
    bpy.ops.conjac.add_soft_body()
    slab.conjac.density, slab.conjac.youngs_modulus = 30.0, 3e4
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.1, location=(0, 0, 0.35))
    ball = bpy.context.object
    bpy.ops.rigidbody.object_add(type="ACTIVE")
    ball.rigid_body.mass = 47.0
    chosen(ball)
    bpy.ops.conjac.mechanism_from_rigid_bodies()
    return bpy.context.object, ball, slab, 0.5


PARTS: dict[str, Callable[[], tuple[Any, Any, Any, float]]] = {"hammock": hammock, "heavy": heavy}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "hammock"))
