"""Every material of the catalogue in a whole body: alike under a small load, alive under a large one."""

import numpy as np
import pytest
from small_jobs import box_job, change
from worlds import nodes_of

from solver import catalogue
from solver.job.load import load

MATERIALS = list(catalogue.family("material"))


def world_of(folder, key, poisson, **scene):
    job = box_job(folder, end=3, cells=(4, 2, 2), motion=False, **scene)
    params = {"youngs_modulus": 2e4, "poisson_ratio": poisson}
    known = {param.key for param in catalogue.find("material", key).params}
    change(job, "bodies.0.material", {"kind": key, "params": {k: v for k, v in params.items() if k in known}})
    return nodes_of(load(job))


@pytest.fixture(scope="module")
def sag(tmp_path_factory):
    """The small sag of a bar by material and Poisson ratio, each found once."""
    found = {}

    def of(key, poisson):
        if (key, poisson) not in found:
            world = world_of(tmp_path_factory.mktemp("job"), key, poisson, gravity=(0, 0, -0.005),
                             method={"kind": "vanilla"}, integrator={"kind": "quasistatic"})
            after = world.step(world.initial_state(), 1 / 24)
            found[key, poisson] = world.coordinates.positions(after.q, after.time) - world.rest
        return found[key, poisson]

    return of


@pytest.mark.parametrize("poisson", [0.0, 0.4])
@pytest.mark.parametrize("key", MATERIALS[1:])
def test_a_small_load_bends_every_material_alike(sag, key, poisson):
    if poisson and "poisson_ratio" not in {param.key for param in catalogue.find("material", key).params}:
        poisson = 0.0
    expected = sag(MATERIALS[0], poisson)
    assert 1e-5 < np.abs(expected).max() < 1e-3  # strains of some 1e-3
    assert np.abs(sag(key, poisson) - expected).max() <= 0.01 * np.abs(expected).max()


@pytest.mark.parametrize("key", MATERIALS)
def test_a_large_load_swings_every_material_and_none_blows_up(tmp_path, key):
    """ConJac, half a second; what is linear may stretch as it turns, so only the size is bounded."""
    world = world_of(tmp_path, key, 0.4)
    state, lowest = world.initial_state(), 0.0
    for _ in range(48):
        state = world.step(state, 1 / 96)
        x = world.coordinates.positions(state.q, state.time)
        lowest = min(lowest, x[:, 2].min())
    assert np.ptp(x, axis=0).max() < 0.4
    assert lowest < -0.01
