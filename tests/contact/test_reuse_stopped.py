"""A bake beside one that was stopped, is damaged or is older."""

import shutil

import pytest
from reused import ABOVE, END, LEFT, MIDDLE, RIGHT, Log, baked, files, job, stopped_at

from solver.errors import Stopped
from solver.frames.layout import GROUPED, file_of
from solver.simulate import bake


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A baked job of the left and the middle one."""
    return baked(job(tmp_path_factory.mktemp("pair") / "job", LEFT, MIDDLE))


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """A baked job of all three."""
    return baked(job(tmp_path_factory.mktemp("three") / "job", LEFT, MIDDLE, RIGHT))


@pytest.mark.parametrize("is_beside", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_stopped_one_goes_on_with_the_same_bytes(tmp_path, pair, three, is_beside):
    """Beside the earlier bake again, or with all that it has."""
    beside, log, after = job(tmp_path / "beside", LEFT, MIDDLE, RIGHT), Log(), Log()
    with pytest.raises(Stopped):
        bake(beside, log, reuse=pair, stop=lambda: len(log.frames) > 6)
    bake(beside, after, resume=True, reuse=pair if is_beside else None)
    assert after.has("Kept 2 of 3 objects as they were baked: Left, Middle") == is_beside
    assert after.frames == [*range(6, END + 1)]
    one, other = files(three), files(beside)
    assert [name for name in one if one[name] != other[name]] == []


def test_frames_of_a_bake_that_was_stopped_are_taken_too(tmp_path, three):
    """One more body comes; once the stopped bake ends, all go on from the last snapshot."""
    old, beside, log = job(tmp_path / "old", LEFT, MIDDLE), job(tmp_path / "beside", LEFT, MIDDLE, RIGHT), Log()
    stopped_at(old, 7)
    bake(beside, log, reuse=old)
    assert log.has("Kept 2 of 3 objects as they were baked: Left, Middle")
    assert log.has("All objects are solved from the last snapshot on: it ends at frame 7")
    assert log.frames == [*range(2, 8), *range(6, END + 1)]
    one, other = files(three), files(beside)
    assert [name for name in one if one[name] != other[name]] == []


@pytest.mark.long
def test_what_touched_before_a_stop_continues_together_beside_the_others(tmp_path, pair):
    """One falls on a baked one; the bake is stopped after that and goes on, with what is far away still taken."""
    whole, beside = (job(tmp_path / name, LEFT, MIDDLE, ABOVE) for name in ("whole", "beside"))
    bake(whole, Log())
    log, after = Log(), Log()
    with pytest.raises(Stopped):
        bake(beside, log, reuse=pair, stop=lambda: log.frames[-1:] == [END - 1])
    bake(beside, after, resume=True, reuse=pair)
    assert after.has("Kept 1 of 3 objects as they were baked: Left")
    one, other = files(whole), files(beside)
    assert [name for name in one if one[name] != other[name]] == []


@pytest.mark.parametrize("kind", [pytest.param("frame", marks=pytest.mark.long), "grouped",
                                  pytest.param("snapshot", marks=pytest.mark.long)])
def test_a_damaged_one_is_solved_again_from_there(tmp_path, pair, three, kind):
    old = shutil.copytree(pair, tmp_path / "old")
    beside, log = job(tmp_path / "beside", LEFT, MIDDLE, RIGHT), Log()
    file_of(old / "cache", kind, 9).write_bytes(b"nothing")
    bake(beside, log, reuse=old)
    assert log.has("Kept 2 of 3") and log.has("missing or damaged")
    one, other = files(three), files(beside)
    assert [name for name in one if one[name] != other[name]] == []


def test_an_older_bake_without_groups_leaves_nothing(tmp_path):
    old, new = job(tmp_path / "old", LEFT), job(tmp_path / "new", LEFT, RIGHT)
    bake(old, Log(), frames=(1, 2))
    shutil.rmtree(file_of(old / "cache", GROUPED, 1).parent)
    log = Log()
    bake(new, log, frames=(1, 2), reuse=old)
    assert not log.has("Kept")
