"""Measure boxes and a ball that come to rest on a hammock of new cloth, with default settings.

    python -m benchmarks.hammock
    python -m benchmarks.hammock --only box

A sheet of a square metre is pinned at its four corners, a vertex each; a new soft body falls onto its middle from 5 cm.
After four seconds: `hammock_speed`, the largest speed of a vertex of the body; `hammock_stretch`, the largest relative
stretch of an edge of the cloth, with a *Stretch Limit* of 0.1; `hammock_volume`, the remaining share of the body's
volume. The details have the largest stretch of any frame.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from benchmarks.report import claim, emit
from examples_blend import addon

FRAMES, FPS, CELLS, HIGH = 96, 24, 24, 0.05
BODIES: dict[str, tuple[str, float]] = {"box": ("cube", 0.3), "small": ("cube", 0.15), "ball": ("ball", 0.26)}


def sheet() -> bpy.types.Object:
    """The cloth, level at a height of one metre."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=CELLS, y_subdivisions=CELLS, size=1.0, location=(0.0, 0.0, 1.0))
    obj = bpy.context.object
    corners = [one.index for one in obj.data.vertices if abs(one.co.x) > 0.49 and abs(one.co.y) > 0.49]
    obj.vertex_groups.new(name="Pin").add(corners, 1.0, "REPLACE")
    bpy.ops.conjac.add_cloth()
    return obj


def dropped(kind: str, size: float) -> bpy.types.Object:
    """A soft body above its middle."""
    at = (0.03, 0.02, 1.0 + HIGH + size / 2.0)
    if kind == "ball":
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=size / 2.0, location=at)
    else:
        bpy.ops.mesh.primitive_cube_add(size=size, location=at)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=3)
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.conjac.add_soft_body()
    return bpy.context.object


def positions(obj: bpy.types.Object, frame: int) -> np.ndarray:
    """Its vertices as they play, in world, (n, 3) [m]."""
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", flat)
    matrix = np.array(evaluated.matrix_world)
    return np.asarray(flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3], dtype=float)


def volume(obj: bpy.types.Object, frame: int) -> float:
    obj.data.calc_loop_triangles()
    faces = np.array([one.vertices[:] for one in obj.data.loop_triangles])
    a, b, c = np.moveaxis(positions(obj, frame)[faces], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def rested(kind: str, size: float, folder: Path) -> dict[str, Any]:
    """A row. Raises RuntimeError where the bake does not come to its end."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, FPS
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "hammock.blend"))
    cloth = sheet()
    body = dropped(kind, size)
    edges = np.array([one.vertices[:] for one in cloth.data.edges])
    lengths = np.linalg.norm(np.diff(positions(cloth, 1)[edges], axis=1)[:, 0], axis=1)
    whole = volume(body, 1)
    foreground: Any = importlib.import_module("conjac.conjac_addon.bake.foreground")
    code = foreground.bake_object(cloth, True, lambda *_: None)
    if code:
        raise RuntimeError(f"the bake ended with exit code {code}")
    longest = [float((np.linalg.norm(np.diff(positions(cloth, frame)[edges], axis=1)[:, 0], axis=1)
                      / lengths).max()) - 1.0 for frame in range(1, FRAMES + 1)]
    moved = np.linalg.norm(positions(body, FRAMES) - positions(body, FRAMES - 1), axis=1).max()
    return {"speed": round(float(FPS * moved), 4), "stretch": round(longest[-1], 4),
            "largest_stretch": round(max(longest), 4), "volume": round(volume(body, FRAMES) / whole, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(BODIES), help=f"of: {', '.join(BODIES)}")
    chosen = parser.parse_args().only.split(",")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.load().register()
    rows: dict[str, dict[str, Any]] = {}
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix="conjac-hammock-") as folder:
            rows[name] = rested(*BODIES[name], Path(folder))
        print(name, rows[name], file=sys.stderr, flush=True)
    emit("hammock", [
        claim("hammock_speed", max(one["speed"] for one in rows.values()), "m/s", "<= 0.1"),
        claim("hammock_stretch", max(one["stretch"] for one in rows.values()), "", "<= 0.12"),
        claim("hammock_volume", min(one["volume"] for one in rows.values()), "of its own", ">= 0.97")], rows)


if __name__ == "__main__":
    main()
