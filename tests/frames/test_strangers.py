"""In a job folder from a stranger nothing outside of it is written, truncated, deleted or read, whatever links it
has."""

import os
from pathlib import Path

import forked_command
import numpy as np
import pytest
from small_jobs import box_job
from springs import Springs

from solver.errors import BadInput, CacheUnwritable, ConJacError
from solver.frames import lock
from solver.frames.layout import LOG, MANIFEST
from solver.frames.read import Cache
from solver.frames.write import FrameStore
from solver.job import hashes
from solver.job.load import load
from solver.simulate import Timeline, simulate

ROOT = Path(__file__).resolve().parents[2]
LETTER = b"a letter to my mother, two copies of which there are not\n" * 40


@pytest.fixture
def foreign(tmp_path):
    """Return a folder with files that nothing may touch."""
    folder = tmp_path / "mine"
    (folder / "frames").mkdir(parents=True)
    for name in ("letter.txt", "000001.npy", "frames/000001.npy", "manifest.json"):
        (folder / name).write_bytes(LETTER)
        os.utime(folder / name, (1e9, 1e9))
    return folder


def untouched(foreign) -> bool:
    contents = {str(path.relative_to(foreign)): path.read_bytes() for path in foreign.rglob("*") if path.is_file()}
    return contents == dict.fromkeys(("000001.npy", "frames/000001.npy", "letter.txt", "manifest.json"), LETTER)


def bake(job, last=12):
    with lock.acquire(job.cache) as holding:
        store = FrameStore(job.cache, holding.check)
        store.begin(job, hashes.settings(job), Springs().bodies, backend="exact", first=1)
        simulate(Springs(), Timeline.of(job.scene.time, last), store)


def lead(source: Path, target: Path, kind: str) -> None:
    source.parent.mkdir(parents=True, exist_ok=True)
    source.unlink(missing_ok=True)
    os.link(target, source) if kind == "hard" else os.symlink(target, source)


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
@pytest.mark.parametrize("name", ["manifest.json", "manifest.json.tmp", "frames/000001.npy", "frames/000001.npy.tmp",
                                  "snapshots/000011.npz.tmp", "written.log", "lock", "lock.new", "lock.turn"])
def test_links_in_place_of_files_of_the_cache(tmp_path, foreign, name, kind):
    """A link in place of a cache file is replaced or refused; the linked file does not change."""
    job = load(box_job(tmp_path / "job", end=12))
    lead(job.cache / name, foreign / "letter.txt", kind)
    try:
        if name == MANIFEST:
            with pytest.raises(BadInput, match="damaged"):
                assert Cache(job.cache).manifest
        bake(job)
        assert Cache(job.cache).status().state == "complete" and Cache(job.cache).verify() == []
    except CacheUnwritable as refused:
        assert name in ("written.log", "lock.turn") and "link" in str(refused)
    except BadInput as refused:
        assert name == MANIFEST and "damaged" in str(refused)
    assert untouched(foreign)
    Cache(job.cache).free()
    assert untouched(foreign)


@pytest.mark.parametrize("name", ["", "frames", "snapshots"])
def test_links_in_place_of_folders_of_the_cache(tmp_path, foreign, name):
    job = load(box_job(tmp_path / "job", end=12))
    if name:
        job.cache.mkdir()
    os.symlink(foreign, job.cache / name if name else job.cache, target_is_directory=True)
    with pytest.raises(CacheUnwritable, match="is a link") as refused:
        bake(job)
    assert refused.value.exit_code == 4 and untouched(foreign)


def test_a_freed_cache_takes_nothing_of_others_with_it(tmp_path, foreign):
    job = load(box_job(tmp_path / "job", end=12))
    bake(job)
    frames = job.cache / "frames"
    frames.rename(tmp_path / "away")
    os.symlink(foreign, frames, target_is_directory=True)
    assert Cache(job.cache).frames_done() == []
    with pytest.raises(CacheUnwritable, match="is a link"):
        Cache(job.cache).free()
    with pytest.raises(BadInput):
        Cache(job.cache).vertices(1)
    frames.unlink()
    cache = job.cache.rename(tmp_path / "cache")
    os.symlink(cache, job.cache, target_is_directory=True)
    with pytest.raises(CacheUnwritable, match="is a link"):
        Cache(job.cache).free()
    assert untouched(foreign) and (cache / MANIFEST).exists()


def test_a_backup_of_links_keeps_its_log(tmp_path):
    """`cp -al` and rsync's --link-dest make two names of one file: appending to one must not change the other."""
    job = load(box_job(tmp_path / "job", end=12))
    bake(job, 6)
    os.link(job.cache / LOG, tmp_path / "backup.log")
    before = (tmp_path / "backup.log").read_bytes()
    bake(job)
    assert (tmp_path / "backup.log").read_bytes() == before
    assert (job.cache / LOG).read_bytes().startswith(before) and Cache(job.cache).frames_done() == list(range(1, 13))


@pytest.mark.parametrize("what", ["a link", "behind a link", "a pipe", "a device"])
def test_an_array_is_a_file_of_the_job(tmp_path, what):
    job, secret = box_job(tmp_path / "job", end=5), tmp_path / "secret"
    arrays = job / "arrays"
    if what == "behind a link":
        arrays.rename(secret)
        os.symlink(secret, arrays, target_is_directory=True)
    else:
        nodes = arrays / "nodes.npy"
        nodes.rename(secret)
        if what == "a link":
            os.symlink(secret, nodes)
        elif what == "a pipe":
            os.mkfifo(nodes)
        else:
            os.symlink("/dev/zero", nodes)
    code, _, errors = forked_command.run("check", job, seconds=60.0)
    assert code == 2 and "not read" in errors and "$.bodies[0].tets.nodes" in errors, errors


def test_a_scene_that_is_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "scene.json")
    with pytest.raises(ConJacError, match="no regular file"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["stages", "stages/Ear-x_fields.npz.tmp"])
def test_stages_are_written_into_the_job_alone(tmp_path, foreign, name):
    from solver.job.stages import write_arrays

    job = load(box_job(tmp_path / "job", end=5))
    lead(job.path / name, foreign if name == "stages" else foreign / "letter.txt", "symbolic")
    path = job.stages / "Ear-x_fields.npz"
    if name == "stages":
        with pytest.raises(CacheUnwritable, match="is a link"):
            write_arrays(path, {"x": np.zeros(3)}, job.path)
    else:
        write_arrays(path, {"x": np.zeros(3)}, job.path)
        assert path.exists() and not path.is_symlink()
    assert untouched(foreign)


# a folder that vanishes

def test_a_folder_that_vanishes_is_not_made_anew(tmp_path):
    """The folder's disk was removed: the bake ends with a sentence, and no folder is made in its stead."""
    job = load(box_job(tmp_path / "job", end=12))
    with pytest.raises(CacheUnwritable, match="disappeared|is missing") as refused, lock.acquire(job.cache) as holding:
        store = FrameStore(job.cache, holding.check)
        store.begin(job, hashes.settings(job), Springs().bodies, backend="exact", first=1)
        simulate(Springs(), Timeline.of(job.scene.time), store,
                 report=lambda frame, *_: job.path.rename(tmp_path / "elsewhere") if frame == 5 else None)
    assert refused.value.exit_code == 4 and not job.path.exists()
    assert Cache(tmp_path / "elsewhere/cache").frames_done() == list(range(1, 6))


def test_no_parents_are_made_for_a_frame(tmp_path):
    with pytest.raises(CacheUnwritable, match="disappeared|is missing"):
        FrameStore(tmp_path / "job/cache").write(1, np.zeros((3, 3)))
    with pytest.raises(CacheUnwritable, match="disappeared|is missing"), lock.acquire(tmp_path / "job/cache"):
        pass
    assert not (tmp_path / "job").exists()
