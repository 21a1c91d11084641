"""Element forces are the slope of energy, K = ∂f/∂x, and rigid motion and constant strain are exact."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solver import catalogue, threads
from solver.assembly.pattern import NodeSum, Pattern, node_graph
from solver.forces.elastic import Elastic
from solver.meshing.grid import box_tets

MATERIAL = catalogue.find("material", "stable_neo_hookean").load()


@pytest.fixture(scope="module")
def body():
    nodes, tets = box_tets((3, 2, 2), (0.3, 0.2, 0.2))
    rng = np.random.default_rng(0)
    young = rng.uniform(1e4, 1e5, len(tets))
    return nodes, tets, Elastic(nodes, tets, MATERIAL, MATERIAL.constants(young, rng.uniform(0, 0.49, len(tets))))


def force(body, x):
    nodes, _, elastic = body
    corners, out = np.zeros((len(elastic.tets), 4, 3)), np.zeros_like(nodes)
    energy = elastic.measure(np.ascontiguousarray(x), corners)
    NodeSum.build(elastic.tets, len(nodes)).gather(corners, out)
    return energy, out


def filled(body, x, project):
    nodes, _, elastic = body
    corners, blocks = np.zeros((len(elastic.tets), 4, 3)), np.zeros((len(elastic.tets), 6, 9))
    elastic.fill(np.ascontiguousarray(x), project, corners, blocks)
    return corners, blocks


def matrix(body, x, project):
    nodes, _, elastic = body
    pattern = Pattern(elastic.tets, np.random.default_rng(5).permutation(len(nodes)).astype(np.int32), len(nodes))
    pattern.gather(filled(body, x, project)[1], np.zeros((len(nodes), 3, 3)), 1.0, np.zeros(len(nodes)))
    lower = pattern.matrix().toarray()
    whole = lower + np.tril(lower, -1).T
    back = (3 * pattern.position[:, None] + np.arange(3)).ravel()
    return whole[np.ix_(back, back)]


def poses(nodes):
    rng = np.random.default_rng(2)
    return {"rest": nodes, "random": nodes + 0.02 * rng.normal(size=nodes.shape), "stretched": nodes * [2.5, 0.6, 1.0],
            "inverted": nodes * [1.0, -0.7, 1.0], "flat": nodes * [1.0, 1.0, 0.0]}


@pytest.mark.parametrize("pose", ["rest", "random", "stretched", "inverted", "flat"])
def test_force_is_the_slope_of_energy(body, pose):
    x = poses(body[0])[pose]
    _, f = force(body, x)
    step = 1e-7
    numeric = np.zeros_like(x)
    for i in range(len(x)):
        for a in range(3):
            d = np.zeros_like(x)
            d[i, a] = step
            numeric[i, a] = -(force(body, x + d)[0] - force(body, x - d)[0]) / (2 * step)
    # rounding of the energy limits the difference quotient
    assert np.abs(f - numeric).max() <= 2e-6 * max(np.abs(f).max(), 1.0)


@pytest.mark.parametrize("pose", ["rest", "random", "stretched", "inverted", "flat"])
def test_stiffness_is_the_slope_of_force(body, pose):
    x = poses(body[0])[pose]
    K = matrix(body, x, False)
    assert np.array_equal(K, K.T)
    step, columns = 1e-7, []
    for i in range(len(x)):
        for a in range(3):
            d = np.zeros_like(x)
            d[i, a] = step
            columns.append(((force(body, x + d)[1] - force(body, x - d)[1]) / (2 * step)).ravel())
    assert np.abs(K - np.array(columns).T).max() <= 1e-6 * np.abs(K).max()


def test_fill_and_measure_give_the_same_forces(body):
    x = poses(body[0])["random"]
    corners = filled(body, x, True)[0]
    out = np.zeros_like(x)
    NodeSum.build(body[2].tets, len(x)).gather(corners, out)
    assert np.allclose(out, force(body, x)[1], rtol=0, atol=1e-12 * np.abs(out).max())


@pytest.mark.parametrize("pose", ["random", "inverted", "stretched"])
def test_projected_stiffness_is_negative_semi_definite(body, pose):
    x = poses(body[0])[pose]
    values = np.linalg.eigvalsh(matrix(body, x, True))
    assert values.max() <= 1e-9 * -values.min()
    assert np.linalg.eigvalsh(matrix(body, x, False)).max() > 1e-6 * -values.min()


def test_rigid_motion_makes_no_force(body):
    turned = body[0] @ Rotation.from_rotvec([0.4, -1.2, 2.0]).as_matrix().T + [10.0, -3.0, 5.0]
    energy, f = force(body, turned)
    assert np.abs(f).max() <= 1e-8
    assert abs(energy) <= 1e-8


def test_patch_constant_strain_leaves_inner_nodes_alone():
    """A block of one material under any affine map: nodes inside carry no net force."""
    nodes, tets = box_tets((3, 3, 3), (0.3, 0.3, 0.3))
    inner = np.all((nodes > nodes.min(0) + 1e-9) & (nodes < nodes.max(0) - 1e-9), axis=1)
    rng = np.random.default_rng(4)
    shaken = nodes.copy()
    shaken[inner] += 0.02 * rng.normal(size=(inner.sum(), 3))
    elastic = Elastic(shaken, tets, MATERIAL, MATERIAL.constants(np.full(len(tets), 3e4), np.full(len(tets), 0.45)))
    _, f = force((shaken, tets, elastic), shaken @ (np.eye(3) + 0.3 * rng.normal(size=(3, 3))).T)
    assert np.abs(f[inner]).max() <= 1e-11 * np.abs(f).max()


def test_pattern_has_every_pair_once(body):
    nodes, tets, elastic = body
    graph = node_graph(elastic.tets, len(nodes)).toarray() > 0
    pattern = Pattern(elastic.tets, np.arange(len(nodes), dtype=np.int32), len(nodes))
    has = np.zeros_like(graph)
    has[pattern.block_row, pattern.block_column] = True
    assert np.array_equal(has, np.tril(graph | np.eye(len(nodes), dtype=bool)))
    assert len(pattern.block_row) == has.sum()


def test_pattern_over_some_nodes_is_the_corner_of_the_whole(body):
    """Also on the diagonal, which is summed from blocks towards nodes that have no rows."""
    nodes, _, elastic = body
    x = poses(nodes)["random"]
    order = np.random.default_rng(6).permutation(len(nodes))[: len(nodes) // 2].astype(np.int32)
    pattern = Pattern(elastic.tets, order, len(nodes))
    pattern.gather(filled(body, x, True)[1], np.zeros((len(nodes), 3, 3)), 1.0, np.zeros(len(nodes)))
    rows = (3 * order[:, None] + np.arange(3)).ravel()
    whole = matrix(body, x, True)
    expected = np.tril(whole[np.ix_(rows, rows)])
    assert np.abs(pattern.matrix().toarray() - expected).max() <= 1e-13 * np.abs(whole).max()


def test_threads_do_not_change_a_bit(body):
    x = poses(body[0])["random"]
    both = filled(body, x, True)
    threads.configure(1)
    try:
        one = filled(body, x, True)
    finally:
        threads.configure(None)
    assert all(np.array_equal(a, b) for a, b in zip(both, one))
