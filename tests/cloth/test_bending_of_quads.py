"""Bending of a grid of quads is that of the sheet, whichever way each of them is cut in two."""

import numpy as np
import pytest
from sheets import grid, sheet_of

from solver.forces.cloth.hinge_bending import HingeBending
from solver.forces.cloth.quadratic_bending import QuadraticBending

LAWS = {"quadratic": QuadraticBending, "hinge": HingeBending}
STIFF = 0.01  #: [N m]
CUTS = ("alike", "alternating", "at random")


def sheet_cut(cut, cells_x, cells_y, size_x, size_y):
    """A rectangle of quads whose diagonals run so."""
    rest, triangles = grid(cells_x, cells_y, size_x, size_y, alternate=cut == "alternating")
    if cut == "at random":
        quads = triangles.reshape(-1, 2, 3).copy()
        for k in np.flatnonzero(np.random.default_rng(3).random(len(quads)) < 0.5):
            a, b, c, d = *quads[k, 0], quads[k, 1, 2]
            quads[k] = [[a, b, d], [b, c, d]]
        triangles = quads.reshape(-1, 3)
    return sheet_of(rest, triangles)


def energy(law, x):
    return law.measure(x, np.zeros((len(law.nodes), 4, 3)))


def stiffness(law, n):
    """−∂f/∂z of flat sheets moved out of their plane, (n, n), by the forces of one node after the other."""
    out = np.zeros((n, n))
    flat = np.zeros((n, 3))
    for i in range(n):
        moved, forces = flat.copy(), np.zeros((len(law.nodes), 4, 3))
        moved[i, 2] = 1.0
        law.measure(moved, forces)
        np.add.at(out[:, i], law.nodes.ravel(), -forces[:, :, 2].ravel())
    return out


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("shape", [(1.0, 1.0), (1.0, 0.6)])
@pytest.mark.parametrize("kind", LAWS)
def test_a_roll_about_any_axis_has_half_k_a_curvature_squared(cut, shape, kind):
    """About the sides, both diagonals and between: what is missing is half a cell at each border, less the finer."""
    radius, sizes = 0.5, (0.5 * shape[0], 0.5 * shape[1])
    for degrees in (0, 45, 90, 135, 20, 110):
        along, errors = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]), []
        for cells in (16, 32):
            sheet = sheet_cut(cut, cells, cells, *sizes)
            u, v = sheet.rest[:, :2] @ along, sheet.rest[:, :2] @ [-along[1], along[0]]
            x = np.column_stack([radius * np.sin(u / radius), v, radius * (1 - np.cos(u / radius))])
            found = energy(LAWS[kind](sheet, {"bending_stiffness": STIFF}), x)
            errors.append(found / (0.5 * STIFF * sizes[0] * sizes[1] / radius**2) - 1.0)
        assert abs(errors[1]) < 0.04 and abs(errors[1]) < 0.6 * abs(errors[0]), (degrees, errors)


@pytest.mark.parametrize("shape", [(1.0, 1.0), (1.0, 0.6)])
def test_how_quads_are_cut_is_no_matter(shape):
    """To small bending, not even at the border."""
    found = [stiffness(QuadraticBending(sheet_cut(cut, 6, 5, *shape), {"bending_stiffness": STIFF}), 42)
             for cut in CUTS]
    for other in found[1:]:
        assert np.abs(other - found[0]).max() <= 1e-12 * np.abs(found[0]).max()
    # only what is flat has no energy: nothing folds or zigzags for free
    assert (np.linalg.eigvalsh(found[0]) > 1e-6 * np.abs(found[0]).max()).sum() == 42 - 3


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("width", [0.075, 0.3])
def test_a_clamped_strip_sinks_as_a_beam_does(cut, width):
    """By w L⁴/8 B at its end; a hinge bends as the half cells on both sides do, so the clamp is between two columns."""
    length, cells = 0.3, 16
    step = length / cells
    sheet = sheet_cut(cut, cells + 1, max(2, round(width / step)), length + step, width)
    matrix = stiffness(QuadraticBending(sheet, {"bending_stiffness": 1.0}), len(sheet.rest))
    mass = np.zeros(len(sheet.rest))
    np.add.at(mass, sheet.triangles.ravel(), np.repeat(sheet.areas / 3.0, 3))
    free = sheet.rest[:, 0] > step + 1e-9
    sunk = np.linalg.solve(matrix[np.ix_(free, free)], mass[free])
    tip = sunk[sheet.rest[free, 0] > length + step - 1e-9].mean()
    assert tip == pytest.approx((length + 0.5 * step) ** 4 / 8, rel=0.01)


def test_each_triangle_may_have_a_material_space_of_its_own():
    """As without a UV map."""
    sheet = sheet_cut("at random", 6, 5, 1.0, 0.6)
    rng, turned = np.random.default_rng(4), sheet.material.copy()
    for corners in turned:
        angle, flip = rng.uniform(0, 6), rng.choice([-1.0, 1.0])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        corners[:] = corners @ (turn * [flip, 1.0])
        corners += rng.normal(size=2)
    found = [stiffness(QuadraticBending(sheet_of(sheet.rest, sheet.triangles, material), {"bending_stiffness": STIFF}),
                       42) for material in (sheet.material, turned)]
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-12 * np.abs(found[0]).max())


@pytest.mark.parametrize("kind", LAWS)
def test_what_is_curved_at_rest_stays_so(kind):
    """Laws that remember their rest do; if a UV map has both halves of a quad in different sizes they are none."""
    sheet = sheet_cut("alike", 6, 5, 0.6, 0.5)
    curved = sheet.rest.copy()
    curved[:, 2] = 0.05 * np.sin(9.0 * curved[:, 0] + 4.0 * curved[:, 1])
    torn = sheet.material.copy()
    torn[::2] *= 1.1
    whole, parted = (LAWS[kind](sheet_of(curved, sheet.triangles, material), {"bending_stiffness": STIFF})
                     for material in (sheet.material, torn))
    assert len(parted.nodes) == len(sheet.hinges.nodes) < len(whole.nodes)
    if kind == "hinge":
        assert energy(whole, curved) <= 1e-20
