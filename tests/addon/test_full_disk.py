"""A full disk destroys no earlier file: neither the .blend nor the last good file that plays."""

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from matrix import some

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, rest_of, scene, seen_at  # noqa: E402, F401

from conjac.conjac_addon import playback  # noqa: E402
from conjac.conjac_addon.bake import cli, saving  # noqa: E402
from conjac.solver.errors import CacheUnwritable, Environment  # noqa: E402

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files are kept small as POSIX does it")


@contextlib.contextmanager
def files_up_to(size):
    """Limit the size of files that this process and those that it starts write, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of 2 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)],
                                      capture_output=True).returncode:
        pytest.skip("no right to mount a disk here; the same is tested with a limit on the size of files")
    yield disk
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk, leaving):
    """Fill a disk up to a remaining size and return the file that does."""
    space = os.statvfs(disk)
    path = disk / "filling"
    path.write_bytes(bytes(max(space.f_bavail * space.f_frsize - leaving, 0)))
    return path


def opens(blend, name):
    """Whether Blender finds the object in a copy of the file: it refuses to read the one that is open."""
    with tempfile.TemporaryDirectory() as folder:
        copy = str(shutil.copy(blend, Path(folder, "copy.blend")))
        with bpy.data.libraries.load(copy) as (there, _):
            return name in there.objects


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("fraction", some([0.02, 0.5, 0.9, 0.999], 0.5, 0.999))
def test_a_blend_that_does_not_fit_leaves_the_old_one(scene, tmp_path, compress, fraction):  # noqa: F811
    add_jelly()
    blend = Path(bpy.data.filepath)
    bpy.ops.wm.save_mainfile(compress=compress)
    before, beside = blend.read_bytes(), set(blend.parent.iterdir())
    bpy.data.objects["Jelly"].name = "Renamed"
    with files_up_to(int(fraction * len(before))), pytest.raises(Environment, match="is not saved") as refused:
        saving.save()
    assert refused.value.exit_code == 4 and "\n" not in str(refused.value)
    assert blend.read_bytes() == before and set(blend.parent.iterdir()) == beside
    saving.save()
    assert opens(blend, "Renamed") and saving.is_compressed(blend) == compress
    assert Path(f"{blend}1").read_bytes() == before  # as Blender keeps the one before
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert "Renamed" in bpy.data.objects


@pytest.mark.parametrize("compress", [False, True])
def test_the_command_on_a_full_disk_is_4_and_the_file_opens(scene, small_disk, tmp_path, capfd, compress):  # noqa: F811
    obj = add_jelly()
    obj.conjac.cache_folder = str(tmp_path / "frames")
    blend = small_disk / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=compress)
    before = blend.read_bytes()
    filling = fill(small_disk, len(before) // 2)
    assert cli.run(["bake", "--save"]) == 4
    errors = capfd.readouterr().err
    assert f"very frame is baked, and {blend} is not saved" in errors and "Traceback" not in errors
    assert len([line for line in errors.splitlines() if "is not saved" in line]) == 1
    assert blend.read_bytes() == before and opens(blend, "Jelly")
    assert {path.name for path in small_disk.iterdir()} == {"shot.blend", "filling"}
    filling.unlink()
    assert cli.run(["bake", "--save"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert_plays(bpy.data.objects["Jelly"], (1, LAST))
    assert not bpy.data.objects["Jelly"].conjac.cache.is_shared


@pytest.mark.parametrize("compress", [False, True])
def test_a_blend_that_was_cut_short_anywhere_is_noticed(scene, tmp_path, compress):  # noqa: F811
    add_jelly()
    whole = tmp_path / "whole.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(whole), compress=compress, copy=True)
    saving.check(whole)
    content, short = whole.read_bytes(), tmp_path / "short.blend"
    for length in (*np.linspace(0, len(content) - 1, 20).astype(int), len(content) - 9, len(content) - 24):
        short.write_bytes(content[:length])
        with pytest.raises((ValueError, OSError)):
            saving.check(short)


def test_a_file_that_may_not_be_written_is_not_replaced(scene, monkeypatch):  # noqa: F811
    add_jelly()
    blend = Path(bpy.data.filepath)
    before = blend.read_bytes()
    monkeypatch.setattr(os, "access", lambda path, how: False)  # root may write everything
    with pytest.raises(Environment, match="the file may not be written"):
        saving.save()
    assert blend.read_bytes() == before


def test_a_link_stays_one(scene, tmp_path):  # noqa: F811
    add_jelly()
    (tmp_path / "other").mkdir()
    real, link = tmp_path / "other" / "real.blend", tmp_path / "link.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(real))
    os.symlink(real, link)
    bpy.ops.wm.open_mainfile(filepath=str(link))
    bpy.data.objects["Jelly"].name = "Renamed"
    saving.save()
    assert link.is_symlink() and opens(real, "Renamed")


def make_frames(obj, shift=0.0, last=8):
    """Return the mesh at rest, moved a little further at every frame."""
    data = [rest_of(obj) + np.float32(shift + 0.1 * k) for k in range(last)]
    return playback.Frames(1, last, lambda frame: data[frame - 1])


@pytest.mark.parametrize("key, fraction", some(
    [("abc", 0.1), ("abc", 0.6), ("abc", 0.98), ("pc2", 0.02), ("pc2", 0.9)], ("abc", 0.6), ("pc2", 0.9)))
def test_an_export_that_does_not_fit_leaves_the_last_one(scene, tmp_path, key, fraction):  # noqa: F811
    """Blender's own exporter ends the program on a full disk."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=6)
    obj, base = bpy.context.object, tmp_path / "sphere"
    file = playback.show(obj, scene, make_frames(obj), base, key)
    before = file.read_bytes()
    if key == "abc":
        wanted = make_frames(obj)  # its PC2 fits, and is there already
    else:
        wanted = make_frames(obj, shift=0.5)
    with files_up_to(int(fraction * len(before))), pytest.raises(CacheUnwritable) as refused:
        playback.show(obj, scene, wanted, base, key)
    assert refused.value.exit_code == 4 and "\n" not in str(refused.value) and "disk" in str(refused.value)
    assert file.read_bytes() == before
    assert {path.suffix for path in tmp_path.glob("sphere*")} <= {".abc", ".pc2"}
    np.testing.assert_allclose(seen_at(obj, 7), make_frames(obj).read(7), atol=1e-5)
    assert len(bpy.data.scenes) == 1
    playback.show(obj, scene, make_frames(obj, shift=0.5), base, key)
    np.testing.assert_allclose(seen_at(obj, 7), make_frames(obj, shift=0.5).read(7), atol=1e-5)


def test_the_command_exports_on_a_full_disk_with_4_and_the_frames_play(scene, small_disk, capfd):  # noqa: F811
    obj = add_jelly()
    obj.conjac.cache_folder = str(small_disk / "frames")
    assert cli.run(["bake"]) == 0
    filling = fill(small_disk, 8_000)
    assert cli.run(["bake", "--format", "abc"]) == 4
    captured = capfd.readouterr()
    assert "Traceback" not in captured.out + captured.err and "No space left" in captured.out + captured.err
    assert_plays(obj, (1, LAST))
    filling.unlink()
    assert cli.run(["bake", "--format", "abc"]) == 0
    assert obj.modifiers["ConJac"].type == "MESH_SEQUENCE_CACHE"
    file = playback.file_of(obj)
    before = file.read_bytes()
    with files_up_to(len(before) - 500):
        assert cli.run(["bake", "--format", "abc"]) == 4
    captured = capfd.readouterr()
    assert "Traceback" not in captured.out + captured.err and file.read_bytes() == before
    assert_plays(obj, (1, LAST))


@pytest.mark.parametrize("folder", ["a;b", "a=b", "a=;b c"])
def test_alembic_is_written_in_any_folder_of_the_blend(scene, tmp_path, folder):  # noqa: F811
    """Alembic refuses these characters in the metadata of a file, which crashed Blender."""
    (tmp_path / folder).mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / folder / "scene.blend"))
    bpy.ops.mesh.primitive_monkey_add()
    obj = bpy.context.object
    obj.name = "A;B=C"
    playback.show(obj, bpy.context.scene, make_frames(obj), tmp_path / folder / "jelly", "abc")
    np.testing.assert_allclose(seen_at(obj, 5), make_frames(obj).read(5), atol=1e-5)
