"""Cloth is played by projective dynamics: on colliders and the ground, on other cloth and its own folds, under
hands."""

import sys
from pathlib import Path

import numpy as np
import pytest
from small_jobs import change
from solids import ball
from test_bumps import moved
from test_playing import DOWN, quiet

from solver.errors import BadInput
from solver.job.load import load
from solver.live.bumps import Bump, BumpMesh
from solver.live.engines.interface import Hold, Inputs
from solver.live.engines.projective import ProjectiveEngine
from solver.live.engines.world import WorldEngine
from solver.live.run import engine_of
from solver.state import State

sys.path.append(str(Path(__file__).parents[1] / "cloth"))
from cloth_jobs import cloth_body, cloth_job, membrane, square
from sheets import grid

H = 1 / 72  # a step of a bake at 24 frames a second
GROUND = {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": {"kind": "coulomb"}}


def play(engine, seconds, gravity=DOWN, **inputs):
    """Return the positions of all vertices after a time, (n, 3) [m]."""
    for _ in range(round(seconds / H)):
        engine.step(0, Inputs(gravity, **inputs))
    assert engine.restarts == 0, engine.notes
    return engine.positions


def sheets(folder, heights, touches=None, cloth=None, **scene):
    """Return a job of level squares above each other [m]."""
    arrays, bodies = {}, []
    for k, height in enumerate(heights):
        vertices, triangles = grid(10, 10, 0.4, 0.4)
        bodies.append(cloth_body(f"Sheet {k}", vertices + [0.0, 0.0, height], triangles, arrays, thickness=0.01,
                                 laws={} if touches is None else {"touches": touches}, **(cloth or {})))
    return cloth_job(folder, bodies, arrays, end=1, step=H, contact={}, **scene)


def test_cloth_is_played_by_projective_dynamics_and_what_is_sewn_by_the_bakes_solver(tmp_path):
    job = square(tmp_path, end=1, step=H)
    assert isinstance(engine_of("", job, quiet), ProjectiveEngine)
    vertices, triangles = grid(4, 4, 0.4, 0.4)
    arrays = {"seams": np.array([[0, 4]], np.int32)}
    bag = cloth_body("Bag", vertices, triangles, arrays, seams="arrays/seams.npy")
    job = cloth_job(tmp_path / "bag", [bag], arrays, end=1, step=H)
    with pytest.raises(BadInput, match="sewn"):
        ProjectiveEngine(load(job), quiet)
    assert isinstance(engine_of("", job, quiet), WorldEngine)


def test_a_balloon_is_inflated_to_the_radius_of_its_pressure(tmp_path):
    """A slider inflates it to the radius of Laplace's law: p = 2 T/r, T the tension of its skin."""
    vertices, triangles = ball(16)
    radius, thick, arrays = 0.2, 400.0, {}
    balloon = cloth_body("Balloon", radius * vertices, triangles, arrays, laws={"wobble_half_life": 0.1},
                         membrane=membrane(thick, 0.5 * thick / 1.3, 0.3))
    job = cloth_job(tmp_path, [balloon], arrays, end=1, step=H)
    engine = engine_of("", job, quiet)
    assert isinstance(engine, ProjectiveEngine)
    before = np.linalg.norm(play(engine, 0.2, np.zeros(3)), axis=1).mean()
    change(job, "bodies.0.cloth.pressure", 300.0)
    engine.change(load(job))
    after = np.linalg.norm(play(engine, 1.5, np.zeros(3)), axis=1).mean()
    tension = thick / (1.0 - 0.3) * (after / before - 1.0)
    assert 2.0 * tension / after == pytest.approx(300.0, rel=0.15)


def test_cloth_hangs_over_a_ball(tmp_path):
    engine = engine_of("", square(tmp_path, 16, 1.0, end=1, step=H, laws={"friction": 0.5}), quiet)
    vertices, triangles = ball()
    radius, middle = 0.25, np.array([0.5, 0.5, -0.3])
    on_ball = BumpMesh(radius * vertices + middle, triangles)
    x = play(engine, 2.0, bumps=(Bump(on_ball, np.eye(4)),))
    away = np.linalg.norm(x - middle, axis=1)
    assert away.min() > 0.97 * radius
    assert x[:, 2].max() > -0.06 and x[:, 2].min() < -0.3  # it lies on top, and its corners hang
    up = play(engine, 0.5, bumps=(Bump(on_ball, moved(z=0.2)),))
    assert up[:, 2].max() > 0.13


def momentum(engine):
    """Return the momentum of all bodies [kg m/s], (3,)."""
    return sum(body.state.u.reshape(-1, 3).T @ body.body.mass for body in engine.bodies)


@pytest.mark.parametrize("in_contact", [True, False])
def test_a_sheet_rests_on_another_one(tmp_path, in_contact):
    job = sheets(tmp_path, [0.02, 0.08], touches=None if in_contact else [], ground=GROUND)
    x = play(engine_of("", job, quiet), 1.5).reshape(2, -1, 3)
    assert abs(x[0, :, 2]).mean() < 0.005
    assert (x[1, :, 2] > 0.006).mean() > 0.95 if in_contact else x[1, :, 2].mean() < 0.004


@pytest.mark.parametrize("in_contact", [True, False])
def test_a_fold_rests_on_its_own_cloth(tmp_path, in_contact):
    """A strip that is folded in the middle: its upper half comes down onto the lower one."""
    vertices, triangles = grid(20, 4, 0.8, 0.16)
    way = vertices[:, 0].copy()
    radius = 0.05
    bend = np.clip((way - 0.35) / (0.1 * np.pi / 2), 0.0, 1.0) * np.pi
    vertices[:, 0] = np.where(bend < np.pi, np.minimum(way, 0.35) + radius * np.sin(bend),
                              0.35 - (way - 0.35 - 0.1 * np.pi / 2))
    vertices[:, 2] = radius * (1.0 - np.cos(bend)) + 0.001
    arrays = {}
    body = cloth_body("Strip", vertices, triangles, arrays, thickness=0.01,
                      laws={} if in_contact else {"touches": []})
    engine = engine_of("", cloth_job(tmp_path, [body], arrays, end=1, step=H, contact={}, ground=GROUND), quiet)
    x = play(engine, 1.5)
    upper = x[way > 0.6]
    assert (upper[:, 2] > 0.006).mean() > 0.9 if in_contact else upper[:, 2].mean() < 0.005


def test_a_hand_lifts_it_and_pins_follow_its_object(tmp_path):
    engine = engine_of("", square(tmp_path, 8, 0.4, end=1, step=H, pinned=[0, 8]), quiet)
    start = engine.positions
    corner = start[-1] + [0.0, 0.1, 0.0]  # where its object is by then
    hand = Hold(1, corner, corner + [0.0, 0.0, 0.2], 0.0, 3.0)
    x = play(engine, 1.0, grabs=(hand,), carriers=moved(y=0.1)[None])
    np.testing.assert_allclose(x[[0, 8]], start[[0, 8]] + [0.0, 0.1, 0.0], atol=1e-9)
    assert x[-1, 2] > 0.05 > -0.08 > x[:, 2].min()
    grabbed, = engine.grabbed
    assert grabbed.vertex == len(start) - 1
    np.testing.assert_allclose(grabbed.target, corner + [0.0, 0.0, 0.2], atol=1e-12)
    assert play(engine, 0.5, carriers=moved(y=0.1)[None])[-1, 2] < -0.1


def test_momentum_of_sheets_in_contact_is_conserved(tmp_path):
    engine = engine_of("", sheets(tmp_path, [0.0, 0.03], cloth={"drag": 0.0, "air_friction": 0.0}), quiet)
    play(engine, H, np.zeros(3))
    upper = engine.bodies[1]
    down = np.tile([0.0, 0.0, -1.0], len(upper.body.rest))
    upper.state = State(upper.state.time, upper.state.q, down, {})
    before = momentum(engine)
    play(engine, 0.2, np.zeros(3))
    after = momentum(engine)
    assert engine.bodies[0].state.u[2::3].mean() < -0.2  # it was hit
    np.testing.assert_allclose(after[2], before[2], rtol=0.1)


def test_it_is_the_same_to_the_last_bit(tmp_path):
    runs = []
    for name in ("one", "two"):
        engine = engine_of("", sheets(tmp_path / name, [0.0, 0.03], ground=GROUND), quiet)
        runs.append(play(engine, 0.3).tobytes())
    assert runs[0] == runs[1]
