"""Measure the distance of painted vertices, as drawn, from their animated positions, through the add-on's defaults.

    python -m benchmarks.drawn

Eight shapes have a Pin smaller than a tetrahedron, at a tip, or a shell inside, and do not move; the ninth is a tube
bent by an armature, painted except for a band. Every frame of a second counts.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report

FRAMES = 24


def main() -> int:
    """Bakes the shapes and prints the JSON line."""
    from examples_blend import addon

    extension = addon.load()
    extension.register()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        off = {}
        for name in SHAPES:
            off[name] = per_mille(name, Path(folder))
            print(name, off[name], file=sys.stderr)
    report.emit("drawn", [report.claim("pin_per_mille", max(off.values()), "per mille of the size", "<= 1")],
                {"frames": FRAMES, "per_mille": off})
    extension.unregister()
    return 0


def per_mille(name: str, folder: Path) -> float:
    """The farthest painted vertex in any frame, in thousandths of the body's largest extent."""
    import bpy

    from examples_blend import stage

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))
    body, painted = SHAPES[name]()
    stage.paint(body, "Pin", painted.astype(float).tolist())
    target = [positions(body, frame) for frame in range(1, FRAMES + 1)]
    chosen(body)
    bpy.ops.conjac.add_soft_body()
    session: Any = importlib.import_module("conjac.conjac_addon.bake.foreground")
    if session.bake_object(body, True, lambda *words: None):
        raise RuntimeError(f"{name} was not baked")
    shown = [positions(body, frame) for frame in range(1, FRAMES + 1)]
    if not any(np.abs(a - b).max() > 1e-5 for a, b in zip(shown, target)):
        raise RuntimeError(f"{name} plays its animation and no bake")
    off = max(float(np.linalg.norm((a - b)[painted], axis=1).max()) for a, b in zip(shown, target))
    return 1e3 * off / float(np.ptp(target[0], axis=0).max())


def positions(body: Any, frame: int) -> np.ndarray:
    """Vertices as Blender draws them [m], (n, 3)."""
    import bpy

    bpy.context.scene.frame_set(frame)
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", flat)
    to_world = np.array(evaluated.matrix_world)
    there: np.ndarray = flat.reshape(-1, 3) @ to_world[:3, :3].T + to_world[:3, 3]
    return there


def chosen(*objects: Any) -> None:
    """Select these alone, the first as the active one."""
    import bpy

    bpy.ops.object.select_all(action="DESELECT")
    for one in objects:
        one.select_set(True)
    bpy.context.view_layer.objects.active = objects[0]


def local(body: Any) -> np.ndarray:
    """Vertices in the object's own space, (n, 3)."""
    flat = np.empty(3 * len(body.data.vertices), np.float32)
    body.data.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(float)


def ball(fineness: int, above: float) -> tuple[Any, np.ndarray]:
    """30 cm wide, painted above a height [m]."""
    import bpy

    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=fineness, radius=0.15, location=(0, 0, 2))
    body = bpy.context.object
    return body, local(body)[:, 2] > above


def monkey(ears: bool) -> tuple[Any, np.ndarray]:
    """Suzanne, smooth, painted at the tips of her ears or at her crown."""
    import bpy

    bpy.ops.mesh.primitive_monkey_add(size=0.4, location=(0, 0, 2))
    body = bpy.context.object
    smooth = body.modifiers.new("Smooth", "SUBSURF")
    smooth.levels = 2
    bpy.ops.object.modifier_apply(modifier="Smooth")
    x, z = np.abs(local(body)[:, 0]), local(body)[:, 2]
    return body, x > 0.95 * x.max() if ears else z > 0.97 * z.max()


def cube() -> tuple[Any, np.ndarray]:
    """30 cm wide, painted in the middle of its top."""
    import bpy

    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0, 0, 2))
    body = bpy.context.object
    subdivided(10)
    x = local(body)
    return body, (x[:, 2] > 0.149) & (np.abs(x[:, :2]) < 0.03).all(axis=1)


def core() -> tuple[Any, np.ndarray]:
    """A ball in a ball, the inner one painted."""
    import bpy

    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=0.15, location=(0, 0, 2))
    body = bpy.context.object
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.06, location=(0, 0, 2))
    chosen(body, bpy.context.object)
    bpy.ops.object.join()
    return body, np.linalg.norm(local(body), axis=1) < 0.07


def tube() -> tuple[Any, np.ndarray]:
    """Bent by 60° there and 30° back in its middle, painted but for a band above that."""
    import bpy

    from examples_blend import stage

    bpy.ops.mesh.primitive_cylinder_add(vertices=32, radius=0.06, depth=0.6, end_fill_type="TRIFAN")
    body = bpy.context.object
    subdivided(7)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    chosen(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head, tail in (("Lower", -0.3, 0.0), ("Upper", 0.0, 0.3)):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (0, 0, head), (0, 0, tail)
    rig.data.edit_bones["Upper"].parent = rig.data.edit_bones["Lower"]
    bpy.ops.object.mode_set(mode="OBJECT")
    z = local(body)[:, 2]
    upper = np.clip(0.5 + z / 0.1, 0.0, 1.0)
    stage.paint(body, "Lower", (1.0 - upper).tolist())
    stage.paint(body, "Upper", upper.tolist())
    body.modifiers.new("Rig", "ARMATURE").object = rig
    pose = rig.pose.bones["Upper"]
    pose.rotation_mode = "XYZ"
    for frame, degrees in ((1, 0), (8, 60), (17, -30), (24, 0)):
        pose.rotation_euler.x = math.radians(degrees)
        pose.keyframe_insert("rotation_euler", frame=frame)
    return body, (z < 0.05) | (z > 0.22)


def subdivided(cuts: int) -> None:
    """The active object's faces, so many times."""
    import bpy

    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=cuts)
    bpy.ops.object.mode_set(mode="OBJECT")


SHAPES = {
    "six of a coarse ball": lambda: ball(3, 0.14), "sixteen of a ball": lambda: ball(4, 0.145),
    "one of a ball": lambda: ball(4, 0.149), "six of a fine ball": lambda: ball(5, 0.1495),
    "ear tips": lambda: monkey(True), "crown": lambda: monkey(False), "top of a cube": cube, "core": core, "tube": tube,
}


if __name__ == "__main__":
    sys.exit(main())
