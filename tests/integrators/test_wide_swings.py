"""Swings that turn a slender body far: which of the methods with exact modes keep them."""

import numpy as np
import pytest
from small_jobs import box_tets, write_job

from solver.build.world import build
from solver.job.load import load

H = 1.0 / 48.0
NODES, TETS = box_tets((1, 1, 12), (0.03, 0.03, 0.6))


def comes_back(folder, kind):
    """How far the end of a rod comes back from its first swing, as a share of that: clamped at one end, straight at the
    start, and let go under a gravity across it that turns its end by half a radian."""
    job = write_job(folder, {
        "version": 1, "name": "rod", "time": {"start": 1, "end": 49, "fps": 24, "step": H},
        "bodies": [{"name": "Rod", "tets": {"nodes": "arrays/n.npy", "tets": "arrays/t.npy"},
                    "method": {"kind": "vanilla"}, "pin": {"nodes": "arrays/p.npy"},
                    "material": {"kind": "arap", "params": {"youngs_modulus": 5.5e6}}}],
        "integrator": {"kind": kind}, "stage_solver": {"kind": "newton_visible"}, "gravity": [20.0, 0.0, 0.0]},
        {"n": NODES, "t": TETS, "p": np.flatnonzero(NODES[:, 2] == 0.0).astype(np.int32)})
    [part] = build(load(job), lambda *_: None)[0].parts
    state, way, top = part.initial_state(), [0.0], int(NODES[:, 2].argmax())
    for _ in range(48):
        state = part.step(state, H)
        way.append(part.coordinates.positions(state.q, state.time)[top, 0] - NODES[top, 0])
    farthest = int(np.argmax(way))
    assert farthest < 40 and way[farthest] > 0.15
    return (way[farthest] - min(way[farthest:])) / way[farthest]


@pytest.mark.parametrize("kind, least, most", [("sbdf2ere", 0.6, 0.85), ("bdf2ere", 0.92, 1.0)])
def test_a_wide_swing_is_conserved_where_stages_are_solved(tmp_path, kind, least, most):
    """A linearised step moves rotating bodies along straight lines, which stretches them, and stiff bodies lose that
    energy."""
    assert least < comes_back(tmp_path, kind) < most
