"""The room test: a material, an integrator, a damping law, a joint and directions of fibers come from outside."""

import numpy as np
import pytest
from mechanisms import mechanism_world, run
from small_jobs import box_job, change
from worlds import nodes_of

from solver.errors import BadScene
from solver.job.load import load


def world_of(job):
    return nodes_of(load(job))


def test_a_made_up_material_bakes(room, tmp_path):
    """Pulled along itself by gravity g the bar stretches by ρ g (L x − x²/2) / k, found by the Newton of the start."""
    job = box_job(tmp_path / "job", end=2, cells=(12, 4, 4), motion=False, gravity=[3.0, 0.0, 0.0],
                  method={"kind": "conjac", "params": {"quasistatic_start": True}})
    change(job, "bodies.0.material", {"kind": "gauze", "params": {"pull": 1e4}})
    world = world_of(job)
    x = world.rest[:, 0]
    state = world.initial_state()
    moved = world.output(state, 0) - world.rest
    assert moved[:, 0] == pytest.approx(1000 * 3.0 * (0.2 * x - 0.5 * x * x) / 1e4, abs=2e-2 * 6e-3)
    assert np.abs(moved[:, 1:]).max() <= 1e-12
    after = world.step(state, 1 / 96)
    assert np.abs(after.q - state.q).max() <= 1e-9


def test_a_made_up_direction_of_fibers_bakes(room, tmp_path):
    job = box_job(tmp_path / "job", end=2, motion=False)
    change(job, "bodies.0.fiber_material", {"kind": "astvk", "params": {}})
    change(job, "bodies.0.fiber_field", {"kind": "spokes", "params": {"reach": 3.0}})
    world = world_of(job)
    centres = world.rest[world.tets].mean(axis=1)
    fibers = world.elastic[0].fibers.constants[:3].T
    assert fibers == pytest.approx((centres / np.linalg.norm(centres, axis=1)[:, None])[:len(fibers)])
    assert np.isfinite(world.step(world.initial_state(), 1 / 96).q).all()


def test_its_parameters_are_checked_like_any_other_s(room, tmp_path):
    job = box_job(tmp_path / "job", end=2, motion=False)
    change(job, "bodies.0.material", {"kind": "gauze", "params": {"pull": 0.5}})
    with pytest.raises(BadScene, match=r"Pull is 0.5 and cannot be below 1 Pa.*material\.params\.pull"):
        load(job)


def test_a_made_up_integrator_bakes(room, tmp_path):
    """Explicit: a first step from rest moves free nodes by h² g, whatever the stiffness."""
    job = box_job(tmp_path / "job", end=2, motion=False, integrator={"kind": "explicit"})
    world = world_of(job)
    state = world.initial_state()
    after = world.step(state, 1e-4)
    moved = (after.q - state.q).reshape(-1, 3)
    assert np.abs(moved - [0, 0, -9.81e-8]).max() <= 1e-15


def test_a_made_up_damping_law_bakes(room, tmp_path):
    """A first step from rest under g, of a body without stiffness: v = h g / (1 + h k)."""
    job = box_job(tmp_path / "job", end=2, motion=False, method={"kind": "vanilla"})
    change(job, "bodies.0.material", {"kind": "gauze", "params": {"pull": 1.0}})
    change(job, "bodies.0.damping", {"kind": "sand", "params": {"grit": 8.0}})
    world = world_of(job)
    after = world.step(world.initial_state(), 1e-3)
    assert after.u.reshape(-1, 3)[:, 2] == pytest.approx(-9.81e-3 / (1 + 8e-3), rel=1e-3)
    assert np.abs(after.u + 9.81e-3).max() > 5e-5


def test_a_made_up_joint_bakes(room, tmp_path):
    """A bead slides down its wire and up again: x'' (1 + 4 x²) + 4 x x'² + 2 g x = 0."""
    from scipy.integrate import solve_ivp

    bead = {"name": "Bead", "position": [0.5, 0.0, 0.25], "shape": {"kind": "sphere", "params": {"radius": 0.05}}}
    wire = {"name": "Wire", "kind": "wire", "child": "Bead", "start": [0.5]}
    world = mechanism_world(tmp_path / "job", [bead], [wire], integrator="sdirk2")
    after = run(world, 1e-3, 800)

    def slide(t, y):
        x, rate = y
        return rate, -(4.0 * x * rate**2 + 2.0 * 9.81 * x) / (1.0 + 4.0 * x * x)

    x = solve_ivp(slide, (0.0, 0.8), [0.5, 0.0], rtol=1e-10, atol=1e-12).y[:, -1]
    assert x[0] < -0.2
    assert [after.q[0], after.u[0]] == pytest.approx(list(x), abs=1e-5)
    # a number too many is refused as for any other joint
    with pytest.raises(BadScene, match="Wire"):
        mechanism_world(tmp_path / "wrong", [bead], [{**wire, "start": [0.5, 0.5]}])
