"""Element forces are the slope of energy, K = ∂f/∂x, and rigid motion and constant strain are exact."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solver import catalogue, threads
from solver.assembly.pattern import NodeSum, Pattern, node_graph
from solver.coordinates.prescribed import Motion
from solver.forces.activation import Activation
from solver.forces.elastic import Elastic
from solver.forces.fibers import Fibers
from solver.meshing.grid import box_tets

MATERIAL = catalogue.find("material", "stable_neo_hookean").load()


@pytest.fixture(scope="module", params=[None, *catalogue.family("fiber_material")])
def body(request):
    nodes, tets = box_tets((3, 2, 2), (0.3, 0.2, 0.2))
    rng = np.random.default_rng(0)
    young = rng.uniform(1e4, 1e5, len(tets))
    constants = MATERIAL.constants(young, rng.uniform(0, 0.49, len(tets)))
    fibers = None if request.param is None else made_fibers(request.param, rng.normal(size=(len(tets), 3)))
    return nodes, tets, Elastic(nodes, tets, MATERIAL, constants, fibers)


def made_fibers(key, directions, over_time=None, **given):
    """Fibers of these directions, (e, 3), of numbers that no gradient of a test makes slack or taut by chance."""
    entry = catalogue.find("fiber_material", key)
    numbers = {"fiber_modulus": 5e4, "activation": 0.37, **given}
    params = {param.key: np.full(len(directions), numbers.get(param.key, param.default)) for param in entry.params}
    directions = directions / np.linalg.norm(directions, axis=1)[:, None]
    return Fibers(entry.load(), directions, params, over_time)


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


@pytest.mark.parametrize("which", [[5], [0, 3, 17, 30], list(range(1, 50, 2))])
def test_blocks_of_some_elements_are_those_of_all(body, which):
    x = poses(body[0])["random"]
    _, whole = filled(body, x, True)
    some = np.full_like(whole, 7.0)
    body[2].fill_again(np.ascontiguousarray(x), np.array(which), some)
    # those of a lane block end their iterations together: who is beside whom says the last digit
    assert some[which] == pytest.approx(whole[which], rel=1e-9, abs=1e-9 * np.abs(whole).max())
    assert (np.delete(some, which, axis=0) == 7.0).all()


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


def test_rigid_motion_turns_the_forces_and_makes_none(body):
    turn = Rotation.from_rotvec([0.4, -1.2, 2.0]).as_matrix()
    energy, f = force(body, body[0] @ turn.T + [10.0, -3.0, 5.0])
    at_rest, pull = force(body, body[0])  # of active fibers; nothing else pulls at rest
    assert np.abs(f - pull @ turn.T).max() <= 1e-8
    assert energy == pytest.approx(at_rest, rel=1e-10, abs=1e-8)
    if body[2].fibers is None or "activation" not in body[2].fibers.params:
        assert np.abs(f).max() <= 1e-8
        assert abs(energy) <= 1e-8


@pytest.mark.parametrize("fiber", [None, *catalogue.family("fiber_material")])
@pytest.mark.parametrize("key", catalogue.family("material"))
def test_patch_constant_strain_leaves_inner_nodes_alone(key, fiber):
    """A block of one material, with or without straight fibers, under any affine map: no net force inside."""
    nodes, tets = box_tets((3, 3, 3), (0.3, 0.3, 0.3))
    inner = np.all((nodes > nodes.min(0) + 1e-9) & (nodes < nodes.max(0) - 1e-9), axis=1)
    rng = np.random.default_rng(4)
    shaken = nodes.copy()
    shaken[inner] += 0.02 * rng.normal(size=(inner.sum(), 3))
    material, params = catalogue.find("material", key).load(), catalogue.find("material", key).params
    constants = material.constants(**{param.key: np.full(len(tets), float(param.default)) for param in params})
    fibers = None if fiber is None else made_fibers(fiber, np.tile([0.2, -1.0, 0.5], (len(tets), 1)))
    elastic = Elastic(shaken, tets, material, constants, fibers)
    _, f = force((shaken, tets, elastic), shaken @ (np.eye(3) + 0.3 * rng.normal(size=(3, 3))).T)
    assert np.abs(f[inner]).max() <= 1e-11 * np.abs(f).max()


def test_pattern_has_every_pair_once(body):
    nodes, tets, elastic = body
    graph = node_graph(elastic.tets, len(nodes)).toarray() > 0
    pattern = Pattern(elastic.tets, np.arange(len(nodes), dtype=np.int32), len(nodes))
    lower = pattern.matrix()
    lower.data[:] = 1.0
    has = lower[::3, ::3].toarray() > 0
    assert np.array_equal(has, np.tril(graph | np.eye(len(nodes), dtype=bool)))
    assert np.array_equal(lower.toarray() > 0, np.tril(np.kron(has, np.ones((3, 3))) > 0))
    assert lower.nnz == 9 * has.sum() - 3 * len(nodes) and lower.has_canonical_format


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
    answers = []
    for count in (2, 1):
        threads.configure(count)
        try:
            answers.append(filled(body, x, True))
        finally:
            threads.configure(None)
    assert all(np.array_equal(a, b) for a, b in zip(*answers))


def test_what_a_fiber_adds_is_what_the_material_has_not():
    """Under any affine map the fibers add f aᵀ of their own: the sum of two bodies' forces is the force of both."""
    nodes, tets = box_tets((2, 2, 2), (0.2, 0.2, 0.2))
    ones, directions = np.ones(len(tets)), np.random.default_rng(3).normal(size=(len(tets), 3))
    x = poses(nodes)["random"]
    soft, none = MATERIAL.constants(3e4 * ones, 0.3 * ones), MATERIAL.constants(1e-12 * ones, 0.3 * ones)
    forces, energies = [], []
    for constants, fibers in ((soft, None), (none, made_fibers("afung", directions)),
                              (soft, made_fibers("afung", directions))):
        energy, f = force((nodes, tets, Elastic(nodes, tets, MATERIAL, constants, fibers)), x)
        forces.append(f)
        energies.append(energy)
    assert np.abs(forces[0] + forces[1] - forces[2]).max() <= 1e-12 * np.abs(forces[2]).max()
    assert energies[0] + energies[1] == pytest.approx(energies[2], rel=1e-12)
    assert np.abs(forces[1]).max() > 0.01 * np.abs(forces[0]).max()


def test_activation_is_that_of_the_time_asked_for_whatever_was_asked_before():
    nodes, tets = box_tets((2, 2, 2), (0.2, 0.2, 0.2))
    directions = np.broadcast_to([1.0, 0.0, 0.0], (len(tets), 3))
    constants = MATERIAL.constants(np.full(len(tets), 3e4), np.full(len(tets), 0.3))

    def at(value, samples):
        fibers = made_fibers("afung", directions, Activation(Motion(np.array(samples)[:, None], 0.5)), activation=1.0)
        elastic = Elastic(nodes, tets, MATERIAL, constants, fibers)
        for time in value:
            elastic.activate(time)
        return force((nodes, tets, elastic), nodes)[1]

    assert np.array_equal(at([0.25, 0.5], [0.0, 0.4, 0.8]), at([], [0.4]))
    assert np.array_equal(at([1.0, 0.0], [0.0, 0.4, 0.8]), at([], [0.0]))
    assert np.abs(at([], [0.0])).max() < 1e-10 < 1e-3 < np.abs(at([], [0.4])).max()


def test_arrays_that_are_not_padded_are_refused():
    """Kernels write sixteen elements at once; twelve would be followed by four beyond the array's end."""
    nodes, tets = box_tets((2, 1, 1), (0.2, 0.1, 0.1))
    elastic = Elastic(nodes, tets, MATERIAL, MATERIAL.constants(np.full(len(tets), 1e4), np.full(len(tets), 0.3)))
    assert len(tets) == 12 and len(elastic.tets) == 16
    with pytest.raises(ValueError, match="has 12 elements, but these are padded to 16"):
        elastic.fill(nodes, True, np.zeros((12, 4, 3)), np.zeros((16, 6, 9)))
    with pytest.raises(ValueError, match="has 12 elements"):
        elastic.fill(nodes, True, np.zeros((16, 4, 3)), np.zeros((12, 6, 9)))
    with pytest.raises(ValueError, match="has 12 elements"):
        elastic.measure(nodes, np.zeros((12, 4, 3)))
    with pytest.raises(ValueError, match="has 12 elements"):
        elastic.stretching(nodes, np.zeros_like(nodes), np.zeros(12))
