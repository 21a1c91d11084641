"""A bake beside an earlier one whose obstacles were others."""

import json

import numpy as np
import pytest
from reused import END, FAR, LEFT, MIDDLE, RIGHT, Log, alike, jelly, job, table
from touching import hollow, obstacle

from solver.simulate import bake


def test_a_floor_that_moves_otherwise_leaves_nothing(tmp_path):
    old, new = job(tmp_path / "old", LEFT, MIDDLE), job(tmp_path / "new", LEFT, MIDDLE)
    bake(old, Log(), frames=(1, 2))
    vertices = np.load(new / "arrays/Floor_vertices.npy")
    np.save(new / "arrays/Floor_vertices.npy", vertices - [0.0, 0.0, 0.01])
    log = Log()
    bake(new, log, frames=(1, 2), reuse=old)
    assert not log.has("Kept")


def swung(at, to, z=0.01):
    """A larger one that is carried to another place and back."""
    def made(arrays):
        vertices, triangles = hollow(0.8, (at, -0.4, z))
        share = np.sin(np.linspace(0.0, np.pi, 2 * END - 1))[:, None, None]
        motion = vertices + share * np.array([to - at, 0.0, 0.0])
        return obstacle("Table", vertices, triangles, arrays, motion=motion)

    return made


NEAR_RIGHT = FAR + 1.0
#: what becomes of the table, and whose frames stay
CHANGES = {"moves": ([table(2.0 * FAR)], [table(NEAR_RIGHT - 0.5)], "2 of 3 objects as they were baked: Left, Middle"),
           "moves away": ([table(NEAR_RIGHT - 0.5)], [table(1.5 * FAR)], "2 of 3"),
           "comes": ([], [table(1.5 * FAR)], "3 of 3"), "goes": ([table(1.5 * FAR)], [], "3 of 3"),
           "rubs": ([table(1.5 * FAR)], [table(1.5 * FAR, friction=0.9)], "3 of 3"),
           "swings by": ([table(1.5 * FAR)], [swung(FAR + 2.0, FAR - 0.5, z=0.5)], "2 of 3"),
           "swings near one": ([table(1.5 * FAR)], [swung(2.0, 0.5)], "2 of 3 objects as they were baked: Left, Right")}


@pytest.mark.parametrize("what", [pytest.param(what, marks=() if what == "comes" else pytest.mark.long)
                                  for what in CHANGES])
def test_an_obstacle_that_changes_counts_for_what_comes_near_it(tmp_path, what):
    """Bodies lie on the floor, rub on it and lose their wobble there: all of that is remembered at their nodes."""
    then, now, unchanged = CHANGES[what]
    bodies = [jelly(name, x, z=0.02, wobble_half_life=0.2, friction=0.4)
              for name, x in (("Left", -FAR), ("Middle", 0.0), ("Right", FAR))]
    log = alike(tmp_path, lambda folder: job(folder, *bodies, tables=then),
                lambda folder: job(folder, *bodies, tables=now))
    assert log.has(f"Kept {unchanged}") or unchanged == "3 of 3" and log.has("Nothing has to be solved")


@pytest.mark.long
def test_an_older_bake_that_does_not_say_where_its_obstacles_were_leaves_nothing(tmp_path):
    old, new = (job(tmp_path / name, LEFT, RIGHT, tables=[table(x * FAR)]) for name, x in (("old", 2.0), ("new", 1.5)))
    bake(old, Log(), frames=(1, 2))
    manifest = old / "cache" / "manifest.json"
    manifest.write_text(json.dumps({
        key: value for key, value in json.loads(manifest.read_text()).items() if key != "obstacles"}))
    log = Log()
    bake(new, log, frames=(1, 2), reuse=old)
    assert not log.has("Kept") and not log.has("Nothing")
