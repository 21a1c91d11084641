"""The job folder of a .blend from a stranger: the add-on writes only inside it, whatever links it contains."""

import errno
import os
import resource
import shutil
from contextlib import contextmanager

import numpy as np
import pytest
from matrix import crossed

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, assert_plays, scene  # noqa: E402, F401
from rig import add_chain  # noqa: E402

from conjac.conjac_addon import bake  # noqa: E402
from conjac.conjac_addon.bake import belongings, foreground, place  # noqa: E402
from conjac.conjac_addon.gather.folder import JobFolder  # noqa: E402
from conjac.conjac_addon.operators import still  # noqa: E402
from conjac.conjac_addon.playback import pc2  # noqa: E402
from conjac.conjac_addon.playback.frames import Frames  # noqa: E402
from conjac.solver.errors import EXIT_COMPLETE, BadInput, CacheUnwritable, Environment  # noqa: E402

LETTER = b"a letter that exists once\n" * 40


@pytest.fixture
def foreign(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("letter.npy", "scene.json"):
        (folder / name).write_bytes(LETTER)
    return folder


def untouched(foreign) -> bool:
    return {path.name: path.read_bytes() for path in foreign.iterdir()} == dict.fromkeys(("letter.npy", "scene.json"),
                                                                                         LETTER)


@pytest.mark.parametrize("name", ["", "arrays", "arrays.new"])
def test_a_folder_that_is_a_link_is_refused(tmp_path, foreign, name):
    job = tmp_path / "job"
    if name:
        job.mkdir()
    os.symlink(foreign, job / name if name else job, target_is_directory=True)
    with pytest.raises(CacheUnwritable, match="is a link") as refused:
        folder = JobFolder(job, "Jelly")
        folder.array("nodes", np.zeros((4, 3)))
        folder.finish({"version": 1})
    assert refused.value.object == "Jelly" and untouched(foreign)


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
@pytest.mark.parametrize("name", ["scene.json", "scene.json.new", "scene.json.tmp", "arrays/nodes.npy"])
def test_a_file_that_is_a_link_is_replaced(tmp_path, foreign, name, kind):
    path = tmp_path / "job" / name
    path.parent.mkdir(parents=True)
    (os.link if kind == "hard" else os.symlink)(foreign / "letter.npy", path)
    folder = JobFolder(tmp_path / "job", "Jelly")
    folder.array("nodes", np.zeros((4, 3)))
    folder.finish({"version": 1})
    scene_file = tmp_path / "job/scene.json"
    assert untouched(foreign) and scene_file.read_text() and not scene_file.is_symlink()


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
@pytest.mark.parametrize("name", ["jelly.pc2", "jelly.pc2.new"])
def test_what_plays_is_not_written_through_a_link(tmp_path, foreign, name, kind):
    (os.link if kind == "hard" else os.symlink)(foreign / "letter.npy", tmp_path / name)
    writer = pc2.Writer(tmp_path / "jelly.pc2", 1)
    for _ in range(3):
        writer.append(np.ones((4, 3), np.float32))
    assert pc2.read_header(tmp_path / "jelly.pc2") == (4, 1, 3) and untouched(foreign)


def test_the_list_of_what_plays_is_not_written_through_a_link(tmp_path, foreign):
    for name in (belongings.LIST, f"{belongings.LIST}.new", f"{belongings.LIST}.tmp"):
        os.symlink(foreign / "letter.npy", tmp_path / name)
    belongings.add(tmp_path, tmp_path / "jelly.pc2")
    assert belongings.listed(tmp_path) == [tmp_path / "jelly.pc2"] and untouched(foreign)


@pytest.mark.parametrize("key", ["pc2", "abc"])
def test_a_whole_bake_beside_links(scene, foreign, key):  # noqa: F811
    obj, scene.frame_end = add_jelly(), 3
    folder = place.job_folder(obj)
    folder.mkdir(parents=True)
    base = place.playback_path(obj).name
    for name in (f"{base}.pc2", f"{base}.pc2.new", f"{base}.abc", f"{base}.new.abc", "scene.json", "scene.json.tmp",
                 "playback.json", "home.json", "home.json.new", "home.json.tmp"):
        os.symlink(foreign / "letter.npy", folder / name)
    assert foreground.bake(obj, scene, key=key, report=print) == EXIT_COMPLETE
    assert untouched(foreign)
    bpy.ops.conjac.free_bake()
    assert untouched(foreign)


def test_a_folder_that_vanishes_while_it_is_shown_is_not_made_anew(tmp_path):
    (tmp_path / "job").mkdir()
    writer = pc2.Writer(tmp_path / "job/jelly.pc2", 1)
    shutil.rmtree(tmp_path / "job")
    with pytest.raises(CacheUnwritable):
        writer.append(np.ones((4, 3), np.float32))
    assert not (tmp_path / "job").exists()


def test_a_short_file_is_written_anew(scene, tmp_path):  # noqa: F811
    """A file was truncated, and its header promises more: every later bake failed on it."""
    obj = add_jelly()
    count, path = len(obj.data.vertices), tmp_path / "jelly.pc2"
    frames = Frames(1, 3, lambda frame: np.full((count, 3), frame, np.float32))
    pc2.PC2().show(obj, scene, frames, path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    pc2.PC2().show(obj, scene, frames, path)
    assert path.read_bytes() == whole


def huge(path):
    """Return a header that promises a terabyte."""
    with open(path, "wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (2**33, 16)})
    os.truncate(path, 2**33 * 128 + 128)  # with holes


def other(path):
    np.save(path, np.zeros((3, 4, 4)))


def flat(path):
    np.save(path, np.float64(1.0))


def pipe(path):
    os.mkfifo(path)


def link(path):
    target = path.with_suffix(".kept")
    shutil.copyfile("/dev/null", target)
    os.symlink(target, path)


ODD = [huge, other, flat, pipe, link]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["spaces", "tops", "offsets", "scales"])
def test_what_a_stranger_left_for_playing_bones_is_refused_in_a_sentence(scene, tmp_path, odd, name):  # noqa: F811
    from conjac.conjac_addon.playback import mechanism

    arrays = {"spaces": np.eye(4)[None, None], "tops": np.zeros(0, np.int32), "offsets": np.eye(4)[None],
              "scales": np.ones((1, 3))}
    folder = tmp_path / "job" / "arrays"
    folder.mkdir(parents=True)
    for key, values in arrays.items():
        np.save(folder / f"mechanism_{key}.npy", values)
    rig = add_chain(1)
    poses = mechanism.Places(1, 1, ("B0",), lambda frame: np.eye(4)[None])
    with memory_at_most(2**31):
        mechanism.show(rig, poses, folder, 1, 1.0)
        (folder / f"mechanism_{name}.npy").unlink()
        odd(folder / f"mechanism_{name}.npy")
        with pytest.raises(BadInput, match="needed to play the bake|other frames or bones") as refused:
            mechanism.show(rig, poses, folder, 1, 1.0)
    assert refused.value.object == "Rig"


@pytest.mark.parametrize("odd, name", crossed(ODD, ["placed_names", "placed_matrices"]))
def test_a_panel_lives_on_beside_what_a_stranger_left(scene, odd, name):  # noqa: F811
    obj, scene.frame_end = add_jelly(), 3
    assert obj.conjac.bake() == EXIT_COMPLETE
    path = place.job_folder(obj) / "arrays" / f"{name}.npy"
    path.unlink()
    odd(path)
    obj.location.x += 1.0
    (place.job_folder(obj) / "scene.json").touch()
    with memory_at_most(2**31):
        assert bake.status(obj).state == "complete"  # nothing shows that it has moved


@pytest.mark.parametrize("odd", [pipe, link])
def test_tetrahedra_that_are_no_files_are_left_alone(scene, odd, monkeypatch):  # noqa: F811
    obj = add_jelly()
    folder = place.take(obj).folder
    place.sign(obj, folder)
    stages = folder / "stages"
    stages.mkdir(parents=True)
    odd(stages / "Jelly_tets_00000000.npz")
    for can_link in (True, False):
        if not can_link:
            monkeypatch.setattr(os, "link", refused_link)
        with still.still_job(obj) as job:
            assert not list((job / "stages").iterdir())
    (stages / "Jelly_tets_11111111.npz").write_bytes(LETTER)
    with still.still_job(obj) as job:
        assert (job / "stages" / "Jelly_tets_11111111.npz").read_bytes() == LETTER


def refused_link(*_):
    raise OSError(errno.EXDEV, "another disk")


@pytest.mark.parametrize("odd", ODD)
def test_impossible_positions_are_refused_by_the_preview(tmp_path, odd):
    (tmp_path / "scene.json").write_text('{"bodies": [{"surface": {"to_object": "to_object.npy"}}]}')
    np.save(tmp_path / "to_object.npy", np.eye(4)[None])
    assert (still.to_object(tmp_path) == np.eye(4)).all()
    (tmp_path / "to_object.npy").unlink()
    odd(tmp_path / "to_object.npy")
    with memory_at_most(2**31):
        if odd is other:
            assert not still.to_object(tmp_path).any()
            return
        with pytest.raises(Environment, match="he data read from the scene is missing"):
            still.to_object(tmp_path)


@contextmanager
def memory_at_most(more):
    """Limit the memory that this process may allocate beyond its present size."""
    has = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (has + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


PRECIOUS = ("thesis.odt", "home.json", "players.json", "playback.json", "scene.json", "Taxes/2025.pdf", "lock",
            "arrays/precious.npy", "arrays/written.json", "stages/a_tets_00000000.npz", "cache/manifest.json",
            "cache/written.log", "cache/frames/000001.npy", "Jelly.pc2", "manifest.json", "written.log")


def fill(folder, names=PRECIOUS):
    """Write files of the user into a folder, and return name → content of everything in it, including hidden files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"precious {name}")
    return everything(folder)


def everything(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("verb", ["bake", "another folder", "export", "free", "preview"])
@pytest.mark.parametrize("names", [PRECIOUS, ("scene.json",), ("arrays/precious.npy",), ("home.json", "a.txt")],
                         ids=["all names", "scene.json", "arrays", "home.json"])
@pytest.mark.parametrize("uuid", ["0" * 32, ""], ids=["made up", "none"])
def test_a_folder_of_the_users_that_a_blend_names_stays_as_it_is(scene, tmp_path, verb, names, uuid):  # noqa: F811
    """A stranger's .blend names a folder of the user as its bake: nothing is moved, written or deleted."""
    obj, scene.frame_end = add_jelly(), 3
    before = fill(tmp_path / "home" / "Documents", names)
    obj.conjac.cache.uuid, obj.conjac.cache.folder = uuid, str(tmp_path / "home" / "Documents")
    place.forget()
    if verb == "another folder":
        obj.conjac.cache_folder = str(tmp_path / "elsewhere")
    if verb == "preview":
        bpy.ops.conjac.preview_tets()
    elif verb == "free":
        for operator in (bpy.ops.conjac.free_bake, bpy.ops.conjac.remove):
            if operator.poll():
                operator()
    else:
        assert obj.conjac.bake(wait=True) == EXIT_COMPLETE
        if verb == "export":
            bpy.ops.conjac.export(format="pc2")
            bpy.ops.conjac.free_bake()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
    assert everything(tmp_path / "home" / "Documents") == before


def test_what_is_not_ours_stays_where_a_bake_leaves_its_folder(scene, tmp_path):  # noqa: F811
    """A note that the user put into a job folder is neither moved nor deleted; ConJac's files are moved."""
    obj, scene.frame_end = add_jelly(), 3
    assert obj.conjac.bake(wait=True) == EXIT_COMPLETE
    bpy.ops.wm.save_mainfile()
    folder = place.job_folder(obj)
    notes = [folder / "note.txt", folder / "arrays" / "mine.npy", folder / "cache" / "frames" / "note.txt"]
    for note in notes:
        note.write_bytes(LETTER)
    obj.conjac.cache_folder = str(tmp_path / "elsewhere")
    scene.frame_end = 4
    assert obj.conjac.bake(wait=True) == EXIT_COMPLETE
    bpy.ops.wm.save_mainfile()
    assert sorted(path for path in folder.rglob("*") if path.is_file()) == sorted(notes)
    assert not list((tmp_path / "elsewhere").rglob("note.txt")) and not list((tmp_path / "elsewhere").rglob("mine.npy"))
    assert bake.status(obj).state == "complete"


def test_another_cache_folder_leaves_what_the_saved_file_plays_until_it_is_saved(scene, tmp_path):  # noqa: F811
    obj, scene.frame_end = add_jelly(), 3
    assert obj.conjac.bake(wait=True) == EXIT_COMPLETE
    bpy.ops.wm.save_mainfile()
    first = place.job_folder(obj)
    obj.conjac.cache_folder = str(tmp_path / "elsewhere")
    scene.frame_end = 4
    assert obj.conjac.bake(wait=True) == EXIT_COMPLETE and place.job_folder(obj) != first
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)  # closed without saving
    obj = bpy.data.objects["Jelly"]
    assert place.job_folder(obj) == first and bake.status(obj).state == "complete"
    assert_plays(obj, (1, 3))
