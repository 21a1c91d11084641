"""Library overrides made by Blender's own commands have their settings, entries and bake after the file was saved and
opened."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, scene, seen_at  # noqa: E402, F401

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402


def saved_asset(scene, path):  # noqa: F811
    """Save a jelly in a collection "Asset", baked, as a library; return its last frame."""
    obj = add_jelly()
    asset = bpy.data.collections.new("Asset")
    scene.collection.children.link(asset)
    for scene_object in obj.users_collection:
        scene_object.objects.unlink(obj)
    asset.objects.link(obj)
    assert obj.conjac.bake() == 0
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return seen_at(obj, LAST)


def overridden(path):
    """Link the collection of a library as File > Link does, and override it as Object > Library Override does."""
    bpy.ops.wm.link(filename="Asset", directory=str(path / "Collection"), instance_collections=True)
    assert bpy.context.view_layer.objects.active.instance_collection.library is not None
    assert bpy.ops.object.make_override_library() == {"FINISHED"}
    return local()


def local():
    """Return the one mesh object of this file."""
    obj_local, = (obj for obj in bpy.data.objects if obj.type == "MESH" and obj.library is None)
    return obj_local


def test_a_linked_jelly_is_overridden_set_baked_saved_and_opened_again(scene, tmp_path):  # noqa: F811
    library = tmp_path / "library.blend"
    original = saved_asset(scene, library)
    (tmp_path / "shot").mkdir()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_end = LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot" / "shot.blend"))
    obj = overridden(library)
    assert obj.override_library is not None and obj.conjac.kind == "soft_body"
    np.testing.assert_allclose(seen_at(obj, LAST), original, atol=1e-6)  # it plays the library's until its own
    obj.conjac.youngs_modulus = 9.0e3
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.conjac.add_pull() == {"FINISHED"}
    empty = obj.conjac.pulls[0].object
    for frame, x in ((1, 0.0), (LAST, 0.2)):
        empty.location.x = x
        empty.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    assert obj.conjac.bake() == 0
    override, frames = seen_at(obj, LAST), frames_of(obj)
    assert np.abs(override - original).max() > 0.01 and place.job_folder(obj).is_relative_to(tmp_path / "shot")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = local()
    assert obj.conjac.youngs_modulus == 9.0e3 and obj.conjac.pulls[0].object.name == "Jelly Pull"
    assert addon_bake.status(obj).state == "complete", addon_bake.status(obj)
    assert_plays(obj, (1, LAST))
    assert frames_of(obj) == frames
    # the library's own bake is as it was
    bpy.ops.wm.open_mainfile(filepath=str(library))
    np.testing.assert_array_equal(seen_at(local(), LAST), original)
