"""The job folder of a .blend that came with it: what the add-on writes stays inside, whatever links are there."""

import os
import shutil

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, scene  # noqa: E402, F401

from conjac.conjac_addon.bake import belongings, place, session  # noqa: E402
from conjac.conjac_addon.gather.folder import JobFolder  # noqa: E402
from conjac.conjac_addon.playback import pc2  # noqa: E402
from conjac.conjac_addon.playback.frames import Frames  # noqa: E402
from conjac.solver.errors import EXIT_COMPLETE, CacheUnwritable  # noqa: E402

LETTER = b"a letter that exists once\n" * 40


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("letter.npy", "scene.json"):
        (folder / name).write_bytes(LETTER)
    return folder


def untouched(mine) -> bool:
    return {path.name: path.read_bytes() for path in mine.iterdir()} == dict.fromkeys(("letter.npy", "scene.json"),
                                                                                      LETTER)


@pytest.mark.parametrize("name", ["", "arrays", "arrays.new"])
def test_a_folder_that_is_a_link_is_refused(tmp_path, mine, name):
    job = tmp_path / "job"
    if name:
        job.mkdir()
    os.symlink(mine, job / name if name else job, target_is_directory=True)
    with pytest.raises(CacheUnwritable, match="is a link") as refused:
        folder = JobFolder(job, "Jelly")
        folder.array("nodes", np.zeros((4, 3)))
        folder.finish({"version": 1})
    assert refused.value.object == "Jelly" and untouched(mine)


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
@pytest.mark.parametrize("name", ["scene.json", "scene.json.new", "scene.json.tmp", "arrays/nodes.npy"])
def test_a_file_that_is_a_link_is_replaced(tmp_path, mine, name, kind):
    path = tmp_path / "job" / name
    path.parent.mkdir(parents=True)
    (os.link if kind == "hard" else os.symlink)(mine / "letter.npy", path)
    folder = JobFolder(tmp_path / "job", "Jelly")
    folder.array("nodes", np.zeros((4, 3)))
    folder.finish({"version": 1})
    scene_file = tmp_path / "job/scene.json"
    assert untouched(mine) and scene_file.read_text() and not scene_file.is_symlink()


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
@pytest.mark.parametrize("name", ["jelly.pc2", "jelly.pc2.new"])
def test_what_plays_is_not_written_through_a_link(tmp_path, mine, name, kind):
    (os.link if kind == "hard" else os.symlink)(mine / "letter.npy", tmp_path / name)
    writer = pc2.Writer(tmp_path / "jelly.pc2", 1)
    for _ in range(3):
        writer.append(np.ones((4, 3), np.float32))
    assert pc2.read_header(tmp_path / "jelly.pc2") == (4, 1, 3) and untouched(mine)


def test_the_list_of_what_plays_is_not_written_through_a_link(tmp_path, mine):
    for name in (belongings.LIST, f"{belongings.LIST}.new", f"{belongings.LIST}.tmp"):
        os.symlink(mine / "letter.npy", tmp_path / name)
    belongings.add(tmp_path, tmp_path / "jelly.pc2")
    assert belongings.listed(tmp_path) == [tmp_path / "jelly.pc2"] and untouched(mine)


@pytest.mark.parametrize("key", ["pc2", "abc"])
def test_a_whole_bake_beside_links(scene, mine, key):  # noqa: F811
    obj, scene.frame_end = add_jelly(), 3
    folder = place.job_folder(obj)
    folder.mkdir(parents=True)
    base = place.playback_path(obj).name
    for name in (f"{base}.pc2", f"{base}.pc2.new", f"{base}.abc", f"{base}.new.abc", "scene.json", "scene.json.tmp",
                 "playback.json", "home.json", "home.json.new", "home.json.tmp"):
        os.symlink(mine / "letter.npy", folder / name)
    assert session.bake(obj, scene, key=key, report=print) == EXIT_COMPLETE
    assert untouched(mine)
    bpy.ops.conjac.free_bake()
    assert untouched(mine)


def test_a_folder_that_vanishes_while_it_is_shown_is_not_made_anew(tmp_path):
    (tmp_path / "job").mkdir()
    writer = pc2.Writer(tmp_path / "job/jelly.pc2", 1)
    shutil.rmtree(tmp_path / "job")
    with pytest.raises(CacheUnwritable):
        writer.append(np.ones((4, 3), np.float32))
    assert not (tmp_path / "job").exists()


def test_a_short_file_is_written_anew(scene, tmp_path):  # noqa: F811
    """Its end was lost, the header still promises it: every later bake broke at this."""
    obj = add_jelly()
    count, path = len(obj.data.vertices), tmp_path / "jelly.pc2"
    frames = Frames(1, 3, lambda frame: np.full((count, 3), frame, np.float32))
    pc2.PC2().show(obj, scene, frames, path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    pc2.PC2().show(obj, scene, frames, path)
    assert path.read_bytes() == whole
