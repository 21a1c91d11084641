"""Live bodies collide with meshes, and with the ground at its current height."""

import numpy as np
import pytest
from small_jobs import box_tets, change, write_job
from solids import ball
from test_playing import DOWN, SOLVED, quiet

from solver.job.load import load
from solver.live.bumps import FILES, Bump, BumpMesh, Clearances, planes_before, shapes_of
from solver.live.engines.interface import Inputs
from solver.live.run import engine_of

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
SIDES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
                  [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]], np.int32)

H = 1 / 60  #: [s]


def block(low, high):
    """Return vertices and triangles of a box."""
    return np.asarray(low) + CORNERS * (np.asarray(high) - np.asarray(low)), SIDES


def moved(x=0.0, y=0.0, z=0.0):
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


@pytest.fixture()
def engine(tmp_path):
    """Return the engine of a soft box of 20 cm in free fall."""
    nodes, tets = box_tets((4, 2, 2), (0.2, 0.1, 0.1))
    body = {"name": "Box", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 5e4, "poisson_ratio": 0.4}},
            "wobble_half_life": 0.2}
    scene = {"version": 1, "name": "box", "time": {"start": 1, "end": 1, "fps": 30, "step": 1 / 60},
             "bodies": [body], **SOLVED}
    folder = write_job(tmp_path / "job", scene, {"nodes": nodes, "tets": tets})
    made = engine_of("modes", folder, quiet)
    made.folder = folder
    return made


def play(engine, seconds, **inputs):
    for _ in range(round(60 * seconds)):
        engine.step(0, Inputs(DOWN, **inputs))
    assert engine.restarts == 0
    return engine.positions


def test_points_inside_go_to_the_nearest_surface():
    shape = BumpMesh(*block([0, 0, 0], [1, 1, 1]))
    points = np.array([[0.5, 0.5, 0.95], [0.5, 0.5, 1.2], [0.03, 0.5, 0.4]])
    planes = planes_before([Bump(shape, np.eye(4))], points, points, H)
    np.testing.assert_array_equal(planes.points, [0, 2])
    np.testing.assert_allclose(planes.positions, [[0.5, 0.5, 1.0], [0.0, 0.5, 0.4]], atol=1e-9)
    np.testing.assert_allclose(planes.normals, [[0, 0, 1], [-1, 0, 0]], atol=1e-9)
    planes = planes_before([Bump(shape, moved(z=0.3))], points, points, H)
    np.testing.assert_array_equal(planes.points, [1, 2])
    np.testing.assert_allclose(planes.positions[0], [0.5, 0.5, 1.3], atol=1e-9)


def test_points_that_are_far_are_not_looked_for_in_each_step(monkeypatch):
    """Planes are identical with and without the cached clearances, also where the mesh moves and where a body is
    reset."""
    random, shape, clearances, looked = np.random.default_rng(4), BumpMesh(*ball(24)), Clearances(), []
    nearest = shape.mesh._nearest
    monkeypatch.setattr(shape.mesh, "_nearest", lambda placed, points, reach: (
        looked.append(len(points)) or nearest(placed, points, reach)))
    way = random.normal(size=(300, 3))
    start = points = way / np.linalg.norm(way, axis=1, keepdims=True) * np.linspace(0.9, 2.5, 300)[:, None]
    with_them, without = 0, 0
    for k in range(20):
        bump = Bump(shape, moved(x=0.02 * k), before=moved(x=0.02 * (k - 1)))
        origins = start if k == 10 else points
        end = origins + 0.02 * random.normal(size=origins.shape)
        shape.mesh._is_closed = True
        planes = planes_before([bump], origins, end, H, 0.05, clearances)
        with_them, looked[:] = with_them + sum(looked), []
        shape.mesh._is_closed = False  # by reach alone
        expected = planes_before([bump], origins, end, H, 0.05)
        without, looked[:] = without + sum(looked), []
        assert len(expected.points) > 20
        for name in ("points", "positions", "normals", "speed"):
            np.testing.assert_array_equal(getattr(planes, name), getattr(expected, name))
        points = end
    assert with_them < 0.6 * without, (with_them, without)


def test_a_ball_pushes_along_its_normals():
    shape = BumpMesh(*ball())
    way = np.random.default_rng(1).normal(size=(50, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    inside = 0.9 * way + [2.0, 0.0, 0.0]
    planes = planes_before([Bump(shape, moved(x=2.0))], inside, inside, H)
    assert len(planes.points) == 50
    np.testing.assert_allclose(planes.positions - [2.0, 0.0, 0.0], way, atol=0.05)


def test_planes_go_with_a_mesh_that_is_turned_scaled_and_moved():
    """A cube is scaled to a flat plate that is turned upright and moved along x."""
    plate = np.array([[0, 0, 0.1, 3.0], [0, 1, 0, 0], [-2, 0, 0, 2], [0, 0, 0, 1.0]])
    before = plate.copy()
    before[0, 3] -= 0.01
    shape, point = BumpMesh(*block([0, 0, 0], [1, 1, 1])), np.array([[3.095, 0.5, 1.0]])
    planes = planes_before([Bump(shape, plate, before=before)], point, point, H, 0.02)
    np.testing.assert_allclose(planes.positions, [[3.1, 0.5, 1.0]], atol=1e-9)
    np.testing.assert_allclose(planes.normals, [[1, 0, 0]], atol=1e-9)
    np.testing.assert_allclose(planes.speed, [[0.01 / H, 0, 0]], atol=1e-9)


def test_a_plate_is_not_passed_in_a_step(engine):
    """The plate is four centimetres thick; the body falls nearly twice as far in a step."""
    plate = BumpMesh(*block([-1, -1, -1.04], [1, 1, -1.0]))
    assert play(engine, 1.5, bumps=(Bump(plate, np.eye(4)),))[:, 2].min() > -1.02


def test_it_comes_to_rest_on_a_block_and_is_lifted_by_it(engine):
    slab = BumpMesh(*block([-1, -1, -0.5], [1, 1, -0.05]))
    low = play(engine, 1.5, bumps=(Bump(slab, np.eye(4)),))[:, 2].min()
    assert -0.06 < low < -0.045, low
    for k in range(60):
        play(engine, 1 / 60, bumps=(Bump(slab, moved(z=0.2 * (k + 1) / 60)),))
    low = play(engine, 0.5, bumps=(Bump(slab, moved(z=0.2)),))[:, 2].min()
    assert 0.14 < low < 0.155, low


def test_a_block_that_is_moved_against_it_pushes_it_aside(engine):
    slab, wall = BumpMesh(*block([-2, -2, -0.5], [2, 2, 0.0])), BumpMesh(*block([-0.6, -0.5, -0.1], [-0.1, 0.5, 0.5]))
    play(engine, 0.5, bumps=(Bump(slab, np.eye(4)), Bump(wall, np.eye(4))))
    for k in range(60):
        positions = play(engine, 1 / 60, bumps=(Bump(slab, np.eye(4)), Bump(wall, moved(x=0.4 * (k + 1) / 60))))
    assert positions[:, 0].min() > 0.28  # the wall's face is at 0.3


@pytest.mark.parametrize("friction, way", [(0.0, 0.5), (0.05, 0.255), (0.2, 0.0)])
def test_it_slides_by_coulombs_law_along_what_it_rests_on(engine, friction, way):
    """An acceleration a of 1 m/s² for a second moves it by ½ (a − μ g) t², and not at all where μ is more than a /
    g."""
    change(engine.folder, "bodies.0.friction", friction)
    engine.change(load(engine.folder))
    slab = BumpMesh(*block([-2, -2, -0.5], [2, 2, 0.0]))
    play(engine, 0.5, bumps=(Bump(slab, np.eye(4)),))
    before = engine.positions[:, 0].mean()
    for _ in range(60):
        engine.step(0, Inputs(DOWN + [1.0, 0.0, 0.0], bumps=(Bump(slab, np.eye(4)),)))
    assert engine.positions[:, 0].mean() - before == pytest.approx(way, rel=0.15, abs=0.01)


def test_a_belt_takes_it_along(engine):
    slab, speed = BumpMesh(*block([-2, -2, -0.5], [2, 2, 0.0])), 0.3
    play(engine, 0.5, bumps=(Bump(slab, np.eye(4)),))
    before = engine.positions[:, 0].mean()
    for k in range(60):
        play(engine, 1 / 60, bumps=(Bump(slab, moved(x=speed * (k + 1) / 60), before=moved(x=speed * k / 60)),))
    assert engine.positions[:, 0].mean() - before == pytest.approx(speed, rel=0.1)


def test_the_ground_is_where_the_artist_has_it_now(engine):
    change(engine.folder, "ground", {"point": [0, 0, -0.1], "normal": [0, 0, 1], "friction": {"kind": "coulomb"}})
    made = engine_of("modes", engine.folder, quiet)
    assert -0.115 < play(made, 1.5)[:, 2].min() < -0.095
    for k in range(30):
        play(made, 1 / 60, ground=np.array([[0, 0, -0.1 + 0.1 * (k + 1) / 30], [0, 0, 1.0]]))
    assert -0.015 < play(made, 0.5, ground=np.array([[0, 0, 0.0], [0, 0, 1.0]]))[:, 2].min() < 0.005


def test_files_of_a_job_folder_are_read_until_one_lacks(tmp_path):
    for k in (0, 1, 3):
        np.savez(tmp_path / FILES.format(k), vertices=CORNERS, triangles=SIDES)
    assert len(shapes_of(tmp_path)) == 2
    (tmp_path / FILES.format(1)).write_bytes(b"torn")
    assert len(shapes_of(tmp_path)) == 1


def test_a_half_life_does_not_brake_what_falls_and_turns(engine):
    before = engine.positions.mean(axis=0)
    positions = play(engine, 0.5)
    assert before[2] - positions[:, 2].mean() == pytest.approx(0.5 * 9.81 * 0.25, rel=0.05)


@pytest.mark.parametrize("cut", [0, 40])
def test_what_is_far_off_a_closed_mesh_is_not_looked_for(monkeypatch, cut):
    """A mesh with a hole is searched for all near points, which may be on the other side of a sheet."""
    vertices, triangles = ball(16)
    mesh, random = BumpMesh(vertices, triangles[cut:]).mesh, np.random.default_rng(3)
    start = random.uniform(-2.0, 2.0, (400, 3))
    start[:100] *= 0.6  # some of them inside, and near
    end, queries = start + random.uniform(-0.05, 0.05, start.shape), []
    nearest = mesh._nearest
    monkeypatch.setattr(mesh, "_nearest", lambda placed, points, reach: queries.append(len(points))
                        or nearest(placed, points, reach))
    planes = mesh.planes(start, end, 0.0, H, 1.0, 0.02)
    looked = queries[0]
    monkeypatch.setattr(mesh, "_is_closed", False)
    queries.clear()
    every = mesh.planes(start, end, 0.0, H, 1.0, 0.02)
    assert len(planes.points) > 5 and (looked < 0.6 * queries[0]) == (cut == 0)
    for name in ("points", "positions", "normals"):
        np.testing.assert_array_equal(getattr(planes, name), getattr(every, name))
