"""Exponential and additive integrators in jobs: through schema, build, bake and resume."""

import pytest
from matrix import some
from small_jobs import box_job
from worlds import nodes_of

from solver import catalogue
from solver.errors import BadScene
from solver.frames.read import Cache
from solver.frames.write import FrameStore
from solver.job import hashes
from solver.job.load import load
from solver.simulate import Timeline, simulate


def job_of(folder, key, method="vanilla", **params):
    return box_job(folder, end=9, method={"kind": method, "params": {}},
                   integrator={"kind": key, "params": params})


def store_of(job, world):
    store = FrameStore(job.cache)
    store.begin(job, hashes.settings(job), world.bodies, backend=world.backend, first=1)
    return store


def world_of(job):
    return nodes_of(job)


@pytest.mark.parametrize("key", some(["siere", "sbdf2ere", "tr_bdf2ere", "ere"], "sbdf2ere", "ere"))
def test_a_resumed_bake_gives_the_same_bytes(tmp_path, key):
    """With moving pins, a snapshot between two decompositions of the modes, and a world made anew."""
    frames = {}
    for name, ends in (("whole", [(9, None)]), ("resumed", [(7, None), (9, 5)])):
        job = load(job_of(tmp_path / name, key, **({} if key == "ere" else {"modes": 5, "redecompose": 7})))
        store = None
        for end, snapshot in ends:
            world = world_of(job)
            store = store or store_of(job, world)
            simulate(world, Timeline(1, end, 24.0, 1 / 48, 4), store, snapshot=snapshot)
        frames[name] = {path.name: path.read_bytes() for path in sorted(store.folder.glob("*/*.np*"))}
        assert Cache(store.folder).frames_done() == list(range(1, 10))
    assert frames["whole"] == frames["resumed"]


def test_they_refuse_conjac(tmp_path):
    with pytest.raises(BadScene, match=r"SIERE moves every node on its own.*integrator\.kind"):
        load(job_of(tmp_path / "job", "siere", method="conjac"))


def test_a_printed_formula_bakes_but_stands_in_no_menu(tmp_path):
    assert "sbdf2ere_printed" not in catalogue.menu("integrator") and "sbdf2ere" in catalogue.menu("integrator")
    world = world_of(load(job_of(tmp_path / "job", "sbdf2ere_printed", modes=3)))
    state = world.initial_state()
    assert world.step(world.step(state, 1 / 96), 1 / 96).time == pytest.approx(1 / 48)
