"""Elements with stretches as unknowns: their condensed system is that of Mixed FEM's equations, derived here by
differences of energies that know nothing of the kernels."""

import numpy as np
import pytest
from scipy.linalg import polar
from test_elastic import made_fibers

from solver import catalogue
from solver.forces.cloth.elements import ClothElements
from solver.forces.elastic import Elastic
from solver.forces.in_stretches import InStretches
from solver.meshing.grid import box_tets
from solver.meshing.volume import shape_gradients

PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
MATERIALS = [key for key in catalogue.family("material") if key != "linear"]


def made(material="stable_neo_hookean", cells=(2, 1, 1), young=None, fibers=None):
    nodes, tets = box_tets(cells, 0.1 * np.array(cells))
    nodes, tets = np.ascontiguousarray(nodes), np.ascontiguousarray(tets)
    rng = np.random.default_rng(0)
    young = rng.uniform(1e4, 1e5, len(tets)) if young is None else young
    entry = catalogue.find("material", material)
    given = {"youngs_modulus": young, "poisson_ratio": np.full(len(tets), 0.3), "mooney_share": np.full(len(tets), 0.3)}
    law = entry.load()
    constants = law.constants(**{param.key: given[param.key] for param in entry.params})
    along = None if fibers is None else made_fibers(fibers, rng.normal(size=(len(tets), 3)))
    return nodes, tets, Elastic(nodes, tets, law, constants, along)


def started(elastic):
    one = InStretches(elastic)
    one.start()
    return one


def tables(one):
    return np.zeros((len(one.tets), 4, 3)), np.zeros((len(one.tets), 6, 9))


def filled(one, x):
    forces, blocks = tables(one)
    one.fill(np.ascontiguousarray(x), True, forces, blocks)
    return forces, blocks


def measured(one, x):
    forces, _ = tables(one)
    return one.measure(np.ascontiguousarray(x), forces), forces


def of_elements(table, count):
    """(b, k, LANES) to (e, k)."""
    return table.transpose(0, 2, 1).reshape(-1, table.shape[1])[:count]


def poses(nodes):
    rng = np.random.default_rng(2)
    return {"rest": nodes, "random": nodes + 0.012 * rng.normal(size=nodes.shape), "pulled": nodes * [1.8, 0.7, 0.9],
            "inverted": nodes * [1.0, -0.7, 1.0], "flat": nodes * [1.0, 1.0, 0.0]}


def gradients(nodes, tets, x):
    """F of each element, (e, 3, 3), and its volume."""
    of_shape, six = shape_gradients(nodes, tets)
    return np.einsum("eai,eaj->eij", x[tets], of_shape), six / 6.0


def stretches(nodes, tets, x):
    """z̄ by the polar decomposition of SciPy, of elements that are right side out, (e, 6)."""
    return np.array([[polar(F)[1][pair] for pair in PAIRS] for F in gradients(nodes, tets, x)[0]])


def scattered(nodes, tets, forces):
    out = np.zeros_like(nodes)
    np.add.at(out, tets, forces[: len(tets)])
    return out


def dense(nodes, tets, blocks):
    out = np.zeros((3 * len(nodes), 3 * len(nodes)))
    for corners, pairs in zip(tets, blocks):
        pair = 0
        for a in range(1, 4):
            for b in range(a):
                i, j, block = 3 * corners[a], 3 * corners[b], pairs[pair].reshape(3, 3)
                out[i:i + 3, j:j + 3] += block
                out[j:j + 3, i:i + 3] += block.T
                out[i:i + 3, i:i + 3] -= block.T
                out[j:j + 3, j:j + 3] -= block
                pair += 1
    return out


@pytest.mark.parametrize("material", MATERIALS)
@pytest.mark.parametrize("pose", ["rest", "random", "pulled", "inverted", "flat"])
def test_where_stretches_are_those_of_positions_forces_and_energy_are_fems(material, pose):
    nodes, tets, elastic = made(material)
    x = np.ascontiguousarray(poses(nodes)[pose])
    forces, blocks = filled(one := started(elastic), x)
    known, _ = tables(one)
    energy = elastic.measure(x, known)
    scale = np.abs(known).max() + 1e-6 * np.abs(blocks).max()  # of what a move of 1e-6 m does
    assert np.abs(forces - known).max() <= 1e-8 * scale
    there, again = measured(one, x)
    assert there == pytest.approx(energy, rel=1e-9, abs=1e-12)
    assert np.abs(again - known).max() <= 1e-8 * scale
    eigenvalues = np.linalg.eigvalsh(dense(nodes, tets, blocks))
    assert eigenvalues.max() <= 1e-9 * -eigenvalues.min()  # K̂ is negative semi-definite wherever it is taken


@pytest.mark.parametrize("fibers", catalogue.family("fiber_material"))
@pytest.mark.parametrize("pose", ["random", "pulled"])
def test_so_they_are_with_fibers(fibers, pose):
    nodes, tets, elastic = made(fibers=fibers)
    x = np.ascontiguousarray(poses(nodes)[pose])
    forces, _ = filled(one := started(elastic), x)
    known, _ = tables(one)
    energy = elastic.measure(x, known)
    assert np.abs(forces - known).max() <= 1e-8 * np.abs(known).max()
    plain = made()[2]
    without = plain.measure(x, tables(one)[0])
    assert measured(one, x)[0] == pytest.approx(energy, rel=1e-9) and abs(energy - without) > 1e-3 * abs(energy)


def on_last_factor(elastic, x, seed=5):
    """Elements whose z has left z̄: after half of a way, linearised at its end; where that is, and what moved."""
    one = started(elastic)
    filled(one, x)
    first = 0.006 * np.random.default_rng(seed).normal(size=x.shape)
    one.follow(first)
    one.set_fraction(0.5)
    one.keep()
    there = np.ascontiguousarray(x + first)  # positions went all the way: z̄ and z differ
    return one, there, filled(one, there)


def test_the_condensed_system_is_the_whole_one():
    """Eq. (5) with all its unknowns, built by differences of z̄ and of stresses at F = S(z), against (6), (7), (8)."""
    nodes, tets, elastic = made()
    one, x, (forces, blocks) = on_last_factor(elastic, poses(nodes)["rest"])
    count, n = len(tets), 3 * len(nodes)
    z = of_elements(one._z, count)
    _, volume = gradients(nodes, tets, x)
    assert np.abs(z - stretches(nodes, tets, x)).max() > 1e-3  # it has left what positions say

    # G_u = ∂(D z̄)/∂x times volume, by differences
    step, D = 1e-6, np.diag([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    G = np.zeros((6 * count, n))
    for k in range(n):
        unit = np.zeros(n)
        unit[k] = step
        ahead, behind = (stretches(nodes, tets, x + sign * unit.reshape(-1, 3)) for sign in (1, -1))
        G[:, k] = (volume[:, None] * ((ahead - behind) / (2 * step) @ D)).ravel()
    # ψ' and its slope by differences, from an element alone whose positions are S times its rest shape
    slope, H = np.zeros((count, 6)), np.zeros((count, 6, 6))
    for element in range(count):
        def psi_slope(values, element=element):
            S = np.zeros((3, 3))
            for (i, j), value in zip(PAIRS, values):
                S[i, j] = S[j, i] = value
            corner = np.zeros((len(elastic.tets), 4, 3))
            elastic.measure(np.ascontiguousarray(nodes @ S), corner)
            of_shape, _ = shape_gradients(nodes, tets)
            # f_a = −V P ∇N_a: P from three corners
            P = -np.linalg.solve(of_shape[element, 1:], corner[element, 1:]).T / volume[element]
            return D @ np.array([0.5 * (P[pair] + P.T[pair]) for pair in PAIRS])

        slope[element] = psi_slope(z[element])
        for k in range(6):
            unit = 1e-6 * np.eye(6)[k]
            H[element, :, k] = (psi_slope(z[element] + unit) - psi_slope(z[element] - unit)) / 2e-6
    assert min(np.linalg.eigvalsh(0.5 * (block + block.T)).min() for block in H) > 0.0  # nothing to clamp

    # all of it: M + H_u, stretches and multipliers μ, where the last are those of D (z̄ − z) volume
    inert = np.full(n, 1e3)
    Gz = -np.kron(np.diag(volume), D)
    Hz = np.zeros((6 * count, 6 * count))
    for element in range(count):
        Hz[6 * element:6 * element + 6, 6 * element:6 * element + 6] = volume[element] * H[element]
    gap = (volume[:, None] * ((stretches(nodes, tets, x) - z) @ D)).ravel()
    load = 0.3 * np.random.default_rng(1).normal(size=n)
    zero = np.zeros
    whole = np.block([[np.diag(inert), zero((n, 6 * count)), G.T],
                      [zero((6 * count, n)), Hz, Gz], [G, Gz, zero((6 * count, 6 * count))]])
    answer = np.linalg.solve(whole, -np.concatenate([-load, (volume[:, None] * slope).ravel(), gap]))
    dx, dz, mu = answer[:n], answer[n:n + 6 * count].reshape(-1, 6), answer[n + 6 * count:].reshape(-1, 6)

    ours = np.linalg.solve(np.diag(inert) - dense(nodes, tets, blocks),
                           load + scattered(nodes, tets, forces).ravel())
    assert np.abs(ours - dx).max() <= 1e-5 * np.abs(dx).max()
    bends = one.follow(np.ascontiguousarray(ours.reshape(-1, 3)))
    assert np.abs(of_elements(one._change, count) - dz).max() <= 1e-5 * np.abs(dz).max()
    assert np.abs(of_elements(one._multipliers, count) - mu @ D).max() <= 1e-5 * np.abs(mu).max()
    assert bends == pytest.approx(dz.ravel() @ Hz @ dz.ravel(), rel=1e-4)


@pytest.mark.parametrize("fibers", [None, *catalogue.family("fiber_material")])
def test_the_lagrangian_falls_as_its_slopes_say(fibers):
    """Its derivative by positions at fixed stretches and multipliers is the force; that by stretches is what `follow`
    returns."""
    nodes, _, elastic = made(fibers=fibers)
    tets = elastic.tets
    one, x, _ = on_last_factor(elastic, poses(nodes)["random"])
    way = 0.003 * np.random.default_rng(8).normal(size=x.shape)
    bends = one.follow(way)
    one.set_fraction(0.0)
    at, forces = measured(one, x)
    step = 1e-4
    ahead, behind = measured(one, x + step * way)[0], measured(one, x - step * way)[0]
    assert (ahead - behind) / (2 * step) == pytest.approx(-np.sum(forces * way[tets]), rel=1e-5)
    stretched = []
    for share in (step, -step):
        one.set_fraction(share)
        stretched.append(measured(one, x)[0])
    # ψ' − λ = −H dz
    assert (stretched[0] - stretched[1]) / (2 * step) == pytest.approx(-bends, rel=1e-4)
    assert bends > 0.0 and np.isfinite(at)


def test_a_turn_costs_nothing_however_far():
    """A rigid motion has z̄ = 1: no force, and A J of its rates is nothing."""
    nodes, tets, elastic = made(young=np.full(12, 1e9))
    c, s = np.cos(2.0), np.sin(2.0)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    forces, blocks = filled(one := started(elastic), nodes @ turn.T)
    spin = np.cross([0.3, -0.2, 0.9], nodes @ turn.T)
    assert np.abs(forces).max() <= 1e-9 * np.abs(blocks).max()
    assert np.abs(dense(nodes, tets, blocks) @ spin.ravel()).max() <= 1e-9 * np.abs(blocks).max()
    assert one.follow(spin) <= 1e-12 * np.abs(blocks).max()  # where Newton's method sees 1e9 Pa of it


@pytest.mark.parametrize("material", MATERIALS)
def test_stretches_stay_positive_definite_where_those_of_positions_are(material):
    """A displacement that would invert z: the element restarts with the stretches of its positions."""
    nodes, tets, elastic = made(material)
    one = started(elastic)
    filled(one, nodes)
    crushing = -1.7 * (nodes - nodes.mean(axis=0)) * [1.0, 0.2, 0.0]
    one.follow(np.ascontiguousarray(crushing))
    one.set_fraction(1.0)
    one.keep()

    def least():
        S = of_elements(one._z, len(tets))[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
        return np.linalg.eigvalsh(S).min()

    assert least() < 0.0
    forces, blocks = filled(one, poses(nodes)["pulled"])
    assert least() > 0.6 and np.isfinite(forces).all() and np.isfinite(blocks).all()


def test_what_sees_how_it_is_turned_and_cloth_stay_as_they_are():
    _, _, elastic = made("linear")
    assert elastic.in_stretches(InStretches) is None and ClothElements.in_stretches(elastic, InStretches) is None
    own = made()[2].in_stretches(InStretches)
    assert isinstance(own, InStretches) and own.in_stretches(InStretches) is own
    for key in MATERIALS:
        law = catalogue.find("material", key).load()
        assert law.is_objective
