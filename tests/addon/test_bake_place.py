"""Every object has a safe folder of its own for results, and Free deletes only files that are listed."""

import json
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

import conjac  # noqa: E402
from conjac.conjac_addon.bake import belongings, place  # noqa: E402

NAMES = ["Cube", "cube", "a b", "a_b", "a/b", "a\\b", "..", ".", "../../up", "Ду ша", "骨", "con", "NUL.x", "x" * 60,
         "a:b", "a?b", " a", "a."]


@pytest.fixture(autouse=True)
def addon():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    conjac.register()
    yield
    conjac.unregister()


def make_object(name):
    obj = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    bpy.context.scene.collection.objects.link(obj)
    assert obj.name == name
    return obj


def test_every_name_has_a_folder_of_its_own_inside_the_cache_folder(tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "my file.blend"))
    folders = [place.job_folder(make_object(name)) for name in NAMES]
    assert all(folder.parent == tmp_path / "conjac_cache" for folder in folders)
    # also on a disk that ignores case
    assert len({folder.name.casefold() for folder in folders}) == len(NAMES)
    assert all(folder.name.startswith("my_file_") for folder in folders)
    for folder in folders:
        folder.mkdir(parents=True)
        assert folder.resolve().parent == (tmp_path / "conjac_cache").resolve()
    # the same names again, in another session
    assert folders[0] == place.job_folder(bpy.data.objects["Cube"])


def test_names_are_safe_on_windows_too():
    for name in NAMES:
        safe = place.safe_name(name)
        assert safe and not set(safe) & set('/\\:*?"<>|') and safe.strip(" .") == safe
        assert safe.partition(".")[0].upper() not in place.DEVICES
        assert len(safe.encode()) <= 81
    assert place.safe_name("Ду ша") == "Ду_ша"
    assert len(place.safe_name("骨" * 63).encode()) <= 80


def test_two_files_beside_each_other_do_not_share_a_folder(tmp_path):
    folders = set()
    for blend, name in (("a", "b_c"), ("a_b", "c"), ("A", "b_c")):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"{blend}.blend"))
        folders.add(place.job_folder(make_object(name)).name.casefold())
    assert len(folders) == 3


def test_a_folder_of_the_artists_choice(tmp_path):
    obj = make_object("Jelly")
    obj.conjac.cache_folder = str(tmp_path / "scratch")
    assert not place.is_temporary(obj)
    assert place.job_folder(obj).parent == tmp_path / "scratch"
    assert place.playback_path(obj) == place.job_folder(obj) / "Jelly"


def test_a_file_never_saved_uses_blenders_temporary_folder():
    obj = make_object("Jelly")
    assert place.is_temporary(obj)
    assert Path(bpy.app.tempdir) in place.job_folder(obj).parents
    obj.conjac.cache_folder = ""
    assert Path(bpy.app.tempdir) in place.job_folder(obj).parents


def test_free_deletes_only_what_is_listed(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    for name in ("Jelly.pc2", "Jelly.abc"):
        belongings.add(folder, folder / name)
        belongings.add(folder, folder / name)
        (folder / name).write_bytes(b"x")
    (folder / "mine.txt").write_text("the artist's")
    (tmp_path / "outside.txt").write_text("not ours")
    listed = json.loads((folder / "playback.json").read_text())
    assert listed == {"files": ["Jelly.pc2", "Jelly.abc"]}
    listed["files"] += ["../outside.txt", str(tmp_path / "outside.txt"), "gone.pc2", 3, "playback.json"]
    (folder / "playback.json").write_text(json.dumps(listed))
    assert belongings.free(folder) == 2
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    assert (tmp_path / "outside.txt").exists()
    assert belongings.free(folder) == 0
