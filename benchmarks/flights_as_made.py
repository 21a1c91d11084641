"""Measure momentum of ragdolls in flight, with and without soft bodies, made by the add-on's operators.

    python -m benchmarks.flights_as_made

The add-on's operators make armatures ragdolls and meshes soft bodies; they follow keyframes and are released by *Drive
by Animation, Then Let Go*, with default settings. `flesh_linear_as_made` and `flesh_angular_as_made`: the share of its
momentum that a soft bar, of which two bones hold an end each, loses in a second without weight at 1/48 s, in the job of
a bake; `…_alone` without collisions, so that the ragdoll keeps Leapfrog. `top_stands_as_made…`: the largest lean of a
top within four seconds at 120 frames a second of one step each, minus that with SDIRK2 at 1/1920 s, either way [rad]: a
box of 24 × 24 × 12 cm on a ball joint in the middle of its lower side, at 25 rad/s, starting at a lean of .15.
`nut_turns_as_made…`: the error in the times at which the handle of a nut of two bones (Dzhanibekov's) points sideways
during its flips within eight seconds at as many frames, relative to SDIRK2 at 1/1920 s [s].

Bodies with collisions use SDIRK2 with Quick, whose stages end early and combine joint rates at different postures:
.0029 of the linear and .0127 of the angular momentum was lost in a second. A tree of bones without external forces in
any stage of a step now gets both back at its end, by a rigid velocity (`solver/coupling/free_bones.py`).
`top_stands_semi_implicit_as_made` misses its goal as in `flights`, by an error of first order, which ragdolls do not
have, since they start with Leapfrog.
"""

from __future__ import annotations

import importlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
from mathutils import Vector

from solver import threads  # isort: skip  # before numpy: it sets what numba and BLAS read

import numpy as np

from benchmarks.flights import momenta, off
from benchmarks.landings import quiet
from benchmarks.report import claim, emit
from examples_blend import addon
from solver.build.world import build
from solver.job.load import load

FPS, FLESH_FPS, RELEASE = 120, 24, 4  #: frames a second of top and nut, of the flesh; frame at which all are let go
FINE = 16  #: steps of what is known, in each of theirs
SECONDS, LEAN, SPIN = 4, 0.15, 25.0  #: of the top [s], [rad], [rad/s]
FLIPS, TURN = 8, 6.0  #: of the nut [s], [rad/s]
Bones = list[tuple[str, tuple[float, float, float], tuple[float, float, float], str | None]]


def thrown(bones: Bones, folder: Path, fps: int, seconds: float, axis: Vector, spin: float) -> bpy.types.Object:
    """A ragdoll of these bones that turns about an axis through its origin, by `spin` [rad/s], until it is let go."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, RELEASE + round(seconds * fps), fps
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "thrown.blend"))
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head, tail, parent in bones:
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        if parent is not None:
            bone.parent = data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.rotation_mode = "AXIS_ANGLE"
    for frame in (1, 1 + RELEASE):
        rig.rotation_axis_angle = (spin * (frame - 1) / fps, *axis.normalized())
        rig.keyframe_insert("rotation_axis_angle", frame=frame)
    straight(rig)
    bpy.ops.conjac.ragdoll(smallest=0.0, use_ground=False)
    bpy.ops.conjac.drive_then_let_go(frame=RELEASE)
    return rig


def straight(obj: bpy.types.Object) -> None:
    """Let the keyframes of an object go evenly, and on and on."""
    for curve in obj.animation_data.action.fcurves:
        curve.extrapolation = "LINEAR"
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def baked(rig: bpy.types.Object, bone: str, fps: int, steps: int, integrator: str | None) -> np.ndarray:
    """Return a bone's direction at each frame from its release on, (f, 3). steps: a frame. Raises RuntimeError where
    nothing is baked."""
    rig.conjac.step = 1.0 / (steps * fps)
    if integrator is not None:
        rig.conjac.solver.integrator = integrator
    with quiet():
        if bpy.ops.conjac.bake() != {"FINISHED"}:
            raise RuntimeError("the bones are not baked")
    scene, ways = bpy.context.scene, []
    for frame in range(RELEASE, scene.frame_end + 1):
        scene.frame_set(frame)
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        ways.append((shown.matrix_world @ shown.pose.bones[bone].matrix).col[1][:3])
    return np.array(ways)


def top(folder: Path, steps: int = 1, integrator: str | None = None) -> float:
    """The furthest that the top leans on its way [rad]."""
    axis = Vector((np.sin(LEAN), 0.0, np.cos(LEAN)))
    rig = thrown([("Stand", (0, 0, -0.1), (0, 0, 0), None), ("Top", (0, 0, 0), tuple(0.12 * axis), "Stand")], folder,
                 FPS, SECONDS, axis, SPIN)
    pivot, plate = (rig.pose.bones[name].conjac for name in ("Stand", "Top"))
    pivot.role, plate.shape, plate.radius, plate.joint, plate.damping = "animated", "box", 0.12, "spherical", 0.0
    plate.use_limits = False
    return float(np.arccos(np.clip(baked(rig, "Top", FPS, steps, integrator)[:, 2], -1.0, 1.0)).max())


def nut(folder: Path, steps: int = 1, integrator: str | None = None) -> np.ndarray:
    """When the nut's handle is square to the axis that it began to turn about [s], (k,)."""
    axis = Vector((0.004, 0.003, 1.0))
    rig = thrown([("Bar", (-0.15, 0, 0), (0.15, 0, 0), None), ("Handle", (0, 0, 0), (0, 0, 0.2), "Bar")], folder, FPS,
                 FLIPS, axis, TURN)
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    rig.pose.bones["Handle"].conjac.joint = "fixed"
    for one in rig.pose.bones:
        one.conjac.radius = 0.02
    at = baked(rig, "Handle", FPS, steps, integrator) @ np.array(axis.normalized())
    over = np.flatnonzero(at[:-1] * at[1:] < 0)
    return (over + at[over] / (at[over] - at[over + 1])) / FPS


def flesh(folder: Path, collides: bool = True) -> dict[str, float]:
    """Shares of both momenta that a second of flight changes."""
    rig = thrown([("Upper", (-0.12, 0, 0), (0, 0, 0), None), ("Lower", (0, 0, 0), (0.12, 0, 0), "Upper")], folder,
                 FLESH_FPS, 2.0, Vector((0.4, -1.0, 0.8)), 2.5)
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    elbow = rig.pose.bones["Lower"]
    elbow.conjac.joint, elbow.conjac.axis, elbow.rotation_mode = "revolute", "X", "XYZ"
    for frame in (1, 1 + RELEASE):
        elbow.rotation_euler.x = 3.0 * (frame - 1) / FLESH_FPS
        elbow.keyframe_insert("rotation_euler", frame=frame)
    straight(rig)
    bpy.ops.mesh.primitive_cube_add(size=1, scale=(0.24, 0.09, 0.09))
    bar = bpy.context.object
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=5)
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, side in (("Upper", -1), ("Lower", 1)):
        group = bar.vertex_groups.new(name=name)
        group.add([v.index for v in bar.data.vertices if side * v.co.x > 0.11], 1.0, "REPLACE")
    if not collides:
        bar.conjac.contact.collides_with = "none"
    bpy.ops.conjac.add_soft_body()
    bar.conjac.use_ground = False
    for name in ("Upper", "Lower"):
        rig.data.bones.active = rig.data.bones[name]
        rig.select_set(True)
        bpy.ops.conjac.add_attachment()
    rig.conjac.step = 1.0 / (2 * FLESH_FPS)
    gather: Any = importlib.import_module("conjac.conjac_addon.gather")
    job = folder / "job"
    gather.write_job(rig, bpy.context.scene, job, lambda *_: None)
    world = build(load(job), lambda *_: None).world
    return lost(world, rig.conjac.step)


def lost(world: Any, h: float) -> dict[str, float]:
    """Shares of both momenta of bones with flesh that a second changes, from where they are let go."""
    state, start, known = world.initial_state(), (RELEASE - 1) / FLESH_FPS, None
    for k in range(round((start + 1.0) / h)):
        if known is None and k * h > start - 0.5 * h:
            known = momenta(world, state)
        state = world.step(replace(state, time=k * h), h)
    assert known is not None
    linear, angular = (float(np.linalg.norm(now - was) / np.linalg.norm(was))
                       for now, was in zip(momenta(world, state), known))
    return {"linear": linear, "angular": angular}


def main() -> None:
    threads.configure(None)
    addon.load().register()
    with tempfile.TemporaryDirectory(prefix="conjac-flights-") as name:
        numbers = iter(range(1000))

        def new_folder() -> Path:
            (folder := Path(name) / str(next(numbers))).mkdir()
            return folder

        drifts = {"as made": flesh(new_folder()), "alone": flesh(new_folder(), collides=False)}
        known, turned = top(new_folder(), FINE, "sdirk2"), nut(new_folder(), FINE, "sdirk2")
        leans = {key or "as made": top(new_folder(), 1, key) for key in (None, "semi_implicit", "sdirk2")}
        turns = {key or "as made": nut(new_folder(), 1, key) for key in (None, "sdirk2")}
    emit("flights_as_made", [
        claim("flesh_linear_as_made", drifts["as made"]["linear"], "of its momentum a second", "<= 2e-4"),
        claim("flesh_angular_as_made", drifts["as made"]["angular"], "of its momentum a second", "<= 2e-3"),
        claim("flesh_linear_alone", drifts["alone"]["linear"], "of its momentum a second", "<= 2e-4"),
        claim("flesh_angular_alone", drifts["alone"]["angular"], "of its momentum a second", "<= 2e-3"),
        claim("top_stands_as_made", abs(leans["as made"] - known), "rad", "<= 0.02"),
        claim("top_stands_semi_implicit_as_made", abs(leans["semi_implicit"] - known), "rad", "<= 0.02"),
        claim("nut_turns_as_made", off(turns["as made"], turned), "s", "<= 0.05"),
        claim("nut_turns_sdirk2_as_made", off(turns["sdirk2"], turned), "s", "<= 0.05"),
    ], {"flesh": drifts, "top": {"short steps": known} | leans,
        "nut": {"short steps": turned.round(4).tolist()} | {name: one.round(4).tolist()
                                                              for name, one in turns.items()}})


if __name__ == "__main__":
    main()
