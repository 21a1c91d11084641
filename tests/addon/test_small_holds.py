"""Bones, handles, nails and pins move vertices exactly as drawn, in every frame, however few these are."""

import math
from itertools import pairwise

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import rest_of, scene  # noqa: E402, F401
from mathutils import Matrix  # noqa: E402
from rig import add_armature, world_of  # noqa: E402

from benchmarks import drawn  # noqa: E402
from benchmarks.drawn import chosen, positions, subdivided  # noqa: E402

SIZE, LAST = 0.3, 8
ABOVE = 2.0  #: where the body is [m]


def ball():
    """Return a new soft body that is coarser than its mesh, in the air."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=SIZE / 2, location=(0, 0, ABOVE))
    bpy.ops.conjac.add_soft_body()
    return bpy.context.object


def paint(body, group, vertices):
    (body.vertex_groups.get(group) or body.vertex_groups.new(name=group)).add([int(v) for v in vertices], 1.0,
                                                                              "REPLACE")


def highest(body, count):
    """Return indices of so many vertices at the top of a body."""
    return np.argsort(-rest_of(body)[:, 2], kind="stable")[:count]


def attach(body, vertices, carrier, part):
    """Press Attach to Bone with the carrier selected beside the body."""
    paint(body, "Grip", vertices)
    chosen(body, carrier)
    assert bpy.ops.conjac.add_attachment() == {"FINISHED"}
    attachment = body.conjac.attachments[-1]
    assert attachment.object is not None
    attachment.part, attachment.group = part, "Grip"


def on_a_bone(count):
    """Return a ball that is attached to a bone of an animated armature by so many vertices."""
    body = ball()
    rig = add_armature([("Hold", (0, 0, ABOVE + 0.15), (0.1, 0, ABOVE + 0.15), None, False)])
    bone = rig.pose.bones["Hold"]
    bone.conjac.role, bone.rotation_mode = "animated", "XYZ"
    for frame, turn in ((1, 0.0), (LAST, 0.4)):
        bone.rotation_euler = (turn, -turn, 0.5 * turn)
        bone.keyframe_insert("rotation_euler", frame=frame)
    grip = highest(body, count)
    attach(body, grip, rig, "Hold")
    return body, grip, 1, lambda: Matrix(world_of(rig, "Hold"))


def on_a_handle(count):
    """Return a body that is attached to an animated rigid body by as few vertices."""
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0, 0, ABOVE + 0.25))
    handle = bpy.context.object
    handle.name = "Handle"
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    for frame, turn in ((1, 0.0), (LAST, 0.4)):
        handle.rotation_euler, handle.location.x = (turn, -turn, 0.0), 0.1 * turn
        handle.keyframe_insert("rotation_euler", frame=frame)
        handle.keyframe_insert("location", frame=frame)
    assert bpy.ops.conjac.mechanism_from_rigid_bodies() == {"FINISHED"}
    bpy.context.object.conjac.use_ground = False
    body = ball()
    grip = highest(body, count)
    attach(body, grip, handle, "Handle")
    return body, grip, 1, lambda: handle.matrix_world.copy()


def on_a_nail(radius):
    """Return a body pierced by a nail from the third frame on, with its default radius or another one."""
    body = ball()
    bpy.context.scene.frame_set(3)
    assert bpy.ops.conjac.add_nail() == {"FINISHED"}
    nail = body.conjac.nails[-1]
    if radius is not None:
        nail.radius = radius
    # where the body has fallen to by then, leaning, through the middle of a face of it
    nail.object.location.z = ABOVE - 0.5 * 9.81 * (2 / 24) ** 2
    nail.object.rotation_euler = (0.3, 0.4, 0.0)
    for frame, x in ((3, 0.0), (LAST, 0.05)):
        nail.object.location.x = x
        nail.object.keyframe_insert("location", frame=frame)

    def near():
        bpy.context.scene.frame_set(3)
        axis = np.array(nail.object.matrix_world)[:3, 2]
        away = positions(body, 3) - np.array(nail.object.matrix_world)[:3, 3]
        return np.flatnonzero(np.linalg.norm(away - np.outer(away @ axis, axis), axis=1) <= nail.radius)

    return body, near, 3, lambda: nail.object.matrix_world.copy()


def beside_spots(count):
    """Return a body on ConJac whose Pin is as small, with a painted spot, one that moves in its own way and a
    handle."""
    body = ball()
    body.conjac.method = "conjac"
    grip = highest(body, count)
    paint(body, "Pin", grip)
    by_height = np.argsort(rest_of(body)[:, 2], kind="stable")
    paint(body, "Dynamic", by_height[:1])
    bpy.ops.conjac.add_spots()
    bpy.ops.object.mode_set(mode="OBJECT")
    paint(body, body.conjac.spots[-1].group, by_height[80:81])
    bpy.context.scene.cursor.location = body.matrix_world @ body.data.vertices[int(by_height[120])].co
    assert bpy.ops.conjac.add_handle() == {"FINISHED"}
    for frame, turn in ((1, 0.0), (LAST, 0.3)):
        body.rotation_euler.x = turn
        body.keyframe_insert("rotation_euler", frame=frame)
    return body, grip, 1, lambda: body.matrix_world.copy()


ATTACHMENTS = {"one vertex on a bone": lambda: on_a_bone(1), "six on a bone": lambda: on_a_bone(6),
               "six on a handle": lambda: on_a_handle(6), "a nail": lambda: on_a_nail(None),
               "a thin nail": lambda: on_a_nail(0.02), "one pinned beside spots": lambda: beside_spots(1),
               "six pinned beside spots": lambda: beside_spots(6)}
EASIER = {"six on a bone", "a nail", "six pinned beside spots"}  #: than the same kind of hold on less of the body


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long if name in EASIER else ())
                                  for name in ATTACHMENTS])
def test_what_is_taken_is_drawn_where_it_is_led(scene, name):  # noqa: F811
    """The vertices are there to a thousandth of the size, while the rest of the body moves otherwise."""
    scene.frame_end = LAST
    body, grip, first, carrier = ATTACHMENTS[name]()
    assert body.conjac.bake(wait=True) == 0
    grip = grip() if callable(grip) else grip
    assert len(grip), "something is taken"
    scene.frame_set(first)
    start, taken = carrier(), positions(body, first)
    off = left = 0.0
    for frame in range(first, LAST + 1):
        now = positions(body, frame)
        motion = np.array(carrier() @ start.inverted())
        led = taken @ motion[:3, :3].T + motion[:3, 3]
        away = np.linalg.norm(now - led, axis=1)
        off, left = max(off, away[grip].max()), max(left, away.max())
    assert off < 1e-3 * SIZE
    assert left > 1e-2 * SIZE, "the rest of it moves by itself"


@pytest.mark.parametrize("name", ["one of a ball", *(pytest.param(shape, marks=pytest.mark.long)
                                                     for shape in drawn.SHAPES if shape != "one of a ball")])
def test_what_is_painted_as_pin_is_drawn_where_its_animation_has_it(addon, tmp_path, monkeypatch, name):
    monkeypatch.setattr(drawn, "FRAMES", 8)
    assert drawn.per_mille(name, tmp_path) < 1.0


def test_a_nail_between_all_nodes_pins_what_it_goes_through(scene):  # noqa: F811
    """A nail far from every node once pinned nothing, and only the log reported it."""
    scene.frame_end = 12
    bpy.ops.mesh.primitive_cube_add(size=SIZE, location=(0, 0, ABOVE))
    bpy.ops.conjac.add_soft_body()
    body = bpy.context.object
    scene.frame_set(1)
    bpy.ops.conjac.add_nail()
    nail = body.conjac.nails[-1]
    nail.radius, nail.object.location, nail.object.rotation_euler = 1e-3, (0.02, 0.01, ABOVE), (0.5, 0.3, 0.0)
    assert body.conjac.bake(wait=True) == 0
    assert positions(body, 12)[:, 2].mean() > ABOVE - 0.1 * SIZE, "it hangs on it"


@pytest.mark.parametrize("at", [(0.013, 0.007, 0.0), (0.0, 0.0, 0.5 * SIZE)])
def test_a_pull_smaller_than_a_tetrahedron_takes_its_body_along(scene, at):  # noqa: F811
    """Within the body and at its skin such a pull was once refused after the bake had started."""
    body = ball()
    bpy.ops.conjac.add_pull()
    pull = body.conjac.pulls[0]
    pull.radius, pull.object.location = 2e-3, np.add(at, (0.0, 0.0, ABOVE))
    assert body.conjac.bake(wait=True) == 0
    heights = [positions(body, frame)[:, 2].mean() for frame in (1, LAST)]
    assert heights[1] > heights[0] - 0.3 * 0.5 * 9.81 * ((LAST - 1) / 24) ** 2, "it falls by far less than freely"


def test_a_stiff_bar_swings_freely_about_the_one_vertex_that_is_pinned(scene):  # noqa: F811
    """It swings like a rigid pendulum of its size: the vertex stays and transmits no torque."""
    long, wide = 0.4, 0.08
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0, 0, ABOVE))
    bar = bpy.context.object
    bar.scale = (long, wide, wide)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    subdivided(15)
    hinge = int(np.linalg.norm(rest_of(bar) - (-long / 2, 0, 0), axis=1).argmin())
    paint(bar, "Pin", [hinge])
    bar.conjac.youngs_modulus = 2.0e6
    bpy.ops.conjac.add_soft_body()
    bar.conjac.use_ground, scene.frame_end = False, LAST + 1
    assert bar.conjac.bake(wait=True) == 0
    where = np.array([positions(bar, frame) for frame in range(1, LAST + 2)])
    assert np.abs(where[:, hinge] - where[0, hinge]).max() < 1e-3 * long
    arm = where.mean(axis=1) - where[0, hinge]
    swung = -np.arctan2(arm[:, 2], arm[:, 0])
    # of a slender box about the middle of its end: 1/3 l² + 1/12 w² over half its length
    angle, rate, truth, steps = 0.0, 0.0, [0.0], 200
    for _ in pairwise(range(1, LAST + 2)):
        for _ in range(steps):
            rate += 9.81 * 0.5 * long * math.cos(angle) / (long**2 / 3 + wide**2 / 12) / (24 * steps)
            angle += rate / (24 * steps)
        truth.append(angle)
    assert truth[-1] > 1.5, "it is below its vertex"
    assert np.abs(swung - truth).max() < 0.06, np.round(swung - truth, 3)
    assert np.abs(arm[:, 1]).max() < 5e-3
