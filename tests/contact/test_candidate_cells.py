"""Candidates by cells: independent of the order of queries, and with the nearest triangle among them."""

import numpy as np
from solids import ball

from solver.contact.find.obstacle_planes import ObstacleMesh
from solver.coordinates.prescribed import Constant
from solver.meshing.closest import triangle_distances


def planes(mesh, points, margin=0.2):
    return mesh.planes(points, points, 0.0, 0.01, 1.0, margin)


def cloud(count, seed=0):
    """Points around and inside of a unit ball, and some far away."""
    way = np.random.default_rng(seed).normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    return way * np.linspace(0.9, 1.15, count)[:, None]


def test_places_are_the_nearest_of_all():
    vertices, triangles = ball(24)
    points = cloud(400)
    found = planes(ObstacleMesh(triangles, Constant(vertices)), points)
    assert len(found.points) == 400
    nearest = triangle_distances(points[:, None], vertices[triangles][None]).min(axis=1)
    np.testing.assert_allclose(np.linalg.norm(points - found.positions, axis=1), nearest, atol=1e-9)


def test_what_was_asked_before_says_nothing():
    vertices, triangles = ball(24)
    points, mesh = cloud(200), ObstacleMesh(triangles, Constant(vertices))
    alone = planes(mesh, points)
    planes(mesh, cloud(900, seed=3))
    again = planes(mesh, points)
    other = ObstacleMesh(triangles, Constant(vertices))
    planes(other, cloud(900, seed=4)[::-1])
    for found in (again, planes(other, points)):
        np.testing.assert_array_equal(found.positions, alone.positions)
        np.testing.assert_array_equal(found.normals, alone.normals)


def test_what_is_beyond_all_cells_is_found_as_well():
    vertices, triangles = ball(24)
    far = np.array([[0.0, 0.0, 5.0], [0.0, 0.0, 1.01]])
    found = planes(ObstacleMesh(triangles, Constant(vertices)), far, margin=10.0)
    np.testing.assert_array_equal(found.points, [0, 1])
    np.testing.assert_allclose(found.positions, [[0, 0, 1.0], [0, 0, 1.0]], atol=0.02)
