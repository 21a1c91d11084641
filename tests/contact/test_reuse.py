"""A bake that takes what has not changed from an earlier one gives the bytes of a bake of all."""

import json

import pytest
from reused import ABOVE, BALL, END, FAR, LEFT, MIDDLE, RIGHT, Log, alike, baked, jelly, job
from small_jobs import change
from touching import read

from solver.simulate import bake


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A baked job of the left and the middle one."""
    return baked(job(tmp_path_factory.mktemp("pair") / "job", LEFT, MIDDLE))



def test_what_was_added_or_changed_far_away_is_solved_alone(tmp_path, pair):
    """One is new, one is stiffer than it was and of other steps."""
    log = alike(tmp_path, pair,
                lambda folder: job(folder, jelly("Left", -FAR, modulus=3e4, step=1 / 72), RIGHT, MIDDLE))
    assert log.has("Kept 1 of 3 objects as they were baked: Middle")


def test_a_copy_is_solved_alone(tmp_path):
    """It has all settings of what it was copied from, and another identity and place."""
    def first(arrays):
        return MIDDLE(arrays) | {"uuid": "a"}

    def renamed(arrays):
        return jelly("Cube", 0.0, z=0.05)(arrays) | {"uuid": "a"}

    def copied(arrays):
        return jelly("Middle", FAR, z=0.05)(arrays) | {"uuid": "b"}

    log = alike(tmp_path, lambda folder: job(folder, first), lambda folder: job(folder, copied, renamed))
    assert log.has("Kept 1 of 2 objects as they were baked: Cube")


def test_what_falls_on_a_baked_one_is_solved_with_it(tmp_path, pair):
    log = alike(tmp_path, pair, lambda folder: job(folder, LEFT, MIDDLE, ABOVE))
    assert log.has("Kept 2 of 3")
    assert log.has("Middle is solved as well from the last snapshot on: ") and log.has("something comes near Middle")
    assert log.has("Kept 1 of 3 objects as they were baked: Left")
    assert len(log.frames) < 2 * END  # from a snapshot on, not from the start


@pytest.mark.long
def test_what_starts_near_a_baked_one_is_solved_with_it_and_others_are_not(tmp_path, pair):
    log = alike(tmp_path, pair,
                lambda folder: job(folder, LEFT, MIDDLE, jelly("Near", 0.45)))
    assert log.has("Kept 1 of 3 objects as they were baked: Left")
    assert log.frames == [*range(2, END + 1)]


@pytest.mark.long
def test_groups_that_touched_are_taken_together(tmp_path):
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE, ABOVE),
                lambda folder: job(folder, jelly("Left", -FAR, modulus=2e4), MIDDLE, ABOVE))
    assert log.has("Kept 2 of 3 objects as they were baked: Middle, Above")
    assert log.frames == [*range(2, END + 1)]


@pytest.mark.long
def test_what_touched_something_that_changed_is_solved_from_there(tmp_path):
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE, ABOVE),
                lambda folder: job(folder, LEFT, MIDDLE, jelly("Above", FAR, z=0.77, size=0.2)))
    assert log.has("Kept 2 of 3")
    assert log.has("came near what has changed") and log.has("Kept 1 of 3 objects as they were baked: Left")


def test_nothing_is_solved_where_a_body_was_removed(tmp_path):
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE, RIGHT), lambda folder: job(folder, LEFT, RIGHT))
    assert log.has("Nothing has to be solved")


def test_one_by_itself_stays_when_contact_comes_with_another(tmp_path):
    """There is no obstacle, so that the scene of one has no contact; that of two has, and says more of both."""
    def alone(folder):
        folder = job(folder, MIDDLE, floor=False, ground=ground)
        whole = read(folder)
        del whole["contact"], whole["obstacles"]
        (folder / "scene.json").write_text(json.dumps(whole))
        return folder

    def among(body, others):
        return lambda arrays: body(arrays) | {"touches": others, "friction": 0.5, "thickness": 0.0,
                                              "step": 1 / 96, "integrator": {"kind": "backward_euler"}}

    def two(folder):
        return job(folder, among(LEFT, ["Middle"]), among(MIDDLE, ["Left"]), floor=False, ground=ground)

    ground = {"point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0], "stiffness": 1e4}
    log = alike(tmp_path, alone, two)
    assert log.has("Kept 1 of 2 objects as they were baked: Middle")


def test_one_that_touches_itself_once_there_is_contact_is_solved_again(tmp_path):
    """A body of a pipeline that names nothing that it touches touches nothing in a scene without contact, and
    everything, itself included, in one with contact."""
    def alone(folder):
        folder = job(folder, MIDDLE, floor=False, ground=ground)
        whole = read(folder)
        del whole["contact"], whole["obstacles"]
        (folder / "scene.json").write_text(json.dumps(whole))
        return folder

    ground = {"point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0], "stiffness": 1e4}
    log = alike(tmp_path, alone, lambda folder: job(folder, LEFT, MIDDLE, floor=False, ground=ground))
    assert not log.has("Kept 1 of 2 objects")


@pytest.mark.parametrize("field, value", [("gravity", [0.0, 0.0, -5.0]), ("time.fps", 25), ("time.end", END - 1),
                                          ("time.start", 2), ("linear_solver", "superlu")])
def test_what_counts_for_all_leaves_nothing(tmp_path, pair, field, value):
    new = job(tmp_path / "new", LEFT, MIDDLE, RIGHT)
    change(new, field, value)
    log = Log()
    bake(new, log, frames=(2, 3), reuse=pair)
    assert not log.has("Kept")
    assert log.frames[-1] == 3


@pytest.mark.long
@pytest.mark.parametrize("changed", ["body", "mechanism"])
def test_mechanisms_are_taken_or_solved_as_one(tmp_path, changed):
    ball = {**BALL, "density": 500.0} if changed == "mechanism" else BALL
    left = jelly("Left", -FAR, modulus=2e4) if changed == "body" else LEFT
    new = [left] if changed == "body" else [left, RIGHT]
    log = alike(tmp_path, lambda folder: job(folder, LEFT, MIDDLE, mechanisms=[{"name": "M", "bodies": [BALL]}]),
                lambda folder: job(folder, *new, MIDDLE, mechanisms=[{"name": "M", "bodies": [ball]}]))
    assert log.has("Kept 2 of 3 objects as they were baked: Middle, the mechanisms" if changed == "body" else
                   "Kept 2 of 4 objects as they were baked: Left, Middle")
