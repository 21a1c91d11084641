"""Rigs and rigid body objects that a negative scale mirrors start where they are and move like a mirror image."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import add_chain, job_of, scene, world_of  # noqa: E402, F401
from test_gather_rigid import add_box, join, mechanism  # noqa: E402

BONES = ("B0", "B1", "B2")


def swinging(name, scale=(1, 1, 1)):
    """Return a posed chain of bones on a hinge, with a limit and a motor that are not symmetric about its axis."""
    rig = add_chain(3, name=name)
    rig.scale = scale
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    rig.pose.bones["B1"].rotation_euler = (0.4, 0.1, 0.2)
    for axis in "xyz":
        setattr(rig.pose.bones["B1"], f"use_ik_limit_{axis}", True)
        setattr(rig.pose.bones["B1"], f"ik_min_{axis}", -0.1)
        setattr(rig.pose.bones["B1"], f"ik_max_{axis}", 0.5)
    hinge, motor = rig.pose.bones["B0"].conjac, rig.pose.bones["B2"].conjac
    hinge.joint, hinge.axis = "revolute", "Z"
    motor.joint, motor.axis, motor.motor = "revolute", "Z", "servo"
    motor.motor_stiffness, motor.motor_damping = 5.0, 0.5
    rig.pose.bones["B2"].conjac_motor_target = 0.7
    bpy.context.view_layer.objects.active = rig
    return rig


def bones_at(rig, scene, frame):  # noqa: F811
    scene.frame_set(frame)
    return np.array([world_of(rig, name) for name in BONES])


@pytest.mark.parametrize("scale", [(-1, 1, 1), (2, 2, -2), (-1, -1, -1)])
def test_a_mirrored_rig_begins_as_it_is_posed(scene, scale):  # noqa: F811
    rig = swinging("Mirrored", scale)
    posed = bones_at(rig, scene, 1)
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert bones_at(rig, scene, 1) == pytest.approx(posed, abs=5e-6)
    scene.frame_set(6)
    assert np.linalg.det(world_of(rig, "B2")[:3, :3]) < 0.0


def test_a_mirrored_rig_moves_as_the_other_does_in_a_mirror(scene):  # noqa: F811
    seen = {}
    for name, scale in (("Plain", (1, 1, 1)), ("Mirrored", (-1, 1, 1))):
        rig = swinging(name, scale)
        assert bpy.ops.conjac.bake() == {"FINISHED"}
        seen[name] = np.array([bones_at(rig, scene, frame) for frame in (1, 3, 6)])
    assert np.abs(seen["Plain"][2] - seen["Plain"][0]).max() > 0.05  # it has moved
    mirror = np.diag([-1.0, 1.0, 1.0, 1.0])
    assert seen["Mirrored"] == pytest.approx(mirror @ seen["Plain"], abs=2e-5)


def test_a_bone_that_its_own_pose_mirrors_begins_so(scene):  # noqa: F811
    rig = add_chain(2)
    rig.pose.bones["B1"].scale = (1, 1, -1)
    posed = [world_of(rig, name) for name in BONES[:2]]
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    scene.frame_set(1)
    assert [world_of(rig, name) for name in BONES[:2]] == [pytest.approx(pose, abs=5e-6) for pose in posed]
    assert bpy.ops.conjac.free_bake() == {"FINISHED"} and tuple(rig.pose.bones["B1"].scale) == (1, 1, -1)


def vertices_of(obj):
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    return np.array([v.co for v in obj.data.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]


@pytest.mark.parametrize(("scale", "shape"), [((1, 1, -1), "MESH"), ((1, -2, 1), "CONVEX_HULL")])
def test_a_mirrored_object_begins_and_falls_as_it_stands(scene, scale, shape):  # noqa: F811
    bpy.ops.mesh.primitive_cone_add(radius1=0.3, depth=0.5, location=(0, 0, 2), rotation=(0.3, 0.2, 0.1))
    cone = bpy.context.object
    cone.scale = scale
    bpy.ops.rigidbody.object_add()
    cone.rigid_body.collision_shape = shape
    mechanism()
    stood = vertices_of(cone)
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    scene.frame_set(1)
    assert vertices_of(cone) == pytest.approx(stood, abs=5e-6)
    scene.frame_set(6)
    fallen = vertices_of(cone) - stood
    assert fallen[:, 2] == pytest.approx(-9.81 * (5 / 24) ** 2 / 2, abs=0.02)
    assert fallen == pytest.approx(np.broadcast_to(fallen[0], fallen.shape), abs=1e-5)  # nothing turns it


def test_a_mirrored_object_swings_as_an_unmirrored_one(scene):  # noqa: F811
    scene.frame_end = 8
    ends = []
    for scale in ((1, 1, 1), (1, 1, -1)):
        post, arm = add_box("Post", (0, 0, 2), active=False), add_box("Arm", (0.4, 0, 2))
        arm.scale = scale
        join("HINGE", post, arm, (0, 0, 2), (np.pi / 2, 0, 0))
        mechanism()
        assert bpy.ops.conjac.bake() == {"FINISHED"}
        scene.frame_set(8)
        swung = vertices_of(arm)
        ends.append(swung[np.lexsort(np.round(swung, 4).T)])
        assert bpy.ops.conjac.free_bake() == {"FINISHED"}
        for obj in list(scene.objects):
            bpy.data.objects.remove(obj)
    assert ends[1] == pytest.approx(ends[0], abs=2e-5)
