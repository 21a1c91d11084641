"""The whole committed ragdoll.blend through the buttons: it follows its animation, is released, and plays."""

import shutil
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import scene, world_of  # noqa: E402, F401

import conjac  # noqa: E402
from conjac.conjac_addon import bake  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.playback import action  # noqa: E402
from conjac.examples_blend.ragdoll import LET_GO  # noqa: E402

RAGDOLL = Path(conjac.__file__).parent / "examples_blend" / "ragdoll.blend"
LAST = LET_GO + 3


def poses(rig, frames):
    """Return the poses of all bones in world, (frames, bones, 4, 4)."""
    poses_seen = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        poses_seen.append([world_of(rig, bone.name) for bone in rig.pose.bones])
    return np.array(poses_seen)


@pytest.mark.examples
def test_the_ragdoll_bakes_whole_and_plays_what_it_baked(scene, tmp_path):  # noqa: F811
    bpy.ops.wm.open_mainfile(filepath=shutil.copy(RAGDOLL, tmp_path))
    scene = bpy.context.scene
    scene.frame_end = LAST
    rig = bpy.context.view_layer.objects.active
    frames = range(1, LAST + 1)
    animated = poses(rig, frames)
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    status = bake.status(rig)
    assert (status.state, status.done) == ("complete", LAST), status
    played = poses(rig, frames)

    # what the cache has is what is seen, bone by bone
    folder = place.job_folder(rig)
    cache, offsets = place.cache_of(folder), np.load(folder / "arrays" / "mechanism_offsets.npy")
    mechanism = cache.mechanisms()[0]
    assert len(mechanism["bodies"]) == len(rig.pose.bones)
    order = [mechanism["first"] + mechanism["bodies"].index(bone.name) for bone in rig.pose.bones]
    for frame in (1, LET_GO, LAST):
        baked = cache.poses(frame)["pose"][order] @ np.linalg.inv(offsets[np.array(order) - mechanism["first"]])
        np.testing.assert_allclose(played[frame - 1], baked, atol=5e-5)

    # it follows its animation until it is let go, and has a life of its own then
    np.testing.assert_allclose(played[:LET_GO], animated[:LET_GO], atol=2e-3)
    assert np.abs(played[-1] - animated[-1]).max() > 0.02

    # no joint opens
    for frame in (LET_GO, LAST):
        scene.frame_set(frame)
        for bone in rig.pose.bones:
            if bone.parent is not None:
                rest = bone.parent.bone.matrix_local.inverted() @ bone.bone.head_local
                np.testing.assert_allclose(bone.parent.matrix @ rest, bone.head, atol=1e-4)

    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert action.ours(rig) is None and bake.status(rig).state == "none"
    np.testing.assert_allclose(poses(rig, frames), animated, atol=1e-6)
