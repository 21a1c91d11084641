"""Kernels of sheets against the same formulas in numpy."""

import numpy as np
from sheets import grid, sheet_of

from solver.forces.cloth.air import Air
from solver.forces.cloth.quadratic_bending import QuadraticBending
from solver.forces.stencils import Stencils


def crumpled(seed=0):
    rest, triangles = grid(5, 4, 0.5, 0.7)
    rng = np.random.default_rng(seed)
    rest[:, :2] += 0.03 * rng.normal(size=(len(rest), 2))
    return sheet_of(rest, triangles), rest + 0.05 * rng.normal(size=rest.shape)


def test_areas_and_gradients_of_shape_functions():
    sheet, _ = crumpled()
    M = np.concatenate([np.ones((len(sheet.triangles), 3, 1)), sheet.material], axis=2)
    # N_a(X) = (1, X) · column a of M⁻¹, and the determinant of M is twice the area
    np.testing.assert_allclose(sheet.gradients, np.linalg.inv(M)[:, 1:].transpose(0, 2, 1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sheet.areas, 0.5 * np.abs(np.linalg.det(M)), rtol=1e-12)


def test_quadratic_bending_is_its_formula():
    sheet, x = crumpled()
    law, hinges = QuadraticBending(sheet, {"bending_stiffness": 3e-3}), sheet.bends
    at_a, at_b, other_a, other_b = hinges.cotangents.T
    c = np.column_stack([at_b + other_b, at_a + other_a, -at_a - at_b, -other_a - other_b])
    k = 3e-3 * hinges.weight / hinges.areas.sum(axis=1)
    curvature = np.einsum("ha,hai->hi", c, x[hinges.nodes])
    forces, blocks = np.full((len(k), 4, 3), np.nan), np.full((len(k), 6, 9), np.nan)
    law.fill(x, True, forces, blocks)
    np.testing.assert_allclose(forces, -k[:, None, None] * c[:, :, None] * curvature[:, None], rtol=1e-13, atol=1e-18)
    np.testing.assert_allclose(law.energies, 0.5 * k * np.square(curvature).sum(axis=1), rtol=1e-13)
    pairs = np.column_stack([-k * c[:, a] * c[:, b] for a in range(1, 4) for b in range(a)])
    np.testing.assert_allclose(blocks, pairs[:, :, None] * np.eye(3).ravel(), rtol=1e-13, atol=0.0)


def test_forces_of_elements_are_added_at_their_nodes():
    rng = np.random.default_rng(1)
    nodes, forces, out = rng.integers(0, 9, (40, 3)), rng.normal(size=(40, 3, 3)), rng.normal(size=(9, 3))
    expected = out.copy()
    np.add.at(expected, nodes, forces)
    Stencils(nodes, forces, np.zeros((40, 3, 9)), 0.0).add_forces(out)
    np.testing.assert_array_equal(out, expected)


def test_drag_of_the_air_is_its_formula():
    sheet, x = crumpled()
    rng = np.random.default_rng(2)
    x, v = np.concatenate([x, np.zeros((1, 3))]), rng.normal(size=(len(x) + 1, 3))
    c_n, c_t = rng.random((2, len(sheet.triangles)))
    damped = Air(len(x) - 1, sheet.triangles, 1.2, c_n, c_t).damp(x, v, 0.0)
    blocks = np.zeros((len(x) - 1, 3, 3))
    for triangle, across, along in zip(sheet.triangles, c_n, c_t):
        a, b, c = x[triangle]
        normal = np.cross(b - a, c - a)
        area, n = 0.5 * np.linalg.norm(normal), normal / np.linalg.norm(normal)
        speed = v[triangle].mean(axis=0) - v[-1]
        slid = np.linalg.norm(speed - speed @ n * n)
        C = 0.5 * 1.2 * area * (across * abs(speed @ n) * np.outer(n, n) + along * slid * (np.eye(3) - np.outer(n, n)))
        blocks[triangle] += C / 3.0
    np.testing.assert_allclose(damped.blocks.reshape(-1, 3, 3), blocks, rtol=1e-12, atol=1e-15)
