"""Velocities through remeshing at features: new vertices slide, and material and momentum go on as they did."""

from dataclasses import replace

import numpy as np
from conformed_sheets import conformed, draped
from sheets_eol import world_velocities
from sliding_sheets import SIDE, box_features, flat

from solver.sheet.adapt import adapt
from solver.sheet.runs import Runs
from solver.sheet.sizing import Sizing
from solver.sheet.transfer import gradients_at, sliding


def test_new_vertices_slide_and_their_material_keeps_its_velocity():
    mesh = flat(12)
    rng = np.random.default_rng(3)
    smooth = mesh.material @ rng.normal(size=(2, 3)) + rng.normal(size=3)
    mesh = replace(mesh, v=smooth)
    found = conformed(mesh)
    made = found.mesh
    at = found.inserted
    assert len(at) > 20 and np.any(made.slide[at] != 0.0)
    world = made.v[at] - np.einsum("kij,kj->ki", made.polar_gradients[at], made.slide[at])
    Y = np.linalg.lstsq(np.column_stack([mesh.material, np.ones(len(mesh.x))]), smooth, rcond=None)[0]
    assert np.abs(world - np.column_stack([made.material[at], np.ones(len(at))]) @ Y).max() < 1e-9
    # a field that is linear is carried exactly by linear interpolation: nothing is lost but what vertices have moved
    assert np.linalg.norm(found.momentum) < 1e-9 * np.linalg.norm(mesh.momentum)


def test_momentum_changes_little_where_velocities_are_not_linear():
    mesh = flat(16)
    X = mesh.material
    mesh = replace(mesh, v=np.column_stack([np.sin(4 * X[:, 0]), np.cos(3 * X[:, 1]), np.sin(5 * X[:, 0] * X[:, 1])]))
    found = conformed(mesh)
    assert 0.0 < np.linalg.norm(found.momentum) < 2e-3 * SIDE**2


def test_sliding_against_the_dense_system_of_the_paper():
    rng = np.random.default_rng(0)
    F, world, feature = rng.normal(size=(20, 3, 2)), rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    across = rng.normal(size=(20, 2))
    across /= np.linalg.norm(across, axis=1)[:, None]
    across[10:] = 0.0
    v, slide = sliding(world, F, across, feature)
    for k in range(20):
        A = across[k:k + 1] if k < 10 else np.zeros((0, 2))
        dense = np.block([[F[k].T @ F[k], A.T], [A, np.zeros((len(A), len(A)))]])
        expected = np.linalg.solve(dense, np.concatenate([-F[k].T @ (world[k] - feature[k]), np.zeros(len(A))]))[:2]
        assert np.allclose(slide[k], expected, rtol=1e-9, atol=1e-12)
        assert np.allclose(v[k] - F[k] @ slide[k], world[k], rtol=0, atol=1e-12)


def test_gradients_of_some_vertices_are_those_of_the_whole():
    mesh = conformed(draped(10), box_features((0, -1, 0), (1, 2, 1))).mesh
    some = np.array([3, 40, 77, len(mesh.x) - 1])
    assert np.allclose(gradients_at(mesh, some), mesh.polar_gradients[some], rtol=0, atol=1e-12)


def test_the_materials_velocity_is_the_same_before_and_after_remeshing():
    """One that grows evenly over a flat sheet: what comes onto an edge slides, and ẋ − F Ẋ stays; so it does where
    triangles become finer, and where all of it is let go again."""
    turn = np.array([[0.3, -0.5], [0.8, 0.1], [-0.2, 0.6]])
    mesh = flat(8)

    def wanted(sheet):
        return sheet.material @ turn.T + [0.1, -0.2, 0.05]

    moves = replace(mesh, v=wanted(mesh))
    made = conformed(moves).mesh
    assert (made.on >= 0).sum() > 8 and np.abs(made.slide).max() > 0.1
    assert np.abs(world_velocities(made) - wanted(made)).max() < 1e-12
    features = box_features()
    runs = Runs(features)
    finer = adapt(replace(made, on=runs.from_edges(made.on)), Sizing(0.02, 0.06), runs.points, runs.ends).mesh
    assert len(finer.x) > 1.5 * len(made.x)
    assert np.abs(world_velocities(finer) - wanted(finer)).max() < 1e-12
    off = conformed(made, free=np.ones(len(made.x), dtype=bool)).mesh
    assert np.abs(world_velocities(off) - wanted(off)).max() < 1e-12
