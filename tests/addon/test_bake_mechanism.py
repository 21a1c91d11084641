"""A mechanism baked through the operators in real Blender has keyframes of the cache's poses, and so has all that hangs
on it."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import add_chain, scene, world_of  # noqa: E402, F401
from test_attach import add_flesh  # noqa: E402
from test_gather_rigid import add_box, join, mechanism  # noqa: E402

from conjac.conjac_addon import bake, compat  # noqa: E402
from conjac.conjac_addon.bake import cli, place  # noqa: E402
from conjac.conjac_addon.playback import action  # noqa: E402


def pendulum(count=2):
    """Return a chain that hangs on a hinge in the world and starts level."""
    rig = add_chain(count)
    rig.pose.bones["B0"].conjac.joint, rig.pose.bones["B0"].conjac.axis = "revolute", "X"
    # the bone's own X has to lie level and across the chain, which lies along X
    across = np.array(rig.data.bones["B0"].matrix_local)[:3, 0]
    if abs(across[2]) > 0.5:
        rig.pose.bones["B0"].conjac.axis = "Z"
    bpy.context.view_layer.objects.active = rig
    return rig


def test_bake_plays_what_the_cache_has_and_free_brings_all_back(scene):  # noqa: F811
    scene.frame_end = 12
    rig = pendulum()
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert bake.status(rig).state == "complete"
    folder = place.job_folder(rig)
    cache = place.cache_of(folder)
    offsets = np.load(folder / "arrays" / "mechanism_offsets.npy")
    for frame in (1, 5, 12):
        scene.frame_set(frame)
        poses = cache.poses(frame)["pose"] @ np.linalg.inv(offsets)
        for k, name in enumerate(("B0", "B1")):
            assert world_of(rig, name) == pytest.approx(poses[k], abs=2e-5)
    scene.frame_set(12)
    tip = world_of(rig, "B1")
    assert world_of(rig, "B0")[:3, 3] == pytest.approx([0, 0, 0], abs=1e-6)  # the hinge holds
    assert tip[2, 3] < -0.2 and abs(tip[1, 3]) < 1e-5  # it has swung down, in its plane
    assert len(compat.fcurves(rig)) > 10
    rig.pose.bones["B1"].conjac.damping = 0.5
    status = bake.status(rig)
    assert status.state == "stale" and status.text == "Baked before Damping changed; bake again"
    rig.pose.bones["B1"].conjac.damping = 0.0
    assert bake.status(rig).state == "complete"
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert bake.status(rig).state == "none" and rig.animation_data is None and not bpy.data.actions
    assert not list(folder.rglob("poses/*"))


def test_a_renamed_armature_can_be_freed_of_what_it_plays(scene):  # noqa: F811
    rig = pendulum(1)
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    rig.name = "Puppet"
    assert bake.status(rig).state == "complete" and action.ours(rig) is not None
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert rig.animation_data is None and not bpy.data.actions and not bpy.ops.conjac.free_bake.poll()


def test_a_soft_body_is_baked_with_the_bone_that_it_hangs_on(scene):  # noqa: F811
    scene.frame_end = 4
    rig = pendulum()
    flesh = add_flesh(rig)
    flesh.conjac.mesher, flesh.conjac.edge_length = "grid", 0.1
    flesh.conjac.youngs_modulus = 1.0e5
    bpy.context.view_layer.objects.active = flesh
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert action.ours(rig) is not None and flesh.modifiers["ConJac"].type == "MESH_CACHE"
    assert bake.status(flesh).state == bake.status(rig).state == "complete"
    assert place.job_folder(flesh) == place.job_folder(rig)
    # what is attached goes where its bone goes
    local = np.array([[v.co.x, v.co.y, v.co.z] for v in flesh.data.vertices])
    attached = local[:, 0] < -0.29
    at = {}
    for frame in (1, 4):
        scene.frame_set(frame)
        evaluated = flesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
        co = np.array([v.co for v in evaluated.data.vertices])
        world = np.array(evaluated.matrix_world)
        at[frame] = (co @ world[:3, :3].T + world[:3, 3])[attached], world_of(rig, "B0")
    moved = at[4][1] @ np.linalg.inv(at[1][1])
    expected = at[1][0] @ moved[:3, :3].T + moved[:3, 3]
    assert np.abs(at[4][0] - at[1][0]).max() > 5e-3 and at[4][0] == pytest.approx(expected, abs=2e-3)
    bpy.context.view_layer.objects.active = flesh
    bpy.ops.conjac.free_bake()
    assert action.ours(rig) is None and "ConJac" not in flesh.modifiers


def test_the_command_line_bakes_a_mechanism_once(scene, capsys):  # noqa: F811
    scene.frame_end = 3
    rig = pendulum()
    flesh = add_flesh(rig)
    flesh.conjac.mesher, flesh.conjac.edge_length = "grid", 0.1
    assert cli.run(["bake", "--save"]) == 0
    assert capsys.readouterr().out.count("All frames are baked") == 1
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    rig = bpy.data.objects["Rig"]
    assert action.ours(rig) is not None
    assert cli.run(["bake", "--object", "Rig"]) == 0
    assert cli.run(["bake", "--object", "Camera"]) == 2


def test_a_bake_that_stops_shows_what_there_is(scene):  # noqa: F811
    scene.frame_end = 200
    rig = pendulum()
    from conjac.conjac_addon.bake import session

    run = session.Bake(rig, scene)
    while run.progress.frame is None or run.progress.frame < 5:
        assert run.tick(), run.progress
    run.pause()
    run.wait()
    status = bake.status(rig)
    assert status.state == "partial" and 5 <= status.done < 200
    scene.frame_set(5)
    assert world_of(rig, "B1")[2, 3] < -0.01
    scene.frame_end = 200
    assert rig.conjac.bake() == 0 and bake.status(rig).state == "complete"


def test_rigid_body_objects_swing_on_their_empties(scene):  # noqa: F811
    scene.frame_end = 12
    post, arm = add_box("Post", (0, 0, 2), active=False), add_box("Arm", (0.4, 0, 2))
    join("HINGE", post, arm, (0, 0, 2), (np.pi / 2, 0, 0))
    owner = mechanism()
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    cache = place.cache_of(place.job_folder(owner))
    names = cache.mechanisms()[0]["bodies"]
    for frame in (1, 7, 12):
        scene.frame_set(frame)
        seen = np.array(arm.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
        assert seen == pytest.approx(cache.poses(frame)["pose"][names.index("Arm")], abs=1e-5)
    assert seen[2, 3] < 1.8 and np.linalg.norm(seen[:3, 3] - [0, 0, 2]) == pytest.approx(0.4, abs=1e-5)
    assert bake.status(owner).state == "complete"
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert arm.animation_data is None and tuple(arm.location) == pytest.approx((0.4, 0, 2))


def test_a_mechanism_in_which_nothing_moves_is_baked_and_says_so(scene):  # noqa: F811
    """The mechanism moved in an earlier bake: that playback is removed, and Blender's own rigid bodies do not move it
    either."""
    scene.frame_end = 6
    post = add_box("Post", (0, 0, 1), active=False)
    arm = add_box("Arm", (0.3, 0, 1))
    joint = join("HINGE", arm, post, (0, 0, 1), (np.pi / 2, 0, 0))
    owner = mechanism()

    def ends():
        assert bpy.ops.conjac.bake() == {"FINISHED"}
        ends_seen = []
        for frame in (1, 6):
            scene.frame_set(frame)
            ends_seen.append(np.array(arm.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world))
        return ends_seen

    swings = ends()
    assert np.abs(swings[1] - swings[0]).max() > 1e-2
    joint.rigid_body_constraint.type = "FIXED"
    rests = ends()
    assert np.abs(rests[1] - rests[0]).max() < 1e-6
    status = bake.status(owner)
    assert status.state == "complete" and status.text.startswith("All 6 frames are baked")
    assert action.ours(arm) is not None and action.ours(post) is None
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert not bpy.data.actions and not arm.rigid_body.kinematic


@pytest.mark.parametrize("freed", [False, True])
def test_a_rigid_body_that_is_moved_at_the_first_frame_falls_from_there(scene, freed):  # noqa: F811
    for k in range(2):
        bpy.ops.mesh.primitive_cube_add(size=0.3, location=(k, 0, 0.5))
        bpy.ops.rigidbody.object_add()
    left, right = (obj for obj in scene.objects if obj.type == "MESH")
    bpy.ops.conjac.mechanism_from_rigid_bodies()
    owner = bpy.context.object
    assert owner.conjac.bake() == 0 and bake.status(owner).state == "complete"

    # in the middle of the bake it jumps back, which is reported
    scene.frame_set(4)
    right.location.x = 3.0
    status = bake.status(owner)
    assert status.state == "complete" and status.text.startswith(
        f"{right.name} moved in the middle of the bake and jumps back: move it at frame 1 and bake again. All")
    scene.frame_set(1)
    assert right.location.x == pytest.approx(1.0)
    assert "moved" not in bake.status(owner).text

    right.location.x, right.rotation_euler.z = 2.0, 0.5
    status = bake.status(owner)
    assert status.state == "stale" and status.text.startswith(f"Baked before {right.name} moved; bake again")
    if freed:
        assert bpy.ops.conjac.free_bake() == {"FINISHED"}
        assert right.animation_data is None and right.location.x == 2.0
    assert owner.conjac.bake() == 0 and bake.status(owner).state == "complete"
    for frame in (1, scene.frame_end):
        scene.frame_set(frame)
        assert right.location.x == pytest.approx(2.0, abs=1e-3) and left.location.x == pytest.approx(0.0, abs=1e-3)
        assert right.rotation_euler.z == pytest.approx(0.5, abs=1e-3)


def test_what_the_artist_animates_is_moved_by_its_keyframes(scene):  # noqa: F811
    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0, 0, 0.5))
    bpy.ops.rigidbody.object_add()
    cube = bpy.context.object
    cube.keyframe_insert("location", frame=1)
    bpy.ops.conjac.mechanism_from_rigid_bodies()
    owner = bpy.context.object
    assert owner.conjac.bake() == 0
    scene.frame_set(1)
    cube.location.x = 2.0
    assert bake.status(owner).state == "complete" and "moved" not in bake.status(owner).text
