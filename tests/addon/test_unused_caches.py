"""Caches of deleted objects are listed with their size, and deleted when the artist asks for it."""

import shutil

import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, assert_plays, scene  # noqa: E402, F401

from conjac.conjac_addon.bake import home, place, unused  # noqa: E402


@pytest.fixture()
def baked(scene):  # noqa: F811
    """Return a jelly of two frames, its folder, and the folder of one that was deleted after its bake."""
    scene.frame_end = 2
    deleted, remaining = add_jelly("Gone"), add_jelly()
    for obj in (deleted, remaining):
        assert obj.conjac.bake() == 0
    folders = place.job_folder(deleted), place.job_folder(remaining)
    assert unused.found() == []
    bpy.data.objects.remove(deleted)
    return remaining, *folders


def test_the_cache_of_a_deleted_object_is_listed_and_deleted_and_no_other_one(baked, capfd):
    remaining, deleted, own = baked
    [unused_cache] = unused.found()
    on_disk = sum(path.stat().st_size for path in deleted.rglob("*") if path.is_file())
    assert (unused_cache.folder, unused_cache.name, unused_cache.frames, unused_cache.size) == (
        deleted, "Gone", 2, on_disk)
    assert unused_cache.in_words().startswith('"Gone": 2 frames, ')
    stranger = deleted / "notes.txt"
    stranger.write_text("mine")
    assert bpy.ops.conjac.remove_unused_caches() == {"FINISHED"}
    assert 'freed: caches of "Gone"' in capfd.readouterr().out
    assert [path for path in deleted.rglob("*") if path.is_file()] == [stranger]  # what is not ours stays
    assert own.is_dir()
    assert_plays(remaining, (1, 2))
    assert bpy.ops.conjac.remove_unused_caches() == {"CANCELLED"} and unused.found() == []


def test_what_a_copy_plays_and_what_another_file_baked_are_not_unused(baked, tmp_path):
    remaining, deleted, own = baked
    bpy.context.view_layer.objects.active = remaining
    remaining.select_set(True)
    bpy.ops.object.duplicate()
    bpy.data.objects.remove(remaining)
    assert {cache.folder for cache in unused.found()} == {deleted}  # its copy plays it
    # a folder of a .blend that is gone may be that of one that was renamed
    other = shutil.copytree(deleted, own.parent / "other")
    home.write(other, "another", "Ham", str(tmp_path / "renamed.blend"), "")
    assert {unused_cache.folder for unused_cache in unused.found()} == {deleted}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "later.blend"))
    assert unused.found() == []  # the caches are those of the file that it was


def test_a_file_that_was_never_saved_has_those_of_its_own_session(scene, tmp_path):  # noqa: F811
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_end = 2
    obj = add_jelly("Gone")
    assert obj.conjac.bake() == 0
    folder = place.job_folder(obj)
    bpy.data.objects.remove(obj)
    assert [cache.folder for cache in unused.found()] == [folder]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert unused.found() == []
