"""Measure the effect of a body 50 m away that touches nothing on a jelly on a table and on cloth on a ball.

    python -m benchmarks.far_bodies [--only jelly,cloth] [--frames N]

The add-on's buttons make each with the settings of a new object. Each is baked alone, beside a soft body, beside cloth
and beside a rigid body. Results are the largest distance of its vertices from those of the bake alone, at any frame,
and the processor seconds of the workers that the joint bake costs more than both bakes alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import claim, emit

FPS, FRAMES = 24, 48
FAR = 50.0  #: [m]
KINDS = ("jelly", "cloth")
BESIDE = ("soft", "cloth", "rigid")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(KINDS), help=f"of: {', '.join(KINDS)}")
    parser.add_argument("--beside", default=",".join(BESIDE), help=f"of: {', '.join(BESIDE)}")
    parser.add_argument("--frames", type=int, default=FRAMES)
    chosen = parser.parse_args()
    try:
        import bpy
    except ImportError:
        print("far_bodies needs Blender's module bpy, which is not here", file=sys.stderr)
        return 4
    from examples_blend import addon

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.load().register()
    beside = chosen.beside.split(",")
    rows: dict[str, dict[str, Any]] = {}
    alone = {other: baked(bpy, None, other, chosen.frames)[1] for other in beside}
    for kind in chosen.only.split(","):
        positions, seconds = baked(bpy, kind, None, chosen.frames)
        size = float(np.linalg.norm(np.ptp(positions[0], axis=0)))
        for other in beside:
            found, both = baked(bpy, kind, other, chosen.frames)
            rows[f"{kind} beside {other}"] = row = {
                "mm": 1e3 * float(np.abs(found - positions).max()), "size_mm": 1e3 * size, "alone_s": seconds,
                "other_s": alone[other], "both_s": both, "cost": both / (seconds + alone[other])}
            print(f"{kind} beside {other}: {row}", file=sys.stderr, flush=True)
    emit("far_bodies", [
        claim("far_body_mm", max(row["mm"] / row["size_mm"] for row in rows.values()), "of its size", "<= 0.001"),
        claim("far_body_cost", max(row["cost"] for row in rows.values()), "of both alone", "<= 1.1"),
    ], rows)
    return 0


def baked(bpy: Any, kind: str | None, other: str | None, frames: int) -> tuple[np.ndarray, float]:
    """Bake a scene and return vertices of the near body, (frames, n, 3) [m], and the processor time of the bake [s].

    kind: near body, "jelly" or "cloth"; None: none, and no vertices. other: kind of the far body, or None. Raises
    RuntimeError where the bake is not completed.
    """
    from conjac.conjac_addon.bake.foreground import bake_object

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, frames, FPS
    with tempfile.TemporaryDirectory(prefix="conjac-far-") as folder:
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "far.blend"))
        looked_at = None if kind is None else near(bpy, kind)
        beside = None if other is None else far(bpy, other)
        bpy.context.view_layer.update()
        before = sum(os.times()[2:4])
        code = bake_object(looked_at or beside, True, lambda *_: None)
        seconds = sum(os.times()[2:4]) - before
        if code:
            raise RuntimeError(f"the bake ended with exit code {code}")
        if looked_at is None:
            return np.zeros((0, 0, 3)), seconds
        return np.stack([positions(bpy, looked_at, frame) for frame in range(1, frames + 1)]), seconds


def near(bpy: Any, kind: str) -> Any:
    """Add a jelly above a table, or cloth above a ball, and return the soft body."""
    if kind == "jelly":
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, -0.05))
        bpy.context.object.scale = (1.0, 1.0, 0.1)
        bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
        bpy.ops.conjac.add_collider()
        bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0.03, 0.02, 0.25), rotation=(0.1, 0.2, 0.0))
        grid(bpy, 3)
        bpy.ops.conjac.add_soft_body()
        bpy.context.object.conjac.mesher, bpy.context.object.conjac.edge_length = "grid", 0.06
        bpy.context.object.conjac.youngs_modulus = 2e4
    else:
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.2, location=(0.0, 0.0, 0.0))
        bpy.ops.conjac.add_collider()
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=20, size=0.7, location=(0.03, 0.02, 0.24))
        bpy.ops.conjac.add_cloth()
    made = bpy.context.object
    made.conjac.use_ground = False
    return made


def far(bpy: Any, kind: str) -> Any:
    """Add a body in free fall, so far away that it touches nothing, and return its object."""
    if kind == "cloth":
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=10, y_subdivisions=10, size=0.5, location=(FAR, 0.0, 5.0))
        bpy.ops.conjac.add_cloth()
    else:
        bpy.ops.mesh.primitive_cube_add(size=0.2, location=(FAR, 0.0, 5.0), rotation=(0.3, 0.1, 0.0))
        if kind == "rigid":
            made = bpy.context.object
            bpy.ops.rigidbody.object_add()
            bpy.ops.conjac.mechanism_from_rigid_bodies()
            return next(one for one in bpy.context.scene.objects if one.type == "EMPTY") or made
        grid(bpy, 3)
        bpy.ops.conjac.add_soft_body()
        bpy.context.object.conjac.mesher, bpy.context.object.conjac.edge_length = "grid", 0.05
    made = bpy.context.object
    made.conjac.use_ground = False
    return made


def grid(bpy: Any, cuts: int) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=cuts)
    bpy.ops.object.mode_set(mode="OBJECT")


def positions(bpy: Any, obj: Any, frame: int) -> np.ndarray:
    """Return the baked vertices of an object at a frame, in world space, (n, 3) [m]."""
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", flat)
    matrix = np.array(evaluated.matrix_world)
    return np.asarray(flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3], dtype=float)


if __name__ == "__main__":
    sys.exit(main())
