"""Constraints between points: Jacobians of all kinds, and that all ways to enforce one agree where they should."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import solve_ivp
from scipy.sparse.linalg import splu

from solver import catalogue
from solver.constraints.enforcement.interface import RowSystem
from solver.constraints.points.ends import BodyShape, bind_points
from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces

H = 1.0 / 48.0
KINDS = [*catalogue.family("constraint")]
WAYS = catalogue.family("enforcement")


def shapes():
    """A box of tetrahedra, and above it cloth of two triangles with a rope along one of their sides."""
    box, tets = box_tets((2, 2, 2), (0.2, 0.2, 0.2))
    sheet = np.array([[-0.1, -0.1, 0.25], [0.3, -0.12, 0.26], [0.3, 0.3, 0.22], [-0.1, 0.3, 0.25]])
    start = len(box)
    low = BodyShape("Low", np.arange(start), tets, boundary_faces(tets)[0], np.zeros((0, 2), np.int32))
    skin = start + np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    high = BodyShape("High", start + np.arange(4), np.zeros((0, 4), np.int32), skin,
                 start + np.array([[0, 2], [2, 3]], np.int32))
    return np.concatenate([box, sheet]), low, high, tets


@pytest.mark.parametrize("radius", [0.0, 0.03, 0.15])
def test_points_are_affine_in_the_nodes_around_them(radius):
    """Inside, on an edge and far outside, so that forces and torques on the body are those of the point."""
    rest, low, _, _ = shapes()
    points = np.array([[0.07, 0.09, 0.11], [0.2, 0.2, 0.1], [0.1, 0.05, 0.35]])
    end = bind_points(low, points, rest, radius)
    assert np.allclose(end.weights.sum(axis=1), 1.0, atol=1e-12)
    assert np.allclose(np.einsum("pw,pwi->pi", end.weights, rest[end.nodes]), points, atol=1e-12)
    assert (radius > 0.1) == bool(((end.weights != 0.0).sum(axis=1) > 8).all()), "more of it, the wider"


def made(kind):
    """A constraint of this kind from the box to the cloth and positions at which its rows are not all 0."""
    rest, low, high, _ = shapes()
    points = np.array([[0.1, 0.08, 0.2], [0.16, 0.13, 0.2]])
    entry = catalogue.find("constraint", kind)
    params = {param.key: param.default for param in entry.params}
    one = entry.load()(bind_points(low, points, rest), bind_points(high, points, rest), rest, params, None)
    return one, rest


def system(kind, seed=4, scale=1.0):
    """A stage of both bodies, tied to their nodes' neighbours by springs, and the kind's rows with φ of 1 mm."""
    one, rest = made(kind)
    tets = shapes()[3]
    rng = np.random.default_rng(seed)
    x = rest + 1e-3 * rng.standard_normal(rest.shape)
    count = len(rest)
    edges = np.unique(np.sort(np.concatenate([tets[:, [i, j]] for i in range(4) for j in range(i)]), axis=1), axis=0)
    edges = np.concatenate([edges, count - 4 + np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])])
    gradient = sp.csr_array((np.tile([-1.0, 1.0], len(edges)), (np.repeat(np.arange(len(edges)), 2), edges.ravel())),
                            shape=(len(edges), count))
    mass = 0.01 + 0.02 * rng.random(count)
    one_way = sp.diags_array(mass) + H**2 * 50.0 * scale * gradient.T @ gradient
    A = sp.csc_array(sp.kron(one_way, np.eye(3)))
    rows = one.rows(x, 10.0)
    force = 3.0 + rng.random(len(rows.value))
    return RowSystem(A, np.repeat(mass, 3) * rng.standard_normal(3 * count), splu(A).solve, rows.jacobian(count),
                     rows.value, H, H, sp.csc_array(rows.geometric_stiffness(-force, count)))


@pytest.mark.parametrize("kind", KINDS)
def test_jacobian_is_the_slope_of_the_rows(kind):
    one, rest = made(kind)
    # where the rows vanish: bodies as far as the constraint wants them
    x = rest.copy()
    for _ in range(30):
        rows = one.rows(x, 10.0)
        J = rows.jacobian(len(x)).toarray()
        x -= (np.linalg.pinv(J, rcond=1e-8) @ rows.value).reshape(-1, 3)
    assert np.abs(one.rows(x, 10.0).value).max() < 1e-13
    way, step = np.random.default_rng(1).standard_normal(x.shape), 1e-6
    slope = (one.rows(x + step * way, 10.0).value - one.rows(x - step * way, 10.0).value) / (2 * step)
    J = one.rows(x, 10.0).jacobian(len(x))
    assert J.shape[0] == len(slope) and np.abs(slope).max() > 0.1
    assert np.allclose(J @ way.ravel(), slope, atol=1e-7)
    # moved as a whole nothing changes
    assert np.abs(one.rows(x + [3.0, -2.0, 1.0], 10.0).value).max() < 1e-13


def test_curvature_of_a_distance_is_the_slope_of_its_jacobian():
    one, rest = made("distance")
    x = rest + 1e-2 * np.random.default_rng(2).standard_normal(rest.shape)
    way, step, count = np.random.default_rng(3).standard_normal(x.shape), 1e-6, len(x)
    ahead, back = (one.rows(x + sign * step * way, 0.0).jacobian(count) for sign in (1, -1))
    change = (ahead - back) / (2 * step)
    found = one.rows(x, 0.0).geometric_stiffness(np.array([2.0]), count) @ way.ravel()
    assert np.allclose(found, 2.0 * change.toarray()[0], atol=1e-6 * np.abs(found).max())


@pytest.mark.parametrize("kind", KINDS)
def test_penalty_goes_to_compliant_and_that_to_hard(kind):
    """At one compliance penalty and multipliers are one answer; what is left to the hard one is in proportion to it."""
    stage = system(kind)
    hard = WAYS["hard"].load()().solve(stage, np.zeros(len(stage.value)))
    assert np.abs(stage.value + H * (stage.jacobian @ hard.v)).max() < 1e-9
    left = []
    for alpha in (1e-4, 1e-5, 1e-6):
        every = np.full(len(stage.value), alpha)
        penalty, compliant = (WAYS[key].load()().solve(stage, every) for key in ("penalty", "compliant"))
        size = np.abs(hard.v).max()
        assert np.abs(penalty.v - compliant.v).max() < 1e-9 * size
        assert np.abs(penalty.impulse - compliant.impulse).max() < 1e-7 * np.abs(hard.impulse).max()
        left.append(np.abs(compliant.v - hard.v).max() / size)
    assert left[0] > 1e-8, "a soft constraint is another one"
    assert left[1] == pytest.approx(0.1 * left[0], rel=0.2) and left[2] == pytest.approx(0.01 * left[0], rel=0.2)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_mass_modification_is_the_hard_one_for_rows_of_single_nodes(count):
    """A node on a plane, on a line, and at a place that moves."""
    stage = system("ball")
    turned = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0]
    J = sp.lil_array((count + 1, stage.matrix.shape[0]))
    J[:count, 9:12] = turned[:count]
    J[count, 30:33] = turned[0]
    value = 1e-3 * np.array([1.0, -2.0, 0.5, 0.7])[: count + 1]
    rows = RowSystem(stage.matrix, stage.rhs, stage.respond, sp.csr_array(J), value, H, H)
    hard, modified = (WAYS[key].load()().solve(rows, np.zeros(count + 1)) for key in ("hard", "mass_modification"))
    assert np.abs(hard.v - modified.v).max() < 1e-10 * np.abs(hard.v).max()
    assert np.abs(hard.impulse - modified.impulse).max() < 1e-10 * np.abs(hard.impulse).max()
    with pytest.raises(ValueError, match="joins several"):
        WAYS["mass_modification"].load()().solve(stage, np.zeros(len(stage.value)))


def test_redundant_rows_share_and_contradictory_ones_are_refused():
    stage = system("distance")
    twice = sp.csr_array(sp.vstack([stage.jacobian, stage.jacobian]))

    def with_values(*values):
        return RowSystem(stage.matrix, stage.rhs, stage.respond, twice, np.array(values), H, H)

    hard = WAYS["hard"].load()()
    once = hard.solve(RowSystem(stage.matrix, stage.rhs, stage.respond, stage.jacobian, np.array([1e-3]), H, H),
                      np.zeros(1))
    both = hard.solve(with_values(1e-3, 1e-3), np.zeros(2))
    assert len(both.redundant) == 1 and len(once.redundant) == 0
    assert np.abs(both.v - once.v).max() < 1e-8 * np.abs(once.v).max()
    assert both.impulse.sum() == pytest.approx(once.impulse[0], rel=1e-8)
    with pytest.raises(ValueError, match="contradicts"):
        hard.solve(with_values(1e-3, 2e-3), np.zeros(2))


def rod(rest):
    """A distance between two points, (2, 3)."""
    ends = [bind_points(BodyShape(f"{k}", np.array([k]), np.zeros((0, 4), np.int32), np.zeros((0, 3), np.int32),
                        np.zeros((0, 2), np.int32)), rest[k:k + 1], rest) for k in (0, 1)]
    return catalogue.find("constraint", "distance").load()(*ends, rest, {"at_most": False}, None)


def pendulum(way, alpha, h, seconds, length=1.0):
    """Two masses on a rod, one of them so heavy that it stays: angles and energies over time by a symplectic step."""
    x = np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])
    one = rod(x)
    mass, g = np.array([1e9, 1.0]), np.array([0.0, 0.0, -9.81])
    each, v, energies, angles = np.repeat(mass, 3), np.zeros((2, 3)), [], []
    for _ in range(round(seconds / h)):
        rows = one.rows(x, 0.0)
        force = np.outer([0.0, 1.0], g)
        stage = RowSystem(sp.csc_array(sp.diags_array(each)), each * v.ravel() + h * force.ravel(),
                          lambda right: right / each[:, None], rows.jacobian(2), rows.value, h, h, velocity=v.ravel())
        v = way.solve(stage, np.array([alpha])).v.reshape(2, 3)
        x = x + h * v
        energies.append(0.5 * v[1] @ v[1] - g @ x[1])
        angles.append(np.arctan2(x[1, 2], x[1, 0]))
    return np.array(angles), np.array(energies), np.array(np.linalg.norm(x[1] - x[0]) - length)


def test_symplectic_step_keeps_the_energy_that_the_implicit_one_loses():
    symplectic = catalogue.find("reference", "symplectic").load()()
    _, energy, _ = pendulum(symplectic, 1e-5, 1e-3, 6.0)
    assert np.abs(energy).max() < 0.02 * 9.81
    late, early = np.abs(energy[-2000:]).max(), np.abs(energy[:2000]).max()
    assert late < 1.5 * early + 1e-6, "its error is bounded"


def test_acceleration_rows_drift_and_stabilised_ones_do_not():
    """Against the exact angle of a pendulum; the error of the length grows without ω."""
    rest = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    one = rod(rest)
    mass, g = np.array([1e12, 1.0]), 9.81

    def swing(rate, method, tolerance):
        reference = catalogue.find("reference", "acceleration").load()(rate)

        def slope(_, state):
            x, v = state[:6].reshape(2, 3), state[6:].reshape(2, 3)
            a, _ = reference.solve(mass, np.array([[0.0, 0, 0], [0, 0, -g]]), one.rows(x, 0.0), v)
            return np.concatenate([v.ravel(), a.ravel()])

        end = solve_ivp(slope, (0.0, 10.0), np.concatenate([rest.ravel(), np.zeros(6)]), method, rtol=tolerance,
                        atol=tolerance).y[:6, -1].reshape(2, 3)
        return end[1], abs(np.linalg.norm(end[1] - end[0]) - 1.0)

    exact = solve_ivp(lambda _, s: [s[1], -g * np.cos(s[0])], (0.0, 10.0), [0.0, 0.0], "DOP853", rtol=1e-12,
                      atol=1e-12).y[0, -1]
    at, off = swing(0.0, "DOP853", 1e-11)
    assert np.abs(at - [np.cos(exact), 0.0, np.sin(exact)]).max() < 1e-6 and off < 1e-8
    drift, stabilised = swing(0.0, "RK45", 1e-4)[1], swing(20.0, "RK45", 1e-4)[1]
    assert drift > 10.0 * stabilised and stabilised < 1e-4
