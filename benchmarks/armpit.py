"""Measure self-intersections of a skinned torso whose arm comes down onto it, as drawn, through the add-on.

    python -m benchmarks.armpit

A torso of balls is remeshed and skinned to a spine and an arm, which swings down by 85° and up twice in two seconds, so
that the armpit of the rig alone intersects itself and its skin stretches. *Jiggle* makes it a soft body with a soft
belly and flank; *Self Collision* and *Pins Yield* are on, and all other settings are defaults.

`armpit_frames`: frames in which a drawn triangle intersects another one, by ipctk's exact test. `armpit_stretch`: the
longest drawn edge relative to its rest length, divided by the largest such ratio of the rig alone.

Both miss their goals, in nearly as many frames as the rig alone intersects itself: all skin except belly and flank is
pinned, and bones move pinned skin through pinned skin. *Pins Yield* replaces pins by springs, which yield to contact of
tetrahedra and stretch the skin between arm and trunk; without it the drawn skin intersects itself in all 29 frames of
the rig's, and is stretched no more than by the rig in frames 12, 24, 36 and 48. Edges are drawn to 5.7 of their length
by frame 4 already, before skin touches skin. *Collide by Mesh* was tried on the first twelve frames: an edge stretches
to 10.6 of its length at most instead of 15.7, with as many intersecting frames, for four times the cost. Painted
vertices should also be drawn at their animated positions, and no method was found that satisfies both.
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
from benchmarks.drawn import chosen, local, positions

FRAMES = 48
SWINGS = {1: 0, 12: 85, 24: 0, 36: 85, 48: 85}  #: degrees of the arm at frames


def main() -> int:
    """Bake the torso and print the JSON line."""
    from examples_blend import addon

    extension = addon.load()
    extension.register()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        body = torso(Path(folder))
        rigged = [longest(body, frame) for frame in range(1, FRAMES + 1)]
        rig_crosses = [frame for frame in range(1, FRAMES + 1) if crosses_itself(body, frame)]
        bake(body)
        baked = [longest(body, frame) for frame in range(1, FRAMES + 1)]
        crossed = [frame for frame in range(1, FRAMES + 1) if crosses_itself(body, frame)]
    report.emit("armpit", [
        report.claim("armpit_frames", len(crossed), f"of {FRAMES} frames", "<= 0"),
        report.claim("armpit_stretch", max(baked) / max(rigged), "of the rig's", "<= 1"),
    ], {"crossed": crossed, "crossed by the rig": len(rig_crosses), "longest": max(baked), "longest by the rig":
        max(rigged)})
    extension.unregister()
    return 0


def bake(body: Any) -> None:
    """Make the torso a soft body that collides with itself and whose pins yield, and bake it. Raises RuntimeError where
    it is not baked."""
    import bpy

    chosen(body)
    bpy.ops.conjac.jiggle()
    contact = body.conjac.contact
    contact.collides_with, contact.itself, contact.pins_yield = "all", True, True
    session: Any = importlib.import_module("conjac.conjac_addon.bake.foreground")
    if session.bake_object(body, True, lambda *words: None):
        raise RuntimeError("the torso was not baked")


def torso(folder: Path) -> Any:
    """The skinned mesh in a saved file, with a vertex group of what is to be soft."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, 24
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    parts = []
    for at, radius in [((0, 0, z), 0.14) for z in np.linspace(0, 0.45, 6)] + [
            ((x, 0, 0.42), 0.06) for x in np.linspace(0.12, 0.6, 9)]:
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=radius, location=at)
        parts.append(bpy.context.object)
    chosen(*parts)
    bpy.ops.object.join()
    body = bpy.context.object
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)
    whole = body.modifiers.new("Whole", "REMESH")
    whole.mode, whole.voxel_size = "VOXEL", 0.02
    bpy.ops.object.modifier_apply(modifier="Whole")
    x = local(body)
    skinned(body, x)
    soft = (np.linalg.norm(x - (0, -0.12, 0.1), axis=1) < 0.13) | (np.linalg.norm(x - (0.13, 0, 0.25), axis=1) < 0.12)
    body.vertex_groups.new(name="Soft").add(np.flatnonzero(soft).tolist(), 1.0, "REPLACE")
    return body


def skinned(body: Any, x: np.ndarray) -> None:
    """Give a mesh with vertices x (n, 3) a spine and an arm that swings, by how near they are."""
    import bpy

    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    chosen(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head, tail in (("Spine", (0, 0, -0.1), (0, 0, 0.5)), ("Arm", (0.14, 0, 0.42), (0.6, 0, 0.42))):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
    rig.data.edit_bones["Arm"].parent = rig.data.edit_bones["Spine"]
    bpy.ops.object.mode_set(mode="OBJECT")
    apart = from_line(x, (0, 0, 0), (0, 0, 0.45)) / 0.14 - from_line(x, (0.16, 0, 0.42), (0.6, 0, 0.42)) / 0.06
    fraction = np.clip(0.5 + apart, 0, 1)
    of_arm = fraction * fraction * (3 - 2 * fraction)
    for name, weights in (("Spine", 1 - of_arm), ("Arm", of_arm)):
        group = body.vertex_groups.new(name=name)
        for vertex, weight in enumerate(weights):
            group.add([vertex], float(weight), "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    arm = rig.pose.bones["Arm"]
    arm.rotation_mode = "AXIS_ANGLE"
    along_y = rig.data.bones["Arm"].matrix_local.to_3x3().inverted().col[1]
    for frame, degrees in SWINGS.items():
        arm.rotation_axis_angle = (math.radians(degrees), *along_y)
        arm.keyframe_insert("rotation_axis_angle", frame=frame)


def from_line(x: np.ndarray, start: Any, end: Any) -> np.ndarray:
    """How far points (n, 3) are from a line between two others [m], (n,)."""
    first, along = np.array(start, float), np.subtract(end, start).astype(float)
    where = np.clip((x - first) @ along / (along @ along), 0, 1)[:, None]
    distance: np.ndarray = np.linalg.norm(x - first - where * along, axis=1)
    return distance


def longest(body: Any, frame: int) -> float:
    """The longest edge as drawn over its length at rest."""
    ends = np.array([edge.vertices[:] for edge in body.data.edges])
    x, rest = positions(body, frame), local(body)
    lengths = [np.linalg.norm(at[ends[:, 0]] - at[ends[:, 1]], axis=1) for at in (x, rest)]
    return float((lengths[0] / lengths[1]).max())


def crosses_itself(body: Any, frame: int) -> bool:
    """Whether any triangle that is drawn goes through another one."""
    import bpy
    import ipctk

    x = positions(body, frame).astype(float)
    mesh = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    mesh.calc_loop_triangles()
    faces = np.array([each.vertices[:] for each in mesh.loop_triangles], np.int32)
    return bool(ipctk.has_intersections(ipctk.CollisionMesh(x, ipctk.edges(faces), faces), x))


if __name__ == "__main__":
    sys.exit(main())
