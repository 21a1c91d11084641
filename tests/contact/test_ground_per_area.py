"""Ground stiffness per area: a body sinks as far however fine its mesh is."""

import numpy as np
import pytest
from small_jobs import box_tets, write_job
from worlds import nodes_of

from solver.job.load import load

PER_AREA, SIZE = 1.0e6, 0.4


def sunk(folder, cells, ground):
    """How deep a box of 0.4 m is in the ground when it has come to rest [m]."""
    nodes, tets = box_tets((cells,) * 3, (SIZE,) * 3)
    body = {"name": "Box", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 2e5, "poisson_ratio": 0.4}},
            "damping": {"kind": "rayleigh", "params": {"mass_damping": 20.0}}}
    job = write_job(folder, {
        "version": 1, "name": "box", "bodies": [body], "method": {"kind": "vanilla"}, "stage_solver": {"kind": "quick"},
        "integrator": {"kind": "backward_euler"}, "time": {"start": 1, "end": 40, "fps": 24, "step": 1 / 24},
        "ground": {"point": [0, 0, 0], "normal": [0, 0, 1], **ground}}, {"nodes": nodes, "tets": tets})
    world = nodes_of(load(job))
    state = world.initial_state()
    for _ in range(40):
        state = world.step(state, 1 / 24)
    assert np.abs(state.u).max() < 1e-3
    return -float(state.q.reshape(-1, 3)[:, 2].min())


def test_a_box_sinks_as_far_at_any_resolution(tmp_path):
    coarse, fine = (sunk(tmp_path / str(cells), cells, {"stiffness_per_area": PER_AREA}) for cells in (3, 7))
    rigid = 1000.0 * 9.81 * SIZE / PER_AREA
    assert coarse == pytest.approx(rigid, rel=0.3) and fine == pytest.approx(rigid, rel=0.3)
    assert coarse == pytest.approx(fine, rel=0.15)


def test_stiffness_of_a_node_stays_where_a_job_has_no_other(tmp_path):
    coarse, fine = (sunk(tmp_path / str(cells), cells, {"stiffness": 1e4}) for cells in (3, 7))
    assert coarse > 3.0 * fine
