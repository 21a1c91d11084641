"""The barrier between surfaces: which pairs it finds, its forces and stiffness, how far it lets a step go."""

import ipctk
import numpy as np
import pytest
from touching import box, sheet

from solver.contact.find.distance_kernels import SQUARE
from solver.contact.find.mesh import NearPairs, Surfaces
from solver.contact.laws.barrier import Barrier
from solver.forces.definite_kernels import make_definite
from solver.meshing.volume import boundary_faces

REACH = 0.03
SMOOTH = {"creep_speed": 1e-3}


def two_boxes(gap=0.01, tilt=0.1):
    """Two boxes over a sheet, the upper one tilted over the other's corner; positions, triangles, which are free."""
    rng = np.random.default_rng(7)
    places, triangles, first = [], [], 0
    for shift, angle in (([0, 0, 0], 0.0), ([0.13, 0.11, 0.3 + gap], tilt)):
        nodes, tets = box((3, 3, 3), (0.3, 0.3, 0.3))
        c, s = np.cos(angle), np.sin(angle)
        nodes = nodes @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) + shift
        places.append(nodes + 2e-3 * rng.normal(size=nodes.shape))
        triangles.append(boundary_faces(tets)[0] + first)
        first += len(nodes)
    floor, faces = sheet(2.0, 3, -0.014)
    places.append(floor)
    triangles.append(faces + first)
    x, triangles = np.concatenate(places), np.concatenate(triangles).astype(np.int32)
    return x, triangles, np.arange(len(x)) < first


@pytest.fixture(scope="module")
def touching():
    x, triangles, is_free = two_boxes(tilt=0.0)
    stiffness = np.where(is_free, 500.0, np.inf)
    return x, Barrier(Surfaces(x, triangles, np.where(is_free, -1, 0)), x, stiffness, 0.0 * is_free, REACH, SMOOTH,
                      0.0 * is_free)


def dense(table, count):
    """K of all nodes, (3n, 3n)."""
    K = np.zeros((count, 3, count, 3))
    for nodes, blocks in zip(table.nodes, table.blocks):
        pair = 0
        for a in range(1, 4):
            for b in range(a):
                block = blocks[pair].reshape(3, 3)
                for i, j, term in ((a, b, block), (b, a, block.T)):
                    K[nodes[i], :, nodes[j]] += term
                    K[nodes[i], :, nodes[i]] -= term
                pair += 1
    return K.reshape(3 * count, 3 * count)


def forces_on(law, x):
    force = np.zeros_like(x)
    law.measure(x, 0.0).add_forces(force)
    return force


def collisions_of_ipctk(law, x):
    """ipctk's collisions of the same surfaces, its mesh and its potential, all in units of ours."""
    surfaces = law.surfaces
    collisions = ipctk.NormalCollisions()
    collisions.build(surfaces._mesh, x[surfaces.nodes], law.activation)
    return collisions, surfaces._mesh, ipctk.BarrierPotential(law.activation, 500.0)


def test_energy_forces_and_stiffness_are_those_of_ipctk(touching):
    x, law = touching
    surfaces, table = law.surfaces, law.fill(x, 0.0, False)
    collisions, mesh, potential = collisions_of_ipctk(law, x)
    assert len(table.nodes) > 50
    here, unit = x[surfaces.nodes], law.activation**2
    assert table.energy == pytest.approx(potential(collisions, mesh, here) / unit, rel=1e-10)
    gradient = potential.gradient(collisions, mesh, here).reshape(-1, 3) / unit
    force = forces_on(law, x)[surfaces.nodes]
    assert np.abs(force + gradient).max() <= 1e-10 * np.abs(gradient).max()
    rows = (3 * surfaces.nodes[:, None] + np.arange(3)).ravel()
    whole = potential.hessian(collisions, mesh, here).toarray() / unit
    assert np.abs(dense(table, len(x))[np.ix_(rows, rows)] + whole).max() <= 1e-9 * np.abs(whole).max()
    # projected one pair at a time: ipctk sums pairs with the same nearest points before, so only each one compares
    assert np.linalg.eigvalsh(dense(law.fill(x, 0.0, True), len(x))).max() <= 1e-9 * np.abs(whole).max()


def test_thick_surfaces_push_as_those_of_ipctk_do(touching):
    x, thin = touching
    surfaces = Surfaces(x, thin.surfaces.nodes[thin.surfaces.triangles].astype(np.int32),
                        np.where(np.isfinite(thin._stiffness), -1, 0), np.arange(len(x)))
    near = float(np.sqrt(thin.find_active_pairs(x).work[:, SQUARE].min()))
    law = Barrier(surfaces, x, thin._stiffness, thin._friction, REACH, SMOOTH, np.full(len(x), 0.25 * near))
    collisions = ipctk.NormalCollisions()
    collisions.build(surfaces._mesh, x[surfaces.nodes], REACH, 0.5 * near)
    potential, here = ipctk.BarrierPotential(REACH, 500.0), x[surfaces.nodes]
    unit = (REACH**2 + near * REACH) ** 2 / REACH**2
    table = law.fill(x, 0.0, False)
    assert len(law.find_active_pairs(x).nodes) > len(thin.find_active_pairs(x).nodes)
    assert table.energy == pytest.approx(potential(collisions, surfaces._mesh, here) / unit, rel=1e-10)
    gradient = potential.gradient(collisions, surfaces._mesh, here).reshape(-1, 3) / unit
    assert np.abs(forces_on(law, x)[surfaces.nodes] + gradient).max() <= 1e-10 * np.abs(gradient).max()
    rows = (3 * surfaces.nodes[:, None] + np.arange(3)).ravel()
    whole = potential.hessian(collisions, surfaces._mesh, here).toarray() / unit
    assert np.abs(dense(table, len(x))[np.ix_(rows, rows)] + whole).max() <= 1e-9 * np.abs(whole).max()
    # nobody is nearer than that, and where one would be there is no end of the energy
    assert law.nearest(x) is None
    thick = Barrier(surfaces, x, thin._stiffness, thin._friction, REACH, SMOOTH, np.full(len(x), 0.6 * near))
    assert thick.nearest(x) is not None
    assert thick.measure(x, 0.0).energy == np.inf


def test_projection_is_that_of_ipctk_pair_by_pair():
    rng = np.random.default_rng(3)
    is_free = np.ones(4, dtype=bool)
    for trial in range(60):
        x = rng.normal(size=(4, 3))
        face = trial % 2 == 0
        if face:  # above the inside of a triangle
            weights = rng.dirichlet([3, 3, 3])
            n = np.cross(x[2] - x[1], x[3] - x[1])
            x[0] = weights @ x[1:] + 0.1 * n / np.linalg.norm(n)
        square = ipctk.point_triangle_distance(*x) if face else ipctk.edge_edge_distance(*x)
        reach = np.sqrt(square) * rng.uniform(1.05, 2.0)
        triangles = np.array([[1, 2, 3]] if face else [[0, 1, 2], [1, 2, 3]], np.int32)
        law = Barrier(Surfaces(x, triangles, np.where(is_free, -1, 0)), x, np.full(4, 3.0), np.zeros(4), reach, SMOOTH,
                      np.zeros(4))
        alone = NearPairs(np.arange(4, dtype=np.int32)[None], int(face), np.array([[0, 1]], np.int32),
                          np.array([square]))
        law._find_near_pairs = lambda x, alone=alone: alone
        threshold = ipctk.edge_edge_mollifier_threshold(*x)
        if face:
            pair = ipctk.FaceVertexNormalCollision(0, 0)
        else:
            pair = ipctk.EdgeEdgeNormalCollision(0, 1, threshold, ipctk.EdgeEdgeDistanceType.AUTO)
        pair.weight = 1.0
        potential = ipctk.BarrierPotential(reach, 3.0)
        for project, method in ((False, "NONE"), (True, "CLAMP")):
            wanted = potential.hessian(pair, x.ravel(), getattr(ipctk.PSDProjectionMethod, method)) / reach**2
            found = dense(law.fill(x, 0.0, project), 4)
            assert np.abs(found + wanted).max() <= 1e-9 * np.abs(wanted).max()


def test_a_way_that_is_only_rounding_leaves_stiffness_finite_and_definite():
    """A fold laid flat onto itself: a vertex so near another edge that what is between them points along that edge."""
    x = np.array([[-0.001, 0.151, 0.001], [-0.005, 0.151, 0.001], [0.005, 0.151, 0.001], [0.031, 0.189, -0.009]])
    law = Barrier(Surfaces(x, np.array([[1, 2, 3]], np.int32), np.full(4, -1)), x, np.full(4, 3.0), np.zeros(4), REACH,
                  SMOOTH, np.zeros(4))
    alone = NearPairs(np.arange(4, dtype=np.int32)[None], 1, np.array([[0, 1]], np.int32), np.array([0.0]))
    law._find_near_pairs = lambda x: alone
    pushing = 0
    for place in np.linspace(-0.0049, 0.0049, 99):
        x[0, 0] = place
        blocks = law.fill(x, 0.0, True)
        K = dense(blocks, 4)
        pushing += len(blocks.nodes)
        assert np.isfinite(K).all()
        assert np.linalg.eigvalsh(K).max() <= 1e-9 * np.abs(K).max()
    assert pushing


def test_forces_and_stiffness_are_slopes(touching):
    x, law = touching
    rng, step = np.random.default_rng(0), 1e-7
    K = dense(law.fill(x, 0.0, False), len(x))
    for _ in range(4):
        way = rng.normal(size=x.shape)
        ahead, areal_mass = x + step * way, x - step * way
        slope = (law.measure(ahead, 0.0).energy - law.measure(areal_mass, 0.0).energy) / (2 * step)
        force = forces_on(law, x)
        assert -slope == pytest.approx(float(np.vdot(force, way)), rel=1e-5, abs=1e-6 * np.abs(force).max())
        bend = (forces_on(law, ahead) - forces_on(law, areal_mass)) / (2 * step)
        assert np.abs(bend.ravel() - K @ way.ravel()).max() <= 1e-4 * np.abs(bend).max()


def test_what_pushes_is_pushed_as_much(touching):
    x, law = touching
    table = law.fill(x, 0.0, False)
    largest = np.abs(table.forces).max()
    assert np.abs(table.forces.sum(axis=1)).max() <= 1e-12 * largest
    moments = np.cross(x[table.nodes], table.forces).sum(axis=1)
    assert np.abs(moments).max() <= 1e-12 * largest * np.abs(x).max() * 10
    # far from the origin nothing is lost but what doubles lose of the places themselves
    far = law.measure(x + 1000.0, 0.0)
    assert np.abs(far.forces.sum(axis=1)).max() <= 1e-12 * largest


def test_all_near_pairs_are_found_wherever_the_last_ones_were(touching):
    """Pairs, their order and their forces do not depend on the past, to the last bit."""
    x, law = touching
    rng = np.random.default_rng(5)
    other = Barrier(law.surfaces, x, law._stiffness, law._friction, law.activation, SMOOTH, 0.0 * law._friction)
    at = x.copy()
    for _ in range(6):
        at = at + 2e-3 * rng.normal(size=x.shape)
        one = other.fill(at, 0.0, True)
        anew = Barrier(law.surfaces, x, law._stiffness, law._friction, law.activation, SMOOTH,
                       0.0 * law._friction).fill(at, 0.0, True)
        for field in ("nodes", "forces", "blocks"):
            assert np.array_equal(getattr(one, field), getattr(anew, field))
    near = law.surfaces.find_near_pairs(at, law.activation)
    collisions = collisions_of_ipctk(law, at)[0]
    found = law.find_active_pairs(at)
    assert found.work[:, 16].min() == pytest.approx(
        collisions.compute_minimum_distance(law.surfaces._mesh, at[law.surfaces.nodes]), rel=1e-9)
    assert len(found.nodes) <= len(near.nodes)


def test_a_step_ends_before_anything_meets():
    x, triangles, is_free = two_boxes(0.05)
    surfaces = Surfaces(x, triangles, np.where(is_free, -1, 0))
    assert surfaces.intersection(x) is None
    down = x.copy()
    upper = slice(64, 128)
    down[upper, 2] -= 0.2
    crossing = surfaces.intersection(down)
    assert crossing is not None
    assert {*(crossing[0] // 64), *(crossing[1] // 64)} == {0, 1}
    share = surfaces.largest_step(x, down)
    assert 0.0 < share < 1.0
    assert surfaces.intersection(x + share * (down - x)) is None
    # through to the other side, where nothing crosses any more, is no way either
    through = x.copy()
    through[upper, 2] -= 3.0
    assert surfaces.intersection(through) is None
    assert surfaces.largest_step(x, through) < 0.2
    assert surfaces.largest_step(x, x) == 1.0
    up = x.copy()
    up[upper, 2] += 5.0
    assert surfaces.largest_step(x, up) == 1.0


def test_obstacles_do_not_touch_each_other():
    x, triangles, _ = two_boxes(0.001)
    assert len(Surfaces(x, triangles, np.zeros(len(x), dtype=np.int32)).find_near_pairs(x, 0.1).nodes) == 0


def test_what_four_nodes_feel_of_each_other_is_made_definite():
    """As by all of its eigenvectors."""
    rng = np.random.default_rng(0)
    apart = np.kron(np.eye(4) - 0.25, np.eye(3))
    matrix = rng.normal(size=(12, 12))
    matrix = apart @ (matrix + matrix.T) @ apart
    values, vectors = np.linalg.eigh(matrix)
    expected = (vectors * np.maximum(values, 0.0)) @ vectors.T
    make_definite(matrix, np.empty((12, 12)), np.empty((12, 12)), np.empty(12))
    np.testing.assert_allclose(matrix, expected, atol=1e-12)
