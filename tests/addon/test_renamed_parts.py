"""Parts of a mechanism may be renamed after the bake: bones, rigid objects, joints, obstacles, flesh. No bake is stale
by a name, nothing is solved again, and playback continues on the same bone or object."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import LAST, add_chain, scene, world_of  # noqa: E402, F401
from test_attach import add_flesh  # noqa: E402
from test_cache_freeing import add_rig, free  # noqa: E402
from test_gather_rigid import add_box, join, mechanism  # noqa: E402

from conjac.conjac_addon import bake, part_identity  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.playback import action  # noqa: E402


def written(owner):
    """Return the time and contents of each file of poses."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes())
            for path in (place.job_folder(owner) / "cache" / "poses").iterdir()}


def seen(obj, frame):
    bpy.context.scene.frame_set(frame)
    return np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)


def swinging():
    """Return a post, a ring of three that hangs on it, and two obstacles."""
    post = add_box("Post", (0, 0, 2), active=False)
    arms = [add_box(name, (x, 0, z)) for name, x, z in (("Arm", 0.3, 2), ("Hand", 0.6, 1.7), ("Rod", 0.3, 1.4))]
    joints = [join("HINGE", post, arms[0], (0, 0, 2), (np.pi / 2, 0, 0)), join("POINT", arms[0], arms[1], (0.6, 0, 2)),
              join("POINT", arms[1], arms[2], (0.6, 0, 1.4)), join("POINT", post, arms[2], (0, 0, 1.4))]
    owner = mechanism()
    blocks = [add_box(name, (x, 0, 0), active=False) for name, x in (("Block", 0.0), ("Crate", 3.0))]
    obstacles = bpy.data.collections.new("Obstacles")
    bpy.context.scene.collection.children.link(obstacles)
    for block in blocks:
        bpy.context.view_layer.objects.active = block
        bpy.ops.rigidbody.object_remove()
        for collection in block.users_collection:
            collection.objects.unlink(block)
        obstacles.objects.link(block)
    owner.conjac.mechanism.obstacles = obstacles
    bpy.context.view_layer.objects.active = owner
    return owner, arms, joints, blocks


def copied(rig, name):
    """Return a bone that is copied in Edit Mode."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.armature.select_all(action="DESELECT")
    bone = rig.data.edit_bones[name]
    bone.use_connect = False  # else its head is its parent's, which is not selected
    bone.select = bone.select_head = bone.select_tail = True
    before = {edit_bone.name for edit_bone in rig.data.edit_bones}
    assert bpy.ops.armature.duplicate() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    return next(bone for bone in rig.pose.bones if bone.name not in before)


def test_renamed_rigid_objects_keep_their_bake(scene):  # noqa: F811
    owner, (arm, hand, _), joints, blocks = swinging()
    spring = owner.conjac.mechanism.springs.add()
    spring.first, spring.second, spring.stiffness = "Hand", "Post", 3.0
    assert owner.conjac.bake() == 0 and bake.status(owner).state == "complete", bake.status(owner).text
    before, shown = written(owner), {obj: seen(obj, LAST) for obj in (arm, hand)}
    arm.name, hand.name = "Zebra", "Arm"
    for k, block in enumerate((*joints, *blocks)):
        block.name = f"{9 - k} renamed"
    assert bake.status(owner).state == "complete", bake.status(owner).text
    assert owner.conjac.bake() == 0
    assert written(owner) == before
    assert spring.first == "Arm" and bake.status(owner).state == "complete", bake.status(owner).text
    for obj, matrix in shown.items():
        assert seen(obj, LAST) == pytest.approx(matrix, abs=1e-6)
        assert action.ours(obj) is not None
    # the same from a file that was saved and loaded
    name = owner.name
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    owner = bpy.data.objects[name]
    assert bake.status(owner).state == "complete"
    assert owner.conjac.bake() == 0 and written(owner) == before
    for name, matrix in zip(("Zebra", "Arm"), shown.values()):
        assert seen(bpy.data.objects[name], LAST) == pytest.approx(matrix, abs=1e-6)
    # another body is a change, whatever it is called
    bpy.data.objects["Zebra"].rigid_body.mass = 2.0
    assert bake.status(owner).state == "stale"


def test_renamed_bones_and_flesh_keep_their_bake(scene):  # noqa: F811
    rig = add_chain(2)
    flesh = [add_flesh(rig), add_flesh(rig)]
    flesh[1].name = "Other"
    for soft_body in flesh:
        soft_body.conjac.mesher, soft_body.conjac.edge_length, soft_body.conjac.youngs_modulus = "grid", 0.15, 1.0e5
    bpy.context.view_layer.objects.active = rig
    assert rig.conjac.bake() == 0 and bake.status(rig).state == "complete"
    before = written(rig)
    bpy.context.scene.frame_set(LAST)
    tip = world_of(rig, "B1")
    rig.data.bones["B0"].name = "Root"
    rig.data.bones["B1"].name = "A Tip"
    flesh[0].name = "Zzz"
    assert bake.status(rig).state == "complete", bake.status(rig).text
    for _ in range(2):  # also after it was reported once
        assert rig.conjac.bake() == 0
        assert bake.status(rig).state == "complete", bake.status(rig).text
        bpy.context.scene.frame_set(LAST)
        assert world_of(rig, "A Tip") == pytest.approx(tip, abs=1e-5)
        assert written(rig) == before
    assert flesh[0].conjac.attachments[0].part == "Root"


@pytest.mark.parametrize("how", ["undo", "close"])
def test_a_bake_that_was_undone_or_not_saved_plays_again_also_after_renames(scene, how):  # noqa: F811
    """Properties of bones and objects and their UUIDs are lost then, and the frames on disk are not."""
    name = add_chain(3).name
    bpy.ops.wm.save_mainfile()
    bpy.ops.ed.undo_push(message="before")
    rig = bpy.data.objects[name]
    assert rig.conjac.bake() == 0
    before, known = written(rig), {bone.name: bone.conjac.uuid for bone in rig.pose.bones}
    bpy.context.scene.frame_set(LAST)
    tip = world_of(rig, "B2")
    bpy.ops.ed.undo_push(message="baked")
    if how == "undo":
        assert bpy.ops.ed.undo() == {"FINISHED"}
    else:
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    rig = bpy.data.objects[name]
    assert action.ours(rig) is None and not any(bone.conjac.uuid for bone in rig.pose.bones)
    rig.data.bones["B1"].name, rig.data.bones["B2"].name = "Middle", "A Tip"
    bpy.context.view_layer.objects.active = rig
    for tip_is_called in ("A Tip", "End"):
        rig.data.bones[2].name = tip_is_called
        assert rig.conjac.bake() == 0
        assert bake.status(rig).state == "complete" and written(rig) == before
        bpy.context.scene.frame_set(LAST)
        assert world_of(rig, tip_is_called) == pytest.approx(tip, abs=1e-5)
    assert {bone.conjac.uuid for bone in rig.pose.bones} == {*known.values()}
    assert rig.pose.bones["B0"].conjac.uuid == known["B0"]


def test_a_copied_bone_is_another_one(scene):  # noqa: F811
    rig = add_chain(2)
    assert rig.conjac.bake() == 0
    own = part_identity.uuids(rig)
    assert set(own) == {"B0", "B1"} and len(set(own.values())) == 2
    copy = copied(rig, "B1")
    assert copy.conjac.uuid == own["B1"]
    assert part_identity.uuids(rig) == own and bake.status(rig).state == "stale"
    part_identity.give(rig)
    assert part_identity.uuids(rig).items() > own.items() and len(set(part_identity.uuids(rig).values())) == 3


def test_constraints_that_were_renamed_and_moved_come_back(scene):  # noqa: F811
    rig, constraint = add_rig()
    bone = rig.pose.bones["B1"]
    own_constraint = bone.constraints.new("COPY_ROTATION")  # muted by the artist
    own_constraint.target, own_constraint.mute, own_constraint.name = constraint.target, True, "Mine"
    for kind in ("LIMIT_SCALE", "COPY_ROTATION"):
        bone.constraints.new(kind)
    bone.constraints[3].target = constraint.target
    assert rig.conjac.bake() == 0
    assert all(constraint.mute for constraint in bone.constraints)
    bone.constraints[0].name, bone.constraints[3].name = "First", "Last"
    bone.constraints.move(0, 2)
    bone.constraints.move(3, 1)
    assert bake.status(rig).state == "complete", bake.status(rig).text
    with action.set_aside(rig):
        assert {constraint.name for constraint in bone.constraints if constraint.mute} == {"Mine"}
    assert all(constraint.mute for constraint in bone.constraints)
    free(rig)
    assert {constraint.name for constraint in bone.constraints if constraint.mute} == {"Mine"}


def test_what_a_bake_muted_on_a_copied_bone_comes_back_too(scene):  # noqa: F811
    rig, _ = add_rig()
    assert rig.conjac.bake() == 0
    copy = copied(rig, "B1")
    assert copy.constraints[0].mute
    free(rig)
    assert not rig.pose.bones["B1"].constraints[0].mute and not copy.constraints[0].mute
    assert not any(action.CALLED in bone for bone in rig.pose.bones)
