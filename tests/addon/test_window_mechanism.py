"""A ragdoll in a real window: baked behind it, cancelled, continued, played, undone and freed."""

import pytest
from test_window import in_a_window
from test_window_journey import needs_a_hand

SCRIPT = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, np, override, run, seen_where_it_is
from conjac.conjac_addon import bake
from conjac.conjac_addon.bake import place, session
from conjac.conjac_addon.playback import action
NAMES = ("Hips", "Chest", "Arm")

def press(operator, how="INVOKE_DEFAULT", **options):
    with override():
        return operator(how, True, **options)

def make_rig():
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    rig.location.z = 1.0
    bpy.context.scene.collection.objects.link(rig)
    for one in bpy.context.scene.objects:
        one.select_set(one == rig)
    bpy.context.view_layer.objects.active = rig
    press(bpy.ops.object.mode_set, "EXEC_DEFAULT", mode="EDIT")
    for k, name in enumerate(NAMES):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (0.3 * k, 0, 0), (0.3 * k + 0.3, 0, 0)
        bone.parent = data.edit_bones[k - 1] if k else None
    press(bpy.ops.object.mode_set, "EXEC_DEFAULT", mode="OBJECT")
    return rig

def height_at(frame):
    bpy.context.scene.frame_set(frame)
    rig = bpy.data.objects["Rig"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return (rig.matrix_world @ rig.pose.bones["Arm"].matrix).translation.z

def running():
    return next(iter(session.running.values()), None)

def artist():
    # what an artist does, a yield for each look at the window
    bpy.data.objects.remove(bpy.data.objects["Cube"])  # the rig would lie in it
    scene, rig = bpy.context.scene, make_rig()
    scene.frame_end = 100
    with override():
        rv = bpy.context.space_data.region_3d
        rv.view_location, rv.view_distance = (0.4, 0.0, 0.5), 4.0
    yield
    assert press(bpy.ops.conjac.ragdoll) == {{"FINISHED"}}
    rig.conjac.step = 1 / 2400
    yield
    assert press(bpy.ops.conjac.bake) == {{"RUNNING_MODAL"}}
    while running() is not None and (running().progress.frame or 0) < 12:  # after the first snapshot, of frame 11
        yield
    status = bake.status(rig)
    assert status.state == "baking" and status.mine and status.total == 100 and 12 <= status.done < 100, status
    assert 0.0 < status.fraction < 1.0 and status.left_s > 0.0, status
    assert action.ours(rig) is None  # keyframes come when it has ended
    assert not bpy.ops.conjac.free_bake.poll() and not bpy.ops.conjac.bake.poll()
    assert press(bpy.ops.conjac.cancel) == {{"FINISHED"}}
    while session.running:
        yield
    rig = bpy.data.objects["Rig"]
    done = bake.status(rig).done
    assert bake.status(rig).state == "partial" and 12 <= done < 100
    assert action.ours(rig).frame_range[1] == done and height_at(8) < 0.98
    kept = (place.job_folder(rig) / "cache" / "poses" / "000008.npz").stat().st_mtime_ns

    # Bake goes on where it was
    yield
    assert press(bpy.ops.conjac.bake) == {{"RUNNING_MODAL"}}
    while session.running:
        yield
    rig = bpy.data.objects["Rig"]
    assert bake.status(rig).state == "complete", bake.status(rig)
    assert (place.job_folder(rig) / "cache" / "poses" / "000008.npz").stat().st_mtime_ns == kept
    cache = place.cache_of(place.job_folder(rig))
    offset = np.load(place.job_folder(rig) / "arrays" / "mechanism_offsets.npy")[2]
    for frame in (1, 20, 100):
        baked = (cache.poses(frame)["pose"][2] @ np.linalg.inv(offset))[2, 3]
        assert abs(height_at(frame) - baked) < 1e-4, (frame, baked, height_at(frame))
    scene.frame_set(1)
    yield from seen_where_it_is(rig)
    lies = height_at(100)
    assert lies < 0.3
    yield from seen_where_it_is(rig)

    # playback, frame by frame before the window's eyes
    scene.frame_set(1)
    seen = []
    for _ in range(4):
        scene.frame_set(scene.frame_current + 4)
        yield
        evaluated = bpy.data.objects["Rig"].evaluated_get(bpy.context.evaluated_depsgraph_get())
        seen.append((evaluated.matrix_world @ evaluated.pose.bones["Arm"].matrix).translation.z)
    assert all(abs(z - height_at(frame)) < 1e-6 for z, frame in zip(seen, (5, 9, 13, 17))) and seen[-1] < seen[0], seen

    # undo brings the keyframes of the cancelled bake back and leaves the frames on disk; redo the others
    press(bpy.ops.ed.undo, "EXEC_DEFAULT")
    yield
    rig = bpy.data.objects["Rig"]
    assert bake.status(rig).state == "complete"
    assert action.ours(rig).frame_range[1] == done, (action.ours(rig).frame_range[:], done)
    press(bpy.ops.ed.redo, "EXEC_DEFAULT")
    yield
    rig = bpy.data.objects["Rig"]
    assert action.ours(rig).frame_range[1] == 100 and abs(height_at(100) - lies) < 1e-6
    yield
    assert press(bpy.ops.conjac.free_bake, "EXEC_DEFAULT") == {{"FINISHED"}}
    rig = bpy.data.objects["Rig"]
    assert bake.status(rig).state == "none" and action.ours(rig) is None and abs(height_at(50) - 1.0) < 1e-6
    yield
    press(bpy.ops.ed.undo, "EXEC_DEFAULT")  # of Free: the keyframes are back, the frames are gone for good
    yield
    rig = bpy.data.objects["Rig"]
    assert abs(height_at(100) - lies) < 1e-6 and bake.status(rig).state == "none"
    yield
    print("ragdoll baked", flush=True)

run(artist(), 0.05)
"""


@pytest.mark.long
def test_a_ragdoll_is_baked_cancelled_played_undone_and_freed_behind_a_live_window(tmp_path):
    needs_a_hand()
    output = in_a_window(SCRIPT, tmp_path, screen="800x600")
    assert "ragdoll baked" in output, output
