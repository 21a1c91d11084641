"""An armature becomes a mechanism that the solver reads: bodies, joints, limits, drives, and clear refusals."""

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import add_armature, add_chain, job_of, scene, world_of  # noqa: E402, F401

from conjac.conjac_addon import gather  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402


def mechanism_of(obj, folder, notes=None):
    document, job = job_of(obj, folder, notes)
    return document["mechanisms"][0], job


def test_bones_become_capsules_that_hang_on_balls(scene, tmp_path):  # noqa: F811
    rig = add_chain()
    mechanism, job = mechanism_of(rig, tmp_path / "job")
    assert [body["name"] for body in mechanism["bodies"]] == ["B0", "B1", "B2"]
    assert [(j["child"], j["parent"], j["kind"]) for j in mechanism["joints"]] == [
        ("B1", "B0", "spherical"), ("B2", "B1", "spherical")]
    first = mechanism["bodies"][0]
    assert first["shape"]["kind"] == "capsule" and first["density"] == 1000.0 and "mass" not in first
    params = first["shape"]["params"]
    assert params["length"] + 2 * params["radius"] == pytest.approx(0.3)
    assert first["position"] == pytest.approx([0.15, 0.0, 0.0], abs=1e-7)
    w, x, y, z = first["rotation"]
    # its own Z lies along the bone, which lies along X
    along = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
    assert along == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    assert mechanism["joints"][1]["position"] == pytest.approx([0.6, 0.0, 0.0], abs=1e-7)
    assert job.scene.mechanisms[0].name == "Rig" and not job.scene.bodies


def test_metres_and_the_armatures_own_scale(scene, tmp_path):  # noqa: F811
    rig = add_chain()
    rig.scale, rig.location = (2.0, 2.0, 2.0), (0.0, 0.0, 1.0)
    scene.unit_settings.scale_length = 0.1
    mechanism, _ = mechanism_of(rig, tmp_path / "job")
    body = mechanism["bodies"][1]
    assert body["position"] == pytest.approx([0.09, 0.0, 0.1], abs=1e-7)
    params = body["shape"]["params"]
    assert params["length"] + 2 * params["radius"] == pytest.approx(0.06)


def limit(bone, **limits):
    constraint = bone.constraints.new("LIMIT_ROTATION")
    constraint.owner_space = "LOCAL"
    for axis, (low, high) in limits.items():
        setattr(constraint, f"use_limit_{axis}", True)
        setattr(constraint, f"min_{axis}", low)
        setattr(constraint, f"max_{axis}", high)
    return constraint


def test_limits_and_locks_choose_the_joint(scene, tmp_path):  # noqa: F811
    rig = add_chain(6)
    bones = rig.pose.bones
    limit(bones["B1"], x=(-0.5, 1.0), y=(0.0, 0.0), z=(0.0, 0.0))
    bones["B2"].lock_ik_y = True
    bones["B3"].lock_ik_x = bones["B3"].lock_ik_y = bones["B3"].lock_ik_z = True
    limit(bones["B4"], x=(-0.1, 0.1), z=(-0.2, 0.3))
    limit(bones["B5"], x=(-0.1, 0.1)).mute = True
    mechanism, _ = mechanism_of(rig, tmp_path / "job")
    joints = {joint["child"]: joint for joint in mechanism["joints"]}
    assert [joints[f"B{k}"]["kind"] for k in range(1, 6)] == ["revolute", "universal", "fixed", "spherical",
                                                             "spherical"]
    assert joints["B1"]["low"] == pytest.approx([-0.5]) and joints["B1"]["high"] == pytest.approx([1.0])
    assert "low" not in joints["B2"] and "low" not in joints["B5"]
    assert joints["B4"]["low"] == pytest.approx([-0.1, -1e9, -0.2])
    axes = matrix(joints["B1"]["rotation"])
    assert axes[:, 2] == pytest.approx(world_of(rig, "B1")[:3, 0], abs=1e-6)
    axes = matrix(joints["B2"]["rotation"])
    at = world_of(rig, "B2")
    assert axes[:, 0] == pytest.approx(at[:3, 0], abs=1e-6) and axes[:, 1] == pytest.approx(at[:3, 2], abs=1e-6)


def matrix(quaternion):
    from mathutils import Quaternion

    return np.array(Quaternion(quaternion).to_matrix())


def test_limits_count_from_the_rest_pose(scene, tmp_path):  # noqa: F811
    rig = add_chain()
    bone = rig.pose.bones["B1"]
    limit(bone, x=(-0.5, 1.0), y=(0.0, 0.0), z=(0.0, 0.0))
    bone.rotation_mode, bone.rotation_euler = "XYZ", (0.7, 0.0, 0.0)
    rig.pose.bones["B0"].rotation_mode = "XYZ"
    rig.pose.bones["B0"].rotation_euler = (0.2, 0.1, 0.4)
    mechanism, _ = mechanism_of(rig, tmp_path / "hinge")
    assert mechanism["joints"][0]["start"] == pytest.approx([0.7], abs=1e-6)
    bone.constraints.remove(bone.constraints[0])
    bone.rotation_euler = (0.3, -0.2, 0.5)
    mechanism, _ = mechanism_of(rig, tmp_path / "ball")
    turn = bone.matrix_basis.to_quaternion()
    axis, angle = turn.to_axis_angle()
    assert mechanism["joints"][0]["start"] == pytest.approx([angle * a for a in axis], abs=1e-6)


def test_a_start_outside_of_the_limits_is_reported(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    bone = rig.pose.bones["B1"]
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -0.1, 0.1
    bone.lock_ik_y = bone.lock_ik_z = True
    bone.rotation_mode, bone.rotation_euler = "XYZ", (0.5, 0.0, 0.0)
    notes = []
    mechanism_of(rig, tmp_path / "job", notes)
    assert any('"B1" begins at 28.65°, outside its limits -5.73° to 5.73°' in note for note in notes), notes


def test_settings_of_a_bone(scene, tmp_path):  # noqa: F811
    rig = add_chain(3)
    part = rig.pose.bones["B1"].conjac
    part.shape, part.radius, part.mass, part.joint, part.axis = "box", 0.05, 2.5, "revolute", "Z"
    part.stiffness, part.damping, part.friction, part.bearing_radius = 3.0, 0.2, 0.4, 0.03
    part.motor, part.motor_limit, rig.pose.bones["B1"].conjac_motor_target = "servo", 20.0, 0.5
    rig.pose.bones["B2"].conjac.shape = "sphere"
    mechanism, job = mechanism_of(rig, tmp_path / "job")
    body, joint = mechanism["bodies"][1], mechanism["joints"][0]
    assert body["mass"] == 2.5
    assert body["shape"] == {"kind": "box", "params": {"size_x": pytest.approx(0.1), "size_y": pytest.approx(0.1),
                                                       "size_z": pytest.approx(0.3)}}
    assert joint["kind"] == "revolute" and joint["stiffness"] == [3.0] and joint["damping"] == [0.2]
    assert joint["friction"] == {"mu": 0.4, "radius": 0.03, "length": 0.04}
    assert joint["motor"] == {"mode": {"kind": "servo", "params": {"stiffness": 100.0, "damping": 10.0}},
                              "limit": 20.0, "target": [0.5]}
    assert matrix(joint["rotation"])[:, 2] == pytest.approx(world_of(rig, "B1")[:3, 2], abs=1e-6)
    assert job.scene.mechanisms[0].bodies[2].shape.kind == "sphere"
    assert gather.changed_settings(rig, scene, tmp_path / "job") == []
    part.implicit = part.motor_implicit = False
    assert gather.changed_settings(rig, scene, tmp_path / "job") == ["Implicit", "Implicit Motor"]
    joint = mechanism_of(rig, tmp_path / "explicit")[0]["joints"][0]
    assert joint["implicit"] is joint["motor"]["implicit"] is False
    part.stiffness, part.damping, part.motor = 0.0, 0.0, "drive"
    joint = mechanism_of(rig, tmp_path / "drive")[0]["joints"][0]
    assert "implicit" not in joint and "implicit" not in joint["motor"]


def test_keyframes_of_a_motors_target_are_followed(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    part = rig.pose.bones["B1"].conjac
    part.joint, part.motor = "revolute", "servo"
    for frame, angle in ((1, 0.0), (6, 1.0)):
        rig.pose.bones["B1"].conjac_motor_target = angle
        rig.pose.bones["B1"].keyframe_insert("conjac_motor_target", frame=frame)
    mechanism, job = mechanism_of(rig, tmp_path / "job")
    target = job.array(mechanism["joints"][0]["motor"]["target"])
    assert target.shape == (11, 1) and target[0, 0] == 0.0 and target[-1, 0] == pytest.approx(1.0)
    assert (np.diff(target[:, 0]) > 0).all()


def test_bones_that_are_left_out(scene, tmp_path):  # noqa: F811
    rig, notes = add_chain(4), []
    rig.pose.bones["B0"].conjac.role = "none"
    rig.pose.bones["B2"].conjac.role = "none"
    mechanism, _ = mechanism_of(rig, tmp_path / "job", notes)
    assert [body["name"] for body in mechanism["bodies"]] == ["B1", "B2", "B3"]
    assert [(j["child"], j["parent"], j["kind"]) for j in mechanism["joints"]] == [
        ("B2", "B1", "fixed"), ("B3", "B2", "spherical")]
    assert any('"B2" is left out between two' in note for note in notes)


def test_loose_bones_and_child_of(scene, tmp_path):  # noqa: F811
    rig, notes = add_armature([("A", (0, 0, 0), (0, 0, 1), None, False), ("B", (2, 0, 0), (2, 0, 1), None, False)]), []
    mechanism, _ = mechanism_of(rig, tmp_path / "loose", notes)
    assert not mechanism["joints"] and any('"A", "B" have no parent' in note for note in notes)
    child_of = rig.pose.bones["B"].constraints.new("CHILD_OF")
    child_of.target, child_of.subtarget = rig, "A"
    notes.clear()
    mechanism, _ = mechanism_of(rig, tmp_path / "held", notes)
    assert [(j["child"], j["parent"]) for j in mechanism["joints"]] == [("B", "A")] and not notes
    back = rig.pose.bones["A"].constraints.new("CHILD_OF")
    back.target, back.subtarget = rig, "B"
    with pytest.raises(BadInput, match='"Rig": its bones are parented in a circle'):
        mechanism_of(rig, tmp_path / "ring")


def test_deforming_bones_of_a_control_rig_hang_together(scene, tmp_path):  # noqa: F811
    """In Rigify's rigs limbs are children of bones that the deforming spine copies."""
    spine, limb = ((0, 0, 1), (0, 0, 1.4)), ((0.1, 0, 1), (0.1, 0, 0.5))
    rig, notes = add_armature([
        ("root", (0, 0, 0), (0, 1, 0), None, False), ("ORG-spine", *spine, "root", False),
        ("MCH-hip", *limb, "ORG-spine", False), ("ORG-thigh", *limb, "MCH-hip", False),
        ("DEF-spine", *spine, "root", False), ("DEF-thigh", *limb, "ORG-thigh", False),
        ("DEF-shin", (0.1, 0, 0.5), (0.1, 0, 0.1), "DEF-thigh", True)]), []
    for name in ("spine", "thigh"):
        copy = rig.pose.bones[f"DEF-{name}"].constraints.new("COPY_TRANSFORMS")
        copy.target, copy.subtarget = rig, f"ORG-{name}"
    for bone in rig.data.bones:
        bone.use_deform = bone.name.startswith("DEF")
    assert bpy.ops.conjac.ragdoll(smallest=0.0) == {"FINISHED"}
    mechanism, _ = mechanism_of(rig, tmp_path / "job", notes)
    assert [body["name"] for body in mechanism["bodies"]] == ["DEF-spine", "DEF-thigh", "DEF-shin"] and not notes
    assert [(j["child"], j["parent"]) for j in mechanism["joints"]] == [("DEF-thigh", "DEF-spine"),
                                                                       ("DEF-shin", "DEF-thigh")]
    # a copy that is switched off holds nothing
    rig.pose.bones["DEF-spine"].constraints[0].mute = True
    mechanism, _ = mechanism_of(rig, tmp_path / "off", notes)
    assert [j["child"] for j in mechanism["joints"]] == ["DEF-shin"] and "have no parent" in notes[0]


def test_what_plays_nothing_or_plays_askew_is_reported(scene, tmp_path):  # noqa: F811
    rig, notes = add_chain(2), []
    rig.data.pose_position = "REST"
    with pytest.raises(BadInput, match='"Rig": it is shown in Rest Position, where no pose plays'):
        mechanism_of(rig, tmp_path / "rest")
    rig.data.pose_position = "POSE"
    rig.scale = (1.0, 2.0, 1.0)
    mechanism_of(rig, tmp_path / "uneven", notes)
    assert notes == ['"Rig": its scale is not uniform, so its bones will play skewed; apply its scale (Object > '
                     'Apply > Scale)']


def test_what_cannot_be_simulated_is_refused_by_the_bones_name(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    bone = rig.pose.bones["B1"]
    constraint = limit(bone, x=(0.5, -0.5))
    with pytest.raises(BadInput, match=r'"Rig": the bone "B1" has limits the wrong way round: the constraint "Limit '
                                       r'Rotation" limits X from 28.65° to -28.65°'):
        mechanism_of(rig, tmp_path / "limits")
    bone.constraints.remove(constraint)
    bone.scale = (1.0, 0.0, 1.0)
    with pytest.raises(BadInput, match='the bone "B1" has an invalid pose'):
        mechanism_of(rig, tmp_path / "flat")
    bone.scale = (1.0, math.nan, 1.0)
    with pytest.raises(BadInput, match='"Rig", frame 1: the bone "B1" has an invalid pose'):
        mechanism_of(rig, tmp_path / "nan")
    bone.scale = (1.0, 1.0e-6, 1.0)
    with pytest.raises(BadInput, match='the bone "B1" has no length'):
        mechanism_of(rig, tmp_path / "short")
    for each in rig.pose.bones:
        each.conjac.role = "none"
    with pytest.raises(BadInput, match="none of its bones is simulated"):
        mechanism_of(rig, tmp_path / "none")
    assert not any((tmp_path / name / "scene.json").exists() for name in ("limits", "flat", "nan", "short", "none"))


def add_skin(rig, radius=0.06, length=0.6, rows=24, sides=24):
    """Add a closed tube around the X axis, skinned half to B0 and half to B1."""
    ring = [(math.cos(2 * math.pi * k / sides), math.sin(2 * math.pi * k / sides)) for k in range(sides)]
    vertices = [(length * i / rows, radius * c, radius * s) for i in range(rows + 1) for c, s in ring]
    faces = [(i * sides + k, i * sides + (k + 1) % sides, (i + 1) * sides + (k + 1) % sides, (i + 1) * sides + k)
             for i in range(rows) for k in range(sides)]
    faces += [tuple(range(sides))[::-1], tuple(rows * sides + k for k in range(sides))]
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata(vertices, [], faces)
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    for k in (0, 1):
        group = skin.vertex_groups.new(name=f"B{k}")
        group.add([i for i, v in enumerate(vertices) if (v[0] > 0.3 - 1e-6) == bool(k)], 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    return skin


def test_the_skins_volume_gives_mass_and_thickness(scene, tmp_path):  # noqa: F811
    rig = add_chain(3)
    skin = add_skin(rig)
    mechanism, _ = mechanism_of(rig, tmp_path / "job")
    whole = 24 / 2 * math.sin(2 * math.pi / 24) * 0.06**2 * 0.6 * 1000.0
    masses = [body.get("mass") for body in mechanism["bodies"]]
    assert masses[0] + masses[1] == pytest.approx(whole, rel=1e-3) and masses[2] is None
    assert masses[0] == pytest.approx(0.5 * whole, rel=0.05)
    radius = mechanism["bodies"][0]["shape"]["params"]["radius"]
    assert 0.05 < radius < 0.075
    rig.conjac.mechanism.density = 500.0
    rig.pose.bones["B0"].conjac.mass = 9.0
    mechanism, _ = mechanism_of(rig, tmp_path / "light")
    assert mechanism["bodies"][0]["mass"] == 9.0
    assert mechanism["bodies"][1]["mass"] == pytest.approx(0.5 * masses[1], rel=1e-6)
    rig.conjac.mechanism.use_skin = False
    mechanism, _ = mechanism_of(rig, tmp_path / "shape")
    assert "mass" not in mechanism["bodies"][1]
    rig.conjac.mechanism.use_skin = True
    # an open mesh encloses nothing
    skin.modifiers.new("Open", "MASK").vertex_group = "B0"
    mechanism, _ = mechanism_of(rig, tmp_path / "open")
    assert all("mass" not in body for body in mechanism["bodies"][1:])


def test_a_changed_setting_is_named(scene, tmp_path):  # noqa: F811
    rig = add_chain(3)
    add_skin(rig)
    job_of(rig, tmp_path / "job")

    def changed():
        return gather.changed_settings(rig, scene, tmp_path / "job")

    assert changed() == []
    rig.pose.bones["B1"].conjac.stiffness = 2.0
    assert changed() == ["Stiffness"]
    rig.pose.bones["B1"].conjac.stiffness = 0.0
    rig.conjac.mechanism.self_collisions = True
    assert changed() == ["Self Collisions"]
    rig.conjac.mechanism.self_collisions = False
    limit(rig.pose.bones["B2"], x=(-1.0, 1.0))
    assert changed() == ["Limits"]
    rig.pose.bones["B2"].conjac.role = "none"
    assert changed() == ["Bones"]


def test_obstacles_and_ground(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    rig.conjac.use_ground, rig.conjac.ground_height = True, -1.0
    stairs = bpy.data.collections.new("Stairs")
    scene.collection.children.link(stairs)
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0, 0, -2), scale=(2, 1, 1))
    cube = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(3, 0, -2))
    bpy.ops.object.mode_set(mode="OBJECT")
    stairs.objects.link(cube)
    rig.conjac.mechanism.obstacles = stairs
    document, job = job_of(rig, tmp_path / "job")
    obstacles = document["mechanisms"][1]
    assert obstacles["name"] == "Rig Obstacles" and document["ground"]["point"] == [0.0, 0.0, -1.0]
    assert len(obstacles["bodies"]) == 2 and {j["kind"] for j in obstacles["joints"]} == {"fixed"}
    vertices = job.array(obstacles["bodies"][0]["vertices"])
    assert vertices.shape == (8, 3) and np.ptp(vertices[:, 0]) == pytest.approx(2.0)
    assert gather.changed_settings(rig, scene, tmp_path / "job") == []
    for frame, z in ((1, -2.0), (6, -1.0)):
        cube.location.z = z
        cube.keyframe_insert("location", frame=frame)
    document, job = job_of(rig, tmp_path / "moving")
    bodies = document["mechanisms"][1]["bodies"]
    motion = job.array(bodies[0]["motion"])
    assert motion.shape == (11, 4, 4) and motion[-1, 2, 3] == pytest.approx(-1.0)
    assert bodies[1]["motion"] == bodies[0]["motion"] and not document["mechanisms"][1]["joints"]
