"""Soft bodies that are played together collide: nothing passes through, weight and momentum are transferred."""

import numpy as np
import pytest
from matrix import some
from small_jobs import box_tets, write_job
from test_bumps import block
from test_playing import DOWN, SOLVED, quiet

from solver.build.touching_surface import subdivide
from solver.live.engines import modes
from solver.live.engines.interface import Hold, Inputs
from solver.live.run import engine_of
from solver.live.skins import Skin, SurfaceMotion, surface_contacts

SIZE = 0.1


def cubes(folder, positions, ground=True, density=(1000.0, 1000.0), **contact):
    """Return a job of cubes of 10 cm with these centres [m]."""
    bodies, arrays = [], {}
    for k, (position, rho) in enumerate(zip(positions, density)):
        nodes, tets = box_tets((3, 3, 3), (SIZE, SIZE, SIZE))
        arrays |= {f"n{k}": nodes - 0.5 * SIZE + position, f"t{k}": tets}
        bodies.append({"name": f"Cube {k}", "tets": {"nodes": f"arrays/n{k}.npy", "tets": f"arrays/t{k}.npy"},
                       "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 4e4,
                                                                             "poisson_ratio": 0.4}},
                       "density": rho, "friction": 0.5, "wobble_half_life": 0.2})
    scene = {"version": 1, "name": "cubes", "time": {"start": 1, "end": 1, "fps": 30, "step": 1 / 60},
             "bodies": bodies, "contact": {"law": {"kind": "barrier"}}, **SOLVED, **contact}
    if ground:
        scene["ground"] = {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": {"kind": "coulomb"}}
    return write_job(folder, scene, arrays)


def test_the_longest_steps_of_soft_bodies_show_thirty_frames_a_second(tmp_path):
    time = {"start": 1, "end": 1, "fps": 24, "step": 1 / 60}
    engine = engine_of("modes", cubes(tmp_path, [[0, 0, 0.3]], time=time), quiet)
    best, _, longest = engine.efforts
    assert best.step == pytest.approx(1 / 72)  # whole steps make a frame
    assert best.step < longest.step <= 1 / 30


def play(engine, seconds, gravity=DOWN, **inputs):
    """Return the centres of the bodies after a time, (b, 3) [m]."""
    for _ in range(round(60 * seconds)):
        engine.step(0, Inputs(gravity, **inputs))
    assert engine.restarts == 0, engine.take_notes()
    return np.array([body.positions.mean(axis=0) for body in engine.bodies])


def momentum(engine):
    return sum(body.body.velocities(body.state).T @ body.body.subspace.mass for body in engine.bodies)


def test_one_lies_on_the_other(tmp_path):
    engine = engine_of("modes", cubes(tmp_path, [[0, 0, 0.051], [0.01, 0, 0.155]]), quiet)
    low, high = play(engine, 3.0)
    assert 0.04 < low[2] < 0.05 and 0.088 < high[2] - low[2] < 0.1, (low, high)
    still = play(engine, 0.5)
    np.testing.assert_allclose(still, [low, high], atol=1e-3)
    # the lower one carries both: it sinks into the ground like a body of twice the weight
    lower, upper = engine.bodies
    deep = np.maximum(-lower.body.points_of(lower.body.touching, lower.state.y, lower.state.carrier_motion)[:, 2], 0)
    weight = 2 * 9.81 * 1000 * SIZE**3
    assert lower.body.stepping.floor.stiffness * deep.sum() == pytest.approx(weight, rel=0.03)


def jellies(folder, fine, aside=(0.05, 0.02), friction=True):
    """Return a job of two cubes of two metres as *Add Soft Body* makes them, of eight vertices or of many: one on the
    ground, one 5 cm above it."""
    bodies, arrays = [], {}
    for k, at in enumerate(([0.0, 0.0, 1.0], [*aside, 3.05])):
        vertices, triangles = block(np.array(at) - 1.0, np.array(at) + 1.0)
        if fine:
            vertices, triangles = subdivide(vertices, triangles, 0.35)
        arrays |= {f"v{k}": vertices, f"f{k}": triangles}
        bodies.append({"name": f"Jelly {k}", "surface": {"vertices": f"arrays/v{k}.npy",
                                                         "triangles": f"arrays/f{k}.npy"},
                       "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 327000.0,
                                                                             "poisson_ratio": 0.45}},
                       "density": 1000.0, "wobble_half_life": 0.75})
    ground = {"point": [0, 0, 0], "normal": [0, 0, 1]} | ({"friction": {"kind": "coulomb"}} if friction else {})
    scene = {"version": 1, "name": "jellies", "time": {"start": 1, "end": 1, "fps": 30, "step": 1 / 60},
             "bodies": bodies, "contact": {"law": {"kind": "barrier"}}, "ground": ground, **SOLVED}
    return write_job(folder, scene, arrays)


@pytest.mark.parametrize("fine", some([False, True], False))
def test_jellies_with_defaults_stay_on_each_other(tmp_path, monkeypatch, fine):
    if fine:  # which changes where they touch alone
        monkeypatch.setattr(modes, "CELLS", 600)
    engine = engine_of("modes", jellies(tmp_path, fine), quiet)
    for _ in range(5):
        low, high = play(engine, 0.25)
        assert 1.6 < high[2] - low[2] < 2.2, (low, high)
    assert np.abs(high - low)[:2].max() < 0.4, (low, high)  # of two metres


def test_a_point_is_pushed_out_of_the_side_that_it_came_through():
    """After a deep step beside an edge the point is nearer to another side."""
    vertices, triangles = subdivide(*block([0, 0, 0], [1, 1, 1]), 0.17)
    skin, point, moved = Skin(vertices, triangles), np.array([[0.98, 0.5, 1.01]]), np.array([0.0, 0.0, -0.06])
    still = SurfaceMotion(skin, vertices, vertices, vertices, vertices)
    comes = SurfaceMotion(skin, point + moved, point, point + moved, point)
    contacts = surface_contacts(comes, still, 9)
    np.testing.assert_allclose(contacts.normals, [[0, 0, 1]], atol=1e-12)
    np.testing.assert_allclose([contacts.gaps[0], contacts.gaps_before[0]], [-0.05, 0.01], atol=1e-12)
    # it is pushed from straight below
    at = np.einsum("kc,kcd->kd", contacts.weights, vertices[contacts.corners])
    np.testing.assert_allclose(at, [[0.98, 0.5, 1.0]], atol=1e-12)
    # there is no contact with what moves away with the surface
    assert surface_contacts(comes, SurfaceMotion(skin, vertices + moved, vertices, vertices, vertices), 9) is None


def test_what_is_divided_is_the_same_surface():
    vertices, triangles = block([0, 0, 0], [2, 1, 1])
    fine, faces = subdivide(vertices, triangles, 0.24)
    np.testing.assert_array_equal(fine[:8], vertices)
    corners = fine[faces]
    area = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    np.testing.assert_allclose(np.linalg.norm(area, axis=1).sum(), 10.0)
    np.testing.assert_allclose(np.einsum("ij,ij->", area, corners.mean(axis=1)) / 3.0, 2.0)  # its volume
    edges = corners - np.roll(corners, 1, axis=1)
    assert np.linalg.norm(edges, axis=2).max() <= 0.24


def test_bodies_on_each_other_fall_as_one(tmp_path):
    """Neither body is slowed down nor pushed by predicted contacts with the other."""
    engine = engine_of("modes", cubes(tmp_path, [[0, 0, 0.0], [0, 0, 0.0995]], ground=False), quiet)
    before = momentum(engine)
    play(engine, 0.5)
    gained = (momentum(engine) - before)[2]
    assert gained == pytest.approx(-2 * 1000 * SIZE**3 * 9.81 * 0.5, rel=0.02)


@pytest.mark.parametrize("heavy", [1.0, 8.0])
def test_momentum_goes_from_one_to_the_other(tmp_path, heavy):
    """Without gravity one body hits the other, which gains the momentum that the first one loses."""
    engine = engine_of("modes", cubes(tmp_path, [[0, 0, 0], [0.13, 0.01, 0]], ground=False,
                                      density=(1000.0 * heavy, 1000.0)), quiet)
    play(engine, 1 / 60, np.zeros(3))
    first, second = engine.bodies
    first.state = first.body.moving(np.tile([1.0, 0.0, 0.0], (len(first.body.nodes), 1)), first.state)
    before = momentum(engine)
    where = play(engine, 0.4, np.zeros(3))
    assert where[1, 0] > 0.16 and where[1, 0] - where[0, 0] > 0.095
    np.testing.assert_allclose(momentum(engine), before, atol=0.12 * np.linalg.norm(before))


def test_a_hand_pulls_one_against_the_other(tmp_path):
    engine = engine_of("modes", cubes(tmp_path, [[0, 0, 0.051], [0.15, 0, 0.051]]), quiet)
    play(engine, 0.5)
    corner = engine.bodies[0].positions[np.argmin(engine.bodies[0].positions @ [1.0, 0.1, 1.0])]
    for k in range(90):
        grab = Hold(7, corner, corner + [0.2 * min(k / 60, 1.0), 0.0, 0.0], 0.0, 2.0)
        where = play(engine, 1 / 60, grabs=(grab,))
    assert where[1, 0] > 0.165 and where[1, 0] - where[0, 0] > 0.085, where


def test_what_does_not_touch_passes_through(tmp_path):
    engine = engine_of("modes", cubes(tmp_path, [[0, 0, 0.051], [0.01, 0, 0.2]], contact=None), quiet)
    low, high = play(engine, 2.0)
    assert abs(high[2] - low[2]) < 0.01


def test_it_is_the_same_to_the_last_bit(tmp_path):
    seen = []
    for _ in range(2):
        engine = engine_of("modes", cubes(tmp_path, [[0, 0, 0.051], [0.03, 0.02, 0.2]]), quiet)
        play(engine, 1.0)
        seen.append(engine.positions.tobytes())
    assert seen[0] == seen[1]
