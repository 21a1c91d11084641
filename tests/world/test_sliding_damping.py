"""Viscosity of a body that slides: it takes vibration, and neither momentum nor rigid motion."""

from dataclasses import replace

import numpy as np
from small_jobs import box_job, change
from worlds import nodes_of

from solver.job.load import load
from solver.world.sliding_damping import IMPACT

H = 1 / 48
SLIDE = np.array([0.4, 0.1, 0.0])


def block(folder):
    """A free box a millimetre deep in a ground with friction, and its state at rest."""
    ground = {"stiffness": 1000.0, "stiffness_per_area": 3.27e7, "point": [0.0, 0.0, 0.001], "normal": [0.0, 0.0, 1.0],
              "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}}
    job = box_job(folder, cells=(4, 4, 2), motion=False, method={"kind": "vanilla"}, integrator={"kind": "sdirk2"},
                  gravity=[0, 0, -9.81], ground=ground)
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.wobble_half_life", 0.75)
    world = nodes_of(load(job))
    return world, world.initial_state()


def momenta(world, u, x):
    p = world.mass[: len(x), None] * u.reshape(-1, 3)
    return p.sum(axis=0), np.cross(x, p).sum(axis=0)


def damped(world, state, v, impact=0.0):
    landed = {IMPACT: np.full(len(world.rest), impact)}
    return world.sliding.apply(world, replace(state, u=v.ravel(), memory=landed), H, ()).u.reshape(-1, 3)


def test_vibration_of_a_sliding_body_is_taken_with_its_momenta_unchanged(tmp_path):
    world, state = block(tmp_path / "job")
    x = state.q.reshape(-1, 3)
    v = SLIDE + np.cross([0.2, -0.1, 0.3], x) + 0.05 * np.sin(40.0 * x[:, ::-1])
    left = damped(world, state, v)
    for before, after in zip(momenta(world, v, x), momenta(world, left, x)):
        assert np.abs(after - before).max() <= 1e-10 * np.abs(before).max()
    energy, rest = (float(world.mass[: len(x)] @ (of**2).sum(axis=1)) for of in (v, left))
    assert rest < energy
    rigid = SLIDE + np.cross([0.0, 0.0, 0.3], x)
    assert np.abs(damped(world, state, rigid) - rigid).max() <= 1e-9


def test_what_sticks_keeps_its_vibration(tmp_path):
    world, state = block(tmp_path / "job")
    x = state.q.reshape(-1, 3)
    v = 0.3 * np.sin(40.0 * x[:, ::-1]) * (x[:, 2:] - x[:, 2].min())  # none at the ground
    assert (damped(world, state, v) == v).all()


def test_a_pinned_body_has_none(tmp_path):
    job = box_job(tmp_path / "job", cells=(2, 2, 2), motion=False)
    change(job, "bodies.0.wobble_half_life", 0.75)
    assert nodes_of(load(job)).sliding is None
