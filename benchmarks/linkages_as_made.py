"""Measure the order of convergence and the energy loss of rigid body mechanisms made by the add-on's operators.

    python -m benchmarks.linkages_as_made

The chain and the four-bar of `linkages` are Blender's rigid bodies, boxes joined by Empties with hinges; the operators
make them a mechanism and bake it, with all settings but *Time Step* at their defaults; *Closes Planar Ring* closes the
ring. `order_as_made…`: log₂ of the ratio of the errors of their corners after a third of a second in steps of 4 and 2
ms, compared with .26 ms. `drop_lost_as_made`: the share of its fall that the four-bar's middle has not regained at its
last return within four seconds, at 120 frames a second of one step each.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from benchmarks.landings import quiet
from benchmarks.linkages import Made, linkage, rods
from benchmarks.report import claim, emit
from examples_blend import addon, stage

BOX = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
ORDER_FPS, FPS, SPAN = 24, 120, 8  #: frames a second of the orders, of the drop; frames of the orders
COARSE, FINE = (1 / 240, 1 / 480), 1 / 3840  #: [s]
SECONDS = 4


def body(one: dict[str, Any]) -> bpy.types.Object:
    """A box with mass, where it stands."""
    half = [0.5 * one["shape"]["params"][f"size_{axis}"] for axis in "xyz"]
    corners = [tuple(side * at for side, at in zip((i, j, k), half)) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
    obj = stage.mesh_object(bpy.context.scene, one["name"], corners, list(BOX))
    obj.location, obj.rotation_mode, obj.rotation_quaternion = one["position"], "QUATERNION", one["rotation"]
    bpy.context.view_layer.objects.active = obj
    bpy.ops.rigidbody.object_add(type="ACTIVE")
    obj.rigid_body.collision_shape, obj.rigid_body.mass = "BOX", one["mass"]
    return obj


def hinge(one: dict[str, Any], a: bpy.types.Object, b: bpy.types.Object) -> bpy.types.Object:
    """An Empty that joins two bodies, its Z the axis."""
    empty = bpy.data.objects.new(one["name"], None)
    empty.location, empty.rotation_mode, empty.rotation_quaternion = one["position"], "QUATERNION", one["rotation"]
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    empty.rigid_body_constraint.object1, empty.rigid_body_constraint.object2 = a, b
    return empty


def made(what: Made, folder: Path, fps: int, frames: int, step: float) -> list[bpy.types.Object]:
    """The bodies of a mechanism that is baked. Raises RuntimeError where it is not."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 1 + frames, fps
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "linkage.blend"))
    bodies, joints, more = what
    base = stage.mesh_object(scene, "Base", [(x, y, z) for x in (-0.1, 0.1) for y in (1.0, 1.1) for z in (-0.1, 0.1)],
                             list(BOX))
    bpy.context.view_layer.objects.active = base
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    objects = {one["name"]: body(one) for one in bodies}
    for one in joints:
        hinge(one, objects[one["child"]], objects.get(one["parent"] or "", base))
    for one in more.get("loops", ()):
        hinge(one, objects[one["body_a"]], objects[one["body_b"]]).conjac.part.planar = True
    bpy.ops.conjac.mechanism_from_rigid_bodies()
    owner = bpy.context.view_layer.objects.active
    owner.conjac.step = step
    with quiet():
        if bpy.ops.conjac.bake() != {"FINISHED"}:
            raise RuntimeError("the linkage is not baked")
    return list(objects.values())


def corners_at_end(what: Made, folder: Path, step: float) -> np.ndarray:
    """Both ends of each bar after a third of a second, (2 b, 3) [m]."""
    bodies = made(what, folder, ORDER_FPS, SPAN, step)
    bpy.context.scene.frame_set(1 + SPAN)
    return np.array([one.matrix_world @ one.data.vertices[k].co for one in bodies for k in (0, 7)])


def order(what: Made, folder: Path) -> dict[str, float]:
    """The order at which the corners converge, and what they are off by at the shorter step [m]."""
    known = corners_at_end(what, folder, FINE)
    off = [float(np.abs(corners_at_end(what, folder, step) - known).max()) for step in COARSE]
    return {"order": float(np.log2(off[0] / off[1])), "off_m": off[1]}


def drop_lost(folder: Path) -> float:
    """The share of its drop that the linkage lacks where it comes up last."""
    bodies = made(linkage(), folder, FPS, SECONDS * FPS, 1 / FPS)
    heights = []
    for frame in range(1, 2 + SECONDS * FPS):
        bpy.context.scene.frame_set(frame)
        heights.append(float(np.mean([one.matrix_world.translation.z for one in bodies])))
    middle = np.array(heights)
    peaks = np.flatnonzero((middle[1:-1] > middle[:-2]) & (middle[1:-1] >= middle[2:])) + 1
    # the highest of its last swings there and back
    last = max(middle[k] for k in peaks[-2:])
    return float((middle[0] - last) / (middle[0] - middle.min()))


def main() -> None:
    addon.load().register()
    kinds = {"chain": rods((0.0, 0.0), (0.4, 0.1), (0.7, 0.5), (1.1, 0.4)), "loop": linkage()}
    with tempfile.TemporaryDirectory(prefix="conjac-made-") as name:
        rows = {kind: order(what, Path(name)) for kind, what in kinds.items()}
        lost = drop_lost(Path(name))
    emit("linkages_as_made", [
        *(claim(f"order_as_made_{kind}", row["order"], "order", ">= 1.8") for kind, row in rows.items()),
        claim("drop_lost_as_made", lost, "of its drop", "<= 0.02"),
    ], {"orders": rows})


if __name__ == "__main__":
    main()
