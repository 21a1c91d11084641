"""Viscosity of a body that slides: it takes vibration, and neither momentum nor rigid motion."""

from dataclasses import replace

import numpy as np
import pytest
from small_jobs import box_job, change
from worlds import nodes_of

from solver.job.load import load
from solver.world.sliding_damping import PAST, Past, SlidingDampers

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


def damped(world, state, v, impact=0.0, slid=9.0):
    """Velocities that are left of a body that has slid to that side for so many seconds."""
    count, none = len(world.rest), np.zeros(len(world.rest))
    still, to_one_side = np.zeros((count, 3)), np.tile(slid * SLIDE / np.linalg.norm(SLIDE), (count, 1))
    past = Past(none + impact, none, none, still, to_one_side, still).rows
    return world.sliding.apply(world, replace(state, u=v.ravel(), memory={PAST: past}), H, ()).u.reshape(-1, 3)


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


def test_what_has_just_started_to_slide_keeps_its_vibration(tmp_path):
    # a braked block leaned less than its friction makes it, and stopped a tenth short
    world, state = block(tmp_path / "job")
    shakes = 0.05 * np.sin(40.0 * state.q.reshape(-1, 3)[:, ::-1])
    v = SLIDE + shakes
    assert (damped(world, state, v, slid=0.0) == v).all()
    assert (damped(world, state, v, slid=-0.1) == v).all()  # to the other side before, as what is shaken
    assert (damped(world, state, v) != v).any()
    # as slow as it sways by its own weight: what swings on a slope that holds it slips a little at each swing
    assert (damped(world, state, 0.2 * SLIDE + shakes, slid=0.0) != 0.2 * SLIDE + shakes).any()


def test_time_of_sliding_goes_on_over_a_hop_and_is_bounded(tmp_path):
    world, state = block(tmp_path / "job")
    sliding, wave = world.sliding, world.sliding._waves[0]
    mean, none = np.array([[0.4, 0.0, 0.0]]), np.zeros((1, 3))
    slid = none
    for _ in range(100):
        slid = sliding._update_duration(slid, mean, np.array([0.4]), wave)
    assert slid[0] == pytest.approx([SlidingDampers.full_duration * wave, 0.0, 0.0])
    hopped = sliding._update_duration(slid, none, np.zeros(1), wave)
    assert 0.9 * slid[0, 0] < hopped[0, 0] < slid[0, 0]


def test_what_sticks_keeps_its_vibration(tmp_path):
    world, state = block(tmp_path / "job")
    x = state.q.reshape(-1, 3)
    v = 0.3 * np.sin(40.0 * x[:, ::-1]) * (x[:, 2:] - x[:, 2].min())  # none at the ground
    assert (damped(world, state, v) == v).all()


def test_a_pinned_body_has_none(tmp_path):
    job = box_job(tmp_path / "job", cells=(2, 2, 2), motion=False)
    change(job, "bodies.0.wobble_half_life", 0.75)
    assert nodes_of(load(job)).sliding is None


def on_collider(folder, reach=0.0):
    """A free box within reach of a collider with friction that goes so far to and fro along x twice a second [m], and
    its state at rest."""
    job = box_job(folder, cells=(2, 2, 2), motion=False, method={"kind": "vanilla"}, integrator={"kind": "sdirk2"})
    floor = np.array([(-9.0, -9.0, -4e-4), (9.0, -9.0, -4e-4), (9.0, 9.0, -4e-4), (-9.0, 9.0, -4e-4)])
    np.save(folder / "arrays" / "floor.npy", floor)
    np.save(folder / "arrays" / "floor_motion.npy", floor + [swung(reach, k / 48)[0] for k in range(49)])
    np.save(folder / "arrays" / "faces.npy", np.array([(0, 1, 2), (0, 2, 3)], dtype=np.int32))
    change(job, "contact", {"law": {"kind": "barrier", "params": {"distance": 0.01}}})
    change(job, "obstacles", [{"name": "floor", "vertices": "arrays/floor.npy", "triangles": "arrays/faces.npy",
                               "motion": "arrays/floor_motion.npy", "friction": 0.5}])
    change(job, "bodies.0.friction", 0.5)
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.wobble_half_life", 0.75)
    world = nodes_of(load(job))
    return world, world.initial_state()


def swung(reach, time):
    """Return displacement along x [m] and velocity [m/s] of a motion with this amplitude to and fro twice a second, (1,
    3) each."""
    angle = 4.0 * np.pi * time
    return np.array([[reach * np.sin(angle), 0.0, 0.0]]), np.array([[4.0 * np.pi * reach * np.cos(angle), 0.0, 0.0]])


@pytest.mark.parametrize("reach", [0.0, 0.08])
def test_slip_on_what_is_shaken_takes_no_vibration(tmp_path, reach):
    # in a glass that was shaken it took a seventh of the energy: slip there is that of the shake
    world, state = on_collider(tmp_path / "job", reach)
    rest, taken = state.q.reshape(-1, 3), 0.0
    for k in range(24):
        way, speed = swung(reach, k * H)
        v = speed + 0.05 * SLIDE + 0.05 * np.sin(40.0 * rest[:, ::-1])
        state = world.sliding.apply(world, replace(state, time=k * H, q=(rest + way).ravel(), u=v.ravel()), H, ())
        taken = max(taken, np.abs(state.u.reshape(-1, 3) - v).max())
    assert (taken > 0.0) == (reach == 0.0)


def test_what_slides_does_not_bounce_on_the_barrier_of_a_collider(tmp_path):
    # it bounced as a rigid body, which no viscosity of its own damps, and slipped down whenever it was light
    world, state = on_collider(tmp_path / "job")
    rises = np.zeros_like(state.q.reshape(-1, 3)) + [0.0, 0.0, 0.1]
    left = damped(world, state, SLIDE + rises)
    mass = world.mass[: len(left)]
    assert mass @ left[:, 2] <= 0.8 * mass.sum() * 0.1
    assert mass @ left[:, :2] == pytest.approx(mass.sum() * SLIDE[:2], rel=0.03)  # edges rub a little on each other
    assert (damped(world, state, SLIDE + rises, slid=0.0) == SLIDE + rises).all()


def test_damping_again_has_the_same_bytes(tmp_path):
    # its arrays are those of the step before
    world, state = block(tmp_path / "job")
    x = state.q.reshape(-1, 3)
    v = SLIDE + 0.05 * np.sin(40.0 * x[:, ::-1])
    first = damped(world, state, v)
    damped(world, replace(state, q=(1.3 * x).ravel()), -2.0 * v)
    assert damped(world, state, v).tobytes() == first.tobytes()
