"""Rest of bodies against closed forms."""

import numpy as np
import pytest
import scipy.optimize
from bodies import box, make, positions

from solver.assembly.pattern import Pattern, node_graph
from solver.linear.choose import choose
from solver.nonlinear.equilibrium import equilibrium


@pytest.mark.parametrize("stretch", [0.6, 1.3, 2.0])
@pytest.mark.parametrize("poisson", [0.3, 0.45])
def test_uniaxial_bar_is_the_closed_form(stretch, poisson):
    """Ends held at a stretch and narrowed: the sides carry no stress. [Smith 2018]"""
    nodes, tets = box((4, 2, 2), (0.2, 0.1, 0.1))
    young = 3e4
    mu, lam = young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    mu, lam = 4 / 3 * mu, lam + 5 / 6 * mu

    def stress(a, s):
        square, volume = a * a + 2 * s * s, a * s * s
        shear, pressure = mu * (1 - 1 / (square + 1)), lam * (volume - 1) - 0.75 * mu
        return shear * a + pressure * s * s, shear * s + pressure * a * s

    side = scipy.optimize.brentq(lambda s: stress(stretch, s)[1], 0.2, 3.0)
    pull = stress(stretch, side)[0]

    # the state is homogeneous, so linear tetrahedra are exact
    world = make(nodes, tets, young=young, poisson=poisson, gravity=(0, 0, 0))
    x = nodes * [stretch, side, side]
    lin = world.linearise_at(x, None, 0.0)
    inside = nodes[:, 0] > 1e-9, nodes[:, 0] < 0.2 - 1e-9
    assert np.abs(lin.force[:, 1:]).max() <= 1e-9 * abs(pull)
    assert np.abs(lin.force[inside[0] & inside[1]]).max() <= 1e-9 * abs(pull)
    assert -lin.force[~inside[1], 0].sum() == pytest.approx(pull * 0.1 * 0.1, rel=1e-9)

    # and the solver finds it from a wrong width
    ends = np.flatnonzero(~(inside[0] & inside[1]))
    fixed = np.setdiff1d(np.arange(len(nodes)), ends).astype(np.int32)
    start = nodes * [stretch, 1.0, 1.0]
    start[ends] = x[ends]
    found = equilibrium(world, start, 0.0, fixed, world.tets, type(world.linear)(), tolerance=1e-12)
    assert np.abs(found - x).max() <= 1e-9


def relative_stiffness(layers):
    """Weight over tip deflection of half a symmetric beam, 1 : 5, small load; over Timoshenko's.

    Its root is a plane of symmetry that carries the weight as a parabola of shear, so no corner is singular and
    Timoshenko's assumptions hold there, which a clamped face spoils by 1-2 %.
    """
    height, young, poisson, density, gravity = 0.04, 1e6, 0.3, 1000.0, 1e-3
    length = 5 * height
    nodes, tets = box((5 * layers, layers, layers), (length, height, height))
    world = make(nodes, tets, young=young, poisson=poisson, density=density, method="vanilla", gravity=(0, 0, -gravity))
    lin = world.linearise_at(nodes, None, 0.0)
    root = np.flatnonzero(nodes[:, 0] < 1e-9)
    y, z = nodes[root, 1] / height - 0.5, nodes[root, 2] / height - 0.5
    area_share = np.where(np.abs(np.abs(y) - 0.5) < 1e-9, 0.5, 1.0) * np.where(np.abs(np.abs(z) - 0.5) < 1e-9, 0.5, 1.0)
    shear_share = area_share * (1 - 4 * z * z + 1 / (3 * layers**2))
    force = lin.force.copy()
    force[root, 2] -= force[:, 2].sum() * shear_share / shear_share.sum()

    # symmetry holds the root along x; three more rows stop the rigid motions that are left and carry nothing
    pattern = Pattern(world.tets, world.linear.order(node_graph(world.tets, len(nodes))), len(nodes))
    pattern.gather(lin.blocks, lin.node_blocks, -1.0, np.zeros(len(nodes)))
    middle, side = root[np.argmin(y**2 + z**2)], root[np.argmin((y - 0.5) ** 2 + z**2)]
    fixed = np.concatenate([3 * pattern.position[root], 3 * pattern.position[middle] + [1, 2],
                           [3 * pattern.position[side] + 2]])
    keep = np.setdiff1d(np.arange(pattern.size), fixed)
    lower = pattern.matrix()[keep][:, keep].tocsc()
    lower.sort_indices()
    solver = choose()
    solver.analyse(lower, 0)
    solver.factor(lower)
    moved = np.zeros(pattern.size)
    moved[keep] = solver.solve(force[pattern.order].ravel()[keep])
    down = np.zeros(len(nodes))
    down[pattern.order] = -moved.reshape(-1, 3)[:, 2]
    tip = down[nodes[:, 0] > length - 1e-9].mean() - np.average(down[root], weights=area_share)

    area, second, shear = height**2, height**4 / 12, young / (2 * (1 + poisson))
    load = density * area * gravity
    kappa = 10 * (1 + poisson) / (12 + 11 * poisson)
    return (load * length**4 / (8 * young * second) + load * length**2 / (2 * kappa * shear * area)) / tip


def test_cantilever_converges_to_timoshenko():
    """Linear tetrahedra are stiff in bending; the extra stiffness falls with the square of the layers."""
    ratios = np.array([relative_stiffness(layers) for layers in (6, 8, 12)])
    print("\nstiffness over Timoshenko's at 6, 8, 12 layers:", np.round(ratios, 4))
    a, b, c = 1 / 6, 1 / 8, 1 / 12
    rise = (ratios[0] - ratios[2]) / (ratios[1] - ratios[2])
    order = scipy.optimize.brentq(lambda p: rise - (a**p - c**p) / (b**p - c**p), 0.5, 4.0)
    limit = ratios[2] + (ratios[2] - ratios[1]) * c**2 / (b**2 - c**2)
    assert order == pytest.approx(2.0, abs=0.2)
    assert limit == pytest.approx(1.0, abs=0.01)
    assert ratios[0] == pytest.approx(1.11, abs=0.02)  # what the panel tells the artist


def test_quasistatic_start_is_in_balance_and_free_bodies_keep_their_shape():
    nodes, tets = box()
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    world = make(nodes, tets, pinned=pinned, quasistatic_start=True)
    x = positions(world, world.initial_state())
    free = world.coordinates.free
    assert np.abs(world.linearise_at(x, None, 0.0).force[free]).max() <= 1e-8
    assert x[:, 2].min() < -1e-3
    floating = make(nodes, tets, quasistatic_start=True)
    assert np.array_equal(positions(floating, floating.initial_state()), nodes)
